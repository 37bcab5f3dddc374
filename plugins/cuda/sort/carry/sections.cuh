/* sections.cuh - what comes between the levels: buckets of the first become the sections of the
 * second; buckets of the last become parts that blocks sort. */
#ifndef RECSORT_CUDA_CARRY_SECTIONS_CUH
#define RECSORT_CUDA_CARRY_SECTIONS_CUH

#include "cuda/sort/carry/certificate.cuh"
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
  /* reads */
  split_tiles tiles;
  uint32_t tile_size; /* of the second level */
  element_count count;
  const Key *splitters;
  /* writes */
  section *sections;
  tile_begin *begins;
};

/* Lists section s, a bucket of the first level, and its tiles; writes how many of its elements are
 * before each tile of the first level to `befores`. Its first tile has the number (elements before
 * it) / (elements of a tile) + s, as each section before it may end with a tile that is not full:
 * so no block has to know how many tiles others have. By all threads of the block; ends with a
 * barrier.
 */
template <class Key>
DEVICE_INLINE section list_section(const sections_args<Key> &args, uint32_t s, uint32_t *befores)
{
  const section_tiles from = tiles_of_all(args.tiles, args.count);
  const uint32_t tile_size = args.tile_size;
  uint32_t begin = 0, end = 0;
  for (uint32_t tile = threadIdx.x; tile < from.tiles; tile += blockDim.x) {
    begin += bucket_start(from, s, tile);
    end += bucket_start(from, s + 1, tile);
  }
  begin = sample::block_sum(begin);
  __syncthreads();
  end = sample::block_sum(end);
  __syncthreads();
  DEVICE_ASSERT(begin <= end);
  const uint32_t first_tile = begin / tile_size + s, next = end / tile_size + s + 1;
  const section all = {begin, end - begin, first_tile, is_one_key(args.splitters, from.buckets, s)};
  uint32_t before = 0;
  if (threadIdx.x == 0) args.sections[s] = all;
  for (uint32_t first = 0; first < from.tiles; first += blockDim.x) {
    const uint32_t tile = first + threadIdx.x;
    uint32_t length = 0, sum;
    if (tile < from.tiles) length = bucket_start(from, s + 1, tile) - bucket_start(from, s, tile);
    const uint32_t at = before + sample::block_before_all(length, &sum);
    if (tile < from.tiles) befores[tile] = at;
    for (uint32_t k = (at + tile_size - 1) / tile_size; k * tile_size < at + length; k++)
      args.begins[first_tile + k] = {s, k, tile, k * tile_size - at};
    before += sum;
    __syncthreads();
  }
  DEVICE_ASSERT(before == all.count);
  uint32_t spare = (uint32_t)plan_blocks(all.count, tile_size) + threadIdx.x;
  for (; first_tile + spare < next; spare += blockDim.x)
    args.begins[first_tile + spare] = {s, spare, 0, 0}; /* begins behind the last element */
  __syncthreads();
  return all;
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
  device_certificate certificate;
};

template <class Key> DEVICE_INLINE uint64_t hash_part(const sorted_part<Key> &part)
{
  return hash_words(part.begin, part.of.count, 2) + hash_both(part.least, part.greatest);
}

template <class Key> struct parts_args {
  static constexpr uint32_t max_threads = CARRY_LIST_BLOCK;
  /* reads */
  split_tiles tiles;
  element_count count;
  const section *sections;  /* NULL: one, all elements */
  splitter_set<Key> before; /* of the sections; NULLs: their codes are any */
  splitter_set<Key> set;
  uint32_t most, joined; /* of carry_plan */
  bool keys_only, floats;
  /* writes */
  part_list<Key> list;
};

/* Where the buckets of a section begin: the sum of where each begins in all tiles. A warp has some
 * buckets at a time, so that its loads do not wait for each other. By all threads of the block; a
 * barrier must follow. */
