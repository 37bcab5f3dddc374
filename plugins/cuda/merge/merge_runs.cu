/* merge_runs.cu - see gpu/device_merge.h. */
#include "cuda/merge/merge_runs.cuh"
#include "cuda/merge/move_runs.cuh"
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

bool device_merge_moves(uint64_t pieces, uint64_t record_size)
{
  return record_size <= MOST_MOVED && pieces <= DEVICE_MOVED_RUNS;
}

device_status device_merge_records(const device_job *job, const device_piece *pieces,
                                   uint32_t piece_count, const device_merge_move *move)
{
  RS_ASSERT(piece_count > 0 && device_merge_moves(piece_count, move->size));
  return with_key(job->key_width, [&](auto key) {
    return moved_runs<decltype(key)>(job, pieces, piece_count, move);
  });
}
