/* documents - prints the tables of docs/gpu-sort.md that only code can tell; check_document.py
 * compares them, and draws two pictures from them.
 *
 *   documents launches KEYS    what sample launches on an H200; KEYS: f32, u64 or u128
 *   documents merges KEYS      what a merge of sorted runs launches there
 *   documents ranks RUN        an example of two runs, a and b: the rank of each element of one in
 *                              the other
 *   documents parts            the same runs: the parts of the output by their co-ranks
 *   documents search RANK      the same runs: each step of the search for the co-rank of RANK
 *
 * The launches are those of the sort itself: the emulator passes them on and runs no kernel, so
 * counts can be large, and the memory is only addresses.
 */
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "cuda/runs.cuh"
#include "cuda/sort/sample/agent/policy.cuh"
#include "cuda/sort/sample/merge_plan.h"
#include "cuda/sort/sample/sample.h"
#include "gpu/device_merge.h"

namespace
{

/* ---- What sample launches ---- */

struct table_row {
  std::string name;
  std::map<size_t, std::string> cells; /* by column */
};

const uint32_t count_bits[] = {10, 17, 20, 24, 28};
constexpr size_t COLUMNS = sizeof count_bits / sizeof *count_bits;

uint64_t mailbox[DEVICE_MAILBOX / 8];
std::vector<std::pair<std::string, std::string>> launches;

/* Every flag for the host is set: the keys are in no order. */
void note_launch(const char *kernel, uint64_t grid, uint32_t block, uint64_t)
{
  const std::string name(kernel, strcspn(kernel, "<, "));
  launches.emplace_back("`" + name + "`", std::to_string(grid) + " x " + std::to_string(block));
  memset(mailbox, 1, sizeof mailbox);
}

device_job job_of(uint64_t count, uint32_t key_width)
{
  device_job job = {};
  job.count = count;
  job.key_bits = job.key_width = key_width;
  job.index_bits = 32;
  job.shared_bytes = EMULATOR_SHARED_BYTES;
  job.multiprocessors = 132;
  job.mailbox = mailbox;
  return job;
}

/* Of a sort or, with runs, of a merge. Addresses that nobody may read or write. */
void list_launches(const device_job *job, const device_runs *runs = nullptr)
{
  const uint64_t extra = runs ? device_merge_extra_bytes(job) : sample_extra_bytes(job);
  const uint64_t bytes = device_bytes(job, extra);
  void *const memory =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) exit(2);
  const device_buffers buffers = device_divide(job, memory, extra);
  unsigned side = 0;
  launches.clear();
  if (runs ? device_merge(job, runs, &buffers, &side) : sample_sort(job, &buffers, &side)) exit(2);
  (void)munmap(memory, bytes);
}

std::string in_bytes(uint64_t bytes)
{
  char text[32];
  if (bytes < 1 << 10)
    (void)snprintf(text, sizeof text, "%u bytes", (unsigned)bytes);
  else if (bytes < 1 << 20)
    (void)snprintf(text, sizeof text, "%.1f KiB", (double)bytes / (1 << 10));
  else
    (void)snprintf(text, sizeof text, "%.1f MiB", (double)bytes / (1 << 20));
  return text;
}

sample_traits traits_of(uint32_t key_width)
{
  if (key_width == 32) return sample::policy<packed_pair>::traits();
  if (key_width == 64) return sample::policy<wide_pair<uint64_t, uint32_t>>::traits();
  return sample::policy<wide_pair<device_uint128, uint32_t>>::traits();
}

using facts = std::vector<std::pair<std::string, std::string>>;

facts facts_of_small(const device_job *job)
{
  const sample_ranking how = sample_ranking_of(job, job->count);
  const uint64_t runs = plan_blocks(job->count, UINT64_C(1) << how.run_bits);
  return {{"path", "small"},
          {"runs", std::to_string(runs) + (how.alone ? " run" : " runs")},
          {"extra memory", in_bytes(sample_extra_bytes(job))}};
}

