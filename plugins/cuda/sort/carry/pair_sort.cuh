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
                                          const device_certificate &certificate)
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
  sort.numbered = !job.values_in;
  sort.multiprocessors = multiprocessors;
  sort.stream = job.stream;
  sort.certificate = certificate;
  return start(sort);
}

/* ---- Records ---- */

/* Tiles of the first level are smaller than the plan has memory for; but nothing is in the place
 * of the indices before these are written. False if even that is too little. */
template <class Key>
static bool divide_for_records(const carry_plan &plan, char *indices,
                               memory_of<Key, uint32_t> *memory)
{
  const uint64_t tiles = carry_most_tiles(&plan, 0), buckets = plan.buckets[0];
  workspace there = {indices, 0};
  memory->tiles[0].tile = plan.tiles[0];
  memory->tiles[0].starts = (uint16_t *)there.take(tiles * buckets * sizeof(uint16_t));
  memory->befores = NULL;
  if (plan.far_befores)
    memory->befores = (uint32_t *)there.take(buckets * carry_befores_bytes(&plan));
  return there.taken <= plan.count * sizeof(uint32_t);
}

template <class Key> bool record_sort<Key>::suits(const carry_plan &plan, const device_job &job)
{
  carry_plan moves = plan;
  memory_of<Key, uint32_t> memory = {};
  return carry_move_records(&moves, job.shared_bytes, DEVICE_MOST_STAGED, sizeof(Key)) &&
         divide_for_records<Key>(moves, NULL, &memory);
}

template <class Key>
device_status record_sort<Key>::sort(const carry_plan &plan, const device_job &job,
                                     const device_buffers &buffers)
{
  RS_ASSERT(buffers.words && job.move);
  pair_space space = {{buffers.keys[0], buffers.indices[0]}, 0, {(char *)buffers.extra, 0}};
  const device_words &words = *buffers.words;
  const device_move &move = *job.move;
  carry_plan moves = plan;
  sort_state<Key, uint32_t> sort = {};
  (void)carry_move_records(&moves, job.shared_bytes, (uint32_t)move.size, sizeof(Key));
  sort.plan = &moves;
  sort.memory = divide<Key, uint32_t>(plan, &space);
  (void)divide_for_records<Key>(moves, (char *)buffers.indices[1], &sort.memory);
  sort.order = key_order_of<Key>(words.code, job.count);
  sort.in.keys = (Key *)words.data;
  sort.stride = words.stride;
  sort.keys_wanted = false;
  sort.numbered = sort.placed = true;
  sort.certificate = job.certificate;
  sort.out = {(Key *)buffers.keys[1], (uint32_t *)buffers.indices[1]};
  sort.multiprocessors = job.multiprocessors;
  sort.stream = job.stream;
  return start_records<Key>(sort, {record_units_of(move.from, move.to, move.size, CARRY_BLOCK),
                                   (uint32_t)move.size,
                                   (uint32_t)((uintptr_t)words.data - (uintptr_t)move.from)});
}

} // namespace carry

#endif
