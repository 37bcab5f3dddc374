/* phase.c - see phase.h. */
#include "phase.h"

#include "mpi/votes.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mpi.h>

static int own_stderr = -1, held = -1; /* -1: nothing is held back */

void phase_begin(void)
{
  held = memfd_create("messages", MFD_CLOEXEC);
  own_stderr = held >= 0 ? dup(STDERR_FILENO) : -1;
  if (own_stderr >= 0) dup2(held, STDERR_FILENO);
}

/* Prints what was held back, if `wanted`. */
static void let_go(bool wanted)
{
  char text[512];
  fflush(stderr);
  if (own_stderr >= 0) {
    dup2(own_stderr, STDERR_FILENO);
    close(own_stderr);
    lseek(held, 0, SEEK_SET);
    for (ssize_t size; wanted && (size = read(held, text, sizeof text)) > 0;)
      fwrite(text, 1, (size_t)size, stderr);
  }
  if (held >= 0) close(held);
  own_stderr = held = -1;
}

bool phase_end(bool done)
{
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  uint64_t first[3] = {done ? VOTES_NOBODY : (uint64_t)rank};
  votes_reduce(first, 1, MPI_MIN, MPI_COMM_WORLD);
  let_go(first[0] == VOTES_NOBODY || first[0] == (uint64_t)rank);
  return first[0] == VOTES_NOBODY;
}
