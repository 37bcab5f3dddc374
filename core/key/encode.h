/* encode.h - turns records into keys by a key program, and back. */
#ifndef RS_KEY_ENCODE_H
#define RS_KEY_ENCODE_H

#include "base/error.h"
#include "recsort/team.h"
#include "plan/plan.h"

/* Bytes of one key: 4, 8, 16, 24 ... */
static inline size_t rs_key_size(const rs_plan *plan)
{
  return plan->program.key_width / 8;
}

/* Writes the keys of `count` records to `keys`, which is aligned to 8 bytes, with a team of
 * threads. Number `first` is that of the first record: in the columns, if the program has some
 * (then `records` is ignored), in the segments of the scope, and in messages. INVALID_RECORD names
 * the first record with a value that its schema rules out. */
recsort_status rs_key_encode(const rs_plan *plan, const void *records, size_t count, void *keys,
                             team t, size_t first, recsort_error *error);

/* The same by the calling thread alone; false: a value is invalid. `keys` is aligned to 8 bytes, or
 * to 4 if a key has 4. */
bool rs_key_encode_part(const rs_plan *plan, const void *records, size_t first, size_t count,
                        void *keys);

/* The same for a program, whole keys only. */
bool rs_key_encode_some(const recsort_key_program *program, const void *records, size_t first,
                        size_t count, void *keys);

/* The encoder for plugins, which make the keys of whole records themselves. */
uint32_t rs_key_encode_for_plugin(const recsort_key_program *program, const void *records,
                                  uint64_t count, void *keys);

/* True if each record is its own key: an unsigned integer of 32 or 64 bits in ascending order, all
 * of which count. */
bool rs_key_is_record(const rs_plan *plan);

/* Writes the key fields of one record from its key. Leaves the other bytes alone. */
void rs_key_decode(const rs_plan *plan, const void *key, void *record);

/* Less than, equal to or greater than 0. */
int rs_key_compare(const rs_plan *plan, const void *a, const void *b);

#endif