facts facts_of_many(const device_job *job)
{
  const sample_traits traits = traits_of(job->key_width);
  const sample_plan plan = sample_plan_of(job, traits);
  const uint32_t bits = plan.extent_bits;
  std::string buckets = std::to_string(plan.buckets[0]);
  for (uint32_t level = 1; level < plan.levels; level++)
    buckets += " x " + std::to_string(plan.buckets[level]);
  const bool padded = plan.way == SAMPLE_PADDED;
  facts all = {{"path", padded ? "padded" : std::to_string(plan.levels) + " levels"},
               {"buckets of a segment, by level", buckets},
               {"samples of a segment", std::to_string(plan.samples)}};
  if (padded)
    all.emplace_back("space of a padded bucket", std::to_string(plan.capacity));
  else
    all.emplace_back("most pairs of a joined tile", std::to_string(plan.joined));
  if (bits)
    all.emplace_back("extents", std::to_string(sample_extents(&plan, job->count)) + " of 2^" +
                                    std::to_string(bits));
  all.emplace_back("extra memory", in_bytes(sample_extra_bytes(job)));
  return all;
}

/* The order of rows: what the plan says, then kernels as they are launched. */
const char *const row_names[] = {"path",
                                 "runs",
                                 "buckets of a segment, by level",
                                 "samples of a segment",
                                 "space of a padded bucket",
                                 "extents",
                                 "most pairs of a joined tile",
                                 "extra memory",
                                 "`clear_flags`",
                                 "`detect_order`",
                                 "`rank_runs`",
                                 "`rank_all`",
                                 "`rank_samples`",
                                 "`rank_all_samples`",
                                 "`tabulate_lookup`",
                                 "`scatter_to_padded`",
                                 "`sort_padded`",
                                 "`scatter_to_chains`",
                                 "`list_extents`",
                                 "`choose_splitters`",
                                 "`count_buckets`",
                                 "`count_chained`",
                                 "`place_buckets`",
                                 "`scatter_to_counted`",
                                 "`sort_buckets`",
                                 "`sort_oversized`"};

void put(std::vector<table_row> *rows, const std::string &name, size_t column,
         const std::string &cell)
{
  for (table_row &row : *rows) {
    if (row.name != name) continue;
    std::string &text = row.cells[column];
    text += (text.empty() ? "" : ", ") + cell;
    return;
  }
  (void)fprintf(stderr, "documents: no row for %s\n", name.c_str());
  exit(2);
}

void print_rows(const std::vector<table_row> &rows, size_t columns)
{
  for (const table_row &row : rows) {
    if (row.cells.empty()) continue;
    (void)printf("| %s |", row.name.c_str());
    for (size_t column = 0; column < columns; column++) {
      const auto cell = row.cells.find(column);
      (void)printf(" %s%s|", cell == row.cells.end() ? "" : cell->second.c_str(),
                   cell == row.cells.end() ? "" : " ");
    }
    (void)printf("\n");
  }
}

void print_launches(uint32_t key_width)
{
  std::vector<table_row> rows;
  for (const char *name : row_names)
    rows.push_back({name, {}});
  emulator_watch(note_launch);
  std::string header = "| |", rule = "| --- |";
  for (size_t column = 0; column < COLUMNS; column++) {
    const device_job job = job_of(UINT64_C(1) << count_bits[column], key_width);
    header += " 2^" + std::to_string(count_bits[column]) + " |";
    rule += " --- |";
    for (const auto &[name, cell] :
         sample_is_small(&job) ? facts_of_small(&job) : facts_of_many(&job))
      put(&rows, name, column, cell);
    list_launches(&job);
    for (const auto &[name, cell] : launches)
      put(&rows, name, column, cell);
  }
  (void)printf("%s\n%s\n", header.c_str(), rule.c_str());
  print_rows(rows, COLUMNS);
}

/* ---- What merges launch ---- */

