/* lookup.cuh - finds the bucket of a code: the number of splitters that are not greater. The range
 * of the splitters is divided into equal cells, and each cell into entries: more where it has more
 * splitters, as codes of floats, say, crowd near the greatest ones. An entry has the number of
 * splitters before it and about where in it the next one is, so that one look tells the bucket of
 * most codes; the others are compared with splitters.
 */
#ifndef RECSORT_CUDA_CARRY_LOOKUP_CUH
#define RECSORT_CUDA_CARRY_LOOKUP_CUH

#include "cuda/sort/carry/elements.cuh"

namespace carry
{

/* The splitters of all sections: `buckets` - 1 for each, in an array of `buckets`; and a table of
 * CARRY_TABLE_WORDS for each: cells, the shift that makes the number of a cell of a distance from
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
 * in it, in ENTRY_PLACES equal parts of the entry; or how many splitters it has otherwise. */
enum {
  ENTRY_BITS = 9,     /* of the number */
  ENTRY_PLACES = 126, /* as a place: the entry has no splitter */
  ENTRY_MANY          /* it has several */
};
static_assert(CARRY_MOST_BUCKETS <= 1 << ENTRY_BITS, "an entry has room for any bucket");

/* In which part of its entry a distance is, if the entry's number is `shift` bits above. */
template <class Code> DEVICE_INLINE uint32_t place_in_entry(Code distance, uint32_t shift)
{
  constexpr uint32_t width = 8 * sizeof(Code), most = 16;
  const Code above = (Code)((Code)(distance << (width - 1 - shift)) << 1);
  return (uint32_t)(above >> (width - most)) * ENTRY_PLACES >> most;
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
    return (uint16_t *)(table + CARRY_CELLS + 2);
  }
};

template <class Code> DEVICE_INLINE lookup<Code> lookup_at(void *memory, uint32_t buckets)
{
  lookup<Code> by;
  by.splitters = (Code *)memory;
  by.table = (uint32_t *)(by.splitters + buckets);
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
  for (uint32_t i = threadIdx.x; i < CARRY_TABLE_WORDS; i += blockDim.x)
    device_copy_in(&by.table[i], &set.tables[(uint64_t)section * CARRY_TABLE_WORDS + i]);
}

/* The range of a table: that of the splitters, and a little more on both sides, so that codes
 * beyond it are not as near to a splitter as to be unsure. */
template <class Code>
DEVICE_INLINE void set_range(const Code *splitters, uint32_t buckets, Code *least, Code *range)
{
  enum { SHARE_BITS = 8 };
  const Code first = splitters[0], last = splitters[buckets - 2];
  const Code margin = (Code)((Code)(last - first) >> SHARE_BITS), sum = (Code)(last + margin);
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

enum { LOOKUP_UNSURE = 1 << 16 };

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
  const uint32_t word = by.entries()[entry], at = word >> ENTRY_BITS;
  const uint32_t before = word & ((1u << ENTRY_BITS) - 1), place = place_in_entry(distance, shift);
  return before + (place > at) + (place == at || at == ENTRY_MANY ? LOOKUP_UNSURE : 0);
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
  return found;
}

} // namespace carry

#endif
