/* Two records: their keys compare as their fields do. The first bytes pick a type, a byte order, a
 * direction, where NaNs go, and null values. */
#include <string.h>

#include "fuzz.h"
#include "recsort/tools.h"
#include "support/oracle.h"

enum { CHOICES = 4, MOST_BYTES = 40 };

static const recsort_type types[] = {RECSORT_BOOL,           RECSORT_INT8,
                                     RECSORT_INT16,          RECSORT_INT32,
                                     RECSORT_INT64,          RECSORT_UINT8,
                                     RECSORT_UINT16,         RECSORT_UINT32,
                                     RECSORT_UINT64,         RECSORT_FLOAT16,
                                     RECSORT_FLOAT32,        RECSORT_FLOAT64,
                                     RECSORT_BFLOAT16,       RECSORT_CHAR,
                                     RECSORT_BYTES,          RECSORT_CSTRING,
                                     RECSORT_INT24,          RECSORT_UINT40,
                                     RECSORT_INT48,          RECSORT_UINT56,
                                     RECSORT_INT1,           RECSORT_INT4,
                                     RECSORT_UINT2,          RECSORT_FLOAT8_E3M4,
                                     RECSORT_FLOAT8_E4M3,    RECSORT_FLOAT8_E4M3B11FNUZ,
                                     RECSORT_FLOAT8_E4M3FN,  RECSORT_FLOAT8_E4M3FNUZ,
                                     RECSORT_FLOAT8_E5M2,    RECSORT_FLOAT8_E5M2FNUZ,
                                     RECSORT_FLOAT8_E8M0FNU, RECSORT_FLOAT6_E2M3FN,
                                     RECSORT_FLOAT6_E3M2FN,  RECSORT_FLOAT4_E2M1FN};
enum { TYPES = sizeof types / sizeof *types };

static void compare_keys(const recsort_schema *schema, const oracle_key *key, const uint8_t *a,
                         const uint8_t *b)
{
  _Alignas(8) unsigned char left[MOST_BYTES + 8], right[MOST_BYTES + 8];
  recsort_sorter *sorter = NULL;
  EXPECT(recsort_sorter_create(schema, NULL, &sorter, NULL) == RECSORT_OK);
  EXPECT(recsort_encode(sorter, a, 1, left, NULL) == RECSORT_OK);
  EXPECT(recsort_encode(sorter, b, 1, right, NULL) == RECSORT_OK);
  const int found = recsort_key_compare(sorter, left, right);
  EXPECT((found > 0) - (found < 0) == oracle_compare(key, 1, a, b));
  recsort_sorter_destroy(sorter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size < CHOICES + 2) return 0;
  const recsort_type type = types[data[0] % TYPES];
  const recsort_type_info *const info = recsort_type_describe(type);
  const bool string = info->type_class == RECSORT_CLASS_BYTES;
  const bool is_signed = info->type_class == RECSORT_CLASS_SIGNED;
  const bool number = is_signed || info->type_class == RECSORT_CLASS_UNSIGNED;
  const int64_t nulls[] = {0, is_signed ? (int8_t)data[2] : data[2]};
  const bool nullable = number && info->bits >= 8 && data[3] & 4 && data[2];
  const bool has_nan = oracle_is_float(type) || nullable;
  const recsort_field_desc field = {.name = "f",
                                    .type = type,
                                    .endian =
                                        data[1] & 1 ? RECSORT_BIG_ENDIAN : RECSORT_LITTLE_ENDIAN,
                                    .size = string ? data[2] % MOST_BYTES + 1u : 0,
                                    .nulls = nulls,
                                    .null_count = nullable ? 2 : 0,
                                    .offset = RECSORT_NO_OFFSET};
  const recsort_key_desc wanted = {.path = "f",
                                   .order = data[1] & 2 ? RECSORT_DESCENDING : RECSORT_ASCENDING,
                                   .nan = has_nan ? (recsort_nan)(data[3] % 3) : RECSORT_NAN_LAST};
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "F",
                                    .fields = &field,
                                    .field_count = 1,
                                    .keys = &wanted,
                                    .key_count = 1};
  recsort_schema *schema = NULL;
  EXPECT(recsort_schema_create(&desc, NULL, &schema, NULL) == RECSORT_OK);
  const size_t record = recsort_schema_describe(schema)->size;
  const oracle_key key = {.type = type,
                          .endian = field.endian,
                          .size = record,
                          .order = wanted.order,
                          .nan = wanted.nan,
                          .nulls = nulls,
                          .null_count = field.null_count};
  if (size >= CHOICES + 2 * record)
    compare_keys(schema, &key, data + CHOICES, data + CHOICES + record);
  recsort_schema_destroy(schema);
  return 0;
}
