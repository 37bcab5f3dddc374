/* Memory that changes between two steps of a sort on the CPU: single bits, tiles that are swapped,
 * lost, or written twice. recsort_verify (job.h) says which of these a sort must report.
 *
 * Each sort runs in a process of its own, as a changed offset may end one. All threads are the
 * test's own, one after the other: so a fault strikes between the same steps each time. */
#define _POSIX_C_SOURCE 200809L
#include <recsort/recsort.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/random.h"

enum { COUNT = 1 << 16, THREADS = 3, FAULTS = 240, MOST_BLOCKS = 16, MOST_VALUES = 1 << 16 };

typedef struct record {
  uint64_t key;
  uint32_t input; /* the number of the record in the input */
  uint32_t more;
} record;

/* What a sort is asked for. */
typedef enum wanted { IN_PLACE, ELSEWHERE, PERMUTATION } wanted;

typedef struct trial {
  const char *name;
  wanted wanted;
  uint32_t values; /* that keys have */
  recsort_verify verify;
} trial;

/* How a sort with a fault ended. */
typedef enum outcome {
  RIGHT,
  REPORTED,
  CRASHED,
  CHANGED,    /* a record's bytes are not the input's, or one comes twice; keys ascend */
  TIES,       /* equal keys are not in input order */
  DISORDERED, /* keys do not ascend */
  LOST,       /* a wrong result was reported, but the input is not as it was; or another error */
  OUTCOMES
} outcome;

static const char *const outcome_names[OUTCOMES] = {"right", "reported",   "crashed", "changed",
                                                    "tied",  "disordered", "lost"};

/* ---- The memory ---- */

typedef struct block {
  unsigned char *at;
  size_t size;
} block;

static block blocks[MOST_BLOCKS];
static uint64_t random_state;

static void *allocate(void *context, size_t size)
{
  void *const made = aligned_alloc(64, (size + 63) / 64 * 64);
  (void)context;
  for (size_t b = 0; made && b < MOST_BLOCKS; b++)
    if (!blocks[b].at) {
      blocks[b] = (block){made, size};
      break;
    }
  return made;
}

static void release(void *context, void *memory, size_t size)
{
  (void)context;
  (void)size;
  for (size_t b = 0; b < MOST_BLOCKS; b++)
    if (blocks[b].at == memory) blocks[b].at = NULL;
  free(memory);
}

static record input[COUNT], records[COUNT], result[COUNT];
static bool is_elsewhere; /* the sort works in `result`, too */

/* What the sort works in: the largest block, or the result. */
static block work_memory(void)
{
  if (is_elsewhere && next_random(&random_state) % 2)
    return (block){(unsigned char *)result, sizeof result};

  block largest = {NULL, 0};
  for (size_t b = 0; b < MOST_BLOCKS; b++)
    if (blocks[b].at && blocks[b].size > largest.size) largest = blocks[b];
  return largest;
}

static void strike(void)
{
  enum { TILE = 4096, WAYS = 4 };
  unsigned char other[TILE];
  const block b = work_memory();
  const size_t tiles = b.size / TILE;
  if (tiles < 2) return;
  unsigned char *const first = b.at + next_random(&random_state) % tiles * TILE,
                       *const second = b.at + next_random(&random_state) % tiles * TILE;
  switch (next_random(&random_state) % WAYS) {
  case 0: /* a bit */
    b.at[next_random(&random_state) % b.size] ^=
        (unsigned char)(1 << next_random(&random_state) % 8);
    break;
  case 1: /* tiles are swapped */
    memcpy(other, first, TILE);
    memcpy(first, second, TILE);
    memcpy(second, other, TILE);
    break;
  case 2: /* a tile is lost */
    memset(first, 0, TILE);
    break;
  default: /* a tile is written twice */
    memmove(first, second, TILE);
  }
}

/* ---- The threads ---- */

static unsigned steps, struck_at; /* steps so far; the one before which a fault strikes, 0: none */

static void run(void *context, void (*task)(void *argument, size_t number), void *argument,
                size_t count)
{
  (void)context;
  if (++steps == struck_at) strike();
  for (size_t n = 0; n < count; n++)
    task(argument, n);
}

/* ---- Sorts ---- */

static uint32_t permutation[COUNT];

static void make_input(const trial *t)
{
  uint64_t state = 7;
  for (uint32_t i = 0; i < COUNT; i++)
    input[i] = (record){next_random(&state) % t->values * UINT64_C(0x1000000000), i, ~i};
  memcpy(records, input, sizeof input);
}

static bool is_intact(const record *r)
{
  return r->input < COUNT && memcmp(r, &input[r->input], sizeof *r) == 0;
}

/* What is wrong with `sorted`. */
static outcome judge(const record *sorted)
{
  static bool seen[COUNT];
  outcome found = RIGHT;
  bool changed = false;
  memset(seen, 0, sizeof seen);
  for (size_t i = 0; i < COUNT; i++) {
    if (!is_intact(&sorted[i]) || seen[sorted[i].input])
      changed = true;
    else
      seen[sorted[i].input] = true;
    if (i > 0 && sorted[i - 1].key > sorted[i].key) return DISORDERED;
    if (i > 0 && sorted[i - 1].key == sorted[i].key && sorted[i - 1].input > sorted[i].input)
      found = TIES;
  }
  return changed ? CHANGED : found;
}

