/* bench.h - what the contestants of recbench-mpi sort, and with what. */
#ifndef RECSORT_MPI_BENCH_H
#define RECSORT_MPI_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recsort/mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MOST_RANKS = 1024 };

/* 20 bytes, sorted by the distance, descending; distances are not negative. */
typedef struct entity {
  uint32_t number; /* its place in the input of all ranks: only the check reads it */
  float y, angle;
  int16_t sprite, padding;
  float distance;
} entity;

/* An Entity whose place is part of its key, for sorts that are not stable; 24 bytes. */
typedef struct numbered {
  entity one;
  uint32_t place;
} numbered;

/* What a rank has; each array is for `count` elements, and has been written before the clock
 * starts. */
typedef struct bench {
  MPI_Comm comm;
  int rank, ranks;
  size_t count;               /* the same on each rank */
  size_t sizes[MOST_RANKS];   /* `count` */
  recsort_sorter *sorters[2]; /* with one thread, and with this rank's share of the processors */
  recsort_mpi_job done;       /* recsort's last sort, on this rank */
  entity *records;            /* to be sorted: of malloc */
  entity *result;
  uint64_t *words, *other_words;
  numbered *numbered_records, *other_numbered;
} bench;

/* A way to sort the records of all ranks. */
typedef struct contestant {
  const char *name;
  void (*sort)(bench *b); /* collective; the sorted records of this rank are in `result` */
} contestant;

/* Others' sorts that this program was built with. The last one has no name. */
extern const contestant peers[];

#ifdef __cplusplus
}
#endif

#endif
