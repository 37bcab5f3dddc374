/* device.cu - the device, its memory and its clock, for the benchmark. */
#include <algorithm>
#include <stdexcept>

#include "bench.h"

namespace bench
{

double median(std::vector<double> values)
{
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void check(cudaError_t code, const char *call)
{
  if (code == cudaSuccess) return;
  throw std::runtime_error(std::string(call) + " failed: " + cudaGetErrorString(code));
}

memory::memory(uint64_t bytes) : bytes_(bytes)
{
  CHECK(cudaMalloc(&at_, bytes_));
}

memory::~memory()
{
  cudaFree(at_);
}

void memory::poison(cudaStream_t stream)
{
  CHECK(cudaMemsetAsync(at_, 0xee, bytes_, stream));
}

stopwatch::stopwatch()
{
  CHECK(cudaEventCreate(&begin_));
  CHECK(cudaEventCreate(&end_));
}

stopwatch::~stopwatch()
{
  cudaEventDestroy(begin_);
  cudaEventDestroy(end_);
}

void stopwatch::start(cudaStream_t stream)
{
  CHECK(cudaEventRecord(begin_, stream));
}

void stopwatch::stop(cudaStream_t stream)
{
  CHECK(cudaEventRecord(end_, stream));
}

double stopwatch::seconds()
{
  float milliseconds = 0;
  CHECK(cudaEventSynchronize(end_));
  CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
  return 1e-3 * milliseconds;
}

static __global__ void wait_kernel(uint64_t nanoseconds)
{
  uint64_t begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < nanoseconds);
}

void keep_busy(cudaStream_t stream)
{
  constexpr uint64_t nanoseconds = 100000;
  wait_kernel<<<1, 1, 0, stream>>>(nanoseconds);
  CHECK(cudaGetLastError());
}

int ask(cudaDeviceAttr attribute)
{
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, attribute, 0));
  return value;
}

/* One mailbox for all sorts, as they run one at a time. */
static void *mailbox()
{
  void *made;
  CHECK(cudaMallocHost(&made, DEVICE_MAILBOX));
  return made;
}

device_job describe_job(uint64_t count, unsigned key_width, unsigned index_bits, unsigned block)
{
  static const int shared = ask(cudaDevAttrMaxSharedMemoryPerBlockOptin),
                   multiprocessors = ask(cudaDevAttrMultiProcessorCount);
  static void *const mailbox_of_all = mailbox();
  device_job job = {};
  job.count = count;
  job.key_bits = job.key_width = key_width;
  job.index_bits = index_bits;
  job.block = block;
  job.shared_bytes = (uint64_t)shared;
  job.multiprocessors = (uint32_t)multiprocessors;
  job.mailbox = mailbox_of_all;
  return job;
}

std::string cub_version(const cub_sorts &sorts)
{
  return std::to_string(sorts.version / 100000) + "." + std::to_string(sorts.version / 100 % 1000) +
         "." + std::to_string(sorts.version % 100);
}

std::vector<cub_named> cubs()
{
  std::vector<cub_named> all = {
      {&cub_of_toolkit, "cub::DeviceMergeSort", "cub::DeviceRadixSort", "cub::DeviceMerge"}};
#ifdef BENCH_CUB_OF_HEADERS
  const std::string name = "cub-" + cub_version(cub_of_headers);
  all.push_back({&cub_of_headers, name + "::DeviceMergeSort", name + "::DeviceRadixSort",
                 name + "::DeviceMerge"});
#endif
  return all;
}

std::vector<const device_algorithm *> algorithms(const options &asked)
{
  std::vector<const device_algorithm *> found;
  for (uint32_t i = 0; i < device_algorithm_count; i++) {
    const device_algorithm &each = device_algorithms[i];
    const bool alias = !found.empty() && found.front()->sort == each.sort;
    if (asked.algorithm.empty() ? !alias : asked.algorithm == each.shown.name)
      found.push_back(&each);
  }
  if (found.empty()) throw std::runtime_error("there is no algorithm \"" + asked.algorithm + "\"");
  return found;
}

} // namespace bench
