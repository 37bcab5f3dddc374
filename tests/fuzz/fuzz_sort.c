/* A schema, a NUL, and records: compares every algorithm with a simple reference sort. */
#include <string.h>

#include "fuzz.h"
#include "support/oracle.h"
#include "support/told.h"

enum { MOST_KEYS = 16, MOST_RECORDS = 300 };

typedef struct reference {
  oracle_key keys[MOST_KEYS];
  size_t key_count;
  size_t record_size;
  const uint8_t *records;
  size_t count;
  uint32_t order[MOST_RECORDS];
} reference;

/* Follows a path that the library has accepted. */
static oracle_key find_key(const recsort_field_desc *fields, size_t count,
                           const recsort_key_desc *key)
{
  const char *rest = key->path;
  size_t offset = 0;
  for (;;) {
    const size_t length = strcspn(rest, ".[");
    const recsort_field_desc *field = fields;
    while (strlen(field->name) != length || strncmp(field->name, rest, length) != 0)
      EXPECT(++field < fields + count);
    offset += field->offset;
    rest += length;
    if (*rest == '[') {
      char *end;
      offset += strtoul(rest + 1, &end, 10) * field->size;
      rest = end + 1;
    }
    if (*rest == '.') {
      rest++;
      fields = field->fields;
      count = field->field_count;
      continue;
    }
    return (oracle_key){field->type == RECSORT_ENUM ? field->base : field->type,
                        field->endian,
                        offset,
                        field->size,
                        field->bit,
                        field->width,
                        key->order,
                        key->nan,
                        rest[-1] == ']' ? 0 : field->count,
                        field->nulls,
                        field->null_count};
  }
}

static void insertion_sort(reference *r)
{
  for (size_t i = 0; i < r->count; i++) {
    const uint8_t *record = r->records + i * r->record_size;
    size_t j = i;
    for (; j > 0 && oracle_compare(r->keys, r->key_count,
                                   r->records + r->order[j - 1] * r->record_size, record) > 0;
         j--)
      r->order[j] = r->order[j - 1];
    r->order[j] = (uint32_t)i;
  }
}

static void compare_with(const recsort_schema *schema, const reference *r, const char *algorithm,
                         bool may_be_invalid)
{
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = "cpu", .algorithm = algorithm, .threads = 2};
  recsort_sorter *sorter;
  uint32_t order[MOST_RECORDS];
  if (recsort_sorter_create(schema, &options, &sorter, NULL) != RECSORT_OK) return;
  const recsort_status status = recsort_argsort(sorter, r->records, r->count, order, 32, NULL);
  EXPECT(status == RECSORT_OK || (status == RECSORT_INVALID_RECORD && may_be_invalid));
  if (status == RECSORT_OK) EXPECT(memcmp(order, r->order, r->count * sizeof *order) == 0);
  recsort_sorter_destroy(sorter);
}

static void test_records(const recsort_schema *schema, const uint8_t *records, size_t size)
{
  const recsort_schema_desc *const desc = recsort_schema_describe(schema);
  reference r = {.record_size = desc->size, .records = records, .key_count = desc->key_count};
  bool has_enum = false;
  if (r.key_count == 0 || r.key_count > MOST_KEYS) return;
  r.count = size / r.record_size;
  if (r.count > MOST_RECORDS) r.count = MOST_RECORDS;
  for (size_t i = 0; i < r.key_count; i++)
    r.keys[i] = find_key(desc->fields, desc->field_count, &desc->keys[i]);
  insertion_sort(&r);
  recsort_sorter *sorter;
  if (recsort_sorter_create(schema, NULL, &sorter, NULL) != RECSORT_OK) return;
  for (size_t i = 0; i < r.key_count; i++)
    has_enum = has_enum || key_of(sorter, i).field->type == RECSORT_ENUM;
  recsort_sorter_destroy(sorter);
  compare_with(schema, &r, "parallel", has_enum);
  compare_with(schema, &r, "sequential", has_enum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const uint8_t *end = size ? memchr(data, 0, size) : NULL;
  recsort_schema *schema = NULL;
  if (!end) return 0;
  const size_t text = (size_t)(end - data);
  if (recsort_schema_load_memory(data, text, "fuzz", NULL, &schema, NULL) != RECSORT_OK) return 0;
  test_records(schema, end + 1, size - text - 1);
  recsort_schema_destroy(schema);
  return 0;
}
