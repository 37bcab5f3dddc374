/* main.c - mpi-bench: recsort_mpi_sort beside other sorts of all ranks, in one run, in turns.
 *
 * Usage: mpirun -n RANKS mpi-bench THREADS SECONDS LOG2-OF-RECORDS INPUT...
 *   INPUT: random, sorted, nearly (sorted, then 1% displaced) or equal
 *
 * Each rank makes as many Entities as the others. A time is that of the slowest rank, from a
 * barrier on. The first round is a warm-up, whose results are checked: in order, ties as before,
 * and the records are those of the input. In the next ones each contestant takes part until it has
 * used SECONDS, and three times at least. A peer sorts in two ways, and leaves out the one that
 * took more than 1.5 times as long in the warm-up. recsort sorts with one thread a rank, as its
 * peers do, and with THREADS. Exit status: 1 if a result is wrong. */
#define _DEFAULT_SOURCE
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "commit.h"
#if BENCH_SC
#include <sc.h>
#endif

enum { LEAST_ROUNDS = 2, MOST_ROUNDS = 21, MOST_CONTESTANTS = 8 };

static const char schema_text[] =
    "record: Entity\nfields:\n  - {name: number, type: uint32}\n  - {name: y, type: float32}\n"
    "  - {name: angle, type: float32}\n  - {name: sprite, type: int16}\n"
    "  - {name: distance, type: float32}\nkeys:\n  - {field: distance, order: desc}\n";

