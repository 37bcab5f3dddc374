/* measure.c - see measure.h. */
#include "measure.h"

#include "support/message.h"
#include "support/progress.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* `array` with space for one more than `count` elements. */
static void *grow(void *array, size_t count, size_t element_size)
{
  void *grown = reallocarray(array, count + 1, element_size);
  if (grown == NULL) tool_error("out of memory");
  return grown;
}

bench_contender *group_add(bench_group *group, const bench_contender *added)
{
  bench_contender *grown = grow(group->contenders, group->contender_count, sizeof *grown);
  if (grown == NULL) return NULL;
  group->contenders = grown;
  grown[group->contender_count] = *added;
  return &grown[group->contender_count++];
}

/* Threads that a contender leaves spinning, as OpenMP does, would take processors of the next one. */
static void let_threads_sleep(void)
{
  const struct timespec pause = {.tv_nsec = 20000000};
  (void)nanosleep(&pause, NULL);
}

bool group_measure(bench_group *group, unsigned repeat)
{
  bool done = true;
  tool_progress_begin(group->suite, repeat * group->contender_count);
  for (unsigned i = 0; i < repeat && done; i++) {
    for (size_t c = 0; c < group->contender_count && done; c++) {
      let_threads_sleep();
      done = group->contenders[c].run(&group->contenders[c]);
      tool_progress_update(i * group->contender_count + c + 1);
    }
  }
  tool_progress_clear();
  return done;
}

void group_add_target(bench_group *group, const bench_target *target)
{
  assert(group->target_count < TARGET_MAX);
  group->targets[group->target_count++] = *target;
}

void group_free_inputs(bench_group *group)
{
  for (size_t i = 0; i < group->input_count; i++)
    workload_free(&group->inputs[i]);
}

void group_free(bench_group *group)
{
  group_free_inputs(group);
  for (size_t c = 0; c < group->contender_count; c++) {
    bench_contender *const contender = &group->contenders[c];
    for (size_t s = 0; s < contender->series_count; s++)
      free(contender->series[s].values);
  }
  free(group->contenders);
  *group = (struct bench_group){0};
}

/* The index of a series, or their number if there is none with that name. */
static size_t find_series(const bench_contender *contender, const char *name)
{
  size_t s = 0;
  while (s < contender->series_count && strcmp(contender->series[s].name, name) != 0)
    s++;
  return s;
}

bool contender_add(bench_contender *contender, const char *name, const char *unit, double value)
{
  const size_t place = find_series(contender, name);
  bench_series *const series = &contender->series[place];
  if (place == contender->series_count) {
    assert(place < SERIES_MAX);
    *series = (struct bench_series){.name = name, .unit = unit};
    contender->series_count++;
  }
  double *values = grow(series->values, series->count, sizeof *values);
  if (values == NULL) return false;
  series->values = values;
  values[series->count++] = value;
  return true;
}

const bench_series *contender_series(const bench_contender *contender, const char *name)
{
  const size_t place = find_series(contender, name);
  return place == contender->series_count ? NULL : &contender->series[place];
}

static int compare_doubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

bench_summary series_summary(const bench_series *series)
{
  const size_t count = series->count;
  double *sorted = count == 0 ? NULL : grow(NULL, count, sizeof *sorted);
  if (sorted == NULL) return (bench_summary){0};
  memcpy(sorted, series->values, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, compare_doubles);
  const bench_summary summary = {.median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2,
                                 .min = sorted[0],
                                 .max = sorted[count - 1]};
  free(sorted);
  return summary;
}

double contender_seconds(const bench_contender *contender)
{
  const bench_series *wall = contender_series(contender, WALL);
  return wall == NULL ? 0 : series_summary(wall).median;
}

bool target_met(const bench_target *target)
{
  return target->at_most ? target->value <= target->bound : target->value >= target->bound;
}
