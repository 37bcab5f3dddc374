/* splitters.h - tells to which bucket a key belongs.
 *
 * Splitters are keys, in ascending order. The bucket of a key is the number of splitters that are
 * less: so equal keys are in one bucket, and each bucket has the keys after one splitter up to the
 * next. A key that is frequent in the sample has a bucket of its own, however large it is, which
 * needs no sort (equality buckets: M. Axtmann et al., "In-place parallel super scalar samplesort",
 * ESA 2017, sect. 4.4).
 *
 * A search through all splitters costs more than the rest of the sort, so the range of keys is cut
 * into cells of equal width, and a table gives the number of splitters below each. The splitters of
 * a cell move to its end if the cell has few keys: then a key needs no comparison. Only where a
 * cell holds about as many keys as two buckets, its splitters are searched.
 *
 * All this looks at one word of a key, which is all of it up to 64 bits. The splitters of wider
 * keys that have the same word are compared in full.
 */
#ifndef RECSORT_CPU_SPLITTERS_H
#define RECSORT_CPU_SPLITTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  MOST_BUCKETS = 1 << 16,
  SAMPLES_A_BUCKET = 16,
  CELLS_A_BUCKET = 16,
  CLASSIFY_AT_ONCE = 256,
  LARGEST_BUCKET = 6 /* times the mean; by the sample, it has 3.4 times that at most */
};

/* Where a key has its word: the 64 bits below bit `high`. Above it the keys are like `like`. */
typedef struct key_window {
  size_t words; /* of 64 bits, of a key, the least significant one first */
  unsigned high;
  const uint64_t *like;
} key_window;

typedef struct splitters {
  uint64_t low; /* where the first cell begins; a word that is less is in bucket 0 */
  unsigned shift;
  unsigned steps; /* of the search among the splitters of a cell */
  uint32_t cells;
  size_t count; /* less than the number of buckets */
  key_window window;
  uint16_t *below;     /* splitters below a cell; below[cells]: of what is above all cells */
  uint8_t *equal;      /* by bucket. 1: all its keys are equal */
  uint64_t *keys;      /* the splitters in full, and the key that `window` has; not for one word */
  uint64_t splitter[]; /* words: twice as many as buckets, padded with the greatest one */
} splitters;

/* A sorted sample: key `i` is the one at keys + order[i] * words. */
typedef struct key_sample {
  const uint64_t *keys;
  const uint32_t *order;
  size_t words;
} key_sample;

/* The bytes of splitters for so many buckets. */
size_t rs_splitters_size(size_t buckets, size_t words);

/* Makes splitters for `buckets`, a power of two from 2 to MOST_BUCKETS, of a sample of
 * SAMPLES_A_BUCKET keys for each. */
void rs_splitters_make(splitters *made, size_t buckets, const key_sample *sample);

/* Writes the buckets of `count` keys, at most CLASSIFY_AT_ONCE, of `width` bits: 32, 64, or a
 * larger multiple of 64. */
void rs_splitters_classify(const splitters *s, const void *keys, unsigned width, size_t count,
                           uint16_t *buckets);

#endif
