/* report.h - the figures of --stats: how long each step took on all ranks. */
#ifndef RECSORT_MPI_REPORT_H
#define RECSORT_MPI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum step_kind {
  STEP_PREPARE, /* options, schema, sorter, the new file */
  STEP_READ,
  STEP_SORT,
  STEP_SPLIT,
  STEP_EXCHANGE,
  STEP_MERGE,
  STEP_WRITE, /* to the disk */
  STEP_TOTAL,
  STEP_KINDS
} step_kind;

/* What one rank did. */
typedef struct report {
  double seconds[STEP_KINDS];
  uint64_t sent; /* records, to other ranks */
  unsigned rounds;
} report;

/* Collective. Rank 0 prints, to standard error. `records` are those of all ranks. */
void report_print(const report *own, bool as_json, uint64_t records, size_t record_size,
                  bool spilled);

#endif