DEVICE_INLINE void find_buckets_of(const section_tiles &from, uint32_t *begins)
{
  enum { EACH = 8 };
  const uint32_t warp = threadIdx.x / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
  for (uint32_t b = warp * EACH; b < from.buckets; b += blockDim.x / WARP_SIZE * EACH) {
    uint32_t sums[EACH] = {};
    DEVICE_UNROLL_BY_4
    for (uint32_t tile = lane; tile < from.tiles; tile += WARP_SIZE)
      DEVICE_UNROLL
    for (uint32_t k = 0; k < EACH; k++)
      sums[k] += bucket_start(from, (uint32_t)plan_min(b + k, from.buckets - 1), tile);
    DEVICE_UNROLL
    for (uint32_t k = 0; k < EACH; k++) {
      const uint32_t sum = device_warp_sum(sums[k]);
      if (lane == 0 && b + k < from.buckets) begins[b + k] = sum;
    }
  }
  if (threadIdx.x == 0) begins[from.buckets] = from.count;
}

/* The codes between splitters b - 1 and b. */
template <class Key>
DEVICE_INLINE void bucket_range(const Key *splitters, uint32_t buckets, uint32_t b, Key *least,
                                Key *greatest)
{
  DEVICE_ASSERT(b < buckets);
  if (b > 0) *least = splitters[b - 1];
  if (b + 1 < buckets) *greatest = (Key)(splitters[b] - 1);
}

/* A section whose parts a block lists. */
template <class Key> struct listed_section {
  section_tiles from;
  const Key *splitters;
  const uint32_t *begins; /* of buckets, and the number of elements */
  Key least, greatest;    /* codes are between them */
};

/* A part of buckets [b, end) of a section. */
template <class Key>
DEVICE_INLINE sorted_part<Key> part_of(const listed_section<Key> &of, uint32_t b, uint32_t end)
{
  DEVICE_ASSERT(b < end && end <= of.from.buckets);
  sorted_part<Key> part = {{b, end, 0, 0, of.begins[end] - of.begins[b]},
                           blockIdx.x,
                           of.from.begin + of.begins[b],
                           of.least,
                           of.greatest};
  Key unused = 0;
  bucket_range(of.splitters, of.from.buckets, b, &part.least, &unused);
  bucket_range(of.splitters, of.from.buckets, end - 1, &unused, &part.greatest);
  return part;
}

/* Adds the hash of a part to the balance. */
template <class Key>
DEVICE_INLINE void certify_part(const part_list<Key> &list, const sorted_part<Key> &part)
{
  DEVICE_ASSERT(part.of.count > 0);
  if (list.certificate.disorder) (void)device_add64(list.certificate.balance, hash_part(part));
}

/* Subtracts it again, when the part has been written. One thread of the block does. */
template <class Key>
DEVICE_INLINE void settle_part(const part_list<Key> &list, const sorted_part<Key> &part)
{
  if (list.certificate.disorder && threadIdx.x == 0)
    (void)device_add64(list.certificate.balance, 0 - hash_part(part));
}

template <class Key>
DEVICE_INLINE void add_part(const part_list<Key> &list, const sorted_part<Key> &part)
{
  certify_part(list, part);
  list.parts[device_add32(list.count, 1)] = part;
}

template <class Key>
DEVICE_INLINE void add_hard(const part_list<Key> &list, const sorted_part<Key> &part)
{
  DEVICE_ASSERT(part.of.count > 0);
  list.hard[device_add32(list.hard_count, 1)] = part;
}

/* The same of one that is not among the parts. */
template <class Key>
DEVICE_INLINE void add_only_hard(const part_list<Key> &list, const sorted_part<Key> &part)
{
  certify_part(list, part);
  add_hard(list, part);
}

/* True if codes of a part are likely to crowd in bins of their differences: if a bin of the codes
 * of a bucket has more than `many`. */
template <class Key>
DEVICE_INLINE bool is_crowded(const listed_section<Key> &of, const sorted_part<Key> &part,
                              uint32_t many)
{
  const Key width = (Key)(part.greatest - part.least);
  const uint32_t shift = shift_to(width, WARP_SIZE);
  for (uint32_t b = part.of.b; b < part.of.end; b++) {
    Key least = part.least, greatest = part.greatest;
    bucket_range(of.splitters, of.from.buckets, b, &least, &greatest);
    const uint64_t share = (uint32_t)((Key)(greatest - least) >> shift);
    if ((of.begins[b + 1] - of.begins[b]) * (uint64_t)(uint32_t)(width >> shift) >
        many * CARRY_BINS * (share + 1))
      return true;
  }
  return false;
}