/* Sorts, with a fault before step `at`. */
static outcome sort(const trial *t, unsigned at)
{
  const char text[] = "record: r\n"
                      "fields: [{name: key, type: uint64}, {name: more, type: uint64}]\n"
                      "keys: [key]\n";
  const recsort_allocator allocator = {NULL, allocate, release};
  const recsort_executor executor = {sizeof executor, NULL, run, THREADS};
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin = "cpu",
                                   .allocator = &allocator,
                                   .executor = &executor,
                                   .record_size = sizeof(record),
                                   .verify = t->verify};
  recsort_job job = RECSORT_JOB_INIT;
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  make_input(t);
  job.count = COUNT;
  job.records = records;
  if (t->wanted == IN_PLACE) job.sorted = records;
  if (t->wanted == ELSEWHERE) job.sorted = result;
  if (t->wanted == PERMUTATION) job.permutation = permutation;
  job.index_bits = t->wanted == PERMUTATION ? 32 : 0;
  if (recsort_schema_load_memory(text, sizeof text - 1, NULL, NULL, &schema, NULL) ||
      recsort_sorter_create(schema, &options, &sorter, NULL) ||
      recsort_sorter_reserve(sorter, &job, NULL))
    abort();
  is_elsewhere = t->wanted == ELSEWHERE;
  steps = 0;
  struck_at = at;
  const recsort_status status = recsort_run(sorter, &job, 1, NULL);
  const bool kept = memcmp(records, input, sizeof input) == 0;
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
  /* What puts records back reads memory that may have changed. */
  if (!kept && status && (t->wanted != IN_PLACE || t->verify == RECSORT_VERIFY_FULL)) return LOST;
  if (status) return status == RECSORT_CORRUPT_RESULT ? REPORTED : LOST;
  if (t->wanted == PERMUTATION)
    for (size_t i = 0; i < COUNT; i++)
      result[i] = permutation[i] < COUNT ? input[permutation[i]] : (record){0};
  return judge(t->wanted == IN_PLACE ? records : result);
}

/* The same in a process of its own. */
static outcome sort_apart(const trial *t, unsigned at)
{
  int ended = 0;
  (void)fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    (void)alarm(60);
    exit((int)sort(t, at)); /* and not _exit, which would not count the branches that were taken */
  }
  if (child < 0 || waitpid(child, &ended, 0) != child) abort();
  return WIFEXITED(ended) && WEXITSTATUS(ended) < OUTCOMES ? (outcome)WEXITSTATUS(ended) : CRASHED;
}

/* True if the header allows a sort with a fault to end so. */
static bool is_allowed(const trial *t, outcome ended)
{
  const bool full = t->verify == RECSORT_VERIFY_FULL, moved = t->wanted == ELSEWHERE;
  switch (ended) {
  case RIGHT:
  case REPORTED:
  case CRASHED:
    return true;
  case CHANGED: /* only checksums tell */
    return !full;
  case TIES: /* records that move have no number */
    return !full || moved;
  case DISORDERED: /* keys changed before the sort read them */
    return !full && t->wanted == PERMUTATION;
  default:
    return false;
  }
}

int main(int argc, char **argv)
{
  static const trial trials[] = {
      {"in place", IN_PLACE, MOST_VALUES, RECSORT_VERIFY_DEFAULT},
      {"in place, few values", IN_PLACE, 2, RECSORT_VERIFY_DEFAULT},
      {"elsewhere", ELSEWHERE, MOST_VALUES, RECSORT_VERIFY_DEFAULT},
      {"elsewhere, few values", ELSEWHERE, 2, RECSORT_VERIFY_DEFAULT},
      {"permutation", PERMUTATION, MOST_VALUES, RECSORT_VERIFY_DEFAULT},
      {"in place, full", IN_PLACE, MOST_VALUES, RECSORT_VERIFY_FULL},
      {"elsewhere, full", ELSEWHERE, MOST_VALUES, RECSORT_VERIFY_FULL},
      {"elsewhere, few values, full", ELSEWHERE, 2, RECSORT_VERIFY_FULL},
      {"permutation, full", PERMUTATION, 2, RECSORT_VERIFY_FULL},
  };
  const unsigned faults = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : FAULTS;
  unsigned wrong = 0;
  printf("%-28s %5s", "", "steps");
  for (int o = 0; o < OUTCOMES; o++)
    printf(" %10s", outcome_names[o]);
  printf("\n");
  random_state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    unsigned ended[OUTCOMES] = {0};
    wrong += sort(&trials[i], 0) != RIGHT; /* without a fault; this counts the steps, too */
    /* What moves records by a permutation that has been checked is not looked at: two steps. */
    const bool gathers = trials[i].wanted == IN_PLACE && trials[i].verify == RECSORT_VERIFY_FULL;
    const unsigned all = gathers ? steps - 2 : steps;
    for (unsigned n = 0; n < faults; n++) {
      const uint64_t seed = next_random(&random_state);
      const outcome found = sort_apart(&trials[i], 1 + (unsigned)(seed % all));
      ended[found]++;
      if (!is_allowed(&trials[i], found)) wrong++;
    }
    printf("%-28s %5u", trials[i].name, all);
    for (int o = 0; o < OUTCOMES; o++)
      printf(" %10u", ended[o]);
    printf("\n");
    if (trials[i].values == MOST_VALUES) wrong += ended[REPORTED] == 0; /* else it proves nothing */
  }
  printf("%u outcomes that are not allowed\n", wrong);
  return wrong != 0;
}
