/* args.cuh - what the kernels of the sample sort are given.
 */
#ifndef RECSORT_CUDA_SAMPLE_ARGS_CUH
#define RECSORT_CUDA_SAMPLE_ARGS_CUH

#include "cuda/sample/agent/tile_sort.cuh"
#include "cuda/sample/block/chains.cuh"
#include "cuda/sample/block/ranks.cuh"

namespace sample
{

/* The bins of a segment's keys, and beside it a table: for each the number of splitters below it,
 * and whether it lies in one bucket. */
template <class Pair> struct wide_lookup {
  uint64_t wide_range; /* of keys and indices, if these are a part of the scale */
};
template <> struct wide_lookup<packed_pair> {
};

template <class Pair> struct bucket_lookup : wide_lookup<Pair> {
  bin_scale<Pair> scale;
  uint32_t stride; /* a power of two; no bin has twice as many splitters */
  uint32_t
      exponential_bits; /* that tell a bin's place in an power of two; 0: all bins are as wide */
  key_of<Pair> range;
};

template <class Pair> struct packed_io {
};
template <> struct packed_io<packed_pair> {
  key_source source; /* of the first step */
  pair_sink sink;    /* of the last one */
};

template <class Pair> struct sample_args : packed_io<Pair> {
  static constexpr uint32_t max_threads = SAMPLE_SPLITTER_BLOCK;

  pair_array<Pair> from, to;
  uint64_t count;
  uint32_t index_bits;
  uint32_t tile, joined, limit; /* plan.h */
  uint32_t tile_threads;        /* threads that sort a tile */
  uint32_t segments;
  uint32_t buckets;             /* a segment */
  uint32_t samples;             /* a segment */
  uint32_t bins;                /* of a segment's table; 0: there is none */
  offsets segment_ends, ends;   /* of buckets; before any pair is there, begins */
  pair_array<Pair> splitters;   /* a segment's after the other's, ascending */
  bucket_lookup<Pair> *lookups; /* a segment's */
  uint16_t *tables;             /* likewise */
  tile_list tiles;
  uint32_t *oversized; /* how many buckets are larger than a tile, and which */
  bool last;           /* level */
  uint32_t counted;    /* pairs a block that counts */
  /* Of the first level's sample (sample.inc). */
  key_runs<key_of<Pair>> runs;
  pair_array<Pair> sampled;    /* the runs, with indices */
  pair_array<Pair> candidates; /* the splitters, before these are moved */
  uint64_t distance;           /* from sample to sample, in 2^16ths of a pair */
  uint32_t scattered;          /* pairs a block, but for the last */
  uint32_t capacity;           /* of a bucket, in pairs; 0: buckets lie one behind the other */
  pair_array<Pair> padded;     /* where these are */
  bucket_chains chains;        /* or in chains of extents: */
  bool from_chains, to_chains; /* the segments, the buckets */
};

} // namespace sample

#endif
