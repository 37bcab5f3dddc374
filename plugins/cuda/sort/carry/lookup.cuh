/* lookup.cuh - finds the bucket of a code: the number of splitters that are not greater. The range
 * of the splitters is divided into equal cells, and each cell into entries: more where it has more
 * splitters, as codes of floats, say, crowd near the greatest ones. An entry has the number of
 * splitters before it and where in it the next one is, so that one look tells the bucket of most
 * codes; those of an entry with several splitters are compared with these.
 */
#ifndef RECSORT_CUDA_CARRY_LOOKUP_CUH
#define RECSORT_CUDA_CARRY_LOOKUP_CUH

#include "cuda/sort/carry/elements.cuh"

namespace carry
{

/* The splitters of all sections: `buckets` - 1 for each, in an array of `buckets`; and a table of
 * carry_table_words() for each: cells, the shift that makes the number of a cell of a distance from
 * the least splitter, the steps of a search, and entries of 16 bits. A cell has, in 16 bits, the
 * shift that makes a number of a distance and, above these, what is to be added to that number
 * for the entry's, modulo 2^16. In a flat table all cells have one shift and nothing is added, so
 * look_up() skips the cells. */
template <class Code> struct splitter_set {
  Code *splitters;
  uint32_t *tables;
  uint32_t buckets;
};

/* An entry: the number of splitters before it, and above that number the place of the only splitter
 * in it, in ENTRY_PLACES equal parts of the entry, of which a splitter is the first code; or how
 * many splitters it has otherwise. */
enum {
  ENTRY_BITS = 9,     /* of the number */
  ENTRY_PLACES = 126, /* as a place: the entry has no splitter */
  ENTRY_MANY          /* it has several, or one that is not the first code of its place */
};
static_assert(CARRY_MOST_BUCKETS <= 1 << ENTRY_BITS, "an entry has room for any bucket");

/* In which part of its entry a distance is, if the entry's number is `shift` bits above, at least
 * one. */
template <class Code> DEVICE_INLINE uint32_t place_in_entry(Code distance, uint32_t shift)
{
  DEVICE_ASSERT(shift > 0 && shift <= 8 * sizeof(Code));
  constexpr uint32_t width = 8 * sizeof(Code);
  const Code above = (Code)(distance << (width - shift));
  return part_of_range((uint32_t)(above >> (width - WARP_SIZE)), ENTRY_PLACES);
}

/* The least distance from the beginning of an entry that is in a part. */
template <class Code> DEVICE_INLINE Code place_begin(uint32_t place, uint32_t shift)
{
  const uint64_t above = (((uint64_t)place << WARP_SIZE) + ENTRY_PLACES - 1) / ENTRY_PLACES;
  if (shift >= WARP_SIZE) return (Code)((Code)above << (shift - WARP_SIZE));
  return (Code)((above + ((uint64_t)1 << (WARP_SIZE - shift)) - 1) >> (WARP_SIZE - shift));
}

/* Those of a section. */
template <class Code> struct lookup {
  Code *splitters;
  uint32_t *table;
  uint32_t buckets;
  uint32_t shift; /* of cells; of entries in a flat table */
  uint32_t steps;
  bool flat;
  Code least, range;

  DEVICE_MEMBER uint16_t *entries() const
  {
    return (uint16_t *)(table + CARRY_HEAD_WORDS);
  }
};

template <class Code> DEVICE_INLINE lookup<Code> lookup_at(void *memory, uint32_t buckets)
{
  lookup<Code> by;
  by.table = (uint32_t *)memory;
  by.splitters = (Code *)(by.table + carry_table_words(buckets));
  by.buckets = buckets;
  by.shift = by.steps = 0;
  by.flat = false;
  by.least = by.range = 0;
  return by;
}

/* Copies the splitters and the table of a section. By all threads of the block;
 * device_await_copies() must follow, a barrier, and set_scale(). */
template <class Code>
DEVICE_INLINE void load_lookup(const splitter_set<Code> &set, uint32_t section,
                               const lookup<Code> &by)
{
  for (uint32_t i = threadIdx.x; i < set.buckets; i += blockDim.x)
    device_copy_in(&by.splitters[i], &set.splitters[(uint64_t)section * set.buckets + i]);
  const uint32_t words = carry_table_words(set.buckets);
  const four_words *const table = (const four_words *)(set.tables + (uint64_t)section * words);
  for (uint32_t i = threadIdx.x; i < words / 4; i += blockDim.x)
    device_copy_in(&((four_words *)by.table)[i], &table[i]);
}

/* The range of a table: that of the splitters, and a little more on both sides, so that codes
 * beyond it are as good as its ends. */
template <class Code>
DEVICE_INLINE void set_range(const Code *splitters, uint32_t buckets, Code *least, Code *range)
{
  DEVICE_ASSERT(buckets > 1);
  enum { SHARE_BITS = 8 };
  const Code first = splitters[0], last = splitters[buckets - 2];
  DEVICE_ASSERT(!(last < first));
  const Code margin = (Code)(((Code)(last - first) >> SHARE_BITS) + 1), sum = (Code)(last + margin);
  *least = first > margin ? (Code)(first - margin) : 0;
  *range = (Code)((sum < last ? (Code) ~(Code)0 : sum) - *least);
}

/* After the barrier. */
template <class Code> DEVICE_INLINE void set_scale(lookup<Code> *by)
{
  set_range(by->splitters, by->buckets, &by->least, &by->range);
  by->flat = by->table[CARRY_CELLS] >> 16;
  by->shift = by->flat ? by->table[0] & 0xffff : by->table[CARRY_CELLS];
  by->steps = by->table[CARRY_CELLS + 1];
}

enum { LOOKUP_UNSURE = (ENTRY_MANY + 1) << ENTRY_BITS }; /* ENTRY_MANY, and a carry */

/* The bucket of a code; or LOOKUP_UNSURE and how many splitters are before its entry. */
template <class Code> DEVICE_INLINE uint32_t look_up(const lookup<Code> &by, bool flat, Code code)
{
  Code distance = code > by.least ? (Code)(code - by.least) : 0;
  if (distance > by.range) distance = by.range;
  uint32_t shift = by.shift, entry;
  if (flat) {
    entry = (uint32_t)(distance >> shift);
  } else {
    const uint32_t cell = by.table[(uint32_t)(distance >> shift)];
    shift = cell & 0xffff;
    entry = ((uint32_t)(distance >> shift) + (cell >> 16)) & 0xffff;
  }
  DEVICE_ASSERT(entry < 2 * (carry_table_words(by.buckets) - CARRY_HEAD_WORDS));
  const uint32_t word = by.entries()[entry];
  const uint32_t before = (word + (1u << ENTRY_BITS)) & (LOOKUP_UNSURE | ((1u << ENTRY_BITS) - 1));
  return before + (place_in_entry(distance, shift) >= word >> ENTRY_BITS);
}

/* The bucket of a code before which look_up() has found so many splitters. */
template <class Code>
DEVICE_INLINE uint32_t search_bucket(const lookup<Code> &by, uint32_t found, Code code)
{
  const uint32_t all = by.buckets - 1;
  DEVICE_ROLLED
  for (uint32_t step = by.steps; step-- > 0;) {
    const uint32_t at = found + (1u << step) - 1;
    if (at < all && by.splitters[at] <= code) found = at + 1;
  }
  DEVICE_ASSERT(found <= all);
  return found;
}

} // namespace carry

#endif
