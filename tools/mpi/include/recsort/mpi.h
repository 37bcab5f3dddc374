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
 * library, and use the same one. In CMake it is recsort::mpi, and for pkg-config, recsort-mpi.
 * Fortran programs have the module recsort.f90.
 *
 *   recsort_mpi_job job = RECSORT_MPI_JOB_INIT;
 *   job.records = particles;      of malloc
 *   job.count = count;
 *   recsort_mpi_sort(sorter, MPI_COMM_WORLD, &job, &error);
 */
#ifndef RECSORT_MPI_H
#define RECSORT_MPI_H

#include <mpi.h>

#include "recsort/partition.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a rank gives to a sort and gets from it. All ranks give the same `balance`, `tolerance` and
 * `message`. */
typedef struct recsort_mpi_job {
  size_t struct_size; /* RECSORT_MPI_JOB_INIT sets it */

  /* ---- What there is, and then the result ---- */
  void *records; /* an array from `allocator`, which the sort releases, and then another one from
                  * there, which you own. NULL: this rank has no records */
  size_t count;  /* of this rank's records */
  const recsort_allocator *allocator; /* for records and working memory; NULL: malloc and free */
  void *splitters; /* for a loop whose records change little from one sort to the next: memory for
                    * ranks - 1 marks (partition.h) of recsort_key_size(sorter) + RECSORT_MARK_EXTRA
                    * bytes. The sort starts from the marks that rank 0 has there, and leaves its
                    * splitters there on each rank that gives memory. Any content will do, such as
                    * zeros at first: a wrong one costs a round and changes nothing else. NULL on
                    * rank 0: the sort starts afresh */

  /* ---- How to sort ---- */
  bool balance; /* each rank gets as many records as the others, but for the tolerance; false: as
                 * many as it had */
  double tolerance; /* with `balance`: no rank gets more than (1 + tolerance) times its share, or
                     * one record more than that; below 1. 0: 0.05. A larger one saves rounds */
  size_t message;   /* the most bytes of one message, below 2^31; 0: 2^30 */

  /* ---- What the sort did ---- */
  uint64_t total;  /* records of all ranks */
  uint64_t sent;   /* of this rank's records, those that it sent to another rank */
  unsigned rounds; /* in which splitters were refined */
  double sort_seconds;
  double split_seconds;
  double exchange_seconds;
  double merge_seconds;
} recsort_mpi_job;

#define RECSORT_MPI_JOB_INIT RECSORT_INIT(recsort_mpi_job)

/* Sorts the records of all ranks. Collective: all ranks of `comm` call it, with sorters of the same
 * schema and keys. `comm` is an intracommunicator of at most RECSORT_MOST_RUNS ranks.
 *
 * All ranks return the same status, and the same error. The text of one rank's error begins with
 * "rank R: ", or with "rank R, record N: " if it is about a record. If there is an error, no rank's
 * job or records have changed. Memory at the peak: two more arrays of records, and what the sorter
 * holds. Errors: those of recsort_sort_to and of a recsort_run that merges, and
 * RECSORT_CORRUPT_RESULT: the records that a rank received are not those that were sent to it, by
 * their checksums, or records have changed while their parts were sought. A failure of MPI itself,
 * such as the loss of a rank, ends the program. One thread of each rank at a time; initialize MPI
 * with MPI_THREAD_FUNNELED or more. */
RECSORT_API recsort_status recsort_mpi_sort(recsort_sorter *sorter, MPI_Comm comm,
                                            recsort_mpi_job *job, recsort_error *error);
/* The same for a communicator of Fortran: an integer, or the member mpi_val of a type(MPI_Comm).
 * Collective. */
RECSORT_API recsort_status recsort_mpi_sort_fortran(recsort_sorter *sorter, MPI_Fint comm,
                                                    recsort_mpi_job *job, recsort_error *error);

#ifdef __cplusplus
}
#endif

#endif