/* The same of parts that are hard to sort, unless their range is not known. */
template <class Key>
DEVICE_INLINE bool is_hard(const listed_section<Key> &of, const sorted_part<Key> &part)
{
  enum { MANY = 150 };
  return part.least != 0 && part.greatest != (Key) ~(Key)0 && is_crowded(of, part, MANY);
}

/* The bucket of a part with the widest range of codes. */
template <class Key>
DEVICE_INLINE uint32_t widest_bucket(const listed_section<Key> &of, const sorted_part<Key> &part)
{
  uint32_t widest = part.of.b;
  Key width = 0;
  for (uint32_t b = part.of.b; b < part.of.end; b++) {
    Key least = part.least, greatest = part.greatest;
    bucket_range(of.splitters, of.from.buckets, b, &least, &greatest);
    if ((Key)(greatest - least) <= width) continue;
    width = (Key)(greatest - least);
    widest = b;
  }
  return widest;
}

/* Adds a group of buckets that a block can sort together. If one bucket's codes of floats are so
 * wide apart, around 0, that those of the others crowd, it is a part by itself. Keys only may crowd
 * because many are the same, which is not hard. */
template <class Key>
DEVICE_INLINE void add_group(const parts_args<Key> &args, const listed_section<Key> &of, uint32_t b,
                             uint32_t end)
{
  enum { SOME = 32 };
  const sorted_part<Key> part = part_of(of, b, end);
  if (args.floats && end - b > 1 && is_crowded(of, part, SOME)) {
    const uint32_t widest = widest_bucket(of, part), edges[] = {b, widest, widest + 1, end};
    bool hard = false;
    for (uint32_t i = 0; i < 3; i++)
      hard = hard || (edges[i] < edges[i + 1] && is_hard(of, part_of(of, edges[i], edges[i + 1])));
    if (!hard) {
      DEVICE_PATH("carry_widest");
      for (uint32_t i = 0; i < 3; i++)
        if (of.begins[edges[i]] < of.begins[edges[i + 1]])
          add_part(args.list, part_of(of, edges[i], edges[i + 1]));
      return;
    }
  }
  if (!args.keys_only && is_hard(of, part))
    add_only_hard(args.list, part);
  else
    add_part(args.list, part);
}

