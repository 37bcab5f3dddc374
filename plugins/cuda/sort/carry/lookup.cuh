/* lookup.cuh - finds the bucket of a code: the number of splitters that are not greater. The range
 * of the splitters is divided into equal cells, and each cell into entries, more where it has more
 * splitters: codes of floats, say, crowd near the greatest ones. An entry has the number of
 * splitters before it, so that few are left to search among.
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
 * for the entry's, modulo 2^16. */
template <class Code> struct splitter_set {
  Code *splitters;
  uint32_t *tables;
  uint32_t buckets;
};

/* Those of a section. */
template <class Code> struct lookup {
  Code *splitters;
  uint32_t *table;
  uint32_t buckets;
  uint32_t shift, steps;
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
  by.least = by.range = 0;
  return by;
}

/* Copies the splitters and the table of a section. By all threads of the block;
 * device_await_copies() must follow, a barrier, and set_scale(). */
template <class Code>
DEVICE_INLINE void load_lookup(const splitter_set<Code> &set, uint32_t section,
                               const lookup<Code> &by)
{
  const uint32_t words = carry_table_words(set.buckets);
  for (uint32_t i = threadIdx.x; i < set.buckets; i += blockDim.x)
    device_copy_in(&by.splitters[i], &set.splitters[(uint64_t)section * set.buckets + i]);
  for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
    device_copy_in(&by.table[i], &set.tables[(uint64_t)section * words + i]);
}

/* After the barrier. */
template <class Code> DEVICE_INLINE void set_scale(lookup<Code> *by)
{
  by->least = by->splitters[0];
  by->range = (Code)(by->splitters[by->buckets - 2] - by->least);
  by->shift = by->table[CARRY_CELLS];
  by->steps = by->table[CARRY_CELLS + 1];
}

/* The number of splitters before the entry of a code. */
template <class Code> DEVICE_INLINE uint32_t find_entry(const lookup<Code> &by, Code code)
{
  Code distance = code > by.least ? (Code)(code - by.least) : 0;
  if (distance > by.range) distance = by.range;
  const uint32_t cell = by.table[(uint32_t)(distance >> by.shift)];
  return by.entries()[((uint32_t)(distance >> (cell & 0xffff)) + (cell >> 16)) & 0xffff];
}

/* A step of a search: `found` splitters are known not to be greater, and fewer than 2^(step + 1)
 * more. Without branches, so that a thread can search for several codes at a time. */
template <class Code>
DEVICE_INLINE uint32_t search_step(const lookup<Code> &by, uint32_t step, uint32_t found, Code code)
{
  const uint32_t more = 1u << step, at = found + more - 1, all = by.buckets - 1;
  const Code splitter = by.splitters[at < all ? at : all - 1];
  return found + (at < all && splitter <= code ? more : 0);
}

} // namespace carry

#endif
