/* report.cpp - reports results as a table and as JSON. */
#include <algorithm>
#include <cjson/cJSON.h>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <stdexcept>

#include "bench.h"
#include "commit.h"

namespace bench
{

namespace
{

/* The context of every figure. */
struct machine {
  std::string device, date;
  int driver = 0, runtime = 0, multiprocessors = 0, capability = 0;
  double memory = 0;
};

machine machine_here()
{
  machine here;
  cudaDeviceProp properties;
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  CHECK(cudaGetDeviceProperties(&properties, 0));
  CHECK(cudaDriverGetVersion(&here.driver));
  CHECK(cudaRuntimeGetVersion(&here.runtime));
  here.device = properties.name;
  here.date = date;
  here.multiprocessors = properties.multiProcessorCount;
  here.capability = 10 * properties.major + properties.minor;
  here.memory = static_cast<double>(properties.totalGlobalMem);
  return here;
}

std::string version(int number)
{
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

const char copy_name[] = "cudaMemcpyAsync", merge_name[] = "runs";

const char compiler[] = "nvcc " BENCH_COMPILER;

/* "3.0.1", or "3.0.1 and 3.5.0". */
std::string cub_versions()
{
  std::string text;
  for (const cub_named &cub : cubs())
    text += (text.empty() ? "" : " and ") + cub_version(*cub.sorts);
  return text;
}

/* 1048576: "2^20" */
std::string count_name(uint64_t count)
{
  if (count && (count & (count - 1)) == 0) return "2^" + std::to_string(__builtin_ctzll(count));
  return std::to_string(count);
}

std::string name_of(const figure &each)
{
  return each.algorithm.empty() ? each.method : each.method + " " + each.algorithm;
}

const figure *find(const results &found, const figure &like, const std::string &method)
{
  for (const figure &each : found.figures)
    if (each.suite == like.suite && each.method == method && each.key == like.key &&
        each.order == like.order && each.count == like.count)
      return &each;
  return nullptr;
}

/* The speed relative to a peer on the same input; 0: the peer was not measured. */
double ratio(const results &found, const figure &each, const std::string &method)
{
  const figure *const peer = find(found, each, method);
  return peer ? median(peer->measured[0].values) / median(each.measured[0].values) : 0;
}

void add_series(cJSON *object, const series &each)
{
  cJSON *const json = cJSON_AddObjectToObject(object, each.name.c_str());
  if (each.values.empty()) return;
  cJSON_AddStringToObject(json, "unit", each.unit.c_str());
  cJSON_AddNumberToObject(json, "median", median(each.values));
  cJSON_AddNumberToObject(json, "min", *std::min_element(each.values.begin(), each.values.end()));
  cJSON_AddNumberToObject(json, "max", *std::max_element(each.values.begin(), each.values.end()));
  cJSON_AddItemToObject(json, "each",
                        cJSON_CreateDoubleArray(each.values.data(), (int)each.values.size()));
}

void add_contender(cJSON *array, const results &found, const figure &each)
{
  cJSON *const json = cJSON_CreateObject();
  cJSON_AddItemToArray(array, json);
  cJSON_AddStringToObject(json, "method", each.method.c_str());
  if (!each.algorithm.empty()) {
    cJSON_AddStringToObject(json, "plugin", "cuda");
    cJSON_AddStringToObject(json, "algorithm", each.algorithm.c_str());
  }
  if (each.block) cJSON_AddNumberToObject(json, "block", each.block);
  cJSON_AddStringToObject(json, "record", each.key.c_str());
  if (!each.order.empty()) cJSON_AddStringToObject(json, "distribution", each.order.c_str());
  cJSON_AddNumberToObject(json, "count", (double)each.count);
  cJSON_AddNumberToObject(json, "extra_bytes", (double)each.extra_bytes);
  cJSON *const ratios = cJSON_AddObjectToObject(json, "times_as_fast_as");
  std::vector<std::string> peers = {"thrust::stable_sort"};
  for (const cub_named &cub : cubs())
    peers.insert(peers.end(), {cub.merge, cub.radix});
  for (const std::string &peer : peers)
    if (ratio(found, each, peer) > 0)
      cJSON_AddNumberToObject(ratios, peer.c_str(), ratio(found, each, peer));
  cJSON *const measured = cJSON_AddObjectToObject(json, "series");
  for (const series &one : each.measured)
    add_series(measured, one);
}

void add_group(cJSON *groups, const results &found, const char *suite)
{
  cJSON *const json = cJSON_CreateObject();
  cJSON_AddItemToArray(groups, json);
  cJSON_AddStringToObject(json, "suite", suite);
  cJSON *const array = cJSON_AddArrayToObject(json, "contenders");
  for (const figure &each : found.figures)
    if (each.suite == suite) add_contender(array, found, each);
}

void add_machine(cJSON *object)
{
  const machine here = machine_here();
  cJSON_AddStringToObject(object, "commit", BENCH_COMMIT);
  cJSON_AddStringToObject(object, "date", here.date.c_str());
  cJSON *const json = cJSON_AddObjectToObject(object, "machine");
  cJSON_AddStringToObject(json, "device", here.device.c_str());
  cJSON_AddNumberToObject(json, "multiprocessors", here.multiprocessors);
  cJSON_AddNumberToObject(json, "capability", here.capability / 10.0);
  cJSON_AddNumberToObject(json, "memory", here.memory);
  cJSON_AddStringToObject(json, "driver", version(here.driver).c_str());
  cJSON_AddStringToObject(json, "runtime", version(here.runtime).c_str());
  cJSON_AddStringToObject(json, "compiler", compiler);
  cJSON_AddStringToObject(json, "cub", cub_versions().c_str());
}

void print_passes(const series &passes)
{
  std::printf("    passes");
  for (double seconds : passes.values)
    std::printf(" %.3f", 1e3 * seconds);
  std::printf("\n");
}

/* "-" if there is none. */
std::string ratio_text(const results &found, const figure &each, const char *method)
{
  const double value = ratio(found, each, method);
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return value > 0 ? text : "-";
}

void print_pairs(const results &found, const figure &each)
{
  const std::vector<double> &values = each.measured[0].values;
  std::printf("%-28s %-4s %-8s %-10s %4zu %10.4f %8s %8s\n", name_of(each).c_str(),
              each.key.c_str(), each.order.c_str(), count_name(each.count).c_str(), values.size(),
              1e3 * median(values), ratio_text(found, each, "cub::DeviceMergeSort").c_str(),
              ratio_text(found, each, "cub::DeviceRadixSort").c_str());
}

void print_experiment(const results &found, const figure &each)
{
  std::printf("%-28s %5s %-6s %5zu %9.4f %9.4f %9s\n", name_of(each).c_str(),
              each.block ? std::to_string(each.block).c_str() : "-", count_name(each.count).c_str(),
              each.measured[0].values.size(), 1e3 * median(each.measured[0].values),
              1e3 * median(each.measured[1].values),
              ratio_text(found, each, "thrust::stable_sort").c_str());
  if (each.measured.size() > 2) print_passes(each.measured[2]);
}

/* The fastest peer on the same input, of those measured so far; nullptr: none. A copy merges
 * nothing, and sorts of the plugin itself are peers of its merge. */
const figure *best_peer(const results &found, const figure &like)
{
  const figure *best = nullptr;
  for (const figure &each : found.figures) {
    if (each.suite != like.suite || each.key != like.key || each.order != like.order ||
        each.count != like.count || each.method == copy_name || name_of(each) == name_of(like))
      continue;
    if (!best || median(each.measured[0].values) < median(best->measured[0].values)) best = &each;
  }
  return best;
}

void print_merges(const results &found, const figure &each)
{
  const double seconds = median(each.measured[0].values);
  const figure *const peer = best_peer(found, each);
  std::printf("%-28s %-4s %-8s %-6s %4zu %10.4f %8s", name_of(each).c_str(), each.key.c_str(),
              each.order.c_str(), count_name(each.count).c_str(), each.measured[0].values.size(),
              1e3 * seconds, ratio_text(found, each, copy_name).c_str());
  if (each.algorithm == merge_name && peer)
    std::printf(" %6.2f %s", median(peer->measured[0].values) / seconds, name_of(*peer).c_str());
  std::printf("\n");
}

} // namespace

void print_machine()
{
  const machine here = machine_here();
  std::printf("%s, %d multiprocessors, %.1f GiB, driver for CUDA %s\n", here.device.c_str(),
              here.multiprocessors, here.memory / 0x1p30, version(here.driver).c_str());
  std::printf("%s, CUDA runtime %s, CUB %s, commit %s, %s\n", compiler,
              version(here.runtime).c_str(), cub_versions().c_str(), BENCH_COMMIT,
              here.date.c_str());
}

void print_pairs_head(const char *title)
{
  std::printf(
      "\n%s of a key, random unless said, and an index on the device, median ms; the device is\n"
      "kept busy before, so that the host has started what is measured when it begins\n"
      "%-28s %-4s %-8s %-10s %4s %10s %8s %8s\n",
      title, "", "key", "", "pairs", "runs", "ms", "/ merge", "/ radix");
}

void print_experiment_head()
{
  std::printf("\nEntities on the device, descending: medians in ms, and each pass of one run\n"
              "%-28s %5s %-6s %5s %9s %9s %9s\n",
              "", "block", "count", "runs", "records", "sort", "/ thrust");
}

void print_merges_head()
{
  std::printf("\nSorted runs of random keys, merged with an index on the device, median ms; \"of "
              "copy\" is\n"
              "the speed in that of a copy of all pairs; the last column is the fastest peer\n"
              "%-28s %-4s %-8s %-6s %4s %10s %8s %6s\n",
              "", "key", "", "pairs", "times", "ms", "of copy", "/ peer");
}

void add_figure(results &found, const figure &made)
{
  found.figures.push_back(made);
  if (made.suite == "experiment")
    print_experiment(found, made);
  else if (made.suite == "merges")
    print_merges(found, made);
  else
    print_pairs(found, made);
  std::fflush(stdout);
}

void add_failure(results &found, const std::string &contender, const std::string &why)
{
  found.failures++;
  std::printf("%-28s FAILED: %s\n", contender.c_str(), why.c_str());
  std::fflush(stdout);
}

void write_json(const std::string &path, const results &found)
{
  cJSON *const json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "format", 1);
  add_machine(json);
  cJSON_AddNumberToObject(json, "failures", found.failures);
  cJSON *const groups = cJSON_AddArrayToObject(json, "groups");
  add_group(groups, found, "pairs");
  add_group(groups, found, "experiment");
  add_group(groups, found, "large");
  add_group(groups, found, "merges");
  char *const text = cJSON_Print(json);
  std::FILE *const file = text ? std::fopen(path.c_str(), "w") : nullptr;
  bool done = file && std::fprintf(file, "%s\n", text) > 0;
  if (file) done = std::fclose(file) == 0 && done;
  cJSON_free(text);
  cJSON_Delete(json);
  if (!done) throw std::runtime_error(path + ": cannot be written");
}

} // namespace bench
