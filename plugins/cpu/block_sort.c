/* block_sort.c - blocks sorted from nothing: leaves by a kernel, and merges of them. */
#include "cpu/pairs.h"

/* Merges neighbouring runs of `half` pairs; the last two may be shorter, or missing. */
static void merge_level(const merge_kernels *kernels, const uint64_t *runs, size_t count,
                        size_t half, uint64_t *out)
{
  size_t done = 0;
  for (; count - done >= 4 * half; done += 4 * half)
    kernels->merge_equal_twice(runs + done, (ptrdiff_t)half, out + done);
  while (done < count) {
    const size_t left = count - done;
    const run64 a = {runs + done, left < half ? left : half};
    const run64 b = {a.at + a.count, left - a.count < half ? left - a.count : half};
    rs_merge_runs(kernels, a, b, out + done);
    done += a.count + b.count;
  }
}

static void insertion_sort(const uint64_t *from, uint64_t *to, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const uint64_t pair = from[i];
    size_t j = i;
    for (; j > 0 && to[j - 1] > pair; j--)
      to[j] = to[j - 1];
    to[j] = pair;
  }
}

void rs_block_sort(const merge_kernels *kernels, uint64_t *data, uint64_t *other, size_t count,
                   bool into_other)
{
  unsigned levels = 0;
  for (size_t run = kernels->leaf; run < count; run *= 2)
    levels++;
  const bool leaves_into_other = (levels % 2 == 0) == into_other;
  uint64_t *from = leaves_into_other ? other : data;
  uint64_t *to = leaves_into_other ? data : other;
  size_t done = 0;
  for (; count - done >= kernels->leaf; done += kernels->leaf)
    kernels->sort_leaf(data + done, from + done);
  insertion_sort(data + done, from + done, count - done);
  for (size_t run = kernels->leaf; run < count; run *= 2) {
    merge_level(kernels, from, count, run, to);
    uint64_t *const swap = from;
    from = to;
    to = swap;
  }
}
