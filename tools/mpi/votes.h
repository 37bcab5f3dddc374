/* votes.h - how ranks agree on shared values: counts, samples, errors.
 *
 * Ranks that believe different things wait for each other for ever, or tear the output. So each
 * word is sent three times, and of each bit the majority counts: one that the network changed has
 * no effect. That is cheap, as these are few words. Records are many, and have checksums instead.
 *
 * All calls are collective. An array of `count` words has room for three times as many. */
#ifndef RECSORT_MPI_VOTES_H
#define RECSORT_MPI_VOTES_H

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

/* A rank that comes after all others: some MPI (MPICH 4.0) takes words from 2^63 on for negative
 * numbers in MPI_MIN and MPI_MAX. */
#define VOTES_NOBODY ((uint64_t)INT64_MAX)

/* Each word becomes that of all ranks by `op`. What one rank knows and others shall learn is zero
 * on these, and MPI_BOR. */
void votes_reduce(uint64_t *words, size_t count, MPI_Op op, MPI_Comm comm);
/* Each word becomes the sum of those of the ranks before. */
void votes_sum_before(uint64_t *words, size_t count, MPI_Comm comm);
/* Word r of `sent` goes to rank r, and word r of `got` comes from it. `sent` is lost. */
void votes_swap(uint64_t *sent, uint64_t *got, MPI_Comm comm);

/* The words that `size` bytes take. */
static inline size_t votes_words(size_t size)
{
  return (size + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

#endif
