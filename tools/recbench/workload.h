/* workload.h - the input: records of one kind, in one distribution, the same in every run. */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include "records.h"
#include "recsort/recsort.h"

typedef enum bench_distribution {
  DISTRIBUTION_RANDOM,
  DISTRIBUTION_SORTED,
  DISTRIBUTION_REVERSE,
  DISTRIBUTION_NEARLY, /* sorted, except for 1% of the records */
  DISTRIBUTION_FEW,    /* 16 different keys */
  DISTRIBUTION_EQUAL,
  DISTRIBUTION_COUNT
} bench_distribution;

const char *record_name(record_id record);
size_t record_size(record_id record);
/* The schema as YAML text. */
const char *record_schema(record_id record);
const char *distribution_name(bench_distribution distribution);

typedef struct bench_workload {
  record_id record;
  bench_distribution distribution;
  size_t count;
  size_t runs;            /* that are to be merged; 0: the records are to be sorted */
  size_t size;            /* bytes of all records */
  unsigned char *records; /* the input */
  unsigned char *sorted;  /* the first contender's result; all others must agree */
} bench_workload;

/* Allocates and makes the records. False, with a message, if there is no memory. Call workload_free
 * afterwards in any case. */
bool workload_make(bench_workload *input, record_id record, bench_distribution distribution,
                   size_t count);
void workload_free(bench_workload *input);

/* Compares a result with the first one. False, with a message, if it differs. */
bool workload_verify(bench_workload *input, const void *result, const char *method);

#endif
