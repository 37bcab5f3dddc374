/* soak - a program that embeds recsort and runs for a long time (T15).
 *
 * Usage: soak FRAMES
 *
 * Each frame makes new contents of another length, sorts them in one of several ways, and checks
 * the result. Then sorters and schemas are made and destroyed, FRAMES / 100 times, and short-lived
 * threads sort. After the first part neither memory, descriptors nor threads may grow. The end
 * shows that growth would be noticed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "growth.h"
#include "support/jobs.h"
#include "support/random.h"

enum {
  SMALL = 1 << 12,               /* most frames are shorter */
  LARGE = (1 << 17) + (1 << 12), /* some are large enough for threads */
  LARGE_EVERY = 5000,
  PARTS = 10 /* growth is checked after each of them */
};

typedef struct entity {
  float x, y, angle;
  int16_t sprite;
  float distance;
} entity;

static struct {
  counted_memory memory;
  recsort_allocator hook;
  recsort_schema *schema;
  recsort_sorter *sorters[2]; /* with THREADS threads, and with one more */
  uint64_t random;
  size_t frames, records, wrong, grown;
} soak;

static entity records[LARGE], sorted[LARGE];
static uint32_t order[LARGE], companions[LARGE];

static void demand(recsort_status status, const recsort_error *error)
{
  if (status == RECSORT_OK) return;
  (void)printf("%s\n", error->text);
  exit(1);
}

static recsort_schema *load_schema(void)
{
  recsort_error error;
  recsort_schema *schema = NULL;
  demand(recsort_schema_load_file(RS_SCHEMAS "/entity.yaml", &soak.hook, &schema, &error), &error);
  return schema;
}

static recsort_sorter *make_sorter(const recsort_schema *schema, unsigned threads, bool loads)
{
  static const char *const asked[] = {"asked=1"}; /* which loads plugins */
  recsort_error error;
  recsort_sorter *sorter = NULL;
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin_options = asked,
                                   .plugin_option_count = loads,
                                   .threads = threads,
                                   .allocator = &soak.hook};
  demand(recsort_sorter_create(schema, &options, &sorter, &error), &error);
  return sorter;
}

/* ---- Frames ---- */

/* From sorted to random order, with ties; x is the record's number. */
static void fill(entity *to, size_t count, uint64_t *random)
{
  const uint64_t disorder = random_below(random, 3) ? 1000 : 2;
  for (size_t i = 0; i < count; i++)
    to[i] = (entity){(float)i, 0, 0, (int16_t)(i % 7),
                     (float)(count - i) / 16 + (float)random_below(random, disorder)};
}

static bool in_order(const entity *e, size_t count)
{
  for (size_t i = 1; i < count; i++)
    if (e[i - 1].distance < e[i].distance ||
        (e[i - 1].distance == e[i].distance && e[i - 1].x >= e[i].x))
      return false;
  return true;
}

static bool sort_in_place(recsort_sorter *sorter, size_t count)
{
  recsort_error error;
  demand(recsort_sort(sorter, records, count, &error), &error);
  return in_order(records, count);
}

static bool sort_away(recsort_sorter *sorter, size_t count)
{
  recsort_error error;
  size_t disorder = 0;
  demand(recsort_sort_to(sorter, records, count, sorted, &error), &error);
  demand(recsort_check(sorter, sorted, count, &disorder, &error), &error);
  return disorder == count && in_order(sorted, count);
}

static bool sort_indices(recsort_sorter *sorter, size_t count)
{
  recsort_error error;
  bool good = true;
  demand(recsort_argsort(sorter, records, count, order, 32, &error), &error);
  for (size_t i = 1; good && i < count; i++)
    good =
        records[order[i - 1]].distance > records[order[i]].distance ||
        (records[order[i - 1]].distance == records[order[i]].distance && order[i - 1] < order[i]);
  return good;
}

/* Sorts the records, and moves an array that belongs to them. */
static bool sort_with_companions(recsort_sorter *sorter, size_t count)
{
  const recsort_array moved = {companions, companions, sizeof *companions};
  const recsort_job job = {
      .count = count, .records = records, .sorted = records, .arrays = &moved, .array_count = 1};
  recsort_error error;
  bool good = true;
  for (size_t i = 0; i < count; i++)
    companions[i] = (uint32_t)i;
  demand(run_job(sorter, job, &error), &error);
  for (size_t i = 0; good && i < count; i++)
    good = records[i].x == (float)companions[i];
  return good && in_order(records, count);
}

static bool drop_equals(recsort_sorter *sorter, size_t count)
{
  recsort_error error;
  permutation found = {0};
  bool good = true;
  demand(find_permutation(sorter, records, count, &found, &error), &error);
  demand(make_unique(sorter, &found, &error), &error);
  for (size_t i = 1; good && i < found.count; i++)
    good = records[permutation_at(&found, i - 1)].distance >
           records[permutation_at(&found, i)].distance;
  return good;
}

static void run_frame(size_t frame)
{
  static bool (*const ways[])(recsort_sorter *, size_t) = {sort_in_place, sort_away, sort_indices,
                                                           sort_with_companions, drop_equals};
  const size_t way = frame % (sizeof ways / sizeof *ways);
  const bool large = frame < 10 || frame / (sizeof ways / sizeof *ways) % LARGE_EVERY == 0;
  const uint64_t most = UINT64_C(1) << random_below(&soak.random, 13);
  const size_t count = large ? LARGE - (size_t)(frame < 10 ? 0 : random_below(&soak.random, SMALL))
                             : (size_t)random_below(&soak.random, most + 1);
  fill(records, count, &soak.random);
  soak.wrong += !ways[way](soak.sorters[frame % 2], count);
  soak.frames++;
  soak.records += count;
}

