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
  pair_space space = {
      {memory.keys, memory.values}, memory.keys ? 0u : 2u, {(char *)memory.rest, 0}};
  sort_state<Key, Value> sort = {};
  sort.plan = &plan;
  sort.memory = divide<Key, Value>(plan, &space);
  sort.order = key_order_of<Key>(job);
  sort.in = {(Key *)job.keys_in, (Value *)job.values_in};
  sort.out = {(Key *)job.keys_out, (Value *)job.values_out};
  if (!job.keys_out) sort.out.keys = (Key *)space.take(job.count * sizeof(Key));
  sort.multiprocessors = multiprocessors;
  sort.stream = job.stream;
  *keys = sort.out.keys;
  return start(sort);
}

} // namespace carry

#endif
