/* splitters.cuh - chooses the splitters of sections: every k-th code of a sorted sample. If several
 * of these are alike, the second and the others become the next greater code, so that all equal
 * keys are a bucket of their own: it needs no sort, as splitting keeps their order. */
#ifndef RECSORT_CUDA_CARRY_SPLITTERS_CUH
#define RECSORT_CUDA_CARRY_SPLITTERS_CUH

#include "cuda/sort/carry/block_sort.cuh"
#include "cuda/sort/carry/lookup.cuh"
#include "cuda/sort/carry/sections.cuh"

namespace carry
{

template <class Key> struct choose_args {
  static constexpr uint32_t max_threads = CARRY_CHOOSE_BLOCK;
  /* reads */
  key_order<Key> order;
  const Key *keys;
  uint64_t stride; /* bytes from a key to the next one; of the first level */
  uint32_t samples;
  /* writes */
  splitter_set<Key> set;
  uint32_t *parts; /* set to 0, for the kernels that follow: the numbers of parts */
  /* The rest: of the second level, or of segments, which are sections that are listed already.
   * Elements of a section before each tile of the first level are in shared memory, from this byte
   * on, unless these are NULL. */
  sections_args<Key> source;
  bool segments;
  uint32_t *befores;
  uint32_t befores_at;
};

/* Codes in shared memory; see key_codes. */
template <class Key> struct codes_there {
  const Key *codes;

  DEVICE_MEMBER Key operator()(uint32_t i) const
  {
    return codes[i];
  }
  template <class Work> DEVICE_MEMBER void with(const Work &work) const
  {
    work(*this);
  }
};

/* The number of the section's element of sample i: anywhere in an equal part of the section. */
DEVICE_INLINE uint32_t sample_place(uint32_t i, uint32_t samples, uint32_t count)
{
  DEVICE_ASSERT(i < samples && samples <= count);
  const uint64_t begin = (uint64_t)count * i / samples, end = (uint64_t)count * (i + 1) / samples;
  uint32_t mixed = (i + 1) * 0x9e3779b9u;
  mixed = (mixed ^ mixed >> 15) * 0x85ebca6bu;
  mixed ^= mixed >> 13;
  return (uint32_t)(begin + ((uint64_t)mixed * (end - begin) >> 32));
}

/* Turns places in a section to places among all elements, in the tiles of the first level: element
 * `place` is in the last tile before which there are not more. Searches do not wait for each other.
 */
template <class Key, uint32_t items>
DEVICE_INLINE void find_elements(const sections_args<Key> &source, uint32_t s,
                                 const uint32_t *befores, uint32_t *places)
{
  const section_tiles from = tiles_of_all(source.tiles, source.count);
  DEVICE_ASSERT(from.tiles > 0);
  uint32_t tiles[items] = {};
  DEVICE_ROLLED
  for (uint32_t count = from.tiles; count > 1; count -= count / 2)
    DEVICE_UNROLL
  for (uint32_t t = 0; t < items; t++)
    if (befores[tiles[t] + count / 2] <= places[t]) tiles[t] += count / 2;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < items; t++)
    places[t] += tiles[t] * from.tile + bucket_start(from, s, tiles[t]) - befores[tiles[t]];
}

/* Loads the codes of a sample of the section to shared memory, so many items of a thread at a time.
 * `befores` of a section whose elements are neighbours is NULL. By all threads of the block. */
template <class Key, bool first, uint32_t threads, uint32_t items>
DEVICE_INLINE void load_sample(const choose_args<Key> &args, const uint32_t *befores,
                               const section &of, uint32_t samples, Key *codes)
{
  DEVICE_ROLLED
  for (uint32_t begin = threadIdx.x; begin < samples; begin += items * threads) {
    uint32_t places[items];
    DEVICE_UNROLL
    for (uint32_t t = 0; t < items; t++)
      places[t] =
          (befores ? 0 : of.begin) +
          sample_place((uint32_t)plan_min(begin + t * threads, samples - 1), samples, of.count);
    if (!first && befores) find_elements<Key, items>(args.source, blockIdx.x, befores, places);
    DEVICE_UNROLL
    for (uint32_t t = 0; t < items; t++)
      codes[plan_min(begin + t * threads, samples - 1)] = args.order.code(
          first ? *word_at(args.keys, places[t], args.stride) : args.keys[places[t]]);
  }
}

