/* teambench - measures how quickly the library's threads start, and what busy neighbours cost a
 * sort.
 *
 *   team    the time from the call of the default executor's `run` until its last task has begun,
 *           after pauses of several lengths; each task runs on its own thread
 *   sort    100,000 records of 16 bytes in memory, on all processors: alone, and beside a process
 *           for each processor that never sleeps
 *   slice   how long a thread that shares its processor with such a process waits for its turn,
 *           which the scheduler may add to any sort
 *
 * It calls only functions that every version of the library has, except for the executor, which it
 * skips if missing. So you can compare versions with LD_LIBRARY_PATH.
 *
 * Usage: teambench [SORTS] */
#include <recsort/recsort.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RECORDS = 100000, MOST_PROCESSORS = 1024, TEAM_REPEATS = 200 };

extern __typeof__(recsort_executor_default) recsort_executor_default __attribute__((weak));

static double now_us(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double percentile(double *values, size_t count, double share)
{
  qsort(values, count, sizeof *values, compare);
  const size_t at = (size_t)(share * (double)count);
  return values[at < count ? at : count - 1];
}

/* ---- Teams ---- */

typedef struct muster {
  atomic_size_t begun;
  size_t count;
  double start;
  _Atomic double last; /* when the last task began */
} muster;

/* Waits until all tasks have begun, so that no thread runs two; gives up after a while if one is
 * missing. */
static void report(void *argument, size_t number)
{
  muster *const m = argument;
  const double began = now_us();
  (void)number;
  if (atomic_fetch_add(&m->begun, 1) + 1 == m->count) m->last = began;
  while (m->begun < m->count && now_us() - began < 1e5)
    continue;
}

static void pause_for(double us)
{
  const double end = now_us() + us;
  if (us >= 2000) usleep((useconds_t)us);
  while (now_us() < end)
    continue;
}

static void measure_team(size_t count, double pause)
{
  const recsort_executor *const pool = recsort_executor_default();
  double latencies[TEAM_REPEATS];
  for (size_t i = 0; i < TEAM_REPEATS; i++) {
    muster m = {.count = count};
    pause_for(pause);
    m.start = now_us();
    pool->run(pool->context, report, &m, count);
    latencies[i] = m.last - m.start;
  }
  printf("team of %2zu after a pause of %4.0f us: median %7.2f us, 90%% %8.2f us\n", count, pause,
         percentile(latencies, TEAM_REPEATS, 0.5), percentile(latencies, TEAM_REPEATS, 0.9));
}

static void measure_teams(size_t processors)
{
  static const double pauses[] = {0, 50, 200, 900, 5000};
  for (size_t count = 2; count <= processors; count *= 2)
    for (size_t p = 0; p < sizeof pauses / sizeof *pauses; p++)
      measure_team(count, pauses[p]);
}

/* ---- Sorts ---- */

typedef struct record {
  float key;
  uint32_t rest[3];
} record;

static recsort_sorter *open_sorter(void)
{
  static const char text[] = "record: R\nfields:\n  - {name: key, type: float32}\n"
                             "  - {name: rest, type: uint32, count: 3}\nkeys: [{field: key}]\n";
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  if (recsort_schema_load_memory(text, sizeof text - 1, "R", NULL, &schema, &error) ||
      recsort_sorter_create(schema, NULL, &sorter, &error)) {
    fprintf(stderr, "teambench: %s\n", error.text);
    exit(2);
  }
  recsort_schema_destroy(schema);
  return sorter;
}

/* Measures the milliseconds of each sort; each one gets other records. */
static void time_sorts(double *ms, size_t sorts)
{
  static record from[RECORDS], records[RECORDS];
  recsort_sorter *const sorter = open_sorter();
  srandom(1);
  for (size_t i = 0; i < RECORDS; i++)
    from[i].key = (float)random();
  for (size_t s = 0; s < sorts + 5; s++) {
    memcpy(records, from, sizeof records);
    const double start = now_us();
    if (recsort_sort(sorter, records, RECORDS, NULL)) exit(2);
    if (s >= 5) ms[s - 5] = (now_us() - start) / 1000;
    usleep(200);
  }
  recsort_sorter_destroy(sorter);
}

static double report_sorts(const char *what, size_t sorts)
{
  double *const ms = calloc(sorts, sizeof *ms);
  if (!ms) exit(2);
  time_sorts(ms, sorts);
  const double median = percentile(ms, sorts, 0.5);
  printf("sort %s: median %.2f ms, 99%% %.2f ms, at most %.2f ms\n", what, median,
         percentile(ms, sorts, 0.99), ms[sorts - 1]);
  free(ms);
  return median;
}

static pid_t start_neighbour(size_t processor)
{
  cpu_set_t set;
  const pid_t child = fork();
  if (child != 0) return child;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(0, sizeof set, &set);
  for (;;)
    __asm__ volatile("");
}

/* ---- The scheduler's slice ---- */

static void pin_to_one(const cpu_set_t *processors)
{
  cpu_set_t one;
  CPU_ZERO(&one);
  for (size_t p = 0; p < CPU_SETSIZE && CPU_COUNT(&one) == 0; p++)
    if (CPU_ISSET(p, processors)) CPU_SET(p, &one);
  sched_setaffinity(0, sizeof one, &one);
}

/* With a neighbour on the processor: the times by which the clock jumps. */
static void measure_slice(const cpu_set_t *processors)
{
  enum { MOST_WAITS = 1000, WAIT_US = 100, SECONDS = 3 };
  static double waits[MOST_WAITS];
  size_t count = 0;
  pin_to_one(processors);
  const double end = now_us() + SECONDS * 1e6;
  for (double last = now_us(), now; last < end && count < MOST_WAITS; last = now) {
    now = now_us();
    if (now - last > WAIT_US) waits[count++] = (now - last) / 1000;
  }
  sched_setaffinity(0, sizeof *processors, processors);
  if (count == 0) return;
  const double median = percentile(waits, count, 0.5);
  printf("slice beside a busy process: %zu waits, median %.2f ms, 99%% %.2f ms, at most %.2f ms\n",
         count, median, percentile(waits, count, 0.99), waits[count - 1]);
}

int main(int argc, char **argv)
{
  pid_t neighbours[MOST_PROCESSORS];
  size_t count = 0;
  const size_t sorts = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
  cpu_set_t set;
  if (sorts == 0 || sched_getaffinity(0, sizeof set, &set)) return 2;
  printf("%d processors, %zu sorts of %d records\n", CPU_COUNT(&set), sorts, RECORDS);
  if (recsort_executor_default) measure_teams((size_t)CPU_COUNT(&set));
  fflush(stdout);
  report_sorts("alone", sorts);
  fflush(stdout);
  for (size_t p = 0; p < CPU_SETSIZE; p++)
    if (CPU_ISSET(p, &set) && (neighbours[count] = start_neighbour(p)) > 0) count++;
  report_sorts("beside a busy process on each processor", sorts);
  measure_slice(&set);
  for (size_t i = 0; i < count; i++)
    kill(neighbours[i], SIGKILL);
  while (wait(NULL) > 0)
    continue;
  return 0;
}
