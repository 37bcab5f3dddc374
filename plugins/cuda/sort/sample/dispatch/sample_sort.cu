/* sample_sort.cu - the default sort of the device: chooses how to sort a job.
 *
 *   presorted    very many keys: numbers those that ascend already and reverses those that descend;
 *                if all but a few ascend, sorts these few and merges them with the others
 *   small_sort   few pairs: counts, for each, the others that go before it
 *   many_sort    more pairs: scatters them to padded buckets and sorts these
 *   carried_sort very many: keys and indices together, by the carry sort (sort/carry)
 *   many_merged  more than that sort takes, the merge sort, and so are more than 2^32 pairs, which
 *                need indices of 64 bits: few have memory for so many, so no other sort is compiled
 *                for them
 *
 * Layers: dispatch/ plans, divides memory and launches; agent/ has the kernels; block/ has what the
 * threads of a warp or a block do together.
 *
 * A pair is a key and its index. All pairs differ, so no step needs to be stable. many_sort packs
 * both in 64 bits if they fit, with the index in the low bits, and one array moves instead of two.
 */
#include "cuda/algorithms.h"
#include "cuda/sort/sample/dispatch/mixed.cuh"

using namespace sample;

/* ---- Keys that are in order ---- */

/* The dropped keys, of which there are `count`. */
static device_job job_of_dropped(const device_job *job, uint64_t count)
{
  RS_ASSERT(count <= job->count);
  device_job dropped = *job;
  dropped.count = count;
  dropped.move = NULL;
  return dropped;
}

/* Sorts the keys that were dropped and merges them with the others. */
template <class Pair>
static device_status merge_dropped(const device_job *job, const drop_merge<Pair> *work)
{
  const device_job dropped = job_of_dropped(job, work->sorted);
  unsigned side = 0;
  device_status status = presorted<Pair>::extract(job, work);
  if (status == 0) status = sort_mixed<Pair>(&dropped, &work->buffers, &side);
  return status ? status : presorted<Pair>::merge(job, side, work);
}

template <class Pair>
static bool reserve_for(const device_job *job, uint64_t count, drop_merge<Pair> *work)
{
  const device_job dropped = job_of_dropped(job, count);
  return presorted<Pair>::reserve(job, &dropped, choose_sort<Pair>(&dropped).extra_bytes(&dropped),
                                  work);
}

/* Sorts keys that seem to ascend except for a few; *sorted is false if they do not. Waits for the
 * device. */
template <class Pair>
static device_status sort_nearly_sorted(const device_job *job, const device_buffers *buffers,
                                        order_flags *flags, bool *sorted)
{
  drop_merge<Pair> work;
  order_report report;
  uint64_t dropped = 0;
  if (!presorted<Pair>::prepare(job, buffers, flags, &work)) return 0;
  device_status status = presorted<Pair>::filter(job, &work, &report);
  if (status == 0) status = await_report(job, &dropped);
  if (status || dropped == 0 || !reserve_for(job, dropped, &work)) return status;
  *sorted = true;
  return merge_dropped(job, &work);
}

/* ---- The whole sort ---- */

/* The host decides, and waits for what the device finds. */
template <class Pair>
static device_status sort_detected(const device_job *job, const device_buffers *buffers,
                                   order_flags *flags, unsigned *result)
{
  order_report report;
  uint64_t found = KEYS_MIXED;
  device_status status = presorted<Pair>::detect(job, buffers, flags, true, &report);
  if (status == 0) status = await_report(job, &found);
  bool sorted = found == KEYS_ASCEND || found == KEYS_DESCEND;
  *result = found == KEYS_ASCEND ? 0 : 1;
  if (status == 0 && found == KEYS_NEARLY_ASCEND)
    status = sort_nearly_sorted<Pair>(job, buffers, flags, &sorted);
  return status || sorted ? status : sort_mixed<Pair>(job, buffers, result);
}