/* Candidate i for a splitter is after i + 1 of `buckets` equal parts of the sample. */
template <class Key>
DEVICE_INLINE Key candidate(const Key *codes, sort_storage by, bool mixed, uint32_t samples,
                            uint32_t buckets, uint32_t i)
{
  DEVICE_ASSERT(i + 1 < buckets);
  const uint32_t j = (uint32_t)((uint64_t)(i + 1) * samples / buckets);
  DEVICE_ASSERT(j < samples);
  return codes[mixed ? element_at(by, j) : j];
}

/* How many bits of a distance tell the entry in a cell of so many splitters. */
DEVICE_INLINE uint32_t entry_bits(uint32_t splitters, uint32_t shift)
{
  DEVICE_ASSERT(shift > 0);
  enum { MORE = 2 }; /* 4 to 8 entries for each splitter */
  if (!splitters) return 0;
  return (uint32_t)plan_min(WARP_SIZE - device_clz32(splitters) + MORE, shift - 1);
}

/* True if splitter i stays where it is: the range of the table depends on it, or it differs by 1
 * from a neighbour, so that all codes between them are alike. */
template <class Key> DEVICE_INLINE bool is_fixed(const Key *splitters, uint32_t buckets, uint32_t i)
{
  return i == 0 || i + 2 == buckets || (Key)(splitters[i] - splitters[i - 1]) <= 1 ||
         (Key)(splitters[i + 1] - splitters[i]) <= 1;
}

/* Writes a section's splitters and its table, in which splitters are sorted by entry, too: each
 * entry searches for the first that is not before it. A splitter that is alone in its entry is
 * moved to the first code of its place. By all threads of the block. */
template <class Key>
DEVICE_INLINE void write_table(Key *splitters, uint32_t buckets, Key *written, uint32_t *table)
{
  DEVICE_SHARED_ARRAY(uint32_t, counts, CARRY_CELLS); /* splitters in each cell */
  DEVICE_SHARED_ARRAY(uint32_t, cells, CARRY_CELLS);
  DEVICE_SHARED_ARRAY(uint16_t, ends, CARRY_MOST_BUCKETS); /* entries of splitters */
  DEVICE_SHARED_ARRAY(uint8_t, places, CARRY_MOST_BUCKETS);
  DEVICE_SHARED_ARRAY(uint32_t, most, 1);
  Key least, range;
  set_range(splitters, buckets, &least, &range);
  const uint32_t bits = range ? 8 * sizeof(Key) - leading_zeros(range) : 0, cell_bits = 6;
  const uint32_t shift = bits > cell_bits ? bits - cell_bits : 1, t = threadIdx.x;
  const uint32_t flat_bits = carry_cell_bits(buckets);
  static_assert(CARRY_CELLS == 64, "the bits of a cell's number");
  for (uint32_t i = t; i < CARRY_CELLS; i += blockDim.x)
    counts[i] = 0;
  if (t == 0) *most = 0;
  __syncthreads();
  for (uint32_t i = t; i + 1 < buckets; i += blockDim.x)
    device_add32(&counts[(uint32_t)((Key)(splitters[i] - least) >> shift)], 1);
  __syncthreads();
  uint32_t some = t < CARRY_CELLS ? entry_bits(counts[t], shift) : 0; /* a block has 64 threads */
  if (t < CARRY_CELLS) device_max32(most, some);
  __syncthreads();
  const bool flat = *most <= flat_bits;
  if (flat) some = (uint32_t)plan_min(flat_bits, shift - 1);
  uint32_t entries;
  const uint32_t before = sample::block_before_all(t < CARRY_CELLS ? 1u << some : 0, &entries);
  DEVICE_ASSERT(entries <= 2 * (carry_table_words(buckets) - CARRY_HEAD_WORDS));
  if (t == 0) *most = 0;
  if (t < CARRY_CELLS) cells[t] = (before - (t << some)) << 16 | (shift - some);
  __syncthreads();
  const auto cell_of = [&](uint32_t i) {
    return cells[(uint32_t)((Key)(splitters[i] - least) >> shift)];
  };
  for (uint32_t i = t; i + 1 < buckets; i += blockDim.x) {
    const uint32_t cell = cell_of(i);
    const Key distance = (Key)(splitters[i] - least);
    ends[i] = (uint16_t)((uint32_t)(distance >> (cell & 0xffff)) + (cell >> 16));
  }
  __syncthreads();
  const auto is_end = [&](uint32_t i, uint32_t entry) {
    return i + 1 < buckets && ends[i] == entry;
  };
  for (uint32_t i = t; i + 1 < buckets; i += blockDim.x) {
    const uint32_t low_bits = cell_of(i) & 0xffff;
    const Key distance = (Key)(splitters[i] - least);
    const uint32_t place = place_in_entry(distance, low_bits);
    const Key begin =
        (Key)(((distance >> low_bits) << low_bits) + place_begin<Key>(place, low_bits));
    const bool exact = begin == distance;
    const bool alone = !(i > 0 && ends[i - 1] == ends[i]) && !is_end(i + 1, ends[i]);
    const bool moves = alone && !exact && !is_fixed(splitters, buckets, i);
    places[i] = (uint8_t)(alone && (exact || moves) ? place : (uint32_t)ENTRY_MANY);
    written[i] = moves ? (Key)(least + begin) : splitters[i];
  }
  __syncthreads();
  uint32_t mine = 0;
  uint16_t *const befores = (uint16_t *)(table + CARRY_HEAD_WORDS);
  for (uint32_t entry = t; entry < entries; entry += blockDim.x) {
    uint32_t i = 0;
    for (uint32_t step = CARRY_MOST_BUCKETS / 2; step > 0; step /= 2)
      if (i + step < buckets && ends[i + step - 1] < entry) i += step;
    const uint32_t place = is_end(i, entry) ? places[i] : (uint32_t)ENTRY_PLACES;
    befores[entry] = (uint16_t)(i | place << ENTRY_BITS);
    uint32_t alike = 0;
    while (is_end(i + alike, entry))
      alike++;
    mine = (uint32_t)plan_max(mine, alike);
  }
  mine = device_warp_max(mine);
  if (t % WARP_SIZE == 0) device_max32(most, mine);
  for (uint32_t cell = t; cell < CARRY_CELLS; cell += blockDim.x)
    table[cell] = cells[cell];
  __syncthreads();
  if (t > 0) return;
  table[CARRY_CELLS] = shift | (uint32_t)flat << 16;
  table[CARRY_CELLS + 1] = WARP_SIZE - device_clz32(*most);
}

