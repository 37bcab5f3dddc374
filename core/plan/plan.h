/* plan.h - compiles a schema and its keys to a key program, which says how to make the key from a
 * record's bits.
 *
 * The plan uses as few bits as possible: one for a bool, those of the range of values for an enum,
 * its width for a bitfield. Keys follow each other without gaps, the most significant first, down
 * to bit 0.
 */
#ifndef RS_PLAN_PLAN_H
#define RS_PLAN_PLAN_H

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "layout/layout.h"
#include "recsort/plugin.h"

/* A point that is set between calls, and the operands that have its coordinates. */
typedef struct rs_parameter {
  const char *name;
  recsort_key_step *operands;
  size_t count;
  bool is_set;
} rs_parameter;

/* The bytes of a field in a record. A bitfield has none of its own. */
typedef struct rs_extent {
  const char *name;
  uint64_t offset;
  uint64_t size;
} rs_extent;

/* What a call compares, if that is not the whole key of a record: some bits of it, and before them
 * the number of the record's segment. The number is 0 for records before all segments, then 1, 2
 * ...; behind all segments it is one more. Records outside have a key of 0, so they stay. */
typedef struct rs_scope {
  unsigned first_bit, bits; /* of a key of at most 64 bits; bits 0: all */
  const void *offsets;      /* segment s is records [offset s, offset s + 1); NULL: no segments */
  size_t segment_count;
  unsigned offset_bits;
} rs_scope;

/* All members are in the arena of rs_plan_create; nothing points into the schema. */
typedef struct rs_plan {
  recsort_key_program program; /* with the columns and the scope of a call */
  uint32_t key_bits;           /* those of the program outside of calls */
  uint32_t key_width;
  rs_scope scope;
  recsort_key_info *keys;
  size_t key_count;
  rs_parameter *parameters; /* one for each key that has one */
  size_t parameter_count;
  rs_extent *fields; /* of the record itself, for columns */
  size_t field_count;
  recsort_key_column *places; /* room for the program's columns */
} rs_plan;

/* Makes the plan of `keys`, or of the schema's own if key_count is 0. `reverse` reverses each
 * order, but not where NaNs go. Errors: INVALID_KEY, OUT_OF_MEMORY. */
recsort_status rs_plan_create(const recsort_schema *schema, const recsort_key_desc *keys,
                              size_t key_count, bool reverse, rs_arena *arena, rs_plan *plan,
                              recsort_error *error);

/* Sets the point of all keys that have one of that name. Errors: INVALID_ARGUMENT, and then nothing
 * has changed. */
recsort_status rs_plan_set_parameter(rs_plan *plan, const char *name, const double *values,
                                     size_t count, recsort_error *error);

/* The same, but the values are read from memory of a device when a sort there makes keys. */
recsort_status rs_plan_bind_parameter(rs_plan *plan, const char *name, const double *values,
                                      size_t count, recsort_error *error);

/* INVALID_ARGUMENT if a parameter is not set yet. */
recsort_status rs_plan_check_parameters(const rs_plan *plan, recsort_error *error);

/* Bits of the integer that holds a key of so many bits. */
static inline uint32_t rs_width_for(uint64_t bits)
{
  return bits <= 32 ? 32 : (uint32_t)((bits + 63) / 64 * 64);
}

/* ---- Scopes ---- */

/* Makes the keys those of the scope, until rs_plan_clear_scope. */
void rs_plan_set_scope(rs_plan *plan, const rs_scope *scope);
void rs_plan_clear_scope(rs_plan *plan);

/* Number `i` of offsets of 32 or 64 bits. */
static inline uint64_t rs_offset_at(const void *offsets, unsigned bits, size_t i)
{
  RS_ASSERT(bits == 32 || bits == 64);
  return bits == 32 ? ((const uint32_t *)offsets)[i] : ((const uint64_t *)offsets)[i];
}

/* The number of the segment of a record: the number of offsets that are not above it. */
size_t rs_scope_number(const rs_scope *scope, size_t record);

/* True for a record that is in no segment though there are segments. */
bool rs_scope_leaves(const rs_scope *scope, size_t record);

/* ---- Columns ---- */

/* Notes the fields that may be columns. False: no memory. */
bool rs_plan_note_fields(const recsort_schema *schema, rs_arena *arena, rs_plan *plan);

/* Gives the program these columns, of `count` elements; the caller takes them away again. Errors:
 * INVALID_ARGUMENT, OUT_OF_MEMORY (no memory holds so many); then it has none. */
recsort_status rs_plan_set_columns(rs_plan *plan, const recsort_column *columns,
                                   size_t column_count, size_t count, recsort_error *error);

/* A number that tells columns from others; 0: the program has none. */
uint64_t rs_plan_columns_mark(const rs_plan *plan);

/* True if the columns and `memory` overlap. */
bool rs_plan_reads(const rs_plan *plan, size_t count, const void *memory, size_t size);

#endif
