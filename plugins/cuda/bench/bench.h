/* bench.h - what gpu-bench measures on the device, and how it tells.
 *
 *   main.cpp        options, then the suites
 *   device.cu       memory, clock
 *   keys.h          the inputs
 *   conflicts.cpp   one that is bad for merges
 *   cub_sorts.cu    CUB, once for each version that is measured
 *   pairs.cu        every algorithm beside CUB, pairs of key and index that are on the device
 *   experiment.cu   the published experiment: 2^24 Entities, descending, 100 runs
 *   large.cu        more pairs than 31 and 32 bits can count
 *   report.cpp      a table and JSON
 *
 * Times are the device's own (events). Every run sorts fresh keys (but for order::banks, which is
 * one order) into poisoned memory, and every result is checked (but that of a copy, which sorts
 * nothing).
 */
#ifndef RECSORT_CUDA_BENCH_H
#define RECSORT_CUDA_BENCH_H

#include <cuda_runtime.h>
#include <cstdint>
#include <string>
#include <vector>

#include "cub_sorts.h"
#include "gpu/algorithms.h"
#include "keys.h"

namespace bench
{

/* The rank of each key of order::banks (conflicts.cpp). */
std::vector<uint32_t> conflicting_ranks(uint64_t count);

struct options {
  std::string json;
  std::string algorithm;                      // empty: all
  std::vector<uint64_t> counts;               // of pairs
  std::vector<uint64_t> ordered = {1u << 24}; // of these keys, in every order
  std::vector<order> orders;                  // that these are; empty: all but random ones
  std::vector<uint64_t> large;                // so too, for one run of each algorithm
  uint64_t entities = 1u << 24;
  unsigned runs = 100;  // of the experiment
  double budget = 0.25; // seconds for one contender and input
};

/* A version of CUB, and its sorts as they are called in what is reported. */
struct cub_named {
  const cub_sorts *sorts;
  std::string merge, radix;
};

/* That of the toolkit, and that of RECSORT_BENCH_CUB if there is one. */
std::vector<cub_named> cubs();
std::string cub_version(const cub_sorts &sorts); // "3.0.1"

/* What was measured of one contender on one kind of input. */
struct series {
  std::string name, unit;
  std::vector<double> values;
};

struct figure {
  std::string suite, method, algorithm, key, order;
  uint64_t count = 0;
  unsigned block = 0;           // 0: its own choice
  uint64_t extra_bytes = 0;     // of device memory, beside the pairs
  std::vector<series> measured; // the first: "device"
};

struct results {
  std::vector<figure> figures;
  unsigned failures = 0; // contenders that gave no result, or a wrong one
};

double median(std::vector<double> values);

/* Throws what went wrong, with the call's name. */
void check(cudaError_t code, const char *call);
#define CHECK(call) ::bench::check(call, #call)

/* Memory of the device, poisoned. */
class memory
{
public:
  explicit memory(uint64_t bytes);
  ~memory();
  memory(const memory &) = delete;
  memory &operator=(const memory &) = delete;
  void poison(cudaStream_t stream);
  template <typename T> T *as() const
  {
    return static_cast<T *>(at_);
  }

private:
  void *at_ = nullptr;
  uint64_t bytes_;
};

/* The time on the device between start and stop. */
class stopwatch
{
public:
  stopwatch();
  ~stopwatch();
  stopwatch(const stopwatch &) = delete;
  stopwatch &operator=(const stopwatch &) = delete;
  void start(cudaStream_t stream);
  void stop(cudaStream_t stream);
  double seconds(); // waits

private:
  cudaEvent_t begin_, end_;
};

/* The device is kept busy for so long that what is measured next is started meanwhile, unless it
 * waits: the time is then the device's own, not that of the host which starts kernels. */
void keep_busy(cudaStream_t stream);

int ask(cudaDeviceAttr attribute);

/* What the grid plans must know; the stream is the legacy one. */
device_job describe_job(uint64_t count, unsigned key_width, unsigned index_bits, unsigned block);

/* The algorithms that the options ask for. */
std::vector<const device_algorithm *> algorithms(const options &asked);

void measure_pairs(const options &asked, results &found);
void measure_experiment(const options &asked, results &found);
void measure_large(const options &asked, results &found);

void print_machine();
/* The heads of the tables, and then a line for each figure or failure, as they come. */
void print_pairs_head(const char *title);
void print_experiment_head();
void add_figure(results &found, const figure &made);
void add_failure(results &found, const std::string &contender, const std::string &why);
void write_json(const std::string &path, const results &found);

} // namespace bench

#endif