const struct {
  uint32_t runs, count_bits;
} merges[] = {{2, 24}, {8, 22}, {8, 24}, {64, 24}, {64, 27}};
constexpr size_t MERGES = sizeof merges / sizeof *merges;

const char *const merge_row_names[] = {"elements from sample to sample",
                                       "samples of a tile",
                                       "levels of samples",
                                       "`merge_tiles`",
                                       "`cut_runs`",
                                       "`merge_pieces`"};

facts facts_of_merge(const device_job *job, uint32_t runs)
{
  if (runs <= 2) return {};
  const sample_merge_plan plan = sample_merge_plan_of(job, traits_of(job->key_width), runs);
  uint32_t levels = 0;
  for (uint64_t left = job->count; left > plan.tile; left >>= plan.step_bits)
    levels++;
  return {{"elements from sample to sample", std::to_string(1u << plan.step_bits)},
          {"samples of a tile", std::to_string(plan.samples)},
          {"levels of samples", std::to_string(levels)}};
}

void print_merges(uint32_t key_width)
{
  std::vector<table_row> rows;
  for (const char *name : merge_row_names)
    rows.push_back({name, {}});
  emulator_watch(note_launch);
  std::string header = "| |", rule = "| --- |";
  for (size_t column = 0; column < MERGES; column++) {
    const uint32_t bits = merges[column].count_bits, count = merges[column].runs;
    const device_job job = job_of(UINT64_C(1) << bits, key_width);
    std::vector<uint64_t> bounds;
    for (uint64_t r = 0; r <= count; r++)
      bounds.push_back((job.count / count) * r);
    const device_runs runs = {bounds.data(), count};
    header += " " + std::to_string(count) + " runs, 2^" + std::to_string(bits) + " |";
    rule += " --- |";
    for (const auto &[name, cell] : facts_of_merge(&job, count))
      put(&rows, name, column, cell);
    list_launches(&job, &runs);
    for (const auto &[name, cell] : launches)
      put(&rows, name, column, cell);
  }
  (void)printf("%s\n%s\n", header.c_str(), rule.c_str());
  print_rows(rows, MERGES);
}

/* ---- An example of two runs ---- */

using example_pair = wide_pair<uint32_t, uint32_t>;
using example_run = tile_run<example_pair>;

constexpr uint32_t WIDTH = 8, PART = 4;
/* Ties in each run and across both. */
const uint32_t keys[2 * WIDTH] = {2, 3, 5, 5, 7, 7,  13, 21, /* and the right run */
                                  1, 5, 5, 7, 8, 13, 17, 19};
const example_run left_run = {keys, nullptr, 0, WIDTH}, right_run = {keys, nullptr, WIDTH, WIDTH};

void print_line(const char *name, const uint32_t *numbers, uint32_t count)
{
  (void)printf("| %s |", name);
  for (uint32_t i = 0; i < count; i++)
    (void)printf(" %u |", numbers[i]);
  (void)printf("\n");
}

void print_header(const char *run)
{
  (void)printf("| %s |", run);
  for (uint32_t i = 0; i < WIDTH; i++)
    (void)printf(" %c%u |", *run, i);
  (void)printf("\n|");
  for (uint32_t i = 0; i <= WIDTH; i++)
    (void)printf(" --- |");
  (void)printf("\n");
}

/* The ranks of a run, and the places that follow from them, which must be those of the merge. */
void print_ranks(uint32_t side)
{
  uint32_t ranks[WIDTH], places[WIDTH], merged[2 * WIDTH], indices[2 * WIDTH];
  merge_serially<example_run>(0, 2 * WIDTH, left_run, right_run, {merged, indices});
  for (uint32_t i = 0; i < WIDTH; i++) {
    ranks[i] = side ? rank_in_left<example_run>(keys[WIDTH + i], left_run)
                    : rank_in_right<example_run>(keys[i], right_run);
    places[i] = i + ranks[i];
    if (indices[places[i]] != side * WIDTH + i) exit(2);
  }
  print_header(side ? "b" : "a");
  print_line("key", keys + side * WIDTH, WIDTH);
  print_line(side ? "rank in a" : "rank in b", ranks, WIDTH);
  print_line("place", places, WIDTH);
}