/* The device decides. The host does not know how many keys are dropped, so it sorts as many as may
 * be. The result is in side 1. */
template <class Pair>
static device_status sort_decided(const device_job *job, const device_buffers *buffers,
                                  order_flags *flags, unsigned *result)
{
  drop_merge<Pair> work;
  order_report order, dropped;
  const bool mergeable = presorted<Pair>::prepare(job, buffers, flags, &work) &&
                         reserve_for(job, sample_most_dropped(job), &work);
  *result = 1;
  if (job->unchanged) job->unchanged->looks = true;
  const auto mixed = [&](const device_job *inner) {
    return sort_mixed<Pair>(inner, buffers, result);
  };
  const device_status status = presorted<Pair>::detect(job, buffers, flags, mergeable, &order);
  if (status) return status;
  return device_branch(
      job, order.decision, mergeable ? KEY_BRANCHES : 1,
      [&](unsigned found, const device_job *inner) -> device_status {
        if (found == KEYS_MIXED) return mixed(inner);
        const device_status filtered = presorted<Pair>::filter(inner, &work, &dropped);
        if (filtered) return filtered;
        return device_branch(inner, dropped.decision, 2,
                             [&](unsigned useful, const device_job *innermost) {
                               return useful ? merge_dropped(innermost, &work) : mixed(innermost);
                             });
      });
}

/* The host has to know the side before the device decides, and a drop-merge writes to side 1. */
template <class Pair> static bool decides(const device_job *job)
{
  return device_can_decide(job) && choose_sort<Pair>(job).side(job) == 1;
}

template <class Pair>
static device_status sort_job(const device_job *job, const device_buffers *buffers,
                              unsigned *result)
{
  const uint64_t needed = sample_extra_bytes(job);
  order_flags *const flags = (order_flags *)((char *)buffers->extra + needed - ORDER_FLAGS_BYTES);
  RS_ASSERT(buffers->extra_bytes >= needed);
  if (!sample_detects_order(job)) return sort_mixed<Pair>(job, buffers, result);
  if (job->mailbox) return sort_detected<Pair>(job, buffers, flags, result);
  return decides<Pair>(job) ? sort_decided<Pair>(job, buffers, flags, result)
                            : sort_mixed<Pair>(job, buffers, result);
}

device_status sample_sort(const device_job *job, const device_buffers *buffers, unsigned *result)
{
  if (job->index_bits == 64) return merge_sort(job, buffers, result);
  *result = 0;
  if (job->count == 0) return 0;
  return with_short_pair(job,
                         [=](auto pair) { return sort_job<decltype(pair)>(job, buffers, result); });
}

uint64_t sample_extra_bytes(const device_job *job)
{
  if (job->index_bits == 64) return merge_extra_bytes(job);
  const uint64_t sort = with_short_pair(
      job, [=](auto pair) { return choose_sort<decltype(pair)>(job).extra_bytes(job); });
  return device_aligned(sort) + ORDER_FLAGS_BYTES; /* which are behind it */
}

/* None if it detects the order: of keys that are in memory, and records then need not move. */
device_skills sample_skills(const device_job *job)
{
  if (job->index_bits == 64) return {};
  const bool decided =
      job->mailbox || with_short_pair(job, [=](auto pair) { return decides<decltype(pair)>(job); });
  const bool detects = sample_detects_order(job) && decided;
  const bool few = !detects && sample_is_small(job);
  const bool reads =
      with_short_pair(job, [=](auto pair) { return choose_sort<decltype(pair)>(job).reads_words; });
  const bool stages = !detects && with_short_pair(job, [=](auto pair) {
    return choose_sort<decltype(pair)>(job).stages(job);
  });
  const bool certifies = !detects && with_short_pair(job, [=](auto pair) {
    return choose_sort<decltype(pair)>(job).certifies;
  });
  return {!detects && job->key_width == 32 && reads, few, stages, few, certifies};
}
