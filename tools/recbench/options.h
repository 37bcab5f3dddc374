/* options.h - the command line of recbench. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "workload.h"

enum { LIST_MAX = 16 };

typedef struct bench_options {
  const char *suite;
  record_id records[RECORD_COUNT]; /* none: those of the suite */
  size_t record_count;
  bench_distribution distributions[DISTRIBUTION_COUNT]; /* likewise */
  size_t distribution_count;
  size_t counts[LIST_MAX]; /* none: see options_counts */
  size_t count_count;
  unsigned threads[LIST_MAX]; /* ascending */
  size_t thread_count;
  unsigned repeat;
  const char *plugin;    /* or "all" */
  const char *algorithm; /* or "all"; NULL: the plugin's default */
  uint64_t file_size;
  const char *folder;
  const char *command; /* recsort's path; NULL: searched for */
  const char *json;
  const char *svg;
} bench_options;

typedef enum options_result {
  OPTIONS_RUN,
  OPTIONS_LIST,
  OPTIONS_DONE, /* help or version was printed */
  OPTIONS_WRONG /* with a message */
} options_result;

/* Reads the command line. The strings point into `argv`. */
options_result options_read(bench_options *options, int argc, char **argv);

/* True if the options ask for a suite. */
bool options_suite(const bench_options *options, const char *suite);

/* The counts of records that a suite sorts. */
size_t options_counts(const bench_options *options, const char *suite, const size_t **counts);

/* The processors that this process may run on. */
unsigned processors(void);

#endif