/* What each thread takes and writes. */
void print_parts()
{
  uint32_t merged[2 * WIDTH] = {}, indices[2 * WIDTH] = {};
  (void)printf("| thread | outputs | co-rank | takes | writes |\n"
               "| --- | --- | --- | --- | --- |\n");
  for (uint32_t first = 0; first < 2 * WIDTH; first += PART) {
    const uint32_t i = co_rank_of<example_run>(first, left_run, right_run);
    const uint32_t end = co_rank_of<example_run>(first + PART, left_run, right_run);
    const uint32_t j = first - i;
    merge_serially<example_run>(first, first + PART, left_run, right_run, {merged, indices});
    (void)printf("| %u | %u to %u | %u |", first / PART, first, first + PART - 1, i);
    for (uint32_t k = i; k < end; k++)
      (void)printf(" a%u", k);
    for (uint32_t k = j; k < first + PART - end; k++)
      (void)printf(" b%u", k);
    (void)printf(" |");
    for (uint32_t k = first; k < first + PART; k++)
      (void)printf(" %c%u", indices[k] < WIDTH ? 'a' : 'b', indices[k] % WIDTH);
    (void)printf(" |\n");
  }
}

/* A run that notes which of its elements are read. */
struct traced_run {
  using pair = example_pair;
  using position = uint32_t;

  example_run run;
  uint32_t count;
  std::vector<uint32_t> *reads;
};

uint32_t key_at(traced_run traced, uint32_t i)
{
  traced.reads->push_back(i);
  return key_at(traced.run, i);
}

/* What the search compares, and the bounds that follow: it must look halfway between them, and end
 * where they meet. */
void print_search(uint32_t rank)
{
  std::vector<uint32_t> of_a, of_b;
  const uint32_t found =
      co_rank_of<traced_run>(rank, {left_run, WIDTH, &of_a}, {right_run, WIDTH, &of_b});
  uint32_t low = rank > WIDTH ? rank - WIDTH : 0, high = rank < WIDTH ? rank : WIDTH;
  if (of_a.size() != of_b.size()) exit(2);
  (void)printf("| step | low | high | i | j | a[i] | b[j - 1] | a[i] <= b[j - 1] |\n"
               "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (size_t step = 0; step < of_a.size(); step++) {
    const uint32_t i = of_a[step], j = rank - i;
    if (i != low + (high - low) / 2 || of_b[step] != j - 1) exit(2);
    const uint32_t left = key_at(left_run, i), right = key_at(right_run, j - 1);
    const bool first = LEFT_GOES_FIRST(left, right);
    (void)printf("| %zu | %u | %u | %u | %u | a%u = %u | b%u = %u | ", step + 1, low, high, i, j, i,
                 left, j - 1, right);
    (first ? low : high) = i + first;
    (void)printf(first ? "yes: low = %u |\n" : "no: high = %u |\n", i + first);
  }
  if (low != high || low != found) exit(2);
  (void)printf("| found | %u | %u | %u | %u | | | |\n", low, high, found, rank - found);
}

} // namespace

int main(int argc, char **argv)
{
  const std::string table = argc > 1 ? argv[1] : "", of = argc > 2 ? argv[2] : "";
  const uint32_t key_width = of == "f32" ? 32 : of == "u64" ? 64 : of == "u128" ? 128 : 0;
  if (table == "launches" && key_width)
    print_launches(key_width);
  else if (table == "merges" && key_width)
    print_merges(key_width);
  else if (table == "ranks" && (of == "a" || of == "b"))
    print_ranks(of == "b");
  else if (table == "parts")
    print_parts();
  else if (table == "search" && strtoul(of.c_str(), nullptr, 10) <= 2 * WIDTH)
    print_search((uint32_t)strtoul(of.c_str(), nullptr, 10));
  else
    return 2;
  return 0;
}
