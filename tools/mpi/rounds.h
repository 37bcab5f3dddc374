/* rounds.h - the ranks of a communicator find splitters: refine.h, and the messages. */
#ifndef RECSORT_MPI_ROUNDS_H
#define RECSORT_MPI_ROUNDS_H

#include <mpi.h>

#include "refine.h"

typedef struct rounds {
  MPI_Comm comm;
  refine refine;
  unsigned done;         /* rounds */
  recsort_status status; /* of this rank */
  recsort_error error;
  /* working memory */
  uint64_t *own, *cuts, *sums;
  refine_sum *sorted;
  size_t *positions;
  unsigned char *samples;
} rounds;

/* Bytes of memory for rounds_open. */
size_t rounds_memory(size_t mark_size, size_t count);
/* Begins with `comm` and what refine_open needs. The splitters have no targets yet. */
void rounds_open(rounds *r, uint64_t total, void *memory);

/* Both are collective. False if any rank has failed: then `status` is this rank's. */

/* A round whose samples are rank 0's: one mark for each splitter. */
bool rounds_try(rounds *r, const void *marks);
/* Refines until all splitters are found. Then cuts once more: a cut that is another one now, as a
 * disk or memory changed a record, is an error. */
bool rounds_find(rounds *r);

#endif
