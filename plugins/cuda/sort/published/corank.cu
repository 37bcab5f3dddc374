/* corank.cu - the merge sort whose threads co-rank their part of the output and merge it serially,
 * all in global memory (Kirk and Hwu, "Programming Massively Parallel Processors", ch. 12, fig.
 * 12.9, the basic kernel).
 *
 * Unlike the published kernel, it merges all pairs of runs of a pass at once: a thread's outputs
 * may begin in one pair and end in another. Extra memory: none.
 */
#include "pass.cuh"

/* A thread co-ranks its part of the output. Reads parts of two runs, and writes them merged. The
 * loads and stores of a warp are not coalesced, as each thread goes through a part of its own; the
 * tiled kernels are for that. */
template <class Pair>
__global__ void __launch_bounds__(merge_pass<Pair>::max_threads)
    corank_pass(const __grid_constant__ merge_pass<Pair> pass)
{
  device_await_before();
  const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const uint64_t begin = thread * pass.each;
  if (begin >= pass.from.count) return; /* there is no barrier */
  merge_pairs_serially(begin, plan_min(begin + pass.each, pass.from.count), pass.width, pass.from,
                       pass.to);
}

template <class Pair>
static device_status corank_passes(const device_job *job, const device_buffers *buffers,
                                   unsigned *result)
{
  enum { OUTPUTS = 8 };
  const uint32_t block = plan_block(job);
  const uint64_t each = job->tile ? plan_blocks(job->tile, block) : (uint64_t)OUTPUTS;
  const uint64_t blocks = plan_blocks(job->count, block * each);
  unsigned source = 0;
  for (uint64_t width = 1; width < job->count || width == 1; width *= 2) {
    merge_pass<Pair> pass = make_pass<Pair>(job, buffers, source, width);
    pass.each = each;
    const device_status status =
        device_launch(corank_pass<Pair>, blocks, block, 0, job->stream, pass);
    if (status) return status;
    source = 1 - source;
  }
  *result = source;
  return 0;
}

device_status corank_sort(const device_job *job, const device_buffers *buffers, unsigned *result)
{
  return sort_pairs(job, buffers, result,
                    [=](auto pair) { return corank_passes<decltype(pair)>(job, buffers, result); });
}
