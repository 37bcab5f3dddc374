/* plain.c - what recsort-mpi does with MPI and with files, without recsort.
 *
 *   plain INPUT OUTPUT
 *
 * Each rank reads its part of INPUT. They sum, gather and exchange counts, then pieces of their
 * parts, a few times. Rank 0 makes a new file, each rank writes to it and brings its part to the
 * disk, and rank 0 renames it to OUTPUT. kill_ranks.py kills the ranks of both programs. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mpi.h>

enum { ROUNDS = 12, MOST_RANKS = 64 };

static int rank, ranks;

/* Ends all ranks; a part that failed is no part of the comparison. */
static void insist(int good, const char *what)
{
  if (good) return;
  perror(what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Counts for all: as refinement of splitters does. */
static void agree(void)
{
  long own[MOST_RANKS] = {0}, all[MOST_RANKS * MOST_RANKS], sums[MOST_RANKS], places;
  for (int round = 0; round < ROUNDS; round++) {
    own[round % ranks] = rank + round;
    MPI_Allreduce(own, sums, ranks, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(sums, ranks, MPI_LONG, 0, MPI_COMM_WORLD);
  }
  MPI_Allgather(own, ranks, MPI_LONG, all, ranks, MPI_LONG, MPI_COMM_WORLD);
  MPI_Alltoall(own, 1, MPI_LONG, sums, 1, MPI_LONG, MPI_COMM_WORLD);
  MPI_Exscan(own, &places, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

/* A piece of `from` goes to each rank. */
static void exchange(char *from, char *to, int piece)
{
  MPI_Request requests[2 * MOST_RANKS];
  for (int other = 0; other < ranks; other++) {
    MPI_Irecv(to + (size_t)other * piece, piece, MPI_BYTE, other, 0, MPI_COMM_WORLD,
              &requests[other]);
    MPI_Isend(from + (size_t)other * piece, piece, MPI_BYTE, other, 0, MPI_COMM_WORLD,
              &requests[ranks + other]);
  }
  MPI_Waitall(2 * ranks, requests, MPI_STATUSES_IGNORE);
}

static void write_part(const char *name, const char *part, size_t size)
{
  const int file = open(name, O_WRONLY);
  insist(file >= 0 && pwrite(file, part, size, (off_t)(rank * size)) == (ssize_t)size, name);
  insist(fsync(file) == 0 && close(file) == 0, name);
}

int main(int argc, char **argv)
{
  char name[4096];
  struct stat status;
  int provided, done = 1, all;
  MPI_Comm machine;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  insist(argc == 3 && ranks <= MOST_RANKS, "usage");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_free(&machine);
  const int input = open(argv[1], O_RDONLY);
  insist(input >= 0 && fstat(input, &status) == 0, argv[1]);
  const int piece = (int)(status.st_size / ranks / ranks);
  const size_t size = (size_t)piece * (size_t)ranks;
  char *const from = malloc(size), *const to = malloc(size);
  insist(from && to && pread(input, from, size, (off_t)(rank * size)) == (ssize_t)size, argv[1]);
  snprintf(name, sizeof name, "%s.plain-%d", argv[2], (int)getpid());
  if (rank == 0) insist(open(name, O_CREAT | O_EXCL | O_WRONLY, 0666) >= 0, name);
  agree();
  exchange(from, to, piece);
  MPI_Bcast(name, sizeof name, MPI_BYTE, 0, MPI_COMM_WORLD);
  write_part(name, to, size);
  MPI_Allreduce(&done, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) insist(rename(name, argv[2]) == 0, argv[2]);
  MPI_Allreduce(&done, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  free(from);
  free(to);
  MPI_Finalize();
  return 0;
}
