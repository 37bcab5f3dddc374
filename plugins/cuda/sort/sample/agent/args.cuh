/* args.cuh - parts of kernel arguments. Each kernel has its own struct, next to it, of what it
 * reads, what it writes, and numbers from the plan. */
#ifndef RECSORT_CUDA_SAMPLE_ARGS_CUH
#define RECSORT_CUDA_SAMPLE_ARGS_CUH

#include "cuda/sort/sample/block/bin_scale.cuh"
#include "cuda/sort/sample/block/bucket_ends.cuh"
#include "cuda/sort/sample/block/pair_output.cuh"

namespace sample
{

/* ---- Pairs to read ---- */

/* If the indices of wide pairs are NULL, an index is the position of its pair. */
template <class Pair> struct pair_source {
  pair_array<Pair> pairs;
  uint32_t index_bits; /* low bits of an index that can be nonzero */
};

/* Keys, or words of which they are made, are packed as they are read. */
enum source_form { SOURCE_PAIRS, SOURCE_KEYS_32, SOURCE_KEYS_64, SOURCE_KEYS_128, SOURCE_WORDS };

/* Whether a kernel is compiled for the job's keys, or words, alone. */
enum source_reading { READS_KEYS, READS_EITHER };

template <> struct pair_source<packed_pair> {
  pair_array<packed_pair> pairs;
  const void *keys;
  device_words words;
  source_form form;
  uint32_t index_bits;
};

/* ---- Buckets ---- */

/* The scale of a lookup, from a key to its bin. A separate table holds, for each bin, the
 * number of splitters below it and whether the bin lies in one bucket. */
template <class Pair> struct wide_lookup {
  uint64_t wide_range; /* range of keys and indices together, if the scale includes indices */
};
template <> struct wide_lookup<packed_pair> {
};

template <class Pair> struct bucket_lookup : wide_lookup<Pair> {
  bin_scale<Pair> scale;
  uint32_t stride;           /* a power of two; each bin has fewer than twice as many splitters */
  uint32_t exponential_bits; /* log2 of the bins between two powers of two; 0: equal widths */
  key_of<Pair> range;
};

enum lookup_mode { LOOKUP_BY_TABLE, LOOKUP_BY_SEARCH };

/* The splitters and their lookup. */
template <class Pair> struct splitter_set {
  pair_array<Pair> splitters; /* ascending; one a bucket; the last one is unused */
  bucket_lookup<Pair> *lookup;
  uint16_t *table;
  uint32_t buckets;
  uint32_t bins; /* entries of the table */
  lookup_mode mode;
  uint32_t index_bits;
};

/* The padded buckets. */
struct bucket_set {
  bucket_ends ends;  /* where they begin; after the scatter, where they end */
  uint32_t capacity; /* pairs of a bucket */
};

/* ---- Tiles ---- */

/* Arguments of the kernels that sort tiles: source, target and how to sort. */
template <class Pair> struct tile_work {
  pair_source<Pair> source;
  splitter_set<Pair> set;
  pair_target<Pair> target;
  uint32_t tile, limit; /* as in sample_plan */
};

} // namespace sample

#endif
