/* pair_output.cuh - where sorted pairs go: to the result, or to a choice of splitters. */
#ifndef RECSORT_CUDA_SAMPLE_PAIR_OUTPUT_CUH
#define RECSORT_CUDA_SAMPLE_PAIR_OUTPUT_CUH

#include "cuda/pair.cuh"

namespace sample
{

/* The result of a sort. */
template <class Pair> struct pair_target {
  pair_array<Pair> pairs;
};
template <> struct pair_target<packed_pair> {
  pair_sink sink;
};

/* Sorted pairs go to an array or, if packed, to the sink. If `chosen` is not 0, only `chosen` - 1
 * of `samples` pairs are stored, evenly spaced. `simple`: not chosen, and no sink of wide keys or
 * indices. */
template <class Pair> struct unpacked_output {
};
template <> struct unpacked_output<packed_pair> {
  pair_sink sink;
  uint32_t index_bits;
};

template <class Pair> struct pair_output : unpacked_output<Pair> {
  pair_array<Pair> to;
  uint32_t samples, chosen;
  bool simple;
};

template <class Pair>
DEVICE_INLINE void store_pair(const pair_output<Pair> *out, uint32_t rank, Pair pair, bool simply)
{
  if constexpr (Pair::packed) {
    if (simply) {
      if (out->sink.key_width == 32)
        ((uint32_t *)out->sink.keys)[rank] = (uint32_t)(pair.key >> out->index_bits);
      else
        ((uint64_t *)out->sink.keys)[rank] = pair.key >> out->index_bits;
      ((uint32_t *)out->sink.indices)[rank] =
          (uint32_t)pair.key & (uint32_t)((UINT64_C(1) << out->index_bits) - 1);
      return;
    }
  }
  if (!simply && out->chosen) {
    uint32_t number = (rank * out->chosen + out->samples - 1) / out->samples;
    for (; number < out->chosen && number * out->samples < (rank + 1) * out->chosen; number++)
      if (number) pair_put(&out->to, number - 1, pair);
    return;
  }
  if constexpr (Pair::packed) {
    store_unpacked(&out->sink, out->index_bits, rank, pair.key);
  } else {
    pair_put(&out->to, rank, pair);
  }
}

/* The output of pairs that are `first` and the next ones of a result. */
template <class Pair>
DEVICE_INLINE pair_output<Pair> output_of(const pair_target<Pair> *target, uint64_t first,
                                          uint32_t index_bits)
{
  pair_output<Pair> out;
  out.samples = out.chosen = 0;
  if constexpr (Pair::packed) {
    out.sink = sink_from(&target->sink, first);
    out.index_bits = index_bits;
    out.simple = out.sink.key_width <= 64 && out.sink.index_width == 32;
  } else {
    out.to.keys = target->pairs.keys + first;
    out.to.indices = target->pairs.indices + first;
    out.simple = true;
  }
  return out;
}

/* The output of sorted samples of which `chosen` - 1, evenly spaced, become splitters. */
template <class Pair>
DEVICE_INLINE pair_output<Pair> choice_of(pair_array<Pair> to, uint32_t samples, uint32_t chosen)
{
  DEVICE_ASSERT(chosen <= samples);
  pair_output<Pair> out;
  out.to = to;
  out.samples = samples;
  out.chosen = chosen;
  out.simple = false;
  if constexpr (Pair::packed) {
    out.sink.keys = out.sink.indices = NULL;
    out.index_bits = 0;
  }
  return out;
}

} // namespace sample

#endif