/* Adds pieces of a bucket whose keys are alike. */
template <class Key>
DEVICE_INLINE void add_pieces(const part_list<Key> &list, const section_tiles &from,
                              const sorted_part<Key> &all, uint32_t most)
{
  DEVICE_ASSERT(most > 0);
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
DEVICE_INLINE void add_large(const parts_args<Key> &args, const listed_section<Key> &of, uint32_t b,
                             uint32_t end)
{
  uint32_t last = end - 1;
  while (of.begins[last] == of.begins[end]) /* an empty bucket */
    last--;
  DEVICE_ASSERT(last >= b);
  if (of.begins[last] > of.begins[b]) add_part(args.list, part_of(of, b, last));
  const sorted_part<Key> part = part_of(of, last, last + 1);
  if (part.of.count <= args.most) {
    add_part(args.list, part);
  } else if (part.least == part.greatest) {
    add_pieces(args.list, of.from, part, args.most);
  } else {
    DEVICE_PATH("carry_oversized");
    add_only_hard(args.list, part);
  }
}

/* Adds pieces of a section whose keys are alike: each tile is a run. */
template <class Key>
DEVICE_INLINE void add_one_key(const parts_args<Key> &args, const section &of, Key least,
                               Key greatest)
{
  const uint32_t tile = args.tiles.tile;
  DEVICE_ASSERT(args.most > 0);
  for (uint32_t done = threadIdx.x * args.most; done < of.count; done += blockDim.x * args.most) {
    sorted_part<Key> part = {};
    part.of = {0, 1, done / tile, done % tile, (uint32_t)plan_min(of.count - done, args.most)};
    part.section = blockIdx.x;
    part.begin = of.begin + done;
    part.least = least;
    part.greatest = greatest;
    add_part(args.list, part);
  }
}

/* Sets *disorder if splitters from number `first` to `last` do not ascend, `last` being less than
 * the number of buckets less 1. By all threads of the block. */
template <class Key>
DEVICE_INLINE void check_splitters(const part_list<Key> &list, const Key *splitters, uint32_t first,
                                   uint32_t last)
{
  bool wrong = false;
  if (!list.certificate.disorder) return;
  for (uint32_t i = first + threadIdx.x; i < last; i += blockDim.x)
    wrong |= splitters[i] > splitters[i + 1];
  if (wrong) device_poke32(list.certificate.disorder, 1);
}

/* Reads where buckets begin in the tiles of a section, a block for each section. Writes the parts:
 * buckets that begin within `joined` elements are one part, if a block can sort them together; a
 * larger last one is a part of its own, pieces if its keys are alike, or oversized. */
template <class Key>
__global__ void __launch_bounds__(CARRY_LIST_BLOCK)
    list_parts(const __grid_constant__ parts_args<Key> args)
{
  DEVICE_SHARED_ARRAY(uint32_t, begins, CARRY_MOST_BUCKETS + 1);
  DEVICE_SHARED_ARRAY(uint16_t, firsts, CARRY_MOST_BUCKETS + 1);
  DEVICE_SHARED_ARRAY(Key, splitters, CARRY_MOST_BUCKETS);
  device_await_before();
  const uint32_t s = blockIdx.x, buckets = args.set.buckets;
  const section all = args.sections ? args.sections[s] : section{0, args.count(), 0, 0};
  listed_section<Key> of = {tiles_of(args.tiles, all), splitters, begins, 0, (Key) ~(Key)0};
  if (args.before.splitters) {
    bucket_range(args.before.splitters, args.before.buckets, s, &of.least, &of.greatest);
    if (s > 0 && args.count() > 0)
      check_splitters(args.list, args.before.splitters, s - 1,
                      (uint32_t)plan_min(s, args.before.buckets - 2));
  }
  if (all.count == 0) return;
  if (all.one_key) {
    add_one_key(args, all, of.least, of.greatest);
    return;
  }
  DEVICE_ASSERT(buckets > 0 && buckets <= CARRY_MOST_BUCKETS);
  for (uint32_t i = threadIdx.x; i < buckets; i += blockDim.x)
    splitters[i] = args.set.splitters[(uint64_t)s * buckets + i];
  find_buckets_of(of.from, begins);
  __syncthreads();
  check_splitters(args.list, splitters, 0, buckets - 2);
  const auto is_head = [&](uint32_t b) {
    return b == 0 || begins[b] / args.joined != begins[b - 1] / args.joined;
  };
  const uint32_t each = (buckets + blockDim.x - 1) / blockDim.x, b0 = threadIdx.x * each;
  uint32_t heads = 0, groups;
  for (uint32_t b = b0; b < b0 + each && b < buckets; b++)
    heads += is_head(b);
  uint32_t at = sample::block_before_all(heads, &groups);
  for (uint32_t b = b0; b < b0 + each && b < buckets; b++)
    if (is_head(b)) firsts[at++] = (uint16_t)b;
  if (threadIdx.x == 0) firsts[groups] = (uint16_t)buckets;
  __syncthreads();
  DEVICE_ASSERT(groups > 0 && groups <= buckets);
  for (uint32_t g = threadIdx.x; g < groups; g += blockDim.x) {
    const uint32_t b = firsts[g], end = firsts[g + 1], count = begins[end] - begins[b];
    DEVICE_ASSERT(b < end && end <= buckets);
    if (count > args.most) {
      add_large(args, of, b, end);
    } else if (count) {
      add_group(args, of, b, end);
    }
  }
}

} // namespace carry

#endif
