/* sections.cuh - what comes between the levels: buckets of the first become the sections of the
 * second; buckets of the last become parts that blocks sort. */
#ifndef RECSORT_CUDA_CARRY_SECTIONS_CUH
#define RECSORT_CUDA_CARRY_SECTIONS_CUH

#include "cuda/sort/carry/lookup.cuh"
#include "cuda/sort/carry/runs.cuh"
#include "cuda/sort/carry/split.cuh"

namespace carry
{

/* True if all codes between splitters b - 1 and b are alike; those beyond the first and the last
 * are `least` and `greatest`. */
template <class Key>
DEVICE_INLINE bool is_one_key(const Key *splitters, uint32_t buckets, uint32_t b)
{
  if (b == 0) return splitters[0] <= 1;
  if (b + 1 == buckets) return splitters[b - 1] == (Key) ~(Key)0;
  return (Key)(splitters[b] - splitters[b - 1]) <= 1;
}

template <class Key> struct sections_args {
  static constexpr uint32_t max_threads = CARRY_BLOCK;
  /* reads */
  split_tiles tiles;
  uint32_t tile_size; /* of the second level */
  uint32_t count;
  const Key *splitters;
  /* writes */
  uint32_t *totals; /* of sections; list_sections reads them */
  section *sections;
  tile_begin *begins;
  uint32_t *tile_count;
  uint32_t *befores; /* elements of the section before each tile of the first level */
};

/* Reads where a bucket begins in all tiles, a block for each bucket. Writes how many elements it
 * has. */
template <class Key>
__global__ void __launch_bounds__(CARRY_BLOCK)
    count_sections(const __grid_constant__ sections_args<Key> args)
{
  device_await_before();
  const section_tiles from = tiles_of(args.tiles, {0, args.count, 0, 0});
  const uint32_t s = blockIdx.x;
  uint32_t sum = 0;
  for (uint32_t tile = threadIdx.x; tile < from.tiles; tile += blockDim.x)
    sum += bucket_start(from, s + 1, tile) - bucket_start(from, s, tile);
  sum = sample::block_sum(sum);
  if (threadIdx.x == 0) args.totals[s] = sum;
}

/* Reads the same, and the totals of all sections. Writes each section, and where each of its tiles
 * begins in those of the first level, a block for each section. */
template <class Key>
__global__ void __launch_bounds__(CARRY_BLOCK)
    list_sections(const __grid_constant__ sections_args<Key> args)
{
  device_await_before();
  const section_tiles from = tiles_of(args.tiles, {0, args.count, 0, 0});
  const uint32_t s = blockIdx.x, tile_size = args.tile_size;
  uint32_t begin = 0, first_tile = 0;
  for (uint32_t other = threadIdx.x; other < s; other += blockDim.x) {
    begin += args.totals[other];
    first_tile += (uint32_t)plan_blocks(args.totals[other], tile_size);
  }
  begin = sample::block_sum(begin);
  __syncthreads();
  first_tile = sample::block_sum(first_tile);
  __syncthreads();
  const uint32_t total = args.totals[s];
  if (threadIdx.x == 0) {
    args.sections[s] = {begin, total, first_tile, is_one_key(args.splitters, gridDim.x, s)};
    if (s + 1 == gridDim.x) *args.tile_count = first_tile + (uint32_t)plan_blocks(total, tile_size);
  }
  uint32_t before = 0;
  for (uint32_t first = 0; first < from.tiles; first += blockDim.x) {
    const uint32_t tile = first + threadIdx.x;
    uint32_t length = 0, all;
    if (tile < from.tiles) length = bucket_start(from, s + 1, tile) - bucket_start(from, s, tile);
    const uint32_t at = before + sample::block_before_all(length, &all);
    if (tile < from.tiles) args.befores[(uint64_t)s * from.tiles + tile] = at;
    for (uint32_t k = (at + tile_size - 1) / tile_size; k * tile_size < at + length; k++)
      args.begins[first_tile + k] = {s, k, tile, k * tile_size - at};
    before += all;
    __syncthreads();
  }
}

/* ---- Parts ---- */

/* Elements that a block sorts: part of adjacent buckets of a section. */
template <class Key> struct sorted_part {
  bucket_part of;
  uint32_t section;
  uint32_t begin;      /* among all elements */
  Key least, greatest; /* codes are between them */
};

template <class Key> struct part_list {
  sorted_part<Key> *parts;
  uint32_t *count;
  sorted_part<Key> *hard; /* too many elements for a block, or many that are nearly alike */
  uint32_t *hard_count;
};

template <class Key> struct parts_args {
  static constexpr uint32_t max_threads = CARRY_BLOCK;
  /* reads */
  split_tiles tiles;
  uint32_t count;
  const section *sections; /* NULL: one, all elements */
  uint32_t section_count;
  splitter_set<Key> before; /* of the sections; unused if there is one */
  splitter_set<Key> set;
  uint32_t most, joined; /* of carry_plan */
  /* writes */
  uint32_t *counts; /* of each section's buckets; list_parts reads them */
  part_list<Key> list;
};

/* Reads where a bucket begins in the tiles of its section, a warp for each bucket. Writes how many
 * elements it has. */
template <class Key>
__global__ void __launch_bounds__(CARRY_BLOCK)
    count_buckets(const __grid_constant__ parts_args<Key> args)
{
  device_await_before();
  const uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
  const uint32_t s = warp / args.set.buckets, b = warp % args.set.buckets;
  if (s >= args.section_count) return;
  const section of = args.sections ? args.sections[s] : section{0, args.count, 0, 0};
  const section_tiles from = tiles_of(args.tiles, of);
  uint32_t sum = 0;
  if (of.one_key) return;
  for (uint32_t tile = threadIdx.x % WARP_SIZE; tile < from.tiles; tile += WARP_SIZE)
    sum += bucket_start(from, b + 1, tile) - bucket_start(from, b, tile);
  sum = device_warp_sum(sum);
  if (threadIdx.x % WARP_SIZE == 0) args.counts[warp] = sum;
}

/* The codes between splitters b - 1 and b. */
template <class Key>
DEVICE_INLINE void bucket_range(const Key *splitters, uint32_t buckets, uint32_t b, Key *least,
                                Key *greatest)
{
  if (b > 0) *least = splitters[b - 1];
  if (b + 1 < buckets) *greatest = (Key)(splitters[b] - 1);
}

/* A part of buckets [b, end) of a section; its count and place are not set. */
template <class Key>
DEVICE_INLINE sorted_part<Key> part_of(const parts_args<Key> &args, uint32_t s, uint32_t b,
                                       uint32_t end)
{
  const Key *const splitters = args.set.splitters + (uint64_t)s * args.set.buckets;
  sorted_part<Key> part = {{b, end, 0, 0, 0}, s, 0, 0, (Key) ~(Key)0};
  Key unused = 0;
  if (args.sections)
    bucket_range(args.before.splitters, args.before.buckets, s, &part.least, &part.greatest);
  bucket_range(splitters, args.set.buckets, b, &part.least, &unused);
  bucket_range(splitters, args.set.buckets, end - 1, &unused, &part.greatest);
  return part;
}

template <class Key>
DEVICE_INLINE void add_part(const part_list<Key> &list, const sorted_part<Key> &part)
{
  list.parts[device_add32(list.count, 1)] = part;
}

template <class Key>
DEVICE_INLINE void add_hard(const part_list<Key> &list, const sorted_part<Key> &part)
{
  list.hard[device_add32(list.hard_count, 1)] = part;
}

/* True if codes of a part are likely to crowd in bins of their differences: if the codes of a
 * bucket have few bins. `begins` is where buckets begin. */
template <class Key>
DEVICE_INLINE bool is_crowded(const parts_args<Key> &args, const sorted_part<Key> &part,
                              const uint32_t *begins)
{
  enum { MANY = 150 };
  if (part.least == 0 || part.greatest == (Key) ~(Key)0) return false; /* its range is not known */
  const Key *const splitters = args.set.splitters + (uint64_t)part.section * args.set.buckets;
  const Key width = (Key)(part.greatest - part.least);
  const uint32_t shift = shift_to(width, WARP_SIZE);
  for (uint32_t b = part.of.b; b < part.of.end; b++) {
    Key least = part.least, greatest = part.greatest;
    bucket_range(splitters, args.set.buckets, b, &least, &greatest);
    const uint64_t share = (uint32_t)((Key)(greatest - least) >> shift);
    if ((begins[b + 1] - begins[b]) * (uint64_t)(uint32_t)(width >> shift) >
        MANY * CARRY_BINS * (share + 1))
      return true;
  }
  return false;
}

/* Adds pieces of a bucket whose keys are alike. */
template <class Key>
DEVICE_INLINE void add_pieces(const part_list<Key> &list, const section_tiles &from,
                              const sorted_part<Key> &all, uint32_t most)
{
  sorted_part<Key> part = all;
  for (uint32_t done = 0; done < all.of.count; done += part.of.count) {
    part.of.count = (uint32_t)plan_min(all.of.count - done, most);
    part.begin = all.begin + done;
    add_part(list, part);
    go_on(from, &part.of);
  }
}

/* Adds the last bucket of a group that is too large for a block, and the others. */
template <class Key>
DEVICE_INLINE void add_large(const parts_args<Key> &args, const section_tiles &from,
                             const uint32_t *begins, uint32_t b, uint32_t end)
{
  const uint32_t s = blockIdx.x;
  uint32_t last = end - 1;
  while (begins[last] == begins[end]) /* an empty bucket */
    last--;
  if (begins[last] > begins[b]) {
    sorted_part<Key> others = part_of(args, s, b, last);
    others.of.count = begins[last] - begins[b];
    others.begin = from.begin + begins[b];
    add_part(args.list, others);
  }
  sorted_part<Key> part = part_of(args, s, last, last + 1);
  part.of.count = begins[end] - begins[last];
  part.begin = from.begin + begins[last];
  if (part.of.count <= args.most) {
    add_part(args.list, part);
  } else if (part.least == part.greatest) {
    add_pieces(args.list, from, part, args.most);
  } else {
    DEVICE_PATH("carry_oversized");
    add_hard(args.list, part);
  }
}

/* Reads how many elements the buckets of a section have, a block for each section. Writes the
 * parts: buckets that begin within `joined` elements are one part, if a block can sort them
 * together; a larger last one is a part of its own, pieces if its keys are alike, or oversized. */
template <class Key>
__global__ void __launch_bounds__(CARRY_BLOCK)
    list_parts(const __grid_constant__ parts_args<Key> args)
{
  DEVICE_SHARED_ARRAY(uint32_t, begins, CARRY_MOST_BUCKETS + 1);
  DEVICE_SHARED_ARRAY(uint16_t, firsts, CARRY_MOST_BUCKETS + 1);
  device_await_before();
  const section of = args.sections ? args.sections[blockIdx.x] : section{0, args.count, 0, 0};
  const uint32_t buckets = args.set.buckets;
  const section_tiles from = tiles_of(args.tiles, of);
  const uint32_t each = (buckets + blockDim.x - 1) / blockDim.x, b0 = threadIdx.x * each;
  if (of.count == 0) return;
  if (of.one_key) { /* each tile is a run */
    for (uint32_t done = threadIdx.x * args.most; done < of.count; done += blockDim.x * args.most) {
      sorted_part<Key> part = {};
      part.of = {0, 1, done / from.tile, done % from.tile,
                 (uint32_t)plan_min(of.count - done, args.most)};
      part.section = blockIdx.x;
      part.begin = of.begin + done;
      add_part(args.list, part);
    }
    return;
  }
  uint32_t sum = 0, heads = 0, groups;
  for (uint32_t b = b0; b < b0 + each && b < buckets; b++) {
    begins[b] = sum;
    sum += args.counts[blockIdx.x * buckets + b];
  }
  const uint32_t before = sample::block_before(sum);
  for (uint32_t b = b0; b < b0 + each && b < buckets; b++)
    begins[b] += before;
  if (threadIdx.x == 0) begins[buckets] = of.count;
  __syncthreads();
  const auto is_head = [&](uint32_t b) {
    return b == 0 || begins[b] / args.joined != begins[b - 1] / args.joined;
  };
  for (uint32_t b = b0; b < b0 + each && b < buckets; b++)
    heads += is_head(b);
  uint32_t at = sample::block_before_all(heads, &groups);
  for (uint32_t b = b0; b < b0 + each && b < buckets; b++)
    if (is_head(b)) firsts[at++] = (uint16_t)b;
  if (threadIdx.x == 0) firsts[groups] = (uint16_t)buckets;
  __syncthreads();
  for (uint32_t g = threadIdx.x; g < groups; g += blockDim.x) {
    const uint32_t b = firsts[g], end = firsts[g + 1], count = begins[end] - begins[b];
    if (count > args.most) {
      add_large(args, from, begins, b, end);
    } else if (count) {
      sorted_part<Key> part = part_of(args, blockIdx.x, b, end);
      part.of.count = count;
      part.begin = of.begin + begins[b];
      if (is_crowded(args, part, begins))
        add_hard(args.list, part);
      else
        add_part(args.list, part);
    }
  }
}

} // namespace carry

#endif
