/* plan.h - from a schema and keys to a key program: which bits of which bytes make the key.
 *
 * The plan uses the fewest bits: a bool takes one, an enum those of its range of values, a bitfield
 * its width. The keys follow each other without gaps, the most significant first, and end at bit 0.
 */
#ifndef RS_PLAN_PLAN_H
#define RS_PLAN_PLAN_H

#include "base/error.h"
#include "base/memory.h"
#include "layout/layout.h"
#include "recsort/plugin.h"

/* Everything is in the arena that rs_plan_create was given; nothing points into the schema. */
typedef struct rs_plan {
  recsort_key_program program;
  recsort_key_info *keys;
  size_t key_count;
} rs_plan;

/* Plans for `keys`, or for the schema's own if key_count is 0. `reverse` reverses each order, but
 * not where NaNs go. Errors: INVALID_KEY, OUT_OF_MEMORY. */
recsort_status rs_plan_create(const recsort_schema *schema, const recsort_key_desc *keys,
                              size_t key_count, bool reverse, rs_arena *arena, rs_plan *plan,
                              recsort_error *error);

#endif
