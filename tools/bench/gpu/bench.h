/* bench.h - the parts of gpu-bench: measurements on the device, and reports.
 *
 *   main.cpp        options, then the suites
 *   device.cu       memory, clock
 *   keys.h          the inputs
 *   conflicts.cpp   an input that is bad for merges
 *   cub_sorts.cu    CUB's sorts, compiled for each version that is measured
 *   contenders.cuh  what is measured on pairs in device memory, and how
 *   pairs.cu        every algorithm beside CUB
 *   merges.cu       merges of sorted runs beside CUB, thrust and sorts
 *   experiment.cu   the published experiment: 2^24 Entities, descending, 100 runs
 *   large.cu        more pairs than 31 and 32 bits can count
 *   report.cpp      a table and JSON
 *
 * Times are the device's own (events). Every run sorts new keys (except order::banks, a fixed
 * order, and merges, whose runs take time to make) into poisoned memory, and every result is
 * checked (except that of a copy, which sorts nothing).
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
  std::vector<uint64_t> counts;               // counts of pairs
  std::vector<uint64_t> ordered = {1u << 24}; // counts that are tested in every order
  std::vector<order> orders;                  // the orders of these; empty: all but random
  std::vector<uint64_t> large;                // counts for one run of each algorithm
  std::vector<uint64_t> merges;               // counts of pairs that are merged
  uint64_t entities = 1u << 24;
  unsigned runs = 100;  // runs of the experiment
  double budget = 0.25; // seconds for each contender and input
};

/* A version of CUB, and the names of what it does in reports. */
struct cub_named {
  const cub_sorts *sorts;
  std::string merge, radix, runs;
};

/* The toolkit's version, and that of RECSORT_BENCH_CUB if there is one. */
std::vector<cub_named> cubs();
std::string cub_version(const cub_sorts &sorts); // "3.0.1"

/* The measurements of a contender on one kind of input. */
struct series {
  std::string name, unit;
  std::vector<double> values;
};

struct figure {
  std::string suite, method, algorithm, key, order;
  uint64_t count = 0;
  unsigned block = 0;           // 0: chosen by the sort
  uint64_t extra_bytes = 0;     // device memory besides the pairs
  std::vector<series> measured; // the first: "device"
};

struct results {
  std::vector<figure> figures;
  unsigned failures = 0; // contenders with no result, or a wrong one
};

double median(std::vector<double> values);

/* Throws an error with the call's name if `code` is not 0. */
void check(cudaError_t code, const char *call);
#define CHECK(call) ::bench::check(call, #call)

/* Device memory, poisoned. */
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

/* Measures the time on the device between start and stop. */
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

/* Keeps the device busy while the host launches the next measured work. So the measured time is the
 * device's own, without the host's launch times, unless the work waits for the device. */
void keep_busy(cudaStream_t stream);

int ask(cudaDeviceAttr attribute);

/* Describes a job for the device's sorts; the stream is the legacy one. */
device_job describe_job(uint64_t count, unsigned key_width, unsigned index_bits, unsigned block);

/* The algorithms that the options ask for. */
std::vector<const device_algorithm *> algorithms(const options &asked);

void measure_pairs(const options &asked, results &found);
void measure_experiment(const options &asked, results &found);
void measure_large(const options &asked, results &found);
void measure_merges(const options &asked, results &found);

void print_machine();
/* Print the heads of the tables, then a line for each figure or failure when it is known. */
void print_pairs_head(const char *title);
void print_experiment_head();
void print_merges_head();
void add_figure(results &found, const figure &made);
void add_failure(results &found, const std::string &contender, const std::string &why);
void write_json(const std::string &path, const results &found);

} // namespace bench

#endif
