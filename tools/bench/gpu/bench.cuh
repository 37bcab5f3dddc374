/* bench.cuh - the parts of recbench-gpu, which sorts what is in the memory of CUDA devices, by
 * recsort's public interface and by CUB.
 *
 *   main.cu       the commands of recbench (serve.h), and the device
 *   keys.h        keys as functions of their places
 *   cub_sorts.h   CUB's sorts, compiled for each version that is measured
 *   pairs.cu      keys with values, or with their places
 *   records.cu    whole records
 *   parts.cu      the first records; many segments
 *   shards.cu     records in the memory of several devices
 *
 * Times are the device's own (events), but for several devices. Every run has new keys; what it
 * writes is poisoned before and checked afterwards, on the device.
 */
#ifndef BENCH_GPU_H
#define BENCH_GPU_H

#include <cuda_runtime.h>
#include <functional>

#include "serve.h"
#include "cub_sorts.h"
#include "keys.h"
#include "recsort/recsort.h"

namespace bench
{

void check(cudaError_t code, const char *call);
#define CHECK(call) ::bench::check(call, #call)
void check(recsort_status status, const recsort_error &error);

extern cudaStream_t stream; // of all work; not the default one

/* Device memory for `count` elements. */
template <class T> class array
{
public:
  explicit array(size_t count = 0) : size_(count * sizeof(T))
  {
    if (size_) CHECK(cudaMalloc((void **)&at_, size_ + 16));
  }
  explicit array(const std::vector<T> &from) : array(from.size())
  {
    CHECK(cudaMemcpy(at_, from.data(), size_, cudaMemcpyHostToDevice));
  }
  ~array()
  {
    (void)cudaFree(at_);
  }
  array(const array &) = delete;
  array &operator=(const array &) = delete;
  operator T *() const
  {
    return at_;
  }
  size_t size() const
  {
    return size_;
  }
  void poison() const
  {
    if (size_) CHECK(cudaMemsetAsync(at_, 0xee, size_, stream));
  }

private:
  T *at_ = nullptr;
  size_t size_;
};

/* Starts work on `stream`. */
using work = std::function<void()>;

struct contender {
  std::string name;
  work run;
  uint64_t bytes = 0;                   // device memory besides input and output
  bool in_graph = false;                // replayed from a graph
  work prepare = {};                    // in place of the trial's
  std::function<bool()> right = {};     // likewise; waits
  std::function<double()> seconds = {}; // runs and measures by itself
  cudaGraphExec_t graph = nullptr;
  size_t launches = 0; // kernels and copies in the graph
};

/* The contenders for one input. */
struct trial {
  virtual ~trial();
  std::vector<contender> contenders;
  size_t record_size = 0;
  size_t record_count = 0;     // if the input's shape says it; else as many as were asked for
  work prepare;                // makes the input, poisons the output
  std::function<bool()> right; // that the output is as it should be; waits

  /* Adds one on a stream, and the same in a graph. */
  void add_both(contender one);
};

/* Runs it once: the seconds. */
double measure(const trial &of, contender &one);

/* Words of the command `input`. */
struct request {
  std::string record, order, detail; // detail: of a suite
  size_t count;
  std::vector<std::string> algorithms; // the default first
};

std::unique_ptr<trial> make_pairs(const request &asked);
std::unique_ptr<trial> make_records(const request &asked);
std::unique_ptr<trial> make_checked(const request &asked); // one of these two, by its record
std::unique_ptr<trial> make_head(const request &asked);
std::unique_ptr<trial> make_segments(const request &asked);
std::unique_ptr<trial> make_shards(const request &asked);

order order_of(const std::string &name);

/* The toolkit's CUB, and that of RECSORT_BENCH_CUB if there is one. */
struct cub_named {
  const cub_sorts *sorts;
  std::string name; // "cub", or with a version
};
const std::vector<cub_named> &cubs();

/* ---- Records ---- */

/* 20 bytes; the check finds the place that a record had in `place`. */
struct entity {
  uint32_t place;
  float y, angle;
  int16_t sprite, unused;
  float distance;
};

extern const char entity_yaml[]; // by distance, descending
extern const char float_yaml[];  // by a float, ascending, with `size` 4

/* Of records on a device; takes over the schema. An algorithm: of the plugin "cuda". */
recsort_sorter *make_sorter(recsort_schema *schema, const char *algorithm = nullptr,
                            recsort_verify verify = RECSORT_VERIFY_DEFAULT);

/* The ways to run a job whose detail is "checked": without a status; with one, unchecked; with one,
 * checked. */
struct checking {
  const char *name;
  bool has_status;
  recsort_verify verify;
};
extern const checking checkings[3];
recsort_schema *load(const std::string &yaml);

/* A job on `stream`, with a workspace of its own. */
class device_job
{
public:
  device_job(recsort_sorter *sorter, const recsort_job &job); // takes over the sorter
  ~device_job();
  device_job(const device_job &) = delete;
  device_job &operator=(const device_job &) = delete;
  void run() const;
  uint64_t bytes() const
  {
    return job_.workspace_size;
  }

private:
  recsort_sorter *sorter_;
  recsort_job job_;
  array<char> workspace_;
};

/* ---- Kernels ---- */

inline unsigned grid_of(uint64_t count)
{
  return (unsigned)((count + 255) / 256);
}

__device__ inline uint64_t thread_number()
{
  return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* A number that a kernel counts. */
class tally
{
public:
  unsigned *reset()
  {
    CHECK(cudaMemsetAsync(found_, 0, sizeof(unsigned), stream));
    return found_;
  }
  unsigned value() const
  {
    unsigned found = 0;
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(&found, found_, sizeof found, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    return found;
  }

private:
  array<unsigned> found_{1};
};

} // namespace bench

#endif
