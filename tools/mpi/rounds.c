/* rounds.c - see rounds.h. */
#include "rounds.h"

#include <string.h>

enum { MOST_MESSAGE = 1 << 30 };

size_t rounds_memory(size_t mark_size, size_t count)
{
  const size_t samples = count * REFINE_SAMPLES;
  return (2 * (count + samples) + 2) * sizeof(uint64_t) + samples * sizeof(refine_sum) +
         count * sizeof(size_t) + refine_memory(mark_size, count) + samples * mark_size;
}

void rounds_open(rounds *r, uint64_t total, void *memory)
{
  const size_t count = r->refine.count, samples = count * REFINE_SAMPLES;
  r->own = memory;
  r->before = r->own + count;
  r->cuts = r->before + count;
  r->sums = r->cuts + samples + 1;
  r->sorted = (refine_sum *)(void *)(r->sums + samples + 1);
  r->positions = (size_t *)(void *)(r->sorted + samples);
  void *const rest = r->positions + count;
  refine_open(&r->refine, total, rest);
  r->samples = (unsigned char *)rest + refine_memory(r->refine.mark_size, count);
}

/* Sums `count` cuts over all ranks, and one number more that says whether a rank has failed. */
static bool sum_cuts(rounds *r, size_t count)
{
  r->cuts[count] = r->status != RECSORT_OK;
  MPI_Allreduce(r->cuts, r->sums, (int)count + 1, MPI_UINT64_T, MPI_SUM, r->comm);
  r->done++;
  return r->sums[count] == 0;
}

/* Joins the samples of all ranks. */
static void join(rounds *r, size_t size)
{
  for (size_t at = 0; at < size; at += MOST_MESSAGE) {
    const size_t part = size - at < MOST_MESSAGE ? size - at : MOST_MESSAGE;
    MPI_Allreduce(MPI_IN_PLACE, r->samples + at, (int)part, MPI_BYTE, MPI_BOR, r->comm);
  }
}

bool rounds_try(rounds *r, const void *marks)
{
  refine *const f = &r->refine;
  const size_t size = f->count * f->mark_size;
  int rank;
  MPI_Comm_rank(r->comm, &rank);
  if (rank == 0) memcpy(r->samples, marks, size);
  for (size_t at = 0; at < size; at += MOST_MESSAGE)
    MPI_Bcast(r->samples + at, (int)(size - at < MOST_MESSAGE ? size - at : MOST_MESSAGE), MPI_BYTE,
              0, r->comm);
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
  int rank;
  refine_counts(f, r->own);
  MPI_Exscan(r->own, r->before, (int)left, MPI_UINT64_T, MPI_SUM, r->comm);
  MPI_Comm_rank(r->comm, &rank);
  if (rank == 0) memset(r->before, 0, left * sizeof *r->before); /* it received nothing */
  r->status = refine_sample(f, r->before, r->samples, &r->error);
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
  return true;
}
