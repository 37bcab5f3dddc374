/* memory_suite.h - measures sorts in memory: the library and its peers. */
#ifndef BENCH_MEMORY_SUITE_H
#define BENCH_MEMORY_SUITE_H

#include "measure.h"
#include "methods.h"
#include "peers.h"

/* The names of the contenders. */
#define RECSORT "recsort"
#define STD "std::stable_sort"
#define PARALLEL "__gnu_parallel::stable_sort"

/* The job of a contender that sorts in memory; owned by the suite. */
typedef struct memory_job {
  unsigned char *scratch; /* where the records are sorted; shared, as contenders take turns */
  peer_sort *peer;
  bench_method method;
  const recsort_schema *schema;
  recsort_sorter *sorter;
  bool warm; /* the sorter has allocated its memory */
} memory_job;

/* Runs of the library with a used sorter, in place and to another array, and with a new sorter. */
bool memory_run_warm(bench_contender *self);
bool memory_run_to(bench_contender *self);
bool memory_run_new(bench_contender *self);

/* Measures `count` records of one kind in several distributions. Call group_free afterwards in any
 * case. */
bool memory_suite(bench_group *group, const bench_options *options, const bench_method *methods,
                  size_t method_count, record_id record, const bench_distribution *distributions,
                  size_t distribution_count, size_t count);

recsort_schema *memory_schema(record_id record);

#endif