/* The first part allocates what is then kept. */
static void run_frames(size_t frames)
{
  holding before = {0};
  for (size_t part = 0; part < PARTS; part++) {
    char name[64];
    for (size_t i = part * frames / PARTS; i < (part + 1) * frames / PARTS; i++)
      run_frame(i);
    const holding now = hold(&soak.memory);
    if (part == 0) before = now;
    (void)snprintf(name, sizeof name, "%zu frames", soak.frames);
    if (part == 0 || part == PARTS / 2 || part == PARTS - 1)
      soak.grown += has_grown(name, before, now);
  }
}

/* ---- Sorters and schemas ---- */

static void live(size_t i)
{
  static const char bad[] = "record: Bad\nfields:\n  - {name: a, type: float33}\n";
  recsort_error error;
  recsort_schema *none = NULL, *const schema = load_schema();
  recsort_sorter *const sorter = make_sorter(schema, 1 + (unsigned)i % 4, true);
  recsort_schema_destroy(schema);
  fill(records, i % 50, &soak.random);
  soak.wrong += !sort_in_place(sorter, i % 50);
  recsort_sorter_destroy(sorter);
  soak.wrong += recsort_schema_load_memory(bad, sizeof bad - 1, "bad", &soak.hook, &none, &error) !=
                RECSORT_INVALID_SCHEMA;
}

/* With a plugin that is loaded and unloaded each time. */
static void run_lives(size_t lives)
{
  holding before = {0};
  char name[64];
  (void)setenv("RECSORT_PLUGIN_PATH", RS_TEST_PLUGINS "/scripted", 1);
  for (size_t i = 0; i < lives; i++) {
    live(i);
    if (i == lives / PARTS) before = hold(&soak.memory);
  }
  (void)snprintf(name, sizeof name, "%zu sorters and schemas", lives);
  soak.grown += has_grown(name, before, hold(&soak.memory));
  (void)unsetenv("RECSORT_PLUGIN_PATH");
}

/* ---- The program's own threads ---- */

static void *sort_once(void *argument)
{
  uint64_t random = (uint64_t)(uintptr_t)argument;
  recsort_error error;
  recsort_sorter *const sorter = make_sorter(soak.schema, 3, false);
  fill(sorted, LARGE, &random);
  demand(recsort_sort(sorter, sorted, LARGE, &error), &error);
  recsort_sorter_destroy(sorter);
  return in_order(sorted, LARGE) ? NULL : &soak;
}

static void run_threads(size_t threads)
{
  holding before = {0};
  char name[64];
  for (size_t i = 0; i < threads; i++) {
    pthread_t thread;
    void *result = &soak;
    if (pthread_create(&thread, NULL, sort_once, (void *)(uintptr_t)i) == 0)
      pthread_join(thread, &result);
    soak.wrong += result != NULL;
    if (i == threads / 2) before = hold(&soak.memory);
  }
  (void)snprintf(name, sizeof name, "%zu threads that sort and end", threads);
  soak.grown += has_grown(name, before, hold(&soak.memory));
}

/* ---- Is growth noticed? ---- */

static void *wait_for_ever(void *argument)
{
  pause();
  return argument;
}

static size_t leaks_unseen(void)
{
  static void *lost[1000];
  holding before = hold(&soak.memory), after;
  size_t unseen = 0;
  pthread_t thread;
  void *const block = counted_allocate(&soak.memory, 1);
  after = hold(&soak.memory);
  unseen += !has_grown("a block of the library left behind", before, after);
  before = after;
  for (int i = 0; i < 1000; i++)
    lost[i] = malloc(20);
  after = hold(&soak.memory);
  unseen += !has_grown("1000 small blocks of others left behind", before, after);
  before = after;
  const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  after = hold(&soak.memory);
  unseen += file < 0 || !has_grown("a descriptor left open", before, after);
  before = after;
  const bool created = pthread_create(&thread, NULL, wait_for_ever, NULL) == 0;
  unseen += !created || !has_grown("a thread left waiting", before, hold(&soak.memory));
  for (int i = 0; i < 1000; i++)
    free(lost[i]);
  free(block);
  return unseen;
}

int main(int argc, char **argv)
{
  const size_t frames = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
  if (frames < 1000) return 2;
  (void)setvbuf(stdout, NULL, _IOLBF, 0);
  soak.hook = (recsort_allocator){&soak.memory, counted_allocate, counted_release};
  soak.schema = load_schema();
  soak.sorters[0] = make_sorter(soak.schema, 1, false);
  soak.sorters[1] = make_sorter(soak.schema, 2, false);
  run_frames(frames);
  run_lives(frames / 100);
  run_threads(40 + frames / 5000);
  (void)printf("%zu frames, %zu records, %zu allocations: %zu wrong, %zu grew\n", soak.frames,
               soak.records, (size_t)soak.memory.calls, soak.wrong, soak.grown);
  for (int i = 0; i < 2; i++)
    recsort_sorter_destroy(soak.sorters[i]);
  recsort_schema_destroy(soak.schema);
  const size_t left = soak.memory.blocks, unseen = leaks_unseen();
  (void)printf("%zu blocks left at the end, %zu of 4 leaks unseen\n", left, unseen);
  return soak.wrong || soak.grown || left || unseen;
}
