/* matrix.cuh - the groups of records, and the pairs of a key and an index that
 * the kernels pass on. */
#ifndef RECSORT_CUDA_HEAD_MATRIX_CUH
#define RECSORT_CUDA_HEAD_MATRIX_CUH

#include "cuda/plan.h"
#include "cuda/records/reading.cuh"

namespace head
{

using records::key_with;
using records::load_word;
using records::reading;
using records::record_key;
using records::record_source;

enum {
  WIDE = 8,            /* records of a strand in a row */
  STRIP = 64,          /* strands of a block */
  MOST_STRIPS = 256,   /* blocks that an H200 runs at a time */
  LEAST_ROWS = 2,      /* of a group */
  GROUPS_A_RECORD = 8, /* groups for each record that is wanted, */
  GROUPS_IF_FEW = 64,  /* below HEAD_MANY */
  SLACK = 2,           /* narrow leaves up to so many times as many as are wanted, */
  RANKED = 4,          /* and rank_pairs takes so many times as many */
  DIGIT_BITS = 8,
  DIGITS = 1 << DIGIT_BITS
};

/* A key, and below it the index of its record: one number, least significant word first. */
struct pair {
  uint64_t words[3];
};

DEVICE_INLINE bool key_is_less(const pair &a, const pair &b)
{
  return a.words[2] != b.words[2] ? a.words[2] < b.words[2] : a.words[1] < b.words[1];
}

DEVICE_INLINE bool is_less(const pair &a, const pair &b)
{
  const bool tie = a.words[2] == b.words[2] && a.words[1] == b.words[1];
  return tie ? a.words[0] < b.words[0] : key_is_less(a, b);
}

/* The least pair, or the greatest one. */
DEVICE_INLINE pair pair_of(uint64_t word)
{
  return {{word, word, word}};
}

struct matrix {
  uint64_t count; /* records */
  uint64_t rows;
  uint32_t strands;
};

/* Memory of the device: what the kernels pass on. */
struct workspace {
  pair *minima, *chosen, *collected, *last;
  pair *bound; /* of the groups' first records */
  uint64_t *chosen_count, *collected_count, *last_count;
};

struct read_args : record_source {
  matrix shape;
};

/* By how many strands a row is turned: a number of strips. */
DEVICE_INLINE uint32_t turn_of(const matrix &shape, uint64_t row)
{
  uint32_t mixed = (uint32_t)row * 0x9e3779b9;
  mixed = (mixed ^ mixed >> 15) * 0x85ebca6b;
  mixed ^= mixed >> 13;
  return (uint32_t)(device_product(mixed, shape.strands / STRIP) >> 32) * STRIP;
}

/* A strand's record number `lane` in a row. */
DEVICE_INLINE uint64_t record_at(const matrix &shape, uint32_t strand, uint32_t lane, uint64_t row)
{
  DEVICE_ASSERT(strand < shape.strands && lane < WIDE);
  const uint32_t turned = strand + turn_of(shape, row);
  const uint32_t place = turned < shape.strands ? turned : turned - shape.strands;
  return row * shape.strands * WIDE + (place * WIDE + lane);
}

/* The inverse. */
DEVICE_INLINE uint32_t strand_of(const matrix &shape, uint64_t record)
{
  const uint64_t row = record / WIDE / shape.strands;
  DEVICE_ASSERT(row < shape.rows);
  const uint32_t turned = (uint32_t)(record / WIDE % shape.strands), turn = turn_of(shape, row);
  return turned >= turn ? turned - turn : turned + shape.strands - turn;
}

template <reading How> DEVICE_INLINE pair read_pair(const read_args &args, uint64_t at, bool *valid)
{
  const record_key key = key_with<How>(args, at, load_word<How>(args, at), valid);
  return {{at, key.words[0], key.words[1]}};
}

/* Takes a place for each lane that wants one, from *taken on. By all lanes of a warp. */
DEVICE_INLINE uint64_t take_place(uint64_t *taken, bool wanted)
{
  const uint32_t takers = device_ballot(wanted), lane = threadIdx.x % WARP_SIZE;
  if (takers == 0) return 0;
  const uint32_t first = device_first_lane(takers);
  uint64_t place = 0;
  if (lane == first) place = device_add64(taken, device_popc(takers));
  place = __shfl_sync(UINT32_MAX, place, first);
  return place + device_popc(takers & ((1u << lane) - 1));
}

} // namespace head

#endif
