// sorts.cpp - recbench-sorts: makes records, runs one sort or merge of them at a time, and checks
// the result. recbench, which is Python, writes commands to it, one a line with tabs between the
// words. The answer is a line of JSON: the seconds of the run and other figures, or {"error":
// TEXT}.
#include "commit.h"
#include "peers.h"
#include "recsort/recsort.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cjson/cJSON.h>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace
{

using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;
using Bytes = std::vector<unsigned char>;
using Json = std::unique_ptr<cJSON, decltype(&cJSON_Delete)>;

enum { POISON = 0xee };

[[noreturn]] void fail(const std::string &text)
{
  throw std::runtime_error(text);
}

void check(recsort_status status, const recsort_error &error)
{
  if (status != RECSORT_OK) fail(error.text);
}

struct Input {
  const Kind *kind;
  std::string name, schema;
  size_t size = 0;
  std::vector<size_t> offsets; // of the sorted runs; one run: in any order
  Bytes records;
  Bytes sorted; // the first result, with which all others must agree

  [[nodiscard]] size_t count() const
  {
    return offsets.back();
  }
};

// ---- Sorters ----

struct Sorter {
  recsort_sorter *own = nullptr;
  std::set<std::string> seen; // inputs that it has sorted

  Sorter(const std::string &text, const std::string &plugin, const std::string &algorithm,
         unsigned threads)
  {
    recsort_options options = {};
    options.struct_size = sizeof options;
    options.plugin = plugin.c_str();
    options.algorithm = algorithm.c_str();
    options.threads = threads;
    recsort_schema *schema = nullptr;
    recsort_error error;
    check(recsort_schema_load_memory(text.data(), text.size(), "schema", nullptr, &schema, &error),
          error);
    const recsort_status status = recsort_sorter_create(schema, &options, &own, &error);
    recsort_schema_destroy(schema);
    check(status, error);
  }
  Sorter(const Sorter &) = delete;
  Sorter &operator=(const Sorter &) = delete;
  ~Sorter()
  {
    recsort_sorter_destroy(own);
  }
};

// ---- State ----

std::map<std::string, Input> inputs;
std::map<Words, std::unique_ptr<Sorter>> sorters;
Bytes scratch;

unsigned char *take_scratch(size_t size)
{
  if (scratch.size() < size) scratch = Bytes(), scratch.resize(size);
  return scratch.data();
}

void verify(Input &input, const unsigned char *result, const std::string &method)
{
  if (input.sorted.empty()) {
    input.sorted.assign(result, result + input.size);
  } else if (std::memcmp(input.sorted.data(), result, input.size) != 0) {
    fail("wrong result: " + method + " differs from what came first on " + input.name);
  }
}

template <class Work> double seconds_of(Work work)
{
  const auto before = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - before).count();
}

// ---- Runs ----

void run_peer(Input &input, const std::string &method, unsigned threads, cJSON *figures)
{
  for (const Peer &peer : input.kind->peers) {
    if (peer.name != method) continue;
    unsigned char *const to = take_scratch(input.size);
    if (peer.merges) // every byte of the result must come from the merge
      std::memset(to, POISON, input.size);
    else
      std::memcpy(to, input.records.data(), input.size);
    const double wall =
        seconds_of([&] { peer.run(input.records.data(), input.offsets, to, threads); });
    verify(input, to, method);
    cJSON_AddNumberToObject(figures, "wall", wall);
    return;
  }
  fail("there is no " + method);
}

// Sorts or merges `input` to or in `to`, which is prepared for that; returns the seconds.
double sort_once(const Input &input, Sorter &sorter, bool in_place, unsigned char *to)
{
  const bool merges = input.offsets.size() > 2;
  recsort_runs runs = {};
  runs.struct_size = sizeof runs;
  runs.count = input.offsets.size() - 1;
  runs.offsets = input.offsets.data();
  runs.records = input.records.data();
  if (in_place)
    std::memcpy(to, input.records.data(), input.size);
  else
    std::memset(to, POISON, input.size);
  recsort_error error;
  recsort_status status = RECSORT_OK;
  const double seconds = seconds_of([&] {
    status = merges && in_place ? recsort_merge(sorter.own, to, runs.offsets, runs.count, &error)
             : merges           ? recsort_merge_to(sorter.own, &runs, to, &error)
             : in_place         ? recsort_sort(sorter.own, to, input.count(), &error)
                        : recsort_sort_to(sorter.own, runs.records, input.count(), to, &error);
  });
  check(status, error);
  return seconds;
}

