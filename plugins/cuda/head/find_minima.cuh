/* find_minima.cuh - the first record of each group. */
#ifndef RECSORT_CUDA_HEAD_FIND_MINIMA_CUH
#define RECSORT_CUDA_HEAD_FIND_MINIMA_CUH

#include "cuda/head/matrix.cuh"

namespace head
{

struct minima_args {
  static constexpr uint32_t max_threads = STRIP * WIDE;
  read_args from;
  workspace to;
};

/* The first record that a thread has seen. */
struct first_seen {
  record_key key;
  uint32_t row;
  bool any;
};

/* Rows ascend, so the first of equal keys stays. A key that is a word is in words[0]. */
template <reading How>
DEVICE_INLINE void note_less(first_seen *best, const record_key &key, uint64_t row)
{
  const bool high_ties = How < reading::FIELDS || key.words[1] == best->key.words[1];
  const bool less =
      high_ties ? key.words[0] < best->key.words[0] : key.words[1] < best->key.words[1];
  if (best->any && !less) return;
  *best = {key, (uint32_t)row, true};
}

/* Reads all records. Writes the first one of each strand, as a pair, and *collected_count.
 *
 * The memory limits it: all records are read once, and hardly anything is written. A block has a
 * strip of strands, and a thread one record of each row, so that a warp reads neighbours. Of words
 * a thread loads the next BATCH before it compares these. */
template <reading How>
__global__ void __launch_bounds__(minima_args::max_threads,
                                  device_blocks(minima_args::max_threads, 2))
    find_minima(const __grid_constant__ minima_args args)
{
  enum { BATCH = How == reading::WORDS_OF_4 ? 16 : How == reading::WORDS_OF_8 ? 8 : 1 };
  DEVICE_SHARED_ARRAY(pair, found, minima_args::max_threads);
  device_await_before();
  const matrix &shape = args.from.shape;
  const uint32_t lane = threadIdx.x % WIDE;
  const uint32_t strand = blockIdx.x * STRIP + threadIdx.x / WIDE;
  const uint64_t whole = shape.count / ((uint64_t)shape.strands * WIDE);
  DEVICE_ASSERT(strand < shape.strands && whole <= shape.rows);
  uint64_t row = 0;
  first_seen best = {{{UINT64_MAX, UINT64_MAX}}, 0, false};
  bool valid = true;
  const auto load_rows = [&](uint64_t first, uint64_t *words) {
    DEVICE_UNROLL
    for (uint32_t i = 0; i < BATCH; i++)
      words[i] = load_word<How>(args.from, record_at(shape, strand, lane, first + i));
  };
  uint64_t words[BATCH] = {};
  if (whole >= BATCH) load_rows(0, words);
  for (; row + (BATCH - 1) < whole; row += BATCH) {
    uint64_t next[BATCH] = {};
    if (row + (2 * BATCH - 1) < whole) load_rows(row + BATCH, next);
    DEVICE_UNROLL
    for (uint32_t i = 0; i < BATCH; i++) {
      const uint64_t at = How < reading::FIELDS ? 0 : record_at(shape, strand, lane, row + i);
      note_less<How>(&best, key_with<How>(args.from, at, words[i], &valid), row + i);
      words[i] = next[i];
    }
  }
  for (; row < shape.rows; row++) {
    const uint64_t at = record_at(shape, strand, lane, row);
    if (at >= shape.count) continue;
    note_less<How>(&best, key_with<How>(args.from, at, load_word<How>(args.from, at), &valid), row);
  }
  if (!valid) args.from.facts->invalid = 1;
  pair least = pair_of(UINT64_MAX);
  if (best.any)
    least = {{record_at(shape, strand, lane, best.row), best.key.words[0], best.key.words[1]}};
  found[threadIdx.x] = least;
  if (blockIdx.x == 0 && threadIdx.x == 0) *args.to.collected_count = 0;
  __syncthreads();
  if (lane != 0) return;
  for (uint32_t i = 1; i < WIDE; i++)
    if (is_less(found[threadIdx.x + i], least)) least = found[threadIdx.x + i];
  args.to.minima[strand] = least;
}

} // namespace head

#endif
