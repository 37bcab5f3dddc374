/* merge_runs.cu - merges sorted runs on the device: chooses how, by their number.
 *
 *   up to two       merge_two_runs: one pass, by co-ranks; or two_moved_runs, which moves records
 *   up to 128       sample_merge: cuts all runs by splitters, and sorts the tiles between them
 *   more, or few    sample_sort, which ignores that there are runs
 *   keys, or more
 *   than 2^32
 *
 * docs/gpu-sort.md has the reasons.
 */
#include "cuda/merge/merge.h"
#include "cuda/merge/move_tiles.cuh"
#include "cuda/sort/sample/sample.h"
#include "gpu/device_merge.h"

/* Larger records take so long to move that it makes no difference whether pairs are written. */
enum { MOST_MOVED = 64 };

uint64_t device_merge_extra_bytes(const device_job *job)
{
  return sample_extra_bytes(job);
}

/* Copies the bounds of up to SAMPLE_MOST_RUNS runs that are not empty, without the empty ones.
 * Returns their number, or one more than SAMPLE_MOST_RUNS. */
static uint32_t leave_out_empty(const device_runs *runs, uint64_t *bounds)
{
  uint32_t count = 0;
  bounds[0] = 0;
  for (uint32_t r = 0; r < runs->count && count <= SAMPLE_MOST_RUNS; r++)
    if (runs->bounds[r + 1] > bounds[count]) bounds[++count] = runs->bounds[r + 1];
  return count;
}

device_status device_merge(const device_job *job, const device_runs *runs,
                           const device_buffers *buffers, unsigned *result)
{
  uint64_t bounds[SAMPLE_MOST_RUNS + 2];
  const uint32_t count = leave_out_empty(runs, bounds);
  *result = 1;
  if (count == 0) return 0;
  if (count <= 2) return merge_two_runs(job, bounds[1], buffers);
  if (count <= SAMPLE_MOST_RUNS && sample_merges(job, count))
    return sample_merge(job, bounds, count, buffers);
  return sample_sort(job, buffers, result);
}

bool device_merge_moves(const device_runs *runs, uint64_t record_size)
{
  uint64_t bounds[SAMPLE_MOST_RUNS + 2];
  return record_size <= MOST_MOVED && leave_out_empty(runs, bounds) <= 2;
}

device_status device_merge_records(const device_job *job, const device_runs *runs,
                                   const device_buffers *buffers, const device_merge_move *move)
{
  uint64_t bounds[SAMPLE_MOST_RUNS + 2];
  if (leave_out_empty(runs, bounds) == 0) return 0;
  return with_key(job->key_width, [&](auto key) {
    return merge::two_moved_runs<decltype(key)>(job, bounds[1], buffers, move);
  });
}
