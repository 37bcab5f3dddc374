/* policy.cuh - how blocks sort pairs of one type: tuned on an H200 (tools/results/NOTES.md).
 */
#ifndef RECSORT_CUDA_SAMPLE_POLICY_CUH
#define RECSORT_CUDA_SAMPLE_POLICY_CUH

#include "cuda/pair.cuh"
#include "cuda/sample/plan.h"

namespace sample
{

template <class Pair> struct policy {
  static constexpr bool wide_key = sizeof(key_of<Pair>) > sizeof(uint64_t);

  /* Of a thread that sorts a tile: its pairs at most, and its bins. */
  static constexpr uint32_t items = 8;
  static constexpr uint32_t bins = Pair::packed ? 8 : 4;
  static constexpr uint32_t bin_groups = bins / SAMPLE_BIN_GROUP;
  /* Its pairs in most tiles, of a whole share. */
  static constexpr uint32_t usual = bins + bins / 4 < items ? bins + bins / 4 : items;

  /* Blocks that shall run on a multiprocessor at once. */
  static constexpr uint32_t tile_blocks = wide_key ? 2 : 3;
  static constexpr uint32_t scatter_blocks = Pair::packed ? 3 : 2;

  /* Wide keys: there are not registers for all that a thread scatters. So its pairs' buckets are
   * looked up in batches. */
  static constexpr bool few_registers = wide_key;
  static constexpr uint32_t batch = few_registers ? 4 : SAMPLE_SCATTER_ITEMS;

  static constexpr sample_traits traits()
  {
    return {Pair::bytes, items, bins};
  }
};

} // namespace sample

#endif
