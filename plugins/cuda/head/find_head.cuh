/* find_head.cuh - the first records of the order.
 *
 *   find_minima    cuts the records into groups, and finds the first record of each
 *   narrow         keeps the first `head` of these, or up to twice as many. No record beyond the
 *                  last of them is wanted, as `head` others come before it
 *   collect        reads the groups of those again, and collects the records that are not beyond
 *                  the last of them: other groups have none
 *   narrow         again, of the records that were collected, if they are many
 *   rank_pairs     counts how many come before each, which is its place
 *
 * Each record is read once, and those of a few groups again. In most inputs hardly more than `head`
 * records are collected, and in none more than two groups for each. Which records are wanted, and
 * that all of them are collected, depends on no guess: an unlucky input takes longer in the second
 * `narrow`, which one block does.
 *
 * A group is a strand of a matrix of records, 8 neighbours wide: then `collect` reads few sectors
 * of memory. From row to row the strands are turned by some strips of 64, at random: so what comes
 * in regular distances is in several groups.
 */
#ifndef RECSORT_CUDA_FIND_HEAD_CUH
#define RECSORT_CUDA_FIND_HEAD_CUH

#include "cuda/head/collect.cuh"
#include "cuda/head/find_minima.cuh"
#include "cuda/head/narrow.cuh"
#include "gpu/device_head.h"

#ifndef HEAD_LEAST
#define HEAD_LEAST (1 << 19) /* fewer records are sorted faster, */
#define HEAD_MANY (1 << 21)  /* and below this number unless very few are wanted */
#endif

namespace head
{

static inline matrix shape_of(uint64_t count)
{
  RS_ASSERT(count > 0);
  const uint64_t strips = plan_clamp(count / (LEAST_ROWS * STRIP * WIDE), 1, MOST_STRIPS);
  return {count, plan_blocks(count, strips * STRIP * WIDE), (uint32_t)strips * STRIP};
}

/* Divides `memory`; returns how much. NULL: only adds up. */
static inline uint64_t divide(const matrix &shape, uint64_t head, char *memory, workspace *work)
{
  RS_ASSERT(head > 0);
  uint64_t used = 0;
  const auto take = [&](uint64_t pairs) {
    pair *const taken = memory ? (pair *)(memory + used) : NULL;
    used += pairs * sizeof(pair);
    return taken;
  };
  pair *const counts = take(1);
  work->chosen_count = counts ? &counts->words[0] : NULL;
  work->collected_count = counts ? &counts->words[1] : NULL;
  work->last_count = counts ? &counts->words[2] : NULL;
  work->bound = take(1);
  work->minima = take(shape.strands);
  work->chosen = take(SLACK * head);
  work->last = take(SLACK * head);
  work->collected = take(SLACK * head * shape.rows * WIDE);
  return used;
}

static inline bool suits(uint64_t count, uint64_t head)
{
  const uint32_t groups = count < HEAD_MANY ? GROUPS_IF_FEW : GROUPS_A_RECORD;
  return count >= HEAD_LEAST && head <= shape_of(count).strands / groups;
}

/* The bytes of the job's memory. */
static inline uint64_t bytes(uint64_t count, uint64_t head)
{
  workspace work;
  return divide(shape_of(count), head, NULL, &work);
}

/* Starts the kernels, if the job suits. `How` is reading_of the source. */
template <reading How> device_status start_find(const device_head *job, const record_source &source)
{
  const read_args from = {source, shape_of(job->count)};
  workspace work;
  (void)divide(from.shape, job->head, (char *)job->memory, &work);
  RS_ASSERT((uintptr_t)job->memory % sizeof(uint64_t) == 0);
  RS_ASSERT(job->head > 0 && job->head <= job->count);
  const minima_args minima = {from, work};
  const uint32_t top = from.program.key_width > 64 ? 2 : 1;
  const uint64_t most = RANKED * job->head;
  const narrow_args groups = {
      work.minima, NULL, from.shape.strands, work.chosen, work.chosen_count, work.bound, job->head,
      0,           top};
  const collect_args collected = {from, work};
  const narrow_args records = {work.collected,
                               work.collected_count,
                               0,
                               work.last,
                               work.last_count,
                               NULL,
                               job->head,
                               most,
                               top};
  const rank_args ranked = {work, most, job->head, job->order, job->index_bits};
  const uint64_t warps = rank_args::max_threads / WARP_SIZE;
  void *const on = job->stream;
  device_status status = device_launch(find_minima<How>, from.shape.strands / STRIP,
                                       minima_args::max_threads, 0, on, minima);
  if (!status) status = device_launch(narrow<>, 1, narrow_args::max_threads, 0, on, groups);
  if (!status)
    status =
        device_launch(collect<How>, SLACK * job->head, collect_args::max_threads, 0, on, collected);
  if (!status) status = device_launch(narrow<>, 1, narrow_args::max_threads, 0, on, records);
  if (!status)
    status = device_launch(rank_pairs<>, plan_blocks(most, warps), rank_args::max_threads, 0, on,
                           ranked);
  return status;
}

} // namespace head

#endif
