/* main.cu - recbench-gpu: see bench.cuh. */
#include <algorithm>
#include <cstdlib>

#include "bench.cuh"
#include "commit.h"

namespace bench
{

cudaStream_t stream;

const char entity_yaml[] =
    "record: Entity\nfields:\n- {name: x, type: float32}\n- {name: y, type: float32}\n"
    "- {name: angle, type: float32}\n- {name: sprite, type: int16}\n"
    "- {name: distance, type: float32}\nkeys: [{field: distance, order: desc}]\n";
const char float_yaml[] = "record: Key\nfields: [{name: key, type: float32}]\nkeys: [key]\n";

void check(cudaError_t code, const char *call)
{
  if (code != cudaSuccess) fail(std::string(call) + " failed: " + cudaGetErrorString(code));
}

void check(recsort_status status, const recsort_error &error)
{
  if (status != RECSORT_OK) fail(error.text);
}

const std::vector<cub_named> &cubs()
{
  static const std::vector<cub_named> all = {
      {&cub_of_toolkit, "cub"},
#ifdef BENCH_CUB_OF_HEADERS
      {&cub_of_headers, "cub-" + std::to_string(cub_of_headers.version / 100000) + "." +
                            std::to_string(cub_of_headers.version / 100 % 1000) + "." +
                            std::to_string(cub_of_headers.version % 100)},
#endif
  };
  return all;
}

order order_of(const std::string &name)
{
  const auto *const found = std::find(std::begin(order_names), std::end(order_names), name);
  if (found == std::end(order_names)) fail("'" + name + "' is no order of keys");
  return static_cast<order>(found - order_names);
}

/* ---- Sorters ---- */

recsort_schema *load(const std::string &yaml)
{
  recsort_schema *schema = nullptr;
  recsort_error error = {};
  check(recsort_schema_load_memory(yaml.data(), yaml.size(), "bench", nullptr, &schema, &error),
        error);
  return schema;
}

const checking checkings[3] = {{"recsort", false, RECSORT_VERIFY_DEFAULT},
                               {"recsort, status", true, RECSORT_VERIFY_OFF},
                               {"recsort, checked", true, RECSORT_VERIFY_FULL}};

std::unique_ptr<trial> make_checked(const request &asked)
{
  request of = asked;
  of.detail = "checked";
  return asked.record == "entity" ? make_records(of) : make_pairs(of);
}

recsort_sorter *make_sorter(recsort_schema *schema, const char *algorithm, recsort_verify verify)
{
  recsort_options options = {};
  recsort_error error = {};
  recsort_sorter *sorter = nullptr;
  options.struct_size = sizeof options;
  options.on_device = true;
  options.plugin = algorithm ? "cuda" : nullptr;
  options.algorithm = algorithm;
  options.verify = verify;
  const recsort_status status = recsort_sorter_create(schema, &options, &sorter, &error);
  recsort_schema_destroy(schema);
  check(status, error);
  return sorter;
}

static size_t workspace_of(recsort_sorter *sorter, const recsort_job &job)
{
  recsort_needs needs = RECSORT_NEEDS_INIT;
  recsort_error error = {};
  check(recsort_plan(sorter, &job, 1, &needs, &error), error);
  return needs.device;
}

device_job::device_job(recsort_sorter *sorter, const recsort_job &job)
    : sorter_(sorter), job_(job), workspace_(workspace_of(sorter, job))
{
  job_.stream = stream;
  job_.workspace = workspace_;
  job_.workspace_size = workspace_.size();
}

device_job::~device_job()
{
  recsort_sorter_destroy(sorter_);
}

void device_job::run() const
{
  recsort_error error = {};
  check(recsort_run(sorter_, &job_, 1, &error), error);
}

/* ---- Measuring ---- */

trial::~trial()
{
  for (contender &one : contenders)
    if (one.graph) (void)cudaGraphExecDestroy(one.graph);
}

void trial::add_both(contender one)
{
  contenders.push_back(one);
  one.name += ", graph";
  one.in_graph = true;
  contenders.push_back(one);
}

/* Keeps the device busy while the host starts what is measured, so that the time is the device's
 * own, unless the work waits for the device. */
static __global__ void wait_kernel(uint64_t nanoseconds)
{
  uint64_t begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < nanoseconds);
}

static void capture(contender &one)
{
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  one.run();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphGetNodes(graph, nullptr, &one.launches));
  CHECK(cudaGraphInstantiate(&one.graph, graph, 0));
  CHECK(cudaGraphDestroy(graph));
}

