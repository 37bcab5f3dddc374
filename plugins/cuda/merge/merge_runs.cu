/* merge_runs.cu - see gpu/device_merge.h. */
#include "cuda/merge/merge_runs.cuh"
#include "cuda/merge/move_tiles.cuh"
#include "cuda/sort/sample/sample.h"

using namespace merge;

/* Larger records take so long to move that it makes no difference whether pairs are written. */
enum { MOST_MOVED = 64 };

uint64_t device_merge_extra_bytes(const device_job *job)
{
  return sample_extra_bytes(job);
}

device_status device_merge(const device_job *job, const device_runs *runs,
                           const device_buffers *buffers, unsigned *result)
{
  return with_wide_pair(job, [=](auto pair) {
    return merge_runs<decltype(pair)>(job, runs, buffers, result, sample_sort);
  });
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
    return two_moved_runs<decltype(key)>(job, bounds[1], buffers, move);
  });
}
