/* args.cuh - parts of kernel arguments. Each kernel has its own struct, next to it, of what it
 * reads, what it writes, and numbers from the plan. */
#ifndef RECSORT_CUDA_SAMPLE_ARGS_CUH
#define RECSORT_CUDA_SAMPLE_ARGS_CUH

#include "cuda/sort/sample/block/bin_scale.cuh"
#include "cuda/sort/sample/block/chains.cuh"
#include "cuda/sort/sample/block/pair_output.cuh"

namespace sample
{

/* ---- Pairs to read ---- */

/* If the indices of wide pairs are NULL, an index is the position of its pair. */
template <class Pair> struct pair_source {
  pair_array<Pair> pairs;
  uint32_t index_bits; /* low bits of an index that can be nonzero */
};

/* The first level reads keys, or words of which it makes them, and packs them if they fit. */
enum source_form { SOURCE_PAIRS, SOURCE_KEYS_32, SOURCE_KEYS_64, SOURCE_KEYS_128, SOURCE_WORDS };

/* What a kernel reads, if it is compiled for one of the two: the job's keys, or words, which only
 * the first level reads, or what a level has written. */
enum source_reading { READS_KEYS, READS_PAIRS, READS_EITHER };

template <> struct pair_source<packed_pair> {
  pair_array<packed_pair> pairs;
  const void *keys;
  device_words words;
  source_form form;
  uint32_t index_bits;
};

/* ---- Buckets ---- */

/* The scale of a section's lookup, from a key to its bin. A separate table holds, for each bin, the
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

/* The splitters and lookups of all sections of a level, section by section. */
template <class Pair> struct splitter_set {
  pair_array<Pair> splitters; /* ascending; one a bucket; the last one of each section is unused */
  bucket_lookup<Pair> *lookups;
  uint16_t *tables;
  uint32_t buckets; /* of each section */
  uint32_t bins;    /* entries of a section's table */
  lookup_mode mode;
  uint32_t index_bits;
};

/* The sections of a level, which are the buckets of the previous level. */
enum section_form { SECTIONS_ADJACENT, SECTIONS_CHAINED };
struct section_set {
  section_form form;
  offsets ends;
  bucket_chains chains;
  uint32_t count;
  uint64_t pairs; /* of all sections */
};

enum bucket_form { TO_COUNTED, TO_CHAINED, TO_PADDED };

/* The buckets that a level scatters to. */
struct bucket_set {
  bucket_form form;
  offsets ends; /* counted and padded: where buckets begin; after the scatter, where they end */
  bucket_chains chains;
  uint32_t capacity; /* pairs of a padded bucket */
};

/* ---- Tiles ---- */

/* Arguments of the kernels that sort tiles: source, target and how to sort. */
template <class Pair> struct tile_work {
  pair_source<Pair> source;
  splitter_set<Pair> set;
  pair_target<Pair> target;
  uint32_t tile, joined, limit; /* as in sample_plan */
  uint32_t samples;
};

} // namespace sample

#endif
