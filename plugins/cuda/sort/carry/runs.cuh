/* runs.cuh - the tiles that are split, and how a block gathers part of a bucket from them. A split
 * tile stays in its place, in the order of buckets; so a bucket is a run in each tile of its
 * section, and whoever reads it next gathers these runs. */
#ifndef RECSORT_CUDA_CARRY_RUNS_CUH
#define RECSORT_CUDA_CARRY_RUNS_CUH

#include "cuda/sort/carry/elements.cuh"

namespace carry
{

enum {
  RUN_MOST = 1 << 13,  /* the most elements of a run */
  RUN_LENGTH_BITS = 22 /* the lengths of the runs that a block lists at a time add up to less */
};

/* A section: elements that are split alike. Its tiles are full, but the last one. */
struct section {
  uint32_t begin, count;
  uint32_t first_tile; /* its number among the tiles of all sections */
  uint32_t one_key;    /* nonzero: all keys have one code, or are so few that a block sorts them */
};

/* The split tiles of all sections. `split` and `split_keys` write them; who gathers buckets reads
 * them, by bucket_start(). starts[(first_tile of the section) * buckets + b * (tiles of the
 * section) + t] is where bucket b begins in tile t. */
struct split_tiles {
  uint16_t *starts;
  uint32_t tile; /* elements */
  uint32_t buckets;
};

/* Those of a section. */
struct section_tiles {
  const uint16_t *starts;
  uint32_t tile, buckets;
  uint32_t tiles, begin, count;
};

DEVICE_INLINE section_tiles tiles_of(const split_tiles &all, const section &of)
{
  DEVICE_ASSERT(all.tile > 0);
  const uint32_t tiles = (uint32_t)plan_blocks(of.count, all.tile);
  return {all.starts + (uint64_t)of.first_tile * all.buckets,
          all.tile,
          all.buckets,
          tiles,
          of.begin,
          of.count};
}

/* Those of the first level, which has one section. */
DEVICE_INLINE section_tiles tiles_of_all(const split_tiles &all, element_count count)
{
  return tiles_of(all, {0, count(), 0, 0});
}

/* Where bucket b begins in a tile; b may be the number of buckets. */
DEVICE_INLINE uint32_t bucket_start(section_tiles from, uint32_t b, uint32_t tile)
{
  DEVICE_ASSERT(b <= from.buckets && tile < from.tiles);
  if (b < from.buckets) return from.starts[(uint64_t)b * from.tiles + tile];
  return (uint32_t)plan_min(from.tile, from.count - tile * from.tile);
}

/* Part of adjacent buckets [b, end) of a section: from element `skip` of their run in tile `tile`
 * on, which has more, and their runs in the tiles behind it. */
struct bucket_part {
  uint32_t b, end;
  uint32_t tile, skip;
  uint32_t count;
};

/* The runs of a part, in shared memory. A run covers elements of the part; the word of 32 elements
 * has bits where runs begin within it, and the run that covers its first element. */
struct DEVICE_ALIGNED(8) run_word {
  uint32_t heads, first;
};

struct run_list {
  uint32_t *from; /* run r's elements are at from[r] + their number in the part, modulo 2^32 */
  run_word *words;
};

DEVICE_INLINE void add_run(run_list list, uint32_t run, uint32_t at, uint32_t end, uint32_t from)
{
  DEVICE_ASSERT(at < end);
  list.from[run] = from - at;
  if (at % WARP_SIZE) device_or32(&list.words[at / WARP_SIZE].heads, 1u << at % WARP_SIZE);
  DEVICE_ROLLED
  for (uint32_t word = (at + WARP_SIZE - 1) / WARP_SIZE; word * WARP_SIZE < end; word++)
    list.words[word].first = run;
}

/* The run of a part in one of its tiles. */
struct run_in_tile {
  uint16_t start, length;
};

/* A block looks into so many tiles at a time, one for each thread. */
DEVICE_INLINE uint32_t listed_tiles(void)
{
  return (uint32_t)plan_min(blockDim.x, (1 << RUN_LENGTH_BITS) / RUN_MOST - 1);
}

/* The run that the thread is to list next, in `part.tile` + `more` + its number. */
DEVICE_INLINE run_in_tile find_run(section_tiles from, bucket_part part, uint32_t more)
{
  const uint32_t tile = part.tile + more + threadIdx.x;
  run_in_tile run = {0, 0};
  if (threadIdx.x >= listed_tiles() || tile >= from.tiles) return run;
  const uint32_t skip = tile == part.tile ? part.skip : 0;
  const uint32_t start = bucket_start(from, part.b, tile) + skip;
  run.start = (uint16_t)start;
  run.length = (uint16_t)(bucket_start(from, part.end, tile) - start);
  return run;
}

/* Lists the runs of a part; `run` is what find_run() has found for it. By all threads of the block;
 * ends with a barrier. */
DEVICE_INLINE void list_runs(section_tiles from, bucket_part part, run_in_tile run, run_list list)
{
  DEVICE_ASSERT(part.count > 0 && run.length <= from.tile);
  const uint32_t step = listed_tiles();
  uint32_t before = 0, runs = 0;
  for (uint32_t word = threadIdx.x; word * WARP_SIZE < part.count; word += blockDim.x)
    list.words[word].heads = 0;
  for (uint32_t more = 0;;) {
    const uint32_t tile = part.tile + more + threadIdx.x;
    uint32_t all;
    const uint32_t packed =
        sample::block_before_all(run.length | (uint32_t)(run.length > 0) << RUN_LENGTH_BITS, &all);
    const uint32_t at = before + (packed & ((1u << RUN_LENGTH_BITS) - 1));
    if (run.length > 0 && at < part.count)
      add_run(list, runs + (packed >> RUN_LENGTH_BITS), at,
              (uint32_t)plan_min(at + run.length, part.count),
              from.begin + tile * from.tile + run.start);
    before += all & ((1u << RUN_LENGTH_BITS) - 1);
    runs += all >> RUN_LENGTH_BITS;
    if (before < part.count) run = find_run(from, part, more += step);
    __syncthreads();
    if (before >= part.count) break;
  }
}

/* Advances a part by the elements that it has. */
DEVICE_INLINE void go_on(section_tiles from, bucket_part *part)
{
  DEVICE_ASSERT(part->tile < from.tiles);
  for (uint32_t left = part->count + part->skip;;) {
    const uint32_t length =
        bucket_start(from, part->end, part->tile) - bucket_start(from, part->b, part->tile);
    part->skip = left;
    if (left < length || part->tile + 1 == from.tiles) return;
    left -= length;
    part->tile++;
  }
}

/* Where element j of the part is. */
DEVICE_INLINE uint32_t run_element(run_list list, uint32_t j)
{
  const run_word word = list.words[j / WARP_SIZE];
  return list.from[word.first + device_popc(word.heads & ((2u << j % WARP_SIZE) - 1))] + j;
}

} // namespace carry

#endif
