/* plan.h - compiles a schema and its keys to a key program, which says how to make the key from a
 * record's bits.
 *
 * The plan uses as few bits as possible: one for a bool, those of the range of values for an enum,
 * its width for a bitfield. Keys follow each other without gaps, the most significant first, down
 * to bit 0.
 */
#ifndef RS_PLAN_PLAN_H
#define RS_PLAN_PLAN_H

#include "base/error.h"
#include "base/memory.h"
#include "layout/layout.h"
#include "recsort/plugin.h"

/* All members are in the arena of rs_plan_create; nothing points into the schema. */
typedef struct rs_plan {
  recsort_key_program program;
  recsort_key_info *keys;
  size_t key_count;
} rs_plan;

/* Makes the plan of `keys`, or of the schema's own if key_count is 0. `reverse` reverses each
 * order, but not where NaNs go. Errors: INVALID_KEY, OUT_OF_MEMORY. */
recsort_status rs_plan_create(const recsort_schema *schema, const recsort_key_desc *keys,
                              size_t key_count, bool reverse, rs_arena *arena, rs_plan *plan,
                              recsort_error *error);

#endif
