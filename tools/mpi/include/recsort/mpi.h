/* mpi.h - sorts the records of all ranks of an MPI communicator.
 *
 * Each rank has an array of records. Afterwards the arrays, one after the other in the order of the
 * ranks, are what recsort_sort would make of them: sorted stably, with the same bytes. Each rank
 * sorts its own records by its sorter, with its threads or its GPU. Then all ranks together find
 * splitters (partition.h), in rounds that count how many records come before some samples, until
 * the parts have the right sizes; each record is sent once, to the rank that keeps it; and each
 * rank merges the sorted parts that it has got.
 *
 * The conventions of recsort.h hold here too. Link with recsort_mpi, which was built with one MPI
 * library, and use the same one.
 */
#ifndef RECSORT_MPI_H
#define RECSORT_MPI_H

#include <mpi.h>

#include "recsort/recsort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The splitters of a sort, for the next one: see recsort_mpi_options. */
typedef struct recsort_mpi_splitters recsort_mpi_splitters;

/* Makes one, which is empty. You own it: destroy it with recsort_mpi_splitters_destroy. Not
 * collective. Errors: OUT_OF_MEMORY, INVALID_ARGUMENT. */
RECSORT_API recsort_status recsort_mpi_splitters_create(recsort_mpi_splitters **splitters,
                                                        recsort_error *error);
/* Frees it; NULL is allowed. */
RECSORT_API void recsort_mpi_splitters_destroy(recsort_mpi_splitters *splitters);

/* How many records each rank has after a sort. */
typedef enum recsort_mpi_sizes {
  RECSORT_MPI_KEEP_SIZES = 0, /* as many as before */
  RECSORT_MPI_BALANCE_SIZES   /* as many as the others, but for the tolerance */
} recsort_mpi_sizes;

/* How to sort. All ranks give the same, but for `allocator` and `splitters`. */
typedef struct recsort_mpi_options {
  size_t struct_size; /* RECSORT_MPI_OPTIONS_INIT sets it */
  recsort_mpi_sizes sizes;
  double tolerance; /* BALANCE_SIZES: no rank has more than (1 + tolerance) times its share, or one
                     * record more than that; below 1. 0: 0.05. A larger one saves rounds */
  const recsort_allocator *allocator; /* for records and working memory; NULL: malloc and free */
  recsort_mpi_splitters *splitters; /* those of the last sort, from which this one starts, and which
                                     * it replaces if it succeeds: for loops whose records change
                                     * little from one sort to the next. NULL: none.
                                     * Without those of any rank it starts afresh */
  size_t message;                   /* the most bytes of one message, below 2^31; 0: 2^30 */
} recsort_mpi_options;

#define RECSORT_MPI_OPTIONS_INIT RECSORT_INIT(recsort_mpi_options)

/* What a sort did. */
typedef struct recsort_mpi_stats {
  uint64_t records; /* of all ranks */
  uint64_t sent;    /* of them, those that this rank sent to another one */
  unsigned rounds;  /* in which splitters were refined */
  double sort_seconds;
  double split_seconds;
  double exchange_seconds;
  double merge_seconds;
} recsort_mpi_stats;

/* Sorts the records of all ranks. Collective: all ranks of `comm` call it, with sorters of the same
 * schema and keys. `comm` is an intracommunicator of at most RECSORT_MOST_RUNS
 * ranks.
 *
 * `*records` is an array of `*count` records from `options->allocator`; NULL if there are none.
 * The sorted records come in another array from there, which replaces it: `*records` is released,
 * and `*records` and `*count` become those of the new array, which you own. `options` and `stats`
 * may be NULL; `stats` has `stats_size` bytes.
 *
 * All ranks return the same status, and the same error. The text of one rank's error begins with
 * "rank R: ", or with "rank R, record N: " if it is about a record. If there is an error, no rank's
 * records have changed. Memory at the peak: two more arrays of records, and what the sorter holds.
 * Errors: those of recsort_sort_to and of a recsort_run that merges. A failure of MPI itself, such
 * as the loss of a rank, ends the job. One thread of each rank at a time; initialize MPI with
 * MPI_THREAD_FUNNELED or more. */
RECSORT_API recsort_status recsort_mpi_sort(recsort_sorter *sorter, MPI_Comm comm, void **records,
                                            size_t *count, const recsort_mpi_options *options,
                                            recsort_mpi_stats *stats, size_t stats_size,
                                            recsort_error *error);

#ifdef __cplusplus
}
#endif

#endif
