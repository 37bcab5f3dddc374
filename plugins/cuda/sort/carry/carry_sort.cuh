/* carry_sort.cuh - sorts many keys with values that move along: divides memory and launches the
 * kernels.
 *
 *   choose_splitters   a sample of all keys         splitters of the first level
 *   split              the caller's arrays          tiles by bucket
 *   choose_splitters   samples of the sections      sections and their splitters   (two levels)
 *   split              runs of a section            its tiles by bucket
 *   list_parts         where buckets begin          parts that fit in shared memory
 *   sort_parts         runs of a part               the caller's arrays, sorted
 *
 * Segments are the sections of the only level:
 *
 *   list_segments      where segments begin         sections, and their tiles
 *   keep_outside       elements in no segment       the same elements, in their places
 *   choose_splitters   samples of the segments      their splitters
 *   split ...          as above
 */
#ifndef RECSORT_CUDA_CARRY_SORT_CUH
#define RECSORT_CUDA_CARRY_SORT_CUH

#include "cuda/sort/carry/keys_only.cuh"
#include "cuda/sort/carry/segments.cuh"
#include "cuda/sort/carry/sort_parts.cuh"
#include "cuda/sort/carry/splitters.cuh"

namespace carry
{

/* What a sort has in its workspace. */
template <class Key, class Value> struct memory_of {
  element_array<Key, Value> elements;
  split_tiles tiles[CARRY_MAX_LEVELS];
  splitter_set<Key> sets[CARRY_MAX_LEVELS];
  section *sections;
  tile_begin *begins;
  uint32_t *tile_count; /* of segments */
  uint32_t *befores;
  part_list<Key> list;
};

/* Takes arrays from `from`, which has take(bytes). */
template <class Key, class Value, class Space>
static memory_of<Key, Value> divide(const carry_plan &plan, Space *from)
{
  RS_ASSERT(plan.levels > 0 && plan.levels <= CARRY_MAX_LEVELS);
  memory_of<Key, Value> memory = {};
  memory.elements.keys = (Key *)from->take(plan.count * sizeof(Key));
  if constexpr (has_value<Value>)
    memory.elements.values = (Value *)from->take(plan.count * sizeof(Value));
  for (uint32_t level = 0; level < plan.levels; level++) {
    const uint64_t sections = level ? plan.buckets[0] : plan_max(plan.segments, 1);
    const uint64_t buckets = plan.buckets[level];
    const uint64_t starts = carry_most_tiles(&plan, level) * buckets * sizeof(uint16_t);
    const uint64_t befores =
        level && plan.far_befores ? plan.buckets[0] * carry_befores_bytes(&plan) : 0;
    /* Befores are last read before starts are written, so they share memory. */
    void *const both = from->take(plan_max(starts, befores));
    if (befores) memory.befores = (uint32_t *)both;
    memory.tiles[level] = {(uint16_t *)both, plan.tiles[level], (uint32_t)buckets};
    memory.sets[level] = {
        (Key *)from->take(sections * buckets * sizeof(Key)),
        (uint32_t *)from->take(sections * carry_table_words((uint32_t)buckets) * sizeof(uint32_t)),
        (uint32_t)buckets};
  }
  if (plan.levels > 1 || plan.segments) {
    const uint64_t tiles = carry_most_tiles(&plan, plan.levels - 1);
    memory.sections = (section *)from->take(carry_sections(&plan) * sizeof(section));
    memory.begins = (tile_begin *)from->take(tiles * sizeof(tile_begin));
  }
  if (plan.segments) memory.tile_count = (uint32_t *)from->take(sizeof(uint32_t));
  memory.list.parts =
      (sorted_part<Key> *)from->take(carry_most_parts(&plan) * sizeof(sorted_part<Key>));
  memory.list.hard =
      (sorted_part<Key> *)from->take(carry_most_parts(&plan) * sizeof(sorted_part<Key>));
  memory.list.count = (uint32_t *)from->take(2 * sizeof(uint32_t));
  memory.list.hard_count = memory.list.count + 1;
  return memory;
}

template <class Key, class Value> struct sort_state {
  const carry_plan *plan;
  memory_of<Key, Value> memory;
  key_order<Key> order;
  device_segments segments; /* if there are any */
  element_array<Key, Value> in, out;
  bool keys_wanted = true;       /* else out.keys are room for keys */
  uint64_t stride = sizeof(Key); /* bytes from a key of `in` to the next one */
  bool numbered = false;         /* values ascend among equal keys */
  bool placed = false;           /* of sort_parts_args */
  uint32_t multiprocessors;
  void *stream;
  device_certificate certificate;
};

/* For few samples of sections a block has half as many threads, so that it starts beside those of
 * `split`. */
template <class Key, class Value, bool first>
static device_status start_choose(const sort_state<Key, Value> &sort)
{
  const carry_plan &plan = *sort.plan;
  const memory_of<Key, Value> &memory = sort.memory;
  const uint32_t level = first ? 0 : plan.levels - 1;
  const uint64_t shared = carry_choose_bytes(&plan, level, sizeof(Key));
  const uint64_t befores = level && !plan.far_befores ? carry_befores_bytes(&plan) : 0;
  const choose_args<Key> args = {sort.order,
                                 level ? sort.out.keys : sort.in.keys,
                                 sort.stride,
                                 carry_samples(&plan, level),
                                 memory.sets[level],
                                 memory.list.count,
                                 {memory.tiles[0], plan.tiles[1], sort.order.count,
                                  memory.sets[0].splitters, memory.sections, memory.begins},
                                 plan.segments > 0,
                                 memory.befores,
                                 (uint32_t)shared};
  const uint64_t sections = first ? 1 : carry_sections(&plan), bytes = shared + befores;
  if constexpr (!first)
    if (!plan.segments && args.samples <= CARRY_FEW_SAMPLES)
      return device_launch(choose_splitters<Key, first, CARRY_BLOCK>, sections, CARRY_BLOCK, bytes,
                           sort.stream, args);
  return device_launch(choose_splitters<Key, first, CARRY_CHOOSE_BLOCK>, sections,
                       CARRY_CHOOSE_BLOCK, bytes, sort.stream, args);
}

/* Of values as the sort's, or of records. */
template <bool first, class Key, class Sorted, class Value>
static device_status
start_split(const sort_state<Key, Sorted> &sort, const element_array<Key, Value> &from,
            const element_array<Key, Value> &to, const moved_records &moved = {})
{
  const carry_plan &plan = *sort.plan;
  const memory_of<Key, Sorted> &memory = sort.memory;
  const uint32_t bytes = is_moved<Value> ? moved.size : element_bytes<Key, Value>;
  const uint32_t level = first ? 0 : 1;
  RS_ASSERT(level < plan.levels);
  const split_args<Key, Value> args = {sort.order,
                                       from,
                                       memory.sets[level],
                                       memory.tiles[0],
                                       memory.sections,
                                       memory.begins,
                                       memory.tile_count,
                                       memory.tiles[level],
                                       to,
                                       moved,
                                       sort.certificate};
  const uint64_t tiles = carry_most_tiles(&plan, level);
  if constexpr (can_be_keys_only<Key, Value>)
    if (plan.keys_only)
      return device_launch(split_keys<first>, tiles, CARRY_BLOCK,
                           carry_keys_bytes(plan.buckets[level]), sort.stream, args);
  return device_launch(split<Key, Value, first>, tiles, CARRY_BLOCK,
                       plan.tiles[level] * bytes +
                           carry_split_bytes(plan.tiles[level], plan.buckets[level], sizeof(Key)) +
                           16,
                       sort.stream, args);
}

template <class Key, class Value>
static device_status start_usual_parts(const sort_state<Key, Value> &sort,
                                       const sort_parts_args<Key, Value> &args, uint64_t shared)
{
  const carry_plan &plan = *sort.plan;
  const uint64_t parts = carry_usual_parts(&plan);
  if constexpr (can_be_keys_only<Key, Value>)
    if (plan.keys_only)
      return device_launch(sort_key_parts<>, plan_min(parts, 3 * sort.multiprocessors),
                           CARRY_SORT_BLOCK, carry_sort_bytes(plan.most, sizeof(Key)), sort.stream,
                           args);
  return device_launch(sort_parts<Key, Value>, plan_min(parts, 2 * sort.multiprocessors),
                       CARRY_SORT_BLOCK, shared, sort.stream, args);
}

template <class Key, class Value>
static device_status start_parts(const sort_state<Key, Value> &sort)
{
  const carry_plan &plan = *sort.plan;
  const memory_of<Key, Value> &memory = sort.memory;
  const uint32_t last = plan.levels - 1;
  const uint64_t sections = carry_sections(&plan);
  const splitter_set<Key> none = {};
  part_list<Key> list = memory.list;
  list.certificate = sort.certificate;
  const parts_args<Key> args = {memory.tiles[last], sort.order.count,
                                memory.sections,    last ? memory.sets[0] : none,
                                memory.sets[last],  plan.most,
                                plan.joined,        plan.keys_only,
                                sort.order.floats,  list};
  device_status status =
      device_launch(list_parts<Key>, sections, sections == 1 ? CARRY_LIST_BLOCK : CARRY_BLOCK, 0,
                    sort.stream, args);
  const sort_parts_args<Key, Value> parts = {
      sort.order, memory.elements, memory.tiles[last], memory.sections, list,
      plan.most,  sort.out,        sort.keys_wanted,   sort.numbered,   sort.placed};
  const uint64_t shared =
      plan.most * element_bytes<Key, Value> + carry_sort_bytes(plan.most, sizeof(Key)) + 16;
  if (!status) status = start_usual_parts(sort, parts, shared);
  if (!status)
    status = device_launch(sort_hard<Key, Value>, 2 * sort.multiprocessors, CARRY_SORT_BLOCK,
                           shared, sort.stream, parts);
  return status;
}

template <class Key, class Value>
static device_status start_segments(const sort_state<Key, Value> &sort)
{
  RS_ASSERT(sort.plan->segments > 0);
  const carry_plan &plan = *sort.plan;
  const memory_of<Key, Value> &memory = sort.memory;
  const segments_args args = {sort.segments,     (uint32_t)plan.count, plan.tiles[0],
                              plan.most,         memory.sections,      memory.begins,
                              memory.tile_count, memory.list.count};
  return device_launch(list_segments<>, plan_blocks(plan.segments, CARRY_BLOCK), CARRY_BLOCK, 0,
                       sort.stream, args);
}

/* Copies elements that are not sorted: in no segment, or behind as many as the device says. */
template <class Key, class Value>
static device_status start_outside(const sort_state<Key, Value> &sort)
{
  const bool keys = sort.in.keys != sort.out.keys, values = sort.in.values != sort.out.values;
  if (!(sort.plan->segments || sort.order.count.told) || !(keys || (has_value<Value> && values)))
    return 0;
  const outside_args<Key, Value> args = {sort.segments, sort.order.count, sort.in, sort.out};
  return device_launch(keep_outside<Key, Value>, KEPT_BLOCKS * sort.multiprocessors, CARRY_BLOCK, 0,
                       sort.stream, args);
}

/* Sorts the keys and values of sort.in to sort.out, which may be the same. With two levels, tiles
 * of the first one take the place of what is sorted, until parts are written. */
template <class Key, class Value> static device_status start(const sort_state<Key, Value> &sort)
{
  const bool segments = sort.plan->segments > 0;
  device_status status = start_outside(sort);
  if (!status && segments) status = start_segments(sort);
  if (!status)
    status =
        segments ? start_choose<Key, Value, false>(sort) : start_choose<Key, Value, true>(sort);
  if (sort.plan->levels == 1) {
    if (!status) status = start_split<true>(sort, sort.in, sort.memory.elements);
  } else {
    if (!status) status = start_split<true>(sort, sort.in, sort.out);
    if (!status) status = start_choose<Key, Value, false>(sort);
    if (!status) status = start_split<false>(sort, sort.out, sort.memory.elements);
  }
  return status ? status : start_parts(sort);
}

/* The same of records that the first of two levels moves: values are where it has left them. */
template <class Key>
static device_status start_records(const sort_state<Key, uint32_t> &sort,
                                   const moved_records &moved)
{
  RS_ASSERT(sort.plan->levels == 2);
  const element_array<Key, moved_record> all = {sort.out.keys, NULL};
  const element_array<Key, record_place> tiles = {sort.out.keys, NULL},
                                         places = {sort.memory.elements.keys,
                                                   (record_place *)sort.memory.elements.values};
  device_status status = start_choose<Key, uint32_t, true>(sort);
  if (!status) status = start_split<true>(sort, all, all, moved);
  if (!status) status = start_choose<Key, uint32_t, false>(sort);
  if (!status) status = start_split<false>(sort, tiles, places);
  return status ? status : start_parts(sort);
}

} // namespace carry

#endif
