/* splitters.h - tells to which bucket a word belongs.
 *
 * A bucket holds the words between two splitters of a sorted sample. A search through all splitters
 * costs more than the rest of the sort, so the range of words is cut into cells of equal width, and
 * a table gives the number of splitters below each. The splitters of a cell move to its end if the
 * cell has few words: then a word needs no comparison. Only where a cell holds about as many words
 * as two buckets, its splitters are searched.
 */
#ifndef RECSORT_CPU_SPLITTERS_H
#define RECSORT_CPU_SPLITTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_BUCKETS = 1 << 12, SAMPLES_A_BUCKET = 16, CELLS_A_BUCKET = 16, CLASSIFY_AT_ONCE = 256 };

typedef struct splitters {
  uint64_t low; /* where the first cell begins; what is less is in bucket 0 */
  unsigned shift;
  unsigned steps;      /* of the search among the splitters of a cell */
  unsigned index_bits; /* the lowest ones of a word, below its key */
  uint32_t cells;
  uint16_t *below;     /* splitters below a cell; below[cells]: of what is above all cells */
  uint64_t splitter[]; /* twice as many as buckets, padded with the greatest word */
} splitters;

/* The bytes of splitters for so many buckets. */
static inline size_t splitters_size(size_t buckets)
{
  return sizeof(splitters) + 2 * buckets * sizeof(uint64_t) +
         (buckets * CELLS_A_BUCKET + 1) * sizeof(uint16_t);
}

/* Makes splitters for `buckets`, a power of two from 2 to MOST_BUCKETS, of a sorted sample of
 * SAMPLES_A_BUCKET words for each. */
void rs_splitters_make(splitters *made, const uint64_t *sample, size_t buckets,
                       unsigned index_bits);

/* Writes the buckets of `count` words, at most CLASSIFY_AT_ONCE: the number of splitters that are
 * less than the word. */
void rs_splitters_classify(const splitters *s, const uint64_t *words, size_t count,
                           uint16_t *buckets);

/* True if keys tell the buckets, without their indices. */
static inline bool splitters_need_keys_only(const splitters *s)
{
  return s->steps == 0 && s->shift >= s->index_bits;
}

/* The same for keys of 32 bits, which lie above the index in a word: splitters_need_keys_only(). */
void rs_splitters_classify_keys(const splitters *s, const void *keys, size_t count,
                                uint16_t *buckets);

#endif
