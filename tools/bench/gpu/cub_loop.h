/* cub_loop.h - Entities sorted on the device as a program does by hand that uses CUB: a kernel that
 * takes the keys out of the records, a sort of keys and numbers, and a kernel that moves the
 * records. */
#ifndef RECSORT_CUDA_BENCH_CUB_LOOP_H
#define RECSORT_CUDA_BENCH_CUB_LOOP_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

namespace bench
{

struct entity {
  float x, y, angle;
  short sprite;
  float distance;
};

enum cub_loop_sort { CUB_LOOP_RADIX, CUB_LOOP_MERGE };

/* Its memory, all of it allocated up front. */
struct cub_loop {
  cub_loop_sort sort;
  uint32_t count;
  float *keys[2];
  uint32_t *numbers[2];
  void *extra;
  size_t extra_bytes;
  size_t bytes; /* in all */
};

cudaError_t cub_loop_open(cub_loop *loop, cub_loop_sort sort, uint32_t count);
void cub_loop_close(cub_loop *loop);

/* Starts a stable sort by `distance`, descending. `from` and `to` do not overlap. */
cudaError_t cub_loop_run(const cub_loop *loop, const entity *from, entity *to, cudaStream_t stream);

} // namespace bench

#endif