// The first sort of a sorter, and its creation.
double sort_first(const Input &input, const Words &method, unsigned threads, unsigned char *to)
{
  std::memcpy(to, input.records.data(), input.size);
  std::unique_ptr<Sorter> sorter;
  recsort_error error;
  recsort_status status = RECSORT_OK;
  const double seconds = seconds_of([&] {
    sorter = std::make_unique<Sorter>(input.schema, method[0], method[1], threads);
    status = recsort_sort(sorter->own, to, input.count(), &error);
  });
  check(status, error);
  return seconds;
}

void add_stats(const Sorter &sorter, bool merges, cJSON *figures)
{
  recsort_stats stats;
  recsort_sorter_get_stats(sorter.own, &stats, sizeof stats);
  if (!merges) {
    cJSON_AddNumberToObject(figures, "encode", stats.encode_seconds);
    cJSON_AddNumberToObject(figures, "sort", stats.sort_seconds);
    cJSON_AddNumberToObject(figures, "verify", stats.verify_seconds);
    cJSON_AddNumberToObject(figures, "permute", stats.permute_seconds);
  }
  cJSON_AddNumberToObject(figures, "held",
                          static_cast<double>(stats.memory) / static_cast<double>(stats.records));
}

// `method` is a plugin and an algorithm. A sorter is warm: it has sorted this input before.
void run_recsort(const std::string &slot, const Words &method, const std::string &variant,
                 unsigned threads, cJSON *figures)
{
  Input &input = inputs.at(slot);
  const bool merges = input.offsets.size() > 2;
  unsigned char *const to = take_scratch(input.size);
  if (variant == "first") {
    const double wall = sort_first(input, method, threads, to);
    verify(input, to, "recsort");
    cJSON_AddNumberToObject(figures, "wall", wall);
    return;
  }
  std::unique_ptr<Sorter> &sorter =
      sorters[{input.schema, method[0], method[1], std::to_string(threads)}];
  if (!sorter) sorter = std::make_unique<Sorter>(input.schema, method[0], method[1], threads);
  if (!merges && sorter->seen.insert(slot).second) sort_once(input, *sorter, true, to);
  const bool in_place = variant == (merges ? "in place" : "");
  const double wall = sort_once(input, *sorter, in_place, to);
  verify(input, to, "recsort");
  cJSON_AddNumberToObject(figures, "wall", wall);
  add_stats(*sorter, merges, figures);
}

// ---- Files ----

// A line of text for sort(1): a key that ascends, and the bytes of the record. No distance is
// negative, so the greater one has the greater bits.
void append_line(std::string &text, const unsigned char *record)
{
  static const char digits[] = "0123456789abcdef";
  uint32_t distance;
  std::memcpy(&distance, record + offsetof(Entity, distance), sizeof distance);
  for (int shift = 28; shift >= 0; shift -= 4)
    text += digits[~distance >> shift & 15];
  for (size_t i = 0; i < sizeof(Entity); i++) {
    text += digits[record[i] >> 4];
    text += digits[record[i] & 15];
  }
  text += '\n';
}

// Writes records to a file, as they are or as text; or compares the file with them.
void use_file(const std::string &path, const unsigned char *records, size_t count, bool text,
              bool compare)
{
  constexpr size_t piece = 1 << 14;
  const std::unique_ptr<FILE, decltype(&fclose)> file(fopen(path.c_str(), compare ? "rb" : "wbx"),
                                                      fclose);
  if (!file) fail(path + ": " + std::strerror(errno));
  std::string bytes, found;
  bool same = true;
  for (size_t begin = 0; begin < count && same; begin += piece) {
    const size_t end = std::min(count, begin + piece);
    bytes.clear();
    for (size_t i = begin; i < end && text; i++)
      append_line(bytes, records + i * sizeof(Entity));
    if (!text)
      bytes.assign(reinterpret_cast<const char *>(records) + begin * sizeof(Entity),
                   (end - begin) * sizeof(Entity));
    found.resize(bytes.size());
    if (compare)
      same = fread(&found[0], 1, found.size(), file.get()) == found.size() && found == bytes;
    else if (fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size())
      fail(path + ": " + std::strerror(errno));
  }
  if (compare && (!same || fgetc(file.get()) != EOF))
    fail("wrong result: " + path + " is not what was expected");
  // What is still to be written to the disk would slow down what is measured.
  if (!compare && (fflush(file.get()) != 0 || fsync(fileno(file.get())) != 0))
    fail(path + ": " + std::strerror(errno));
}

