/* refine.h - finds the splitters of a distributed sort in rounds. It sends no messages, so a
 * simulation of thousands of ranks in one process runs the same code.
 *
 * Splitter i is wanted where target[i] records of all ranks come before it, or nearly so many. Its
 * bounds are marks that are known to come before and after that place, and the numbers of records
 * before them. A round of all ranks:
 *
 *   refine_counts   the rank's records between the bounds of each splitter; for each one the sum of
 *                   the ranks before gives the rank's place among the records of all of them
 *   refine_sample   marks of records at random places between the bounds, the same places on every
 *                   rank: each sample has one owner, and is zero elsewhere, so the ranks' samples
 *                   are joined by OR
 *   refine_cut      the rank's records before each sample; their sum over all ranks is a histogram
 *   refine_narrow   the nearest samples on both sides become the bounds of each splitter
 *
 * Records between the bounds become fewer by a factor of about REFINE_SAMPLES a round, in the first
 * one by REFINE_SAMPLES times the ranks, as all splitters use all samples. This is histogram sort
 * with sampling (Harsh, Kale and Solomonik, 2019), with a given number of samples.
 */
#ifndef RECSORT_MPI_REFINE_H
#define RECSORT_MPI_REFINE_H

#include "recsort/partition.h"

enum { REFINE_SAMPLES = 32 }; /* for each splitter in a round */

/* One splitter, and what a rank knows of its bounds. It is found when both are at one place. */
typedef struct refine_splitter {
  uint64_t target;
  uint64_t low, high;       /* records of all ranks before the bounds */
  size_t low_cut, high_cut; /* the rank's records before them */
} refine_splitter;

/* Gets some of this rank's records [*low, *high), which are not in memory: all of them without a
 * mark; with one, those around the place where it cuts them. Changes the bounds accordingly.
 * `*records` are valid until the next call. */
typedef recsort_status (*refine_read)(void *context, const unsigned char *mark, size_t *low,
                                      size_t *high, const void **records, recsort_error *error);

typedef struct refine {
  recsort_sorter *sorter;
  const void *records; /* the rank's, sorted; NULL: `read` gets them */
  refine_read read;
  void *context;
  size_t record_count;
  uint64_t first;     /* position of the first one in the input of all ranks */
  size_t count;       /* of splitters */
  size_t record_size; /* from here on: refine_open */
  size_t mark_size;
  uint64_t tolerance; /* records that a splitter may be away from its target */
  unsigned round;
  refine_splitter *splitters; /* `count` of them */
  unsigned char *marks;       /* of each splitter: that of its bounds; the low one when found */
} refine;

/* Bytes of memory for refine_open. */
size_t refine_memory(size_t mark_size, size_t count);
/* Begins with the members of `r` up to `count`: `memory` is aligned for any type, `total` the
 * records of all ranks. The splitters have no targets yet. */
void refine_open(refine *r, uint64_t total, void *memory);

/* The number of splitters that are not found yet; the next four functions are about these, in their
 * order. The same on all ranks. */
size_t refine_left(const refine *r);

void refine_counts(const refine *r, uint64_t *counts);
/* `before` is the sum of refine_counts of the ranks before. Writes REFINE_SAMPLES marks for each
 * splitter that is left. CORRUPT_RESULT: there were so many rounds that records must have changed.
 */
recsort_status refine_sample(refine *r, const uint64_t *before, unsigned char *samples,
                             recsort_error *error);
/* `samples` are those of all ranks. */
recsort_status refine_cut(refine *r, const unsigned char *samples, uint64_t *cuts,
                          recsort_error *error);
/* A sample, and the records of all ranks before it. */
typedef struct refine_sum {
  uint64_t sum;
  size_t sample;
} refine_sum;

/* `cuts` are this rank's records before `count` samples, `sums` those of all ranks. The samples are
 * those of a round, or any other marks, such as the splitters of an earlier sort. `sorted` is
 * working memory. */
void refine_narrow(refine *r, const unsigned char *samples, size_t count, const uint64_t *cuts,
                   const uint64_t *sums, refine_sum *sorted);

/* Cuts this rank's records once more, by the splitters that were found. CORRUPT_RESULT: a cut is
 * another one. */
recsort_status refine_check(const refine *r, recsort_error *error);

#endif
