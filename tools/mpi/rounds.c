/* rounds.c - see rounds.h. */
#include "rounds.h"

#include "votes.h"

#include <string.h>

/* The words of what refine.h has. */
static size_t refine_words(size_t mark_size, size_t count)
{
  return votes_words(refine_memory(mark_size, count));
}

size_t rounds_memory(size_t mark_size, size_t count)
{
  const size_t samples = count * REFINE_SAMPLES;
  const size_t voted = votes_words(samples * mark_size) + count + samples + 1;
  return (refine_words(mark_size, count) + 3 * voted + samples) * sizeof(uint64_t) +
         samples * sizeof(refine_sum) + count * sizeof(size_t);
}

void rounds_open(rounds *r, uint64_t total, void *memory)
{
  const size_t count = r->refine.count, samples = count * REFINE_SAMPLES;
  refine_open(&r->refine, total, memory);
  const size_t mark_size = r->refine.mark_size;
  uint64_t *const marks = (uint64_t *)memory + refine_words(mark_size, count);
  r->samples = (unsigned char *)marks;
  r->own = marks + 3 * votes_words(samples * mark_size);
  r->sums = r->own + 3 * count;
  r->cuts = r->sums + 3 * (samples + 1);
  r->sorted = (refine_sum *)(void *)(r->cuts + samples);
  r->positions = (size_t *)(void *)(r->sorted + samples);
}

/* Joins the samples of all ranks: each of them is zero on all but one. */
static void join(rounds *r, size_t size)
{
  memset(r->samples + size, 0, votes_words(size) * sizeof(uint64_t) - size);
  votes_reduce((uint64_t *)(void *)r->samples, votes_words(size), MPI_BOR, r->comm);
}

/* True if no rank has failed. */
static bool all_done(rounds *r)
{
  uint64_t failed[3] = {r->status != RECSORT_OK};
  votes_reduce(failed, 1, MPI_SUM, r->comm);
  return failed[0] == 0;
}

/* Sums `count` cuts over all ranks, and one number more that says whether a rank has failed. */
static bool sum_cuts(rounds *r, size_t count)
{
  memcpy(r->sums, r->cuts, count * sizeof *r->sums);
  r->sums[count] = r->status != RECSORT_OK;
  votes_reduce(r->sums, count + 1, MPI_SUM, r->comm);
  r->done++;
  return r->sums[count] == 0;
}

bool rounds_try(rounds *r, const void *marks)
{
  refine *const f = &r->refine;
  const size_t size = f->count * f->mark_size;
  int rank;
  MPI_Comm_rank(r->comm, &rank);
  memset(r->samples, 0, size);
  if (rank == 0) memcpy(r->samples, marks, size);
  join(r, size);
  r->status = recsort_partition_sorted(f->sorter, f->records, f->record_count, f->first, r->samples,
                                       f->count, r->positions, &r->error);
  for (size_t i = 0; i < f->count && !r->status; i++)
    r->cuts[i] = r->positions[i];
  if (!sum_cuts(r, f->count)) return false;
  refine_narrow(f, r->samples, f->count, r->cuts, r->sums, r->sorted);
  return true;
}

static bool refine_once(rounds *r, size_t left)
{
  const size_t samples = left * REFINE_SAMPLES;
  refine *const f = &r->refine;
  refine_counts(f, r->own);
  votes_sum_before(r->own, left, r->comm);
  r->status = refine_sample(f, r->own, r->samples, &r->error);
  join(r, samples * f->mark_size);
  if (!r->status) r->status = refine_cut(f, r->samples, r->cuts, &r->error);
  if (!sum_cuts(r, samples)) return false;
  refine_narrow(f, r->samples, samples, r->cuts, r->sums, r->sorted);
  return true;
}

bool rounds_find(rounds *r)
{
  for (size_t left; (left = refine_left(&r->refine)) > 0;)
    if (!refine_once(r, left)) return false;
  r->status = refine_check(&r->refine, &r->error);
  return all_done(r);
}