/* Ends all ranks. */
static _Noreturn void fail(const char *text)
{
  fprintf(stderr, "mpi-bench: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

/* In huge pages, as the library allocates; for free(). */
static void *allocate(size_t count, size_t size)
{
  void *memory;
  if (posix_memalign(&memory, (size_t)2 << 20, count * size) != 0) fail("out of memory");
  madvise(memory, count * size, MADV_HUGEPAGE);
  memset(memory, 0, count * size);
  return memory;
}

/* ---- Input ---- */

static uint64_t mix(uint64_t x)
{
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* From 0 to 1,000 in 2^24 steps: many records have ties. */
static float any_distance(uint64_t seed)
{
  return 1000.0F * (float)(mix(seed) >> 40) / (float)(1 << 24);
}

static float distance_of(const char *input, uint64_t place, uint64_t total)
{
  const float in_order = 1000.0F * (float)(total - place) / (float)total;
  if (!strcmp(input, "random")) return any_distance(place);
  if (!strcmp(input, "sorted")) return in_order;
  if (!strcmp(input, "nearly")) return mix(place) % 100 ? in_order : any_distance(place ^ total);
  if (!strcmp(input, "equal")) return 1;
  fail("the inputs are random, sorted, nearly and equal");
}

static void make_input(const bench *b, const char *input, entity *records)
{
  const uint64_t first = (uint64_t)b->rank * b->count, total = (uint64_t)b->ranks * b->count;
  for (size_t i = 0; i < b->count; i++) {
    const uint64_t place = first + i;
    records[i].number = (uint32_t)place;
    records[i].y = (float)(mix(place) & 1023);
    records[i].angle = (float)(place & 1023);
    records[i].sprite = (int16_t)place;
    records[i].distance = distance_of(input, place, total);
  }
}

/* ---- Checks ---- */

/* The sum of all records' hashes: the same for the same records in any order. */
static uint64_t sum_of(const bench *b, const entity *records)
{
  uint64_t own = 0, sum;
  for (size_t i = 0; i < b->count; i++) {
    uint64_t words[3] = {0};
    memcpy(words, &records[i], sizeof records[i]);
    own += mix(mix(mix(words[0]) ^ words[1]) ^ words[2]);
  }
  MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, b->comm);
  return sum;
}

static bool is_before(const entity *a, const entity *b)
{
  return a->distance > b->distance || (a->distance == b->distance && a->number < b->number);
}

/* Each rank gets the last record of the rank before. */
static bool is_sorted(const bench *b)
{
  entity before = {.distance = INFINITY};
  const int from = b->rank > 0 ? b->rank - 1 : MPI_PROC_NULL;
  const int to = b->rank + 1 < b->ranks ? b->rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(&b->result[b->count - 1], sizeof before, MPI_BYTE, to, 0, &before, sizeof before,
               MPI_BYTE, from, 0, b->comm, MPI_STATUS_IGNORE);
  bool sorted = is_before(&before, &b->result[0]);
  for (size_t i = 1; i < b->count; i++)
    sorted &= is_before(&b->result[i - 1], &b->result[i]);
  return sorted;
}

static void check(const bench *b, const contestant *c, uint64_t sum)
{
  char text[128];
  const uint64_t now = sum_of(b, b->result);
  const bool sorted = is_sorted(b);
  snprintf(text, sizeof text, "%s: rank %d has a wrong result", c->name, b->rank);
  if (!sorted || now != sum) fail(text);
}

/* ---- recsort ---- */

static recsort_sorter *open_sorter(unsigned threads)
{
  const recsort_options options = {
      .struct_size = sizeof options, .threads = threads, .plugin = "cpu"};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error;
  if (recsort_schema_load_memory(schema_text, sizeof schema_text - 1, "Entity", NULL, &schema,
                                 &error) ||
      recsort_sorter_create(schema, &options, &sorter, &error))
    fail(error.text);
  recsort_schema_destroy(schema);
  return sorter;
}

static recsort_mpi_stats stages[2]; /* of each sorter's last sort, on this rank */

/* The sorted records replace the given ones. So two arrays change places. */
static void sort_by(bench *b, int which)
{
  void *records = b->records;
  size_t count = b->count;
  recsort_error error;
  if (recsort_mpi_sort(b->sorters[which], b->comm, &records, &count, NULL, &stages[which],
                       sizeof stages[which], &error))
    fail(error.text);
  b->records = b->result;
  b->result = records;
}

static void sort_by_one(bench *b)
{
  sort_by(b, 0);
}

static void sort_by_all(bench *b)
{
  sort_by(b, 1);
}

/* ---- Rounds ---- */

typedef struct entrant {
  contestant contestant;
  double times[MOST_ROUNDS + 1]; /* first that of the warm-up */
  size_t rounds;
  double spent;
  bool is_out;
} entrant;

/* Collective. The time of the slowest rank. */
static double time_of(bench *b, const contestant *c, const entity *input)
{
  memcpy(b->records, input, b->count * sizeof *input);
  MPI_Barrier(b->comm);
  const double begin = MPI_Wtime();
  c->sort(b);
  const double own = MPI_Wtime() - begin;
  double slowest;
  MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, b->comm);
  return slowest;
}

/* Of the two ways of a peer, the one that was much slower in the warm-up. */
static void leave_out_slow(entrant *entrants, size_t ours, size_t count)
{
  for (size_t i = ours; i + 1 < count; i += 2) {
    entrant *const a = &entrants[i], *const b = &entrants[i + 1];
    a->is_out = a->times[0] > 1.5 * b->times[0];
    b->is_out = b->times[0] > 1.5 * a->times[0];
  }
}

static int compare_times(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_stages(const recsort_mpi_stats *s)
{
  printf("    sort %.1f, split %.1f, exchange %.1f, merge %.1f\n", 1e3 * s->sort_seconds,
         1e3 * s->split_seconds, 1e3 * s->exchange_seconds, 1e3 * s->merge_seconds);
}

/* The median, least and most time, the rounds, and how many times recsort's. Of two medians it is
 * the lower one. */
static void report(const bench *b, const char *input, entrant *entrants, size_t ours, size_t count)
{
  double first = 0;
  printf("%s, %d ranks, %zu Entities a rank\n", input, b->ranks, b->count);
  for (size_t i = 0; i < count; i++) {
    entrant *const e = &entrants[i];
    double *const times = e->times + (e->rounds > 1);
    const size_t timed = e->rounds > 1 ? e->rounds - 1 : 1;
    qsort(times, timed, sizeof *times, compare_times);
    if (i == 0) first = times[(timed - 1) / 2];
    printf("  %-36s %10.1f ms %10.1f %10.1f %4zu %6.2f\n", e->contestant.name,
           1e3 * times[(timed - 1) / 2], 1e3 * times[0], 1e3 * times[timed - 1], e->rounds - 1,
           times[(timed - 1) / 2] / first);
    if (i < ours) print_stages(&stages[i]);
  }
  fflush(stdout);
}

static void contend(bench *b, const char *input, entrant *entrants, size_t ours, size_t count,
                    double seconds)
{
  entity *const records = allocate(b->count, sizeof *records);
  make_input(b, input, records);
  const uint64_t sum = sum_of(b, records);
  for (size_t round = 0; round <= MOST_ROUNDS; round++) {
    for (size_t i = 0; i < count; i++) {
      entrant *const e = &entrants[i];
      if (e->is_out || (round > LEAST_ROUNDS && e->spent > seconds)) continue;
      if (round == 0) memset(b->result, 0, b->count * sizeof *b->result); /* the one before's */
      const double time = time_of(b, &e->contestant, records);
      if (round == 0) check(b, &e->contestant, sum);
      if (round > 0) e->spent += time;
      e->times[e->rounds++] = time;
    }
    if (round == 0) leave_out_slow(entrants, ours, count);
  }
  if (b->rank == 0) report(b, input, entrants, ours, count);
  free(records);
}

static void run(bench *b, const char *input, unsigned threads, double seconds)
{
  static const contestant one = {"recsort, 1 thread a rank", sort_by_one};
  entrant entrants[MOST_CONTESTANTS] = {{.contestant = one}};
  char name[64];
  size_t ours = 1;
  snprintf(name, sizeof name, "recsort, %u threads a rank", threads);
  if (threads > 1) entrants[ours++].contestant = (contestant){name, sort_by_all};
  size_t count = ours;
  for (const contestant *peer = peers; peer->name; peer++)
    entrants[count++].contestant = *peer;
  contend(b, input, entrants, ours, count, seconds);
}

static void print_versions(void)
{
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\n")] = 0;
  printf("MPI      %s\ncommit   %s\n", version, BENCH_COMMIT);
}

int main(int argc, char **argv)
{
  static bench b;
  MPI_Init(&argc, &argv);
  b.comm = MPI_COMM_WORLD;
  MPI_Comm_rank(b.comm, &b.rank);
  MPI_Comm_size(b.comm, &b.ranks);
  if (argc == 2 && !strcmp(argv[1], "--versions")) {
    if (b.rank == 0) print_versions();
    MPI_Finalize();
    return 0;
  }
  if (argc < 5) fail("usage: mpi-bench THREADS SECONDS LOG2-OF-RECORDS INPUT...");
#if BENCH_SC
  sc_init(b.comm, 0, 0, NULL, SC_LP_SILENT);
#endif
  const unsigned threads = (unsigned)atoi(argv[1]);
  b.count = (size_t)1 << atoi(argv[3]);
  if (b.ranks > MOST_RANKS || (uint64_t)b.ranks * b.count > UINT32_MAX) fail("too many records");
  for (int r = 0; r < b.ranks; r++)
    b.sizes[r] = b.count;
  b.sorters[0] = open_sorter(1);
  b.sorters[1] = open_sorter(threads);
  b.records = allocate(b.count, sizeof *b.records);
  b.result = allocate(b.count, sizeof *b.result);
  b.words = allocate(b.count, sizeof *b.words);
  b.other_words = allocate(b.count, sizeof *b.other_words);
  b.numbered = allocate(b.count, sizeof *b.numbered);
  b.other_numbered = allocate(b.count, sizeof *b.other_numbered);
  for (int i = 4; i < argc; i++)
    run(&b, argv[i], threads, atof(argv[2]));
  MPI_Finalize();
  return 0;
}
