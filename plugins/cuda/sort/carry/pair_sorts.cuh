/* pair_sorts.cuh - the carry sorts that device_carry.cu chooses from, for each type of key and of
 * value. They are compiled in separate files: keys_32.cu, keys_64.cu and keys_128.cu. */
#ifndef RECSORT_CUDA_CARRY_PAIR_SORTS_CUH
#define RECSORT_CUDA_CARRY_PAIR_SORTS_CUH

#include "cuda/sort/carry/elements.cuh"

namespace carry
{

/* True if keys that compare as equal are the same. */
static inline bool compares_all(const device_pairs &job)
{
  return job.kind != RECSORT_KEY_FLOAT && job.bits == job.key_width;
}

/* The memory of a sort. Elements may have arrays of their own, one of which the keys may be in. */
struct pair_memory {
  void *keys, *values; /* NULL: in `rest` */
  void *rest;
};

/* Sorts pairs, `Key` being the unsigned integer of a key's size, and `Value` no_value for keys
 * alone. */
template <class Key, class Value> struct pair_sort {
  /* Of so many; `exact`: all bits of keys are compared. False: it is not for so many. */
  static bool plan(carry_plan *plan, uint64_t count, uint64_t shared, bool exact);
  /* The same of job.segments, of which the longest is known. */
  static bool plan_segments(carry_plan *plan, const device_pairs &job, uint64_t shared);
  /* Of memory.rest, with room for sorted keys unless these are wanted, and for elements unless
   * these are `apart`. */
  static uint64_t bytes(const carry_plan &plan, bool wanted, bool apart);
  static device_status sort(const carry_plan &plan, const device_pairs &job,
                            uint32_t multiprocessors, const pair_memory &memory,
                            const device_certificate &certificate);
};

/* Sorts records by words of them; two levels. */
template <class Key> struct record_sort {
  /* True if it sorts records of up to DEVICE_MOST_STAGED bytes. The plan is that of pairs of words
   * and indices. */
  static bool suits(const carry_plan &plan, const device_job &job);
  /* Moves the records of job.move to its other array, in an order of its own. Writes to side 1
   * their sorted words, and where in that array the records are. Side 0 and buffers.extra are
   * memory. */
  static device_status sort(const carry_plan &plan, const device_job &job,
                            const device_buffers &buffers);
};

} // namespace carry

#endif