/* Reads a sample of each section, and sorts it in shared memory. Writes the section's splitters and
 * its table. `first`: there is one section, all keys of the caller; else the sections are the
 * buckets of the level before, which it lists, or segments. Its loads, one after the other, take
 * most of the time, so each thread has several on their way. */
template <class Key, bool first, uint32_t threads>
__global__ void __launch_bounds__(threads, device_blocks(threads, first ? 1 : 2))
    choose_splitters(const __grid_constant__ choose_args<Key> args)
{
  DEVICE_SHARED(Key, codes);
  const uint32_t s = blockIdx.x, buckets = args.set.buckets;
  device_await_before();
  if (first && threadIdx.x == 0) args.parts[0] = args.parts[1] = 0;
  section of = {0, args.order.count(), 0, 0};
  uint32_t *befores = NULL;
  if (!first && args.segments) {
    of = args.source.sections[s];
  } else if (!first) {
    const uint64_t tiles = plan_blocks(of.count, args.source.tiles.tile);
    befores =
        args.befores ? args.befores + s * tiles : (uint32_t *)((char *)codes + args.befores_at);
    of = list_section(args.source, s, befores);
  }
  if (of.count == 0 || of.one_key) return;
  const uint32_t samples = (uint32_t)plan_min(args.samples, of.count);
  uint32_t *const words = (uint32_t *)(codes + args.samples);
  const sort_storage by = {words, words + args.samples + WARP_SIZE};
  Key *const splitters = (Key *)(by.bins + CARRY_BINS / 2);
  if (samples > 2 * threads)
    load_sample<Key, first, threads, 4>(args, befores, of, samples, codes);
  else
    load_sample<Key, first, threads, 1>(args, befores, of, samples, codes);
  __syncthreads();
  const codes_there<Key> code_at = {codes};
  const code_range<Key> range = range_of_codes<Key>(samples, code_at);
  sort_result sorted = sort_by_bins<threads, Key>(by, samples, range, code_at);
  if (sorted == CROWDED) {
    const code_sample<Key> sample = code_sample_at<Key>(splitters + buckets);
    sorted = sort_crowded<threads, Key>(by, samples, range, sample, code_at) ? SORTED : ALIKE;
  }
  const bool mixed = sorted != ALIKE;
  for (uint32_t i = threadIdx.x; i + 1 < buckets; i += blockDim.x) {
    const Key code = candidate(codes, by, mixed, samples, buckets, i);
    const bool again = i > 0 && candidate(codes, by, mixed, samples, buckets, i - 1) == code;
    splitters[i] = (Key)(code + (again && (Key)(code + 1) != 0));
  }
  __syncthreads();
  write_table(splitters, buckets, args.set.splitters + (uint64_t)s * buckets,
              args.set.tables + (uint64_t)s * carry_table_words(buckets));
}

} // namespace carry

#endif
