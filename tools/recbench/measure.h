/* measure.h - contenders that take turns, and what was measured of each.
 *
 * A contender runs once a repetition and adds what it found to its series, of which the first is
 * the wall-clock time. Whatever else is worth knowing (a stage, a pass of a kernel, the bytes
 * held) is a further series; what is fixed for a run (a size of blocks) is part of its variant.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "workload.h"

#define WALL "wall"

enum { SERIES_MAX = 16, TARGET_MAX = 16 };

typedef struct bench_series {
  const char *name;
  const char *unit; /* "s", "bytes" or "bytes/record" */
  double *values;   /* one a repetition */
  size_t count;
} bench_series;

typedef struct bench_summary {
  double median, min, max;
} bench_summary;

typedef struct bench_contender {
  const char *method;  /* "recsort", "std::stable_sort", ... */
  const char *variant; /* what sets it apart from others of its method; NULL: nothing */
  const char *plugin;  /* recsort only */
  const char *algorithm;
  unsigned threads;
  bench_workload *input;
  /* Runs once, verifies the result and adds to the series; false, with a message, on failure. */
  bool (*run)(struct bench_contender *self);
  void *job; /* of `run` */
  bench_series series[SERIES_MAX];
  size_t series_count;
} bench_contender;

/* What is asked of a figure. */
typedef struct bench_target {
  char text[96];
  double value;
  double bound;
  bool at_most; /* else at least */
} bench_target;

/* Contenders that took turns on inputs of one kind and count. */
typedef struct bench_group {
  const char *suite;
  bench_workload inputs[DISTRIBUTION_COUNT];
  size_t input_count;
  bench_contender *contenders;
  size_t contender_count;
  bench_target targets[TARGET_MAX];
  size_t target_count;
} bench_group;

/* A new contender of the group; NULL, with a message, if there is no memory. Earlier ones move. */
bench_contender *group_add(bench_group *group, const bench_contender *contender);
/* Every contender once, and so on: A B A B. */
bool group_measure(bench_group *group, unsigned repeat);
void group_add_target(bench_group *group, const bench_target *target);
/* Releases the records; the figures stay. */
void group_free_inputs(bench_group *group);
void group_free(bench_group *group);

bool contender_add(bench_contender *contender, const char *name, const char *unit, double value);
/* The series of that name; NULL if there is none. */
const bench_series *contender_series(const bench_contender *contender, const char *name);

bench_summary series_summary(const bench_series *series);
/* The median of the wall-clock seconds. */
double contender_seconds(const bench_contender *contender);

bool target_met(const bench_target *target);

#endif
