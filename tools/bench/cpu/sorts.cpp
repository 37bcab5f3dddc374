// sorts.cpp - recbench-sorts: makes records, runs one sort or merge of them at a time, and checks
// the result. recbench starts it (serve.h).
#include "commit.h"
#include "packed.h"
#include "recsort/tools.h"
#include "serve.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <set>
#include <thread>
#include <unistd.h>

namespace
{

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<unsigned char>;

enum { POISON = 0xee };

void check(recsort_status status, const recsort_error &error)
{
  if (status != RECSORT_OK) fail(error.text);
}

struct Input {
  const Kind *kind;
  std::string name, schema;
  size_t size = 0;             // of one copy
  std::vector<size_t> offsets; // of the sorted runs; one run: in any order
  size_t copies = 1; // inputs of this kind, which are sorted one after the other if they are small
  Bytes records;
  Bytes sorted; // the first result, with which all others must agree

  [[nodiscard]] size_t count() const
  {
    return offsets.back();
  }
};

// ---- Sorters ----

#ifdef HAVE_TBB
// A caller's job system.
void run_by_tbb(void *, void (*task)(void *, size_t), void *argument, size_t count)
{
  tbb::parallel_for(size_t{0}, count, [=](size_t i) { task(argument, i); });
}
#endif

// How recsort sorts: words of a command.
struct Method {
  std::string plugin, algorithm, variant;
  unsigned threads;

  // How results are checked
  [[nodiscard]] recsort_verify verify() const
  {
    return variant == "verify=off"    ? RECSORT_VERIFY_OFF
           : variant == "verify=full" ? RECSORT_VERIFY_FULL
                                      : RECSORT_VERIFY_DEFAULT;
  }
  // head N: only the first N records
  [[nodiscard]] size_t head() const
  {
    return variant.compare(0, 5, "head ") == 0 ? std::stoul(variant.substr(5)) : 0;
  }
  [[nodiscard]] Words words(const std::string &schema) const
  {
    const bool special = verify() != RECSORT_VERIFY_DEFAULT || head() || variant == "by TBB";
    return {schema, plugin, algorithm, std::to_string(threads), special ? variant : ""};
  }
};

struct Sorter {
  recsort_sorter *own = nullptr;
  std::set<std::string> seen; // inputs that it has sorted

