/* args.cuh - the parts that the arguments of kernels are made of. Each kernel has a struct of its
 * own beside it, of what it reads, what it writes, and numbers from the plan.
 */
#ifndef RECSORT_CUDA_SAMPLE_ARGS_CUH
#define RECSORT_CUDA_SAMPLE_ARGS_CUH

#include "cuda/sample/agent/tile_sort.cuh"
#include "cuda/sample/block/chains.cuh"
#include "cuda/sample/block/ranks.cuh"

namespace sample
{

/* ---- Pairs to be read, pairs to be written ---- */

/* In wide pairs, indices of NULL stand for the positions 0 and on. */
template <class Pair> struct pair_source {
  pair_array<Pair> pairs;
  uint32_t index_bits; /* of an index that can be other than 0 */
};

/* Before the first level there are only keys, to be packed. */
enum source_form { SOURCE_PAIRS, SOURCE_KEYS_32, SOURCE_KEYS_64, SOURCE_KEYS_128 };

template <> struct pair_source<packed_pair> {
  pair_array<packed_pair> pairs;
  const void *keys;
  source_form form;
  uint32_t index_bits;
};

/* The result. */
template <class Pair> struct pair_target {
  pair_array<Pair> pairs;
};
template <> struct pair_target<packed_pair> {
  pair_sink sink;
};

/* ---- Buckets ---- */

/* A lookup of the buckets of a segment: the bins of its keys, and beside it a table that has for
 * each bin the number of splitters below it, and whether it lies in one bucket. */
template <class Pair> struct wide_lookup {
  uint64_t wide_range; /* of keys and indices, if these are a part of the scale */
};
template <> struct wide_lookup<packed_pair> {
};

template <class Pair> struct bucket_lookup : wide_lookup<Pair> {
  bin_scale<Pair> scale;
  uint32_t stride;           /* a power of two; no bin has twice as many splitters */
  uint32_t exponential_bits; /* of a bin's place between two powers of two; 0: equal bins */
  key_of<Pair> range;
};

enum lookup_mode { LOOKUP_BY_TABLE, LOOKUP_BY_SEARCH };

/* What splits the segments of a level, one after the other. */
template <class Pair> struct splitter_set {
  pair_array<Pair> splitters; /* ascending; one a bucket, of which a segment's last is unused */
  bucket_lookup<Pair> *lookups;
  uint16_t *tables;
  uint32_t buckets; /* of a segment */
  uint32_t bins;    /* of a segment's table */
  lookup_mode mode;
  uint32_t index_bits;
};

/* The segments, which are the buckets of the level before. */
enum segment_form { SEGMENTS_ADJACENT, SEGMENTS_CHAINED };
struct segment_set {
  segment_form form;
  offsets ends;
  bucket_chains chains;
  uint32_t count;
  uint64_t pairs; /* of all */
};

/* The buckets that a level fills. */
struct bucket_set {
  bucket_form form;
  offsets ends; /* counted, padded: begins at first, ends when all pairs are there */
  bucket_chains chains;
  uint32_t capacity; /* padded: of a bucket, in pairs */
};

/* ---- Tiles ---- */

/* What sorts the pairs of buckets: from where to where, and how. */
template <class Pair> struct tile_work {
  pair_source<Pair> source;
  splitter_set<Pair> set;
  pair_target<Pair> target;
  uint32_t tile, joined, limit; /* plan.h */
  uint32_t samples;
};

} // namespace sample

#endif
