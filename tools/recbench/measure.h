/* measure.h - contenders that take turns, and their measurements.
 *
 * A contender runs once in each repetition and adds its measurements to its series. The first one
 * is the wall-clock time; others hold the time of a stage or the memory used. What is fixed for a
 * run (a block size) is part of its variant.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "workload.h"

#define WALL "wall"

enum { SERIES_MAX = 16, TARGET_MAX = 16 };

typedef struct bench_series {
  const char *name;
  const char *unit; /* "s", "bytes" or "bytes/record" */
  double *values;   /* one for each repetition */
  size_t count;
} bench_series;

typedef struct bench_summary {
  double median, min, max;
} bench_summary;

typedef struct bench_contender {
  const char *method;  /* "recsort", "std::stable_sort", ... */
  const char *variant; /* distinguishes it from others with the same method; NULL: nothing */
  const char *plugin;  /* recsort only */
  const char *algorithm;
  unsigned threads;
  bench_workload *input;
  /* Runs once, verifies the result and adds to the series. False, with a message, on failure. */
  bool (*run)(struct bench_contender *self);
  void *job; /* the argument of `run` */
  bench_series series[SERIES_MAX];
  size_t series_count;
} bench_contender;

/* A target for a figure. */
typedef struct bench_target {
  char text[96];
  double value;
  double bound;
  bool at_most; /* otherwise at least */
} bench_target;

/* Contenders that take turns on inputs of one kind and count. */
typedef struct bench_group {
  const char *suite;
  bench_workload inputs[DISTRIBUTION_COUNT];
  size_t input_count;
  bench_contender *contenders;
  size_t contender_count;
  bench_target targets[TARGET_MAX];
  size_t target_count;
} bench_group;

/* Adds a contender to the group. NULL, with a message, if there is no memory. Earlier contenders
 * may move. */
bench_contender *group_add(bench_group *group, const bench_contender *contender);
/* Runs all contenders in turn, `repeat` times: A B A B. */
bool group_measure(bench_group *group, unsigned repeat);
void group_add_target(bench_group *group, const bench_target *target);
/* Frees the records; the figures stay. */
void group_free_inputs(bench_group *group);
void group_free(bench_group *group);

bool contender_add(bench_contender *contender, const char *name, const char *unit, double value);
/* The series with this name; NULL if there is none. */
const bench_series *contender_series(const bench_contender *contender, const char *name);

bench_summary series_summary(const bench_series *series);
/* The median of the wall-clock seconds. */
double contender_seconds(const bench_contender *contender);

bool target_met(const bench_target *target);

#endif