  Sorter(const std::string &text, const Method &method)
  {
    recsort_options options = RECSORT_OPTIONS_INIT;
    options.plugin = method.plugin.c_str();
    options.algorithm = method.algorithm.empty() ? nullptr : method.algorithm.c_str();
    options.threads = method.threads;
    options.verify = method.verify();
#ifdef HAVE_TBB
    const recsort_executor tbb = {sizeof tbb, nullptr, run_by_tbb, method.threads};
    if (method.variant == "by TBB") options.executor = &tbb;
#endif
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

// The result of all copies, or the first `head` records of the only one.
void verify(Input &input, const unsigned char *result, const std::string &method, size_t head = 0)
{
  const size_t size = head ? head * input.kind->size : input.records.size();
  if (input.sorted.empty()) {
    if (head) fail("the first records are compared with a sort of all");
    input.sorted.assign(result, result + size);
  } else if (std::memcmp(input.sorted.data(), result, size) != 0) {
    fail("wrong result: " + method + " differs from what came first on " + input.name);
  }
}

template <class Work> double seconds_of(Work work)
{
  const auto before = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - before).count();
}

// The seconds of `work` for one copy, of which it gets the offset. Few records would be sorted
// before threads have woken up: they are sorted twice.
template <class Prepare, class Work>
double seconds_of_each(const Input &input, unsigned threads, Prepare prepare, Work work)
{
  if (threads > 1 && input.count() <= 1 << 17) {
    prepare();
    work(size_t{0});
  }
  prepare();
  const double all = seconds_of([&] {
    for (size_t i = 0; i < input.copies; i++)
      work(i * input.size);
  });
  return all / static_cast<double>(input.copies);
}

// ---- Runs ----

void run_peer(Input &input, const std::string &method, unsigned threads, cJSON *figures)
{
  for (const Peer &peer : input.kind->peers) {
    if (peer.name != method) continue;
    unsigned char *const to = take_scratch(input.records.size());
    const auto prepare = [&] {
      if (peer.merges) // every byte of the result must come from the merge
        std::memset(to, POISON, input.records.size());
      else
        std::memcpy(to, input.records.data(), input.records.size());
    };
    const double wall = seconds_of_each(input, threads, prepare, [&](size_t at) {
      peer.run(input.records.data() + at, input.offsets, to + at, threads);
    });
    verify(input, to, method);
    cJSON_AddNumberToObject(figures, "wall", wall);
    return;
  }
  fail("there is no " + method);
}

// std::partial_sort is not stable, so the records must not have ties.
void run_partial_sort(Input &input, size_t head, cJSON *figures)
{
  unsigned char *const to = take_scratch(input.size);
  std::memcpy(to, input.records.data(), input.size);
  const double wall = seconds_of([&] { input.kind->partial_sort(to, input.count(), head); });
  verify(input, to, "std::partial_sort", head);
  cJSON_AddNumberToObject(figures, "wall", wall);
}

// Sorts or merges `input` to or in `to`, which is prepared for that; returns the seconds of a copy.
double sort_once(const Input &input, Sorter &sorter, const Method &method, bool in_place,
                 unsigned char *to)
{
  recsort_job job = RECSORT_JOB_INIT;
  job.count = input.count();
  job.head = method.head();
  if (input.offsets.size() > 2) {
    job.parts = RECSORT_RUNS;
    job.offsets = input.offsets.data();
    job.offset_bits = 8 * sizeof input.offsets[0];
    job.part_count = input.offsets.size() - 1;
  }
  const auto prepare = [&] {
    if (in_place)
      std::memcpy(to, input.records.data(), input.records.size());
    else
      std::memset(to, POISON, input.records.size());
  };
  return seconds_of_each(input, method.threads, prepare, [&](size_t at) {
    recsort_error error;
    job.sorted = to + at;
    job.records = in_place ? to + at : input.records.data() + at;
    check(recsort_run(sorter.own, &job, 1, &error), error);
  });
}

// The first sort of a sorter, and its creation.
double sort_first(Input &input, const Method &method, unsigned char *to)
{
  std::unique_ptr<Sorter> sorter;
  recsort_error error;
  std::memcpy(to, input.records.data(), input.records.size());
  const auto sort = [&](size_t at) {
    check(recsort_sort(sorter->own, to + at, input.count(), &error), error);
  };
  const double seconds = seconds_of([&] {
    sorter = std::make_unique<Sorter>(input.schema, method);
    sort(0);
  });
  for (size_t i = 1; i < input.copies; i++)
    sort(i * input.size);
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

// A sorter is warm: it has sorted this input before.
void run_recsort(const std::string &slot, const Method &method, cJSON *figures)
{
  Input &input = inputs.at(slot);
  const bool merges = input.offsets.size() > 2;
  unsigned char *const to = take_scratch(input.records.size());
  if (method.variant == "first") {
    const double wall = sort_first(input, method, to);
    verify(input, to, "recsort");
    cJSON_AddNumberToObject(figures, "wall", wall);
    return;
  }
  std::unique_ptr<Sorter> &sorter = sorters[method.words(input.schema)];
  if (!sorter) sorter = std::make_unique<Sorter>(input.schema, method);
  const bool in_place = method.variant == (merges ? "in place" : "") || method.variant == "by TBB";
  if (!merges && sorter->seen.insert(slot).second)
    sort_once(input, *sorter, method, !method.head(), to);
  const double wall = sort_once(input, *sorter, method, in_place, to);
  verify(input, to, "recsort", method.head());
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
  FILE *const pipe = popen(command.c_str(), "r");
  if (!pipe) fail("recgen: " + std::string(std::strerror(errno)));
  const size_t got = fread(input.records.data(), 1, input.records.size(), pipe);
  if (pclose(pipe) != 0 || got != input.records.size()) fail("recgen has failed");
}

// input SLOT NAME KIND SCHEMA COUNT RUNS COPIES PLUGIN ALGORITHM COMMAND: several runs are sorted
void make_input(const Words &words, cJSON *)
{
  const size_t count = number(words[5]), runs = number(words[6]);
  const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const Kind &each) { return each.name == words[3]; });
  Input &input = inputs[words[1]] =
      Input{&*kind, words[2], words[4], 0, {}, number(words[7]), {}, {}};
  ptrdiff_t all;
  if (__builtin_mul_overflow(count * input.copies, kind->size, &all))
    fail(words[5] + " records are too many");
  input.size = count * kind->size;
  for (size_t r = 0; r < runs; r++)
    input.offsets.push_back(static_cast<size_t>(
        static_cast<double>(count) / static_cast<double>(runs) * static_cast<double>(r)));
  input.offsets.push_back(count);
  input.records.resize(static_cast<size_t>(all));
  read_records(input, words[10]);
  if (runs == 1) return;
  const Sorter sorter(input.schema, {words[8], words[9], "", 0});
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
  const Method method = {words[5], words[6], words[3], static_cast<unsigned>(number(words[4]))};
  Input &input = inputs.at(words[1]);
  if (words[2] == "recsort")
    run_recsort(words[1], method, figures);
  else if (words[2] == "std::partial_sort")
    run_partial_sort(input, method.head(), figures);
  else
    run_peer(input, words[2], method.threads, figures);
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

cJSON *describe_plugin(const recsort_plugin_info &info)
{
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
const recsort_plugin_info *plugins; // as long as the program runs, so that they stay loaded
void about(const Words &, cJSON *answer)
{
  recsort_error error;
  if (!plugins) check(recsort_plugins_find(nullptr, &plugins, &error), error);
  cJSON_AddStringToObject(answer, "recsort", recsort_version());
  cJSON_AddStringToObject(answer, "commit", BENCH_COMMIT);
  cJSON_AddStringToObject(answer, "compiler", BENCH_COMPILER);
  cJSON_AddStringToObject(answer, "build", BENCH_BUILD);
  cJSON *const listed = cJSON_AddArrayToObject(answer, "plugins");
  for (const recsort_plugin_info *info = plugins; info; info = info->next)
    cJSON_AddItemToArray(listed, describe_plugin(*info));
  cJSON *const sizes = cJSON_AddObjectToObject(answer, "sizes");
  for (const Kind &kind : kinds)
    cJSON_AddNumberToObject(sizes, kind.name, static_cast<double>(kind.size));
  cJSON *const peers =
      cJSON_AddObjectToObject(answer, "peers"); // and the threads that they can use
  static const char *const threads[] = {"one", "any", "several"};
  for (const Kind &kind : kinds)
    for (const Peer &peer : kind.peers)
      if (!cJSON_HasObjectItem(peers, peer.name))
        cJSON_AddStringToObject(peers, peer.name, threads[peer.threads]);
#ifdef HAVE_TBB
  cJSON_AddTrueToObject(answer, "tbb");
#endif
}

const Commands commands = {{"about", about},      {"input", make_input}, {"run", run},
                           {"write", write_run},  {"check", check_file}, {"clear", clear},
                           {"team", measure_team}};

} // namespace

int main()
{
  serve(commands);
  clear({}, nullptr);
  recsort_plugins_destroy(plugins);
  return 0;
}
