/* votes.c - see votes.h. The copies of a word are neighbours. */
#include "votes.h"

#include <string.h>

enum { COPIES = 3, MOST_WORDS = 1 << 27 /* of a message: 2^30 bytes */ };

static void copy(uint64_t *words, size_t count)
{
  for (size_t i = count; i-- > 0;)
    for (size_t k = COPIES; k-- > 0;)
      words[COPIES * i + k] = words[i];
}

static void vote(uint64_t *words, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const uint64_t *const of = &words[COPIES * i];
    words[i] = (of[0] & of[1]) | (of[0] & of[2]) | (of[1] & of[2]);
  }
}

void votes_reduce(uint64_t *words, size_t count, MPI_Op op, MPI_Comm comm)
{
  const size_t all = COPIES * count;
  copy(words, count);
  for (size_t at = 0; at < all; at += MOST_WORDS)
    MPI_Allreduce(MPI_IN_PLACE, words + at, (int)(all - at < MOST_WORDS ? all - at : MOST_WORDS),
                  MPI_UINT64_T, op, comm);
  vote(words, count);
}

void votes_sum_before(uint64_t *words, size_t count, MPI_Comm comm)
{
  int rank;
  copy(words, count);
  MPI_Exscan(MPI_IN_PLACE, words, (int)(COPIES * count), MPI_UINT64_T, MPI_SUM, comm);
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) memset(words, 0, COPIES * count * sizeof *words); /* it received nothing */
  vote(words, count);
}

void votes_swap(uint64_t *sent, uint64_t *got, MPI_Comm comm)
{
  int ranks;
  MPI_Comm_size(comm, &ranks);
  copy(sent, (size_t)ranks);
  MPI_Alltoall(sent, COPIES, MPI_UINT64_T, got, COPIES, MPI_UINT64_T, comm);
  vote(got, (size_t)ranks);
}
