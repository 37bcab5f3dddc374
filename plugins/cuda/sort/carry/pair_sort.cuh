/* pair_sort.cuh - a carry sort of a job's keys and values. */
#ifndef RECSORT_CUDA_CARRY_PAIR_SORT_CUH
#define RECSORT_CUDA_CARRY_PAIR_SORT_CUH

#include "cuda/sort/carry/carry_sort.cuh"
#include "cuda/sort/carry/pair_sorts.cuh"
#include "cuda/workspace.cuh"

namespace carry
{

template <class Key, class Value>
bool pair_sort<Key, Value>::plan(carry_plan *plan, uint64_t count, uint64_t shared, bool exact)
{
  return carry_plan_of(plan, count, shared, element_bytes<Key, Value>, sizeof(Key),
                       exact && can_be_keys_only<Key, Value>);
}

template <class Key, class Value>
bool pair_sort<Key, Value>::plan_segments(carry_plan *plan, const device_pairs &job,
                                          uint64_t shared)
{
  const uint64_t longest = job.segments.most ? job.segments.most : job.count;
  return job.segments.count > 0 &&
         carry_plan_segments(plan, job.count, job.segments.count, plan_min(longest, job.count),
                             shared, element_bytes<Key, Value>, sizeof(Key),
                             compares_all(job) && can_be_keys_only<Key, Value>);
}

/* Arrays of a sort, of which the first ones may be apart: the elements. */
struct pair_space {
  void *elements[2];
  uint32_t next; /* 2: all are in `rest` */
  workspace rest;

  void *take(uint64_t bytes)
  {
    return next < 2 ? elements[next++] : rest.take(bytes);
  }
};

static inline pair_space space_of(const pair_memory &memory)
{
  return {{memory.keys, memory.values}, memory.keys ? 0u : 2u, {(char *)memory.rest, 0}};
}

template <class Key, class Value>
uint64_t pair_sort<Key, Value>::bytes(const carry_plan &plan, bool wanted, bool apart)
{
  pair_space space = {{}, apart ? 0u : 2u, {}};
  (void)divide<Key, Value>(plan, &space);
  if (!wanted) (void)space.take(plan.count * sizeof(Key));
  return space.rest.taken;
}

template <class Key, class Value>
device_status pair_sort<Key, Value>::sort(const carry_plan &plan, const device_pairs &job,
                                          uint32_t multiprocessors, const pair_memory &memory,
                                          const void **keys)
{
  pair_space space = space_of(memory);
  sort_state<Key, Value> sort = {};
  sort.plan = &plan;
  sort.memory = divide<Key, Value>(plan, &space);
  sort.order = key_order_of<Key>(job);
  sort.segments = job.segments;
  sort.in = {(Key *)job.keys_in, (Value *)job.values_in};
  sort.out = {(Key *)job.keys_out, (Value *)job.values_out};
  if (!job.keys_out) sort.out.keys = (Key *)space.take(job.count * sizeof(Key));
  sort.multiprocessors = multiprocessors;
  sort.stream = job.stream;
  *keys = sort.out.keys;
  return start(sort);
}

template <class Key, class Value>
device_status pair_sort<Key, Value>::check_segments(const carry_plan &plan, const device_pairs &job,
                                                    const pair_memory &memory, const void *keys,
                                                    uint32_t *disorder)
{
  pair_space space = space_of(memory);
  const memory_of<Key, Value> all = divide<Key, Value>(plan, &space);
  const check_args<Key, Value> args = {key_order_of<Key>(job),
                                       all.sections,
                                       all.begins,
                                       all.tile_count,
                                       plan.tiles[0],
                                       (const Key *)keys,
                                       job.values_in ? NULL : (const Value *)job.values_out,
                                       disorder};
  return device_launch(carry::check_segments<Key, Value>, carry_most_tiles(&plan, 0), CARRY_BLOCK,
                       0, job.stream, args);
}

} // namespace carry

#endif
