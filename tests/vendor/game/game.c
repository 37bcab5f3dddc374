/* Sorts entities by distance, the farthest first, with a schema in C and without files: by one of
 * its own, and by the part of sprites that a game copies. */
#include <recsort/recsort.h>
#include <stdio.h>

#include "depth_sort.h"

typedef struct thing {
  int id;
  float distance;
} thing;

static int sort_copied(void)
{
  entity entities[] = {{.spriteIndex = 0, .distanceFromPlayer = 2},
                       {.spriteIndex = 1, .distanceFromPlayer = 1},
                       {.spriteIndex = 2, .distanceFromPlayer = 2},
                       {.spriteIndex = 3, .distanceFromPlayer = 5}};
  recsort_error error;
  recsort_sorter *sorter = depth_sorter_create(NULL, 0, &error);
  if (!sorter || depth_sort(sorter, entities, 4, &error)) {
    printf("depth_sort: %s\n", error.text);
    return 1;
  }
  printf("depth_sort:");
  for (int i = 0; i < 4; i++)
    printf(" %d", entities[i].spriteIndex);
  printf("; ");
  recsort_sorter_destroy(sorter);
  return 0;
}

int main(void)
{
  static const recsort_field_desc fields[] = {RECSORT_FIELD(thing, distance)};
  static const recsort_key_desc keys[] = {{.path = "distance", .order = RECSORT_DESCENDING}};
  const recsort_schema_desc desc = RECSORT_STRUCT(thing, fields, keys);
  thing things[] = {{0, 2}, {1, 1}, {2, 2}, {3, 5}};
  recsort_schema *schema = NULL, *none = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error;
  if (recsort_schema_create(&desc, NULL, &schema, &error) ||
      recsort_sorter_create(schema, NULL, &sorter, &error) ||
      recsort_sort(sorter, things, 4, &error)) {
    printf("%s\n", error.text);
    return 1;
  }
  if (sort_copied()) return 1;
  printf("farthest:");
  for (int i = 0; i < 4; i++)
    printf(" %d", things[i].id);
  if (recsort_schema_load_memory("[]", 2, "text", NULL, &none, &error) == RECSORT_OK) return 1;
  printf("; YAML: %s\n", error.text);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
  return 0;
}
