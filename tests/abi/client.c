/* A program of the first binary interface: built with the headers in first/, it runs with today's
 * library. Usage: client PLUGIN... - checks each call with the named plugins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/recsort.h"

typedef struct item {
  uint8_t kind; /* key, as an enum: 3 of them */
  uint16_t tag; /* its position in the input */
  float weight; /* key, descending */
} item;

enum { COUNT = 1000, GUARD = 0x5a };

static const char *step = "";

#define EXPECT(what)                                                                               \
  do {                                                                                             \
    if (!(what)) {                                                                                 \
      printf("%s: line %d: not so: %s\n", step, __LINE__, #what);                                  \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

#define RIGHT(call)                                                                                \
  do {                                                                                             \
    recsort_error error;                                                                           \
    if ((call) != RECSORT_OK) {                                                                    \
      printf("%s: line %d: %s\n", step, __LINE__, error.text);                                     \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

/* A struct with bytes behind it that the library must not touch. */
#define GUARDED(type)                                                                              \
  struct {                                                                                         \
    type it;                                                                                       \
    unsigned char guard[64];                                                                       \
  }
#define BEGIN(guarded) memset(&(guarded), GUARD, sizeof(guarded))
#define END(guarded)                                                                               \
  for (size_t g_ = 0; g_ < sizeof(guarded).guard; g_++)                                            \
  EXPECT((guarded).guard[g_] == GUARD)

/* ---- Memory ---- */

static size_t blocks;

static void *allocate(void *context, size_t size)
{
  EXPECT(context == &blocks);
  blocks++;
  return malloc(size);
}

static void release(void *context, void *memory, size_t size)
{
  EXPECT(context == &blocks && size > 0);
  blocks--;
  free(memory);
}

static const recsort_allocator memory = {&blocks, allocate, release};

/* ---- Records ---- */

static void fill(item *items)
{
  memset(items, 0, COUNT * sizeof *items);
  for (unsigned i = 0; i < COUNT; i++)
    items[i] = (item){(uint8_t)(i * 7 % 3 + 1), (uint16_t)i, (float)(i * 31 % 10)};
}

static int compare(const void *a, const void *b)
{
  const item *const x = a, *const y = b;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
  return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static recsort_schema *make_schema(void)
{
  static const recsort_enumerator kinds[] = {{"one", 1}, {"two", 2}, {"three", 3}};
  static const recsort_field_desc fields[] = {
      {.name = "kind",
       .type = RECSORT_ENUM,
       .base = RECSORT_UINT8,
       .offset = RECSORT_NO_OFFSET,
       .enumerators = kinds,
       .enumerator_count = 3},
      {.name = "tag", .type = RECSORT_UINT16, .offset = RECSORT_NO_OFFSET},
      {.name = "weight", .type = RECSORT_FLOAT32, .offset = offsetof(item, weight)}};
  static const recsort_key_desc keys[] = {{.path = "kind"},
                                          {.path = "weight", .order = RECSORT_DESCENDING}};
  GUARDED(recsort_schema_desc) desc;
  recsort_schema *schema = NULL;
  BEGIN(desc);
  desc.it = (recsort_schema_desc){.struct_size = sizeof desc.it,
                                  .record = "Item",
                                  .source = "client",
                                  .fields = fields,
                                  .field_count = 3,
                                  .keys = keys,
                                  .key_count = 2};
  RIGHT(recsort_schema_create(&desc.it, &memory, &schema, &error));
  return schema;
}

static void look_at_schema(const recsort_schema *schema)
{
  size_t count;
  item one = {2, 513, 1.5f};
  const recsort_field *const fields = recsort_schema_fields(schema, &count);
  EXPECT(count == 3 && strcmp(fields[2].name, "weight") == 0 && fields[2].size == 4);
  EXPECT(fields[1].offset == offsetof(item, tag) && fields[0].enumerators[2].value == 3);
  EXPECT(strcmp(recsort_schema_record_name(schema), "Item") == 0);
  EXPECT(recsort_schema_record_size(schema) == sizeof(item));
  EXPECT(recsort_schema_skip(schema) == 0 && recsort_schema_trailer(schema) == 0);
  const recsort_key_desc *const keys = recsort_schema_keys(schema, &count);
  EXPECT(count == 2 && keys[1].order == RECSORT_DESCENDING);
  EXPECT(strcmp(recsort_type_name(fields[2].type), "float32") == 0);
  EXPECT(strcmp(recsort_status_text(RECSORT_OK), "success") == 0);
  const recsort_value value = recsort_field_read(&fields[1], &one, 0);
  EXPECT(value.kind == RECSORT_VALUE_UNSIGNED && value.as.u == 513 && value.size == 2);
  recsort_field_write(&fields[2], &one, 0,
                      (recsort_value){.kind = RECSORT_VALUE_REAL, .as.real = 2.5});
  EXPECT(one.weight == 2.5f && one.tag == 513);
}

static recsort_schema *read_schema(void)
{
  static const char text[] = "record: R\nfields:\n  - {name: a, type: int8}\nkeys:\n  - a\n";
  recsort_schema *schema = NULL;
  recsort_error refused;
  EXPECT(recsort_schema_load_file("/nowhere", NULL, &schema, &refused) == RECSORT_IO_ERROR);
  RIGHT(recsort_schema_load_memory(text, sizeof text - 1, "text", NULL, &schema, &error));
  return schema;
}

/* ---- Sorting ---- */

/* Sorts in every way; `whole`: the plugin moves the records. */
static void sort_all(recsort_sorter *sorter, bool whole)
{
  static item items[COUNT], sorted[COUNT], expected[COUNT];
  static uint32_t index[COUNT];
  fill(items);
  fill(expected);
  qsort(expected, COUNT, sizeof *expected, compare);
  memcpy(sorted, items, sizeof items);
  RIGHT(recsort_sort(sorter, sorted, COUNT, &error));
  EXPECT(memcmp(sorted, expected, sizeof sorted) == 0);
  memset(sorted, 0, sizeof sorted);
  RIGHT(recsort_sort_to(sorter, items, COUNT, sorted, &error));
  EXPECT(memcmp(sorted, expected, sizeof sorted) == 0);
  EXPECT(recsort_sorter_stats(sorter).whole_records == whole);
  RIGHT(recsort_argsort(sorter, items, COUNT, index, 32, &error));
  for (size_t i = 0; i < COUNT; i++)
    EXPECT(index[i] == expected[i].tag);
  size_t disorder = 0;
  RIGHT(recsort_check(sorter, sorted, COUNT, &disorder, &error));
  EXPECT(disorder == COUNT);
}

static void permute(recsort_sorter *sorter)
{
  static item items[COUNT], expected[COUNT];
  static uint16_t beside[COUNT];
  static const uint32_t turned[3] = {2, 1, 0};
  GUARDED(recsort_permutation) order, own;
  fill(items);
  fill(expected);
  qsort(expected, COUNT, sizeof *expected, compare);
  BEGIN(order);
  RIGHT(recsort_find_order(sorter, items, COUNT, &order.it, &error));
  END(order);
  EXPECT(order.it.count == COUNT && order.it.index_bits == 32);
  for (size_t i = 0; i < COUNT; i++) {
    EXPECT(recsort_permutation_at(&order.it, i) == expected[i].tag);
    beside[i] = items[i].tag;
  }
  RIGHT(recsort_permute(sorter, &order.it, beside, sizeof *beside, &error));
  for (size_t i = 0; i < COUNT; i++)
    EXPECT(beside[i] == expected[i].tag);
  RIGHT(recsort_unique(sorter, items, &order.it, &error));
  END(order);
  EXPECT(order.it.count == 30); /* 3 kinds, 10 weights */
  item first;
  recsort_gather(&order.it, 29, 1, items, sizeof *items, &first, 1);
  EXPECT(first.kind == 3 && first.weight == 0);
  BEGIN(own); /* the padding between its members may hold anything */
  own.it.index = turned;
  own.it.index_bits = 32;
  own.it.count = 3;
  RIGHT(recsort_permute(sorter, &own.it, beside, sizeof *beside, &error));
  EXPECT(beside[0] == expected[2].tag && beside[2] == expected[0].tag);
  EXPECT(recsort_find_order(sorter, items, COUNT, NULL, NULL) == RECSORT_INVALID_ARGUMENT);
  EXPECT(recsort_unique(sorter, items, NULL, NULL) == RECSORT_INVALID_ARGUMENT);
  EXPECT(recsort_permute(sorter, NULL, beside, 2, NULL) == RECSORT_INVALID_ARGUMENT);
}

static void encode(recsort_sorter *sorter)
{
  item two[2] = {{1, 0, 5}, {1, 0, 4}};
  uint64_t keys[2] = {0};
  const size_t size = recsort_key_size(sorter);
  EXPECT(size == 8);
  RIGHT(recsort_encode(sorter, two, 2, keys, &error));
  EXPECT(recsort_key_compare(sorter, &keys[0], &keys[1]) < 0);
}

static void look_at_sorter(const recsort_sorter *sorter, const char *plugin)
{
  GUARDED(recsort_stats) stats;
  GUARDED(recsort_key_info) key;
  BEGIN(stats);
  BEGIN(key);
  stats.it = recsort_sorter_stats(sorter);
  END(stats);
  EXPECT(strcmp(stats.it.plugin, plugin) == 0 && !stats.it.fallback);
  EXPECT(stats.it.records == COUNT && stats.it.record_size == sizeof(item));
  EXPECT(stats.it.key_bits == 34 && stats.it.key_width == 64 && stats.it.threads == 2);
  EXPECT(stats.it.memory > 0 && stats.it.sort_seconds >= 0 && stats.it.permute_seconds >= 0);
  EXPECT(recsort_sorter_key_count(sorter) == 2);
  key.it = recsort_sorter_key(sorter, 1);
  END(key);
  EXPECT(strcmp(key.it.path, "weight") == 0 && key.it.order == RECSORT_DESCENDING);
  EXPECT(key.it.bits == 32 && key.it.shift == 0 && key.it.field->type == RECSORT_FLOAT32);
}

static void use(const recsort_schema *schema, const char *plugin)
{
  GUARDED(recsort_options) options;
  recsort_sorter *sorter = NULL;
  BEGIN(options);
  options.it = (recsort_options){
      .struct_size = sizeof options.it, .plugin = plugin, .threads = 2, .allocator = &memory};
  step = plugin;
  RIGHT(recsort_sorter_create(schema, &options.it, &sorter, &error));
  const bool whole = strcmp(plugin, "cpu") == 0 || strstr(plugin, "records");
  sort_all(sorter, whole);
  permute(sorter);
  encode(sorter);
  sort_all(sorter, whole);
  look_at_sorter(sorter, plugin);
  recsort_sorter_destroy(sorter);
}

static void list_plugins(const char *plugin)
{
  recsort_plugin_list *list = NULL;
  size_t found = 0;
  RIGHT(recsort_plugin_list_create(&memory, &list, &error));
  for (size_t i = 0; i < recsort_plugin_list_count(list); i++) {
    GUARDED(recsort_plugin_info) info;
    BEGIN(info);
    info.it = recsort_plugin_list_at(list, i);
    END(info);
    found += strcmp(info.it.name, plugin) == 0 && info.it.score > 0 && info.it.algorithm_count > 0;
  }
  EXPECT(found == 1);
  recsort_plugin_list_destroy(list);
}

int main(int argc, char **argv)
{
  recsort_schema *const schema = make_schema();
  look_at_schema(schema);
  recsort_schema_destroy(read_schema());
  EXPECT(recsort_version()[0]);
  for (int i = 1; i < argc; i++) {
    list_plugins(argv[i]);
    use(schema, argv[i]);
  }
  recsort_schema_destroy(schema);
  EXPECT(blocks == 0);
  printf("every call of the first version works\n");
  return argc > 1 ? 0 : 1;
}