// ---- Teams ----

struct Muster {
  std::atomic<size_t> begun{0};
  size_t count;
  Clock::time_point start;
  std::atomic<double> last{0}; // microseconds until the last task began
};

// Waits until all tasks have begun, so that no thread runs two; gives up after a while if one is
// missing.
void report(void *argument, size_t)
{
  Muster &muster = *static_cast<Muster *>(argument);
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  };
  const Clock::time_point began = Clock::now();
  if (muster.begun.fetch_add(1) + 1 == muster.count) muster.last = since(muster.start);
  while (muster.begun < muster.count && since(began) < 1e5)
    continue;
}

// team COUNT PAUSE REPEAT: until the last task of the default executor's `run` has begun, so many
// microseconds after the run before
void measure_team(const Words &words, cJSON *answer)
{
  const recsort_executor *const pool = recsort_executor_default();
  cJSON *const latencies = cJSON_AddArrayToObject(answer, "us");
  const std::chrono::microseconds pause(std::stoul(words[2]));
  for (unsigned i = 0; i < std::stoul(words[3]); i++) {
    Muster muster{};
    muster.count = std::stoul(words[1]);
    const auto end = Clock::now() + pause;
    if (pause >= std::chrono::milliseconds(2)) std::this_thread::sleep_until(end);
    while (Clock::now() < end)
      continue;
    muster.start = Clock::now();
    pool->run(pool->context, report, &muster, muster.count);
    cJSON_AddItemToArray(latencies, cJSON_CreateNumber(muster.last));
  }
}

// ---- Commands ----

unsigned long number(const std::string &word)
{
  return std::stoul(word);
}

// Reads records from a command, and makes runs of them.
void read_records(Input &input, const std::string &command)
{
  input.records.resize(input.size);
  FILE *const pipe = popen(command.c_str(), "r");
  if (!pipe) fail("recgen: " + std::string(std::strerror(errno)));
  const size_t got = fread(input.records.data(), 1, input.size, pipe);
  if (pclose(pipe) != 0 || got != input.size) fail("recgen has failed");
}

// input SLOT NAME KIND SCHEMA COUNT RUNS PLUGIN ALGORITHM COMMAND: several runs are sorted
void make_input(const Words &words, cJSON *)
{
  const size_t count = number(words[5]), runs = number(words[6]);
  const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const Kind &each) { return each.name == words[3]; });
  Input &input = inputs[words[1]] = Input{&*kind, words[2], words[4], 0, {}, {}, {}};
  ptrdiff_t size;
  if (__builtin_mul_overflow(count, kind->size, &size)) fail(words[5] + " records are too many");
  input.size = static_cast<size_t>(size);
  for (size_t r = 0; r < runs; r++)
    input.offsets.push_back(static_cast<size_t>(
        static_cast<double>(count) / static_cast<double>(runs) * static_cast<double>(r)));
  input.offsets.push_back(count);
  read_records(input, words[9]);
  if (runs == 1) return;
  const Sorter sorter(input.schema, words[7], words[8], 0);
  for (size_t r = 0; r < runs; r++) {
    recsort_error error;
    check(recsort_sort(sorter.own, input.records.data() + input.offsets[r] * kind->size,
                       input.offsets[r + 1] - input.offsets[r], &error),
          error);
  }
}

// run SLOT METHOD VARIANT THREADS PLUGIN ALGORITHM
void run(const Words &words, cJSON *figures)
{
  const auto threads = static_cast<unsigned>(number(words[4]));
  if (words[2] == "recsort")
    run_recsort(words[1], {words[5], words[6]}, words[3], threads, figures);
  else
    run_peer(inputs.at(words[1]), words[2], threads, figures);
}

