/* pair_sort.cuh - a carry sort of a job's keys and values. */
#ifndef RECSORT_CUDA_CARRY_PAIR_SORT_CUH
#define RECSORT_CUDA_CARRY_PAIR_SORT_CUH

#include "cuda/sort/carry/carry_sort.cuh"
#include "cuda/sort/carry/pair_sorts.cuh"
#include "cuda/workspace.cuh"

namespace carry
{

template <class Key, class Value>
bool pair_sort<Key, Value>::plan(carry_plan *plan, uint64_t count, uint64_t shared)
{
  return carry_plan_of(plan, count, shared, element_bytes<Key, Value>, sizeof(Key));
}

/* A sort that has its arrays from `from`. Keys that are not wanted are written there, too. */
template <class Key, class Value, class Space>
static sort_state<Key, Value> state_of(const carry_plan &plan, const device_pairs &job,
                                       uint32_t multiprocessors, Space *from)
{
  sort_state<Key, Value> sort = {};
  sort.plan = &plan;
  sort.memory = divide<Key, Value>(plan, from);
  sort.order = key_order_of<Key>(job);
  sort.in = {(Key *)job.keys_in, (Value *)job.values_in};
  sort.out = {(Key *)job.keys_out, (Value *)job.values_out};
  if (!job.keys_out) sort.out.keys = (Key *)from->take(job.count * sizeof(Key));
  sort.multiprocessors = multiprocessors;
  sort.stream = job.stream;
  return sort;
}

template <class Key, class Value>
uint64_t pair_sort<Key, Value>::bytes(const carry_plan &plan, const device_pairs &job)
{
  workspace space = {};
  (void)state_of<Key, Value>(plan, job, 0, &space);
  return space.taken;
}

template <class Key, class Value>
device_status pair_sort<Key, Value>::sort(const carry_plan &plan, const device_pairs &job,
                                          uint32_t multiprocessors, void *memory, const void **keys)
{
  workspace space = {(char *)memory, 0};
  const sort_state<Key, Value> sort = state_of<Key, Value>(plan, job, multiprocessors, &space);
  *keys = sort.out.keys;
  return start(sort);
}

} // namespace carry

#endif
