/* disk.h - sorts slices that do not fit in memory, by way of temporary files.
 *
 *   disk_sort_slice   each rank sorts its slice into a temporary file,
 *   disk_divide       all ranks find where the sorted slices are cut, by rounds.h,
 *   disk_exchange     each record goes to the rank that keeps it: a run from each rank, in files,
 *   disk_merge        each rank merges its runs to its place in the output
 *   disk_compare      all together wrote the records that they read
 *
 * Each is a phase. A sorted slice is given back to the disk as it is sent, and a run as it is
 * merged. So the files of a rank take the space of two slices at the most, and of little more than
 * one where the disk has no more room. */
#ifndef RECSORT_MPI_DISK_H
#define RECSORT_MPI_DISK_H

#include "slice.h"

#include "recsort/cli_job.h"

#include "files/store.h"

typedef struct disk_sort {
  const cli_job *job;
  const inputs *in;
  int rank, ranks;
  uint64_t first; /* of this rank's slice */
  size_t count, record_size;
  uint64_t memory;       /* of a recsort_file */
  size_t piece;          /* records that are moved at a time */
  size_t merged;         /* records of a run that are read at a time */
  unsigned char *buffer; /* for a piece; with records [held, held_end) of the sorted slice */
  size_t held, held_end;
  void *held_at;
  unsigned char *index; /* each record of the sorted slice whose number is a multiple of: */
  size_t stride;
  size_t index_size; /* bytes */
  rf_store store;
  rf_writer writer;
  rf_extent sorted; /* the slice */
  void *rounds;     /* memory */
  unsigned round_count;
  uint64_t *cuts;  /* of the sorted slice: where each rank's part begins, and the end; then the
                    * bytes sent to each rank; then the bytes received from each: see votes.h */
  rf_extent *runs; /* from each rank */
  uint64_t in_sum, out_sum; /* checksums of what was read and of what was written */
} disk_sort;

/* Begins a sort of rank `rank`'s slice, in at most `memory` bytes; `neighbours`: the ranks on this
 * machine. False after a message; call disk_close in any case. */
bool disk_open(disk_sort *d, const cli_job *job, const inputs *in, int rank, int ranks,
               int neighbours, uint64_t memory);
bool disk_sort_slice(disk_sort *d);
/* Collective. */
bool disk_divide(disk_sort *d);
/* Collective. */
bool disk_exchange(disk_sort *d);
bool disk_merge(disk_sort *d, slice_output *output);
/* Collective. */
bool disk_compare(const disk_sort *d);
void disk_close(disk_sort *d);

#endif