static double device_seconds(contender &one)
{
  static cudaEvent_t begin, end;
  if (!begin) {
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }
  if (one.in_graph && !one.graph) capture(one);
  wait_kernel<<<1, 1, 0, stream>>>(200000);
  CHECK(cudaEventRecord(begin, stream));
  if (one.graph)
    CHECK(cudaGraphLaunch(one.graph, stream));
  else
    one.run();
  CHECK(cudaEventRecord(end, stream));
  CHECK(cudaStreamSynchronize(stream));
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  return 1e-3 * ms;
}

double measure(const trial &of, contender &one)
{
  (one.prepare ? one.prepare : of.prepare)();
  const double seconds = one.seconds ? one.seconds() : device_seconds(one);
  if (!(one.right ? one.right : of.right)()) fail("wrong result: " + one.name);
  return seconds;
}

/* ---- Commands ---- */

namespace
{

std::map<std::string, std::unique_ptr<trial>> trials;

std::string version(int number)
{
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

void about(const Words &, cJSON *answer)
{
  cudaDeviceProp properties;
  int devices = 0, driver = 0, runtime = 0;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaGetDeviceProperties(&properties, 0));
  CHECK(cudaDriverGetVersion(&driver));
  CHECK(cudaRuntimeGetVersion(&runtime));
  if (!stream) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  std::string cub;
  for (const cub_named &each : cubs())
    cub += (cub.empty() ? "" : ", ") + each.name + " " + std::to_string(each.sorts->version);
  cJSON_AddStringToObject(answer, "device", properties.name);
  cJSON_AddNumberToObject(answer, "devices", devices);
  cJSON_AddNumberToObject(answer, "multiprocessors", properties.multiProcessorCount);
  cJSON_AddNumberToObject(answer, "memory", static_cast<double>(properties.totalGlobalMem));
  cJSON_AddStringToObject(answer, "driver", version(driver).c_str());
  cJSON_AddStringToObject(answer, "runtime", version(runtime).c_str());
  cJSON_AddStringToObject(answer, "compiler", "nvcc " BENCH_COMPILER);
  cJSON_AddStringToObject(answer, "cub", cub.c_str());
  cJSON_AddStringToObject(answer, "commit", BENCH_COMMIT);
}

const std::map<std::string, std::unique_ptr<trial> (*)(const request &)> suites = {
    {"pairs", make_pairs},       {"resident", make_records},  {"checked", make_checked},
    {"top", make_head},          {"segments", make_segments}, {"shards", make_shards},
    {"shard-peers", make_shards}};

/* input SLOT SUITE RECORD ORDER COUNT DETAIL ALGORITHM... */
void make_input(const Words &words, cJSON *answer)
{
  request asked = {words.at(3), words.at(4), words.at(6), std::stoul(words.at(5)), {}};
  asked.algorithms.assign(words.begin() + 7, words.end());
  trials[words.at(1)] = suites.at(words.at(2))(asked);
  const trial &made = *trials.at(words.at(1));
  cJSON_AddNumberToObject(answer, "size", static_cast<double>(made.record_size));
  if (made.record_count)
    cJSON_AddNumberToObject(answer, "count", static_cast<double>(made.record_count));
  cJSON *const names = cJSON_AddArrayToObject(answer, "contenders");
  for (const contender &one : made.contenders)
    cJSON_AddItemToArray(names, cJSON_CreateString(one.name.c_str()));
}

/* run SLOT CONTENDER */
void run(const Words &words, cJSON *answer)
{
  trial &of = *trials.at(words.at(1));
  for (contender &one : of.contenders)
    if (one.name == words.at(2)) {
      cJSON_AddNumberToObject(answer, "wall", measure(of, one));
      if (one.bytes) cJSON_AddNumberToObject(answer, "device", static_cast<double>(one.bytes));
      if (one.launches)
        cJSON_AddNumberToObject(answer, "launches", static_cast<double>(one.launches));
      return;
    }
  fail("there is no " + words.at(2));
}

void clear(const Words &, cJSON *)
{
  trials.clear();
}

} // namespace

} // namespace bench

int main()
{
  setenv("CUDA_MODULE_LOADING", "EAGER", 0); /* not during a measurement */
  serve({{"about", bench::about},
         {"input", bench::make_input},
         {"run", bench::run},
         {"clear", bench::clear}});
  bench::clear({}, nullptr);
  return 0;
}
