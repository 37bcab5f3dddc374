/* outside.c - sorts a few records with only the installed header and library. */
#include <recsort/recsort.h>

#include <stdio.h>
#include <string.h>

typedef struct item {
  int32_t price;
  char name[4];
} item;

static const char schema_text[] = "record: item\n"
                                  "fields:\n"
                                  "  - {name: price, type: int32}\n"
                                  "  - {name: name, type: char, count: 4}\n"
                                  "keys:\n"
                                  "  - {field: price, order: desc}\n";

int main(void)
{
  item items[] = {{3, "c"}, {-1, "e"}, {7, "a"}, {3, "d"}, {7, "b"}};
  const size_t count = sizeof items / sizeof *items;
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error;
  recsort_status status =
      recsort_schema_load_memory(schema_text, strlen(schema_text), "item", NULL, &schema, &error);
  if (!status) status = recsort_sorter_create(schema, NULL, &sorter, &error);
  if (!status) status = recsort_sort(sorter, items, count, &error);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
  if (status) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  for (size_t i = 0; i < count; i++)
    fputs(items[i].name, stdout);
  puts("");
  return 0;
}
