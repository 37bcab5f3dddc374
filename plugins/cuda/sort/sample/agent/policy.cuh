/* policy.cuh - constants for each type of pair, tuned on an H200 (tools/results/NOTES.md). */
#ifndef RECSORT_CUDA_SAMPLE_POLICY_CUH
#define RECSORT_CUDA_SAMPLE_POLICY_CUH

#include "cuda/pair.cuh"
#include "cuda/sort/sample/plan.h"

namespace sample
{

template <class Pair> struct policy {
  static constexpr bool wide_key = sizeof(key_of<Pair>) > sizeof(uint64_t);

  /* The most pairs of a thread that sorts a tile, and its bins. */
  static constexpr uint32_t items = 8;
  static constexpr uint32_t bins = Pair::packed ? 8 : 4;
  static constexpr uint32_t bin_groups = bins / SAMPLE_BIN_GROUP;
  /* The pairs of a whole share in most tiles. */
  static constexpr uint32_t usual = bins + bins / 4 < items ? bins + bins / 4 : items;

  /* Blocks that should run on a multiprocessor at once. */
  static constexpr uint32_t tile_blocks = wide_key ? 2 : 3;
  static constexpr uint32_t scatter_blocks = Pair::packed ? 3 : 2;

  /* True for wide keys: too few registers for all keys that a thread scatters, so it looks up their
   * buckets in batches. */
  static constexpr bool few_registers = wide_key;
  static constexpr uint32_t batch = few_registers ? 4 : SAMPLE_SCATTER_ITEMS;

  static constexpr sample_traits traits()
  {
    return {Pair::bytes, items, bins};
  }
};

} // namespace sample

#endif
