/* main.cpp - recbench-mpi: recsort_mpi_sort beside other sorts of all ranks. recbench starts it
 * under mpirun and talks to rank 0 (serve.h), which passes the commands on.
 *
 * Each rank makes as many Entities as the others. A time is that of the slowest rank, from a
 * barrier on. Every result is checked: in order, ties as before, and the records are those of the
 * input. An error on a rank ends all. recsort sorts with one thread a rank, as its peers do, and
 * with a rank's share of the processors. */
#include "bench.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

#include "commit.h"
#include "serve.h"
#if BENCH_SC
#include <sc.h>
#endif

namespace
{

const char schema_text[] =
    "record: Entity\nfields:\n  - {name: number, type: uint32}\n  - {name: y, type: float32}\n"
    "  - {name: angle, type: float32}\n  - {name: sprite, type: int16}\n"
    "  - {name: distance, type: float32}\nkeys:\n  - {field: distance, order: desc}\n";

bench b;
entity *input;
uint64_t sum; // of the input
std::vector<contestant> contestants;
std::string share_name; // of recsort with several threads

/* In huge pages, as the library allocates; for free(). */
template <class T> void allocate(T *&memory, size_t count)
{
  void *found;
  std::free(memory);
  if (posix_memalign(&found, size_t{2} << 20, count * sizeof(T)) != 0) fail("out of memory");
  madvise(found, count * sizeof(T), MADV_HUGEPAGE);
  std::memset(found, 0, count * sizeof(T));
  memory = static_cast<T *>(found);
}

/* ---- Input ---- */

uint64_t mix(uint64_t x)
{
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* From 0 to 1,000 in 2^24 steps: many records have ties. */
float any_distance(uint64_t seed)
{
  return 1000.0F * static_cast<float>(mix(seed) >> 40) / static_cast<float>(1 << 24);
}

float distance_of(const std::string &order, uint64_t place, uint64_t total)
{
  const float in_order = 1000.0F * static_cast<float>(total - place) / static_cast<float>(total);
  if (order == "random") return any_distance(place);
  if (order == "sorted") return in_order;
  if (order == "nearly") return mix(place) % 100 ? in_order : any_distance(place ^ total);
  if (order == "equal") return 1;
  fail("the orders are random, sorted, nearly and equal");
}

void make_records(const std::string &order)
{
  const uint64_t first = static_cast<uint64_t>(b.rank) * b.count;
  const uint64_t total = static_cast<uint64_t>(b.ranks) * b.count;
  for (size_t i = 0; i < b.count; i++) {
    const uint64_t place = first + i;
    input[i] = {static_cast<uint32_t>(place),
                static_cast<float>(mix(place) & 1023),
                static_cast<float>(place & 1023),
                static_cast<int16_t>(place),
                0,
                distance_of(order, place, total)};
  }
}

/* ---- Checks ---- */

/* The sum of all records' hashes: the same for the same records in any order. */
uint64_t sum_of(const entity *records)
{
  uint64_t own = 0, all;
  for (size_t i = 0; i < b.count; i++) {
    uint64_t words[3] = {0};
    std::memcpy(words, &records[i], sizeof records[i]);
    own += mix(mix(mix(words[0]) ^ words[1]) ^ words[2]);
  }
  MPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, b.comm);
  return all;
}

bool is_before(const entity &one, const entity &other)
{
  return one.distance > other.distance ||
         (one.distance == other.distance && one.number < other.number);
}

/* Each rank gets the last record of the rank before. */
bool is_sorted()
{
  entity before = {};
  before.distance = INFINITY;
  const int from = b.rank > 0 ? b.rank - 1 : MPI_PROC_NULL;
  const int to = b.rank + 1 < b.ranks ? b.rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(&b.result[b.count - 1], sizeof before, MPI_BYTE, to, 0, &before, sizeof before,
               MPI_BYTE, from, 0, b.comm, MPI_STATUS_IGNORE);
  bool sorted = is_before(before, b.result[0]);
  for (size_t i = 1; i < b.count; i++)
    sorted &= is_before(b.result[i - 1], b.result[i]);
  return sorted;
}

/* ---- recsort ---- */

recsort_sorter *open_sorter(unsigned threads)
{
  recsort_options options = RECSORT_OPTIONS_INIT;
  options.threads = threads;
  options.plugin = "cpu";
  recsort_schema *schema = nullptr;
  recsort_sorter *sorter = nullptr;
  recsort_error error;
  if (recsort_schema_load_memory(schema_text, sizeof schema_text - 1, "Entity", nullptr, &schema,
                                 &error) ||
      recsort_sorter_create(schema, &options, &sorter, &error))
    fail(error.text);
  recsort_schema_destroy(schema);
  return sorter;
}

/* The sorted records replace the given ones. So two arrays change places. */
template <int which> void sort_by(bench *)
{
  recsort_error error;
  b.done = RECSORT_MPI_JOB_INIT;
  b.done.records = b.records;
  b.done.count = b.count;
  if (recsort_mpi_sort(b.sorters[which], b.comm, &b.done, &error)) fail(error.text);
  b.records = b.result;
  b.result = static_cast<entity *>(b.done.records);
}

/* ---- Commands ---- */

void about(const Words &, cJSON *answer)
{
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  version[std::strcspn(version, ",\n")] = 0;
  cJSON_AddStringToObject(answer, "mpi", version);
  cJSON_AddNumberToObject(answer, "ranks", b.ranks);
  cJSON_AddStringToObject(answer, "commit", BENCH_COMMIT);
}

void clear(const Words &, cJSON *)
{
  for (recsort_sorter *&sorter : b.sorters) {
    recsort_sorter_destroy(sorter);
    sorter = nullptr;
  }
}

/* input SLOT SUITE RECORD ORDER COUNT THREADS: COUNT records on each rank */
void make_input(const Words &words, cJSON *answer)
{
  b.count = std::stoul(words.at(5));
  const auto threads = static_cast<unsigned>(std::stoul(words.at(6)));
  if (b.ranks > MOST_RANKS || static_cast<uint64_t>(b.ranks) * b.count > UINT32_MAX)
    fail("too many records");
  for (int r = 0; r < b.ranks; r++)
    b.sizes[r] = b.count;
  clear(words, answer);
  b.sorters[0] = open_sorter(1);
  b.sorters[1] = open_sorter(threads);
  allocate(input, b.count);
  allocate(b.records, b.count);
  allocate(b.result, b.count);
  allocate(b.words, b.count);
  allocate(b.other_words, b.count);
  allocate(b.numbered_records, b.count);
  allocate(b.other_numbered, b.count);
  make_records(words.at(4));
  sum = sum_of(input);
  share_name = "recsort, " + std::to_string(threads) + " threads a rank";
  contestants = {{"recsort, 1 thread a rank", sort_by<0>}};
  if (threads > 1) contestants.push_back({share_name.c_str(), sort_by<1>});
  for (const contestant *peer = peers; peer->name; peer++)
    contestants.push_back(*peer);
  cJSON_AddNumberToObject(answer, "size", sizeof(entity));
  cJSON *const names = cJSON_AddArrayToObject(answer, "contenders");
  for (const contestant &one : contestants)
    cJSON_AddItemToArray(names, cJSON_CreateString(one.name));
}

/* run SLOT CONTESTANT */
void run(const Words &words, cJSON *answer)
{
  for (const contestant &one : contestants) {
    if (one.name != words.at(2)) continue;
    std::memcpy(b.records, input, b.count * sizeof *input);
    std::memset(b.result, 0, b.count * sizeof *b.result); /* the one before's */
    MPI_Barrier(b.comm);
    const double begin = MPI_Wtime();
    one.sort(&b);
    const double own = MPI_Wtime() - begin;
    double slowest;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, b.comm);
    const bool same = sum_of(b.result) == sum;
    if (!is_sorted() || !same)
      fail(words.at(2) + ": rank " + std::to_string(b.rank) + " has a wrong result");
    cJSON_AddNumberToObject(answer, "wall", slowest);
    if (words.at(2).compare(0, 7, "recsort") != 0) return;
    cJSON_AddNumberToObject(answer, "sort", b.done.sort_seconds);
    cJSON_AddNumberToObject(answer, "split", b.done.split_seconds);
    cJSON_AddNumberToObject(answer, "exchange", b.done.exchange_seconds);
    cJSON_AddNumberToObject(answer, "merge", b.done.merge_seconds);
    return;
  }
  fail("there is no " + words.at(2));
}

const Commands commands = {{"about", about}, {"input", make_input}, {"run", run}, {"clear", clear}};

/* The next command of rank 0, on every rank. */
bool next_line(std::string &line)
{
  long length = b.rank == 0 && std::getline(std::cin, line) ? static_cast<long>(line.size()) : -1;
  MPI_Bcast(&length, 1, MPI_LONG, 0, b.comm);
  if (length < 0) return false;
  line.resize(static_cast<size_t>(length));
  MPI_Bcast(line.data(), static_cast<int>(length), MPI_CHAR, 0, b.comm);
  return true;
}

} // namespace

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  b.comm = MPI_COMM_WORLD;
  MPI_Comm_rank(b.comm, &b.rank);
  MPI_Comm_size(b.comm, &b.ranks);
#if BENCH_SC
  sc_init(b.comm, 0, 0, NULL, SC_LP_SILENT);
#endif
  for (std::string line; next_line(line);) {
    const Answer answer(commands, line);
    if (b.rank == 0 || answer.failed()) std::cout << answer.text() << std::endl;
    if (answer.failed()) MPI_Abort(b.comm, 1);
  }
  MPI_Finalize();
  return 0;
}
