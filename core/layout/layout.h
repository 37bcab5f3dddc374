/* layout.h - from the description of a schema to fields with offsets and sizes.
 *
 * rs_layout_create checks the description: names, overlaps, sizes, bitfields, enums, depth, and
 * that every key names a field that can be ordered.
 */
#ifndef RS_LAYOUT_LAYOUT_H
#define RS_LAYOUT_LAYOUT_H

#include "base/error.h"
#include "base/memory.h"

/* No record is larger, so that sums of offsets and sizes are far from overflow. */
#define RS_RECORD_MAX_BYTES INT32_MAX

/* A schema is its layout: everything is in `arena`. */
struct recsort_schema {
  rs_arena arena;
  const char *record;
  const char *source; /* NULL: nothing to call it */
  size_t record_size;
  uint64_t skip;
  uint64_t trailer;
  recsort_field *fields;
  size_t field_count;
  recsort_key_desc *keys;
  size_t key_count;
};

/* Where a key's path leads: a field that is neither a struct nor an array, and the offset of the
 * value from the start of the record. */
typedef struct rs_target {
  const recsort_field *field;
  uint64_t offset;
} rs_target;

/* What an offset of 0 says where a layout computes offsets: nothing in a description that was
 * zeroed first, as it was not given; something in one that was read from a text. */
typedef enum rs_zero_offset { RS_ZERO_NOT_GIVEN, RS_ZERO_GIVEN } rs_zero_offset;

/* Lays out `desc` into `schema`, whose arena is initialised and belongs to the caller also on
 * failure. Nothing of `desc` is kept. */
recsort_status rs_layout_create(const recsort_schema_desc *desc, rs_zero_offset zero,
                                recsort_schema *schema, recsort_error *error);

/* Follows a key's path and checks that its nan is one that its type can have. Errors: INVALID_KEY,
 * at the key's line and column in `source` (NULL: none). */
recsort_status rs_layout_find(const recsort_schema *schema, const recsort_key_desc *key,
                              const char *source, rs_target *target, recsort_error *error);

#endif