// write SLOT RUN FORMAT FILE: a run as a file; check SLOT FORMAT FILE: that it is the result, or
// the input
void write_run(const Words &words, cJSON *)
{
  const Input &input = inputs.at(words[1]);
  const size_t r = number(words[2]), begin = input.offsets[r], end = input.offsets[r + 1];
  use_file(words[4], input.records.data() + begin * sizeof(Entity), end - begin, words[3] == "text",
           false);
}

void check_file(const Words &words, cJSON *)
{
  const Input &input = inputs.at(words[1]);
  const Bytes &expected = words[2] == "input" ? input.records : input.sorted;
  use_file(words[3], expected.data(), input.count(), words[2] == "text", true);
}

// clear: frees inputs and sorters
void clear(const Words &, cJSON *)
{
  inputs.clear();
  sorters.clear();
  scratch = Bytes();
}

cJSON *add_plugin(recsort_plugin_list *list, size_t p)
{
  recsort_plugin_info info;
  recsort_plugin_list_get(list, p, &info, sizeof info);
  cJSON *const plugin = cJSON_CreateObject();
  cJSON_AddStringToObject(plugin, "name", info.name);
  cJSON_AddBoolToObject(plugin, "works", info.score != 0);
  cJSON_AddStringToObject(plugin, "text", info.score == 0 ? info.reason : info.description);
  cJSON *const algorithms = cJSON_AddObjectToObject(plugin, "algorithms");
  for (size_t a = 0; info.score != 0 && a < info.algorithm_count; a++)
    cJSON_AddStringToObject(algorithms, info.algorithms[a], info.algorithm_texts[a]);
  return plugin;
}

// about: the build, the plugins with the default first, the sizes of records, the peers
recsort_plugin_list *plugins; // as long as the program runs, so that they stay loaded
void about(const Words &, cJSON *answer)
{
  recsort_error error;
  if (!plugins) check(recsort_plugin_list_create(nullptr, &plugins, &error), error);
  cJSON_AddStringToObject(answer, "recsort", recsort_version());
  cJSON_AddStringToObject(answer, "commit", BENCH_COMMIT);
  cJSON_AddStringToObject(answer, "compiler", BENCH_COMPILER);
  cJSON_AddStringToObject(answer, "build", BENCH_BUILD);
  cJSON *const listed = cJSON_AddArrayToObject(answer, "plugins");
  for (size_t p = 0; p < recsort_plugin_list_count(plugins); p++)
    cJSON_AddItemToArray(listed, add_plugin(plugins, p));
  cJSON *const sizes = cJSON_AddObjectToObject(answer, "sizes");
  for (const Kind &kind : kinds)
    cJSON_AddNumberToObject(sizes, kind.name, static_cast<double>(kind.size));
  cJSON *const names = cJSON_AddArrayToObject(answer, "peers");
  for (const Peer &peer : kinds[0].peers)
    cJSON_AddItemToArray(names, cJSON_CreateString(peer.name));
}

const std::map<std::string, void (*)(const Words &, cJSON *)> commands = {
    {"about", about},      {"input", make_input}, {"run", run},          {"write", write_run},
    {"check", check_file}, {"clear", clear},      {"team", measure_team}};

Json answer_to(const std::string &line)
{
  Words words;
  std::istringstream stream(line);
  for (std::string word; std::getline(stream, word, '\t');)
    words.push_back(word);
  Json answer(cJSON_CreateObject(), cJSON_Delete);
  try {
    commands.at(words.at(0))(words, answer.get());
  } catch (const std::bad_alloc &) {
    cJSON_AddStringToObject(answer.get(), "error", "out of memory");
  } catch (const std::exception &problem) {
    cJSON_AddStringToObject(answer.get(), "error", problem.what());
  }
  return answer;
}

} // namespace

int main()
{
  for (std::string line; std::getline(std::cin, line);) {
    char *const text = cJSON_PrintUnformatted(answer_to(line).get());
    std::cout << text << std::endl;
    cJSON_free(text);
  }
  clear({}, nullptr);
  recsort_plugin_list_destroy(plugins);
  return 0;
}
