/* experiment.cu - the published experiment, for every algorithm: Entities with a random distance,
 * descending, on the device; measures each pass and the whole sort. (Montalto, "GPU merge sort".)
 *
 * recsort and CUB sort pairs made from the distances, and the plugin's kernel then gathers the
 * structs; thrust sorts the structs. Link with --wrap=cudaLaunchKernelExC, which launches all of
 * the plugin's kernels: the wrapper marks the passes. */
#include <functional>
#include <stdexcept>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

#include "gpu/records.h"
#include "keys.cuh"

extern "C" {
cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
}

namespace bench
{

namespace
{

/* ---- Passes ---- */

constexpr unsigned max_passes = 256;
cudaEvent_t marks[max_passes];
unsigned mark_count;
bool marking = false;

void mark()
{
  if (mark_count == max_passes) return;
  CHECK(cudaEventCreate(&marks[mark_count]));
  CHECK(cudaEventRecord(marks[mark_count++], nullptr));
}

/* The seconds between one mark and the next. */
std::vector<double> marked_times()
{
  std::vector<double> times;
  CHECK(cudaDeviceSynchronize());
  for (unsigned i = 0; i + 1 < mark_count; i++) {
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, marks[i], marks[i + 1]));
    times.push_back(1e-3 * milliseconds);
  }
  while (mark_count > 0)
    cudaEventDestroy(marks[--mark_count]);
  return times;
}

/* ---- Entities ---- */

struct entity {
  float x, y, angle;
  int16_t sprite;
  float distance;
};

/* `x` holds the position in the input, to check stability. */
__global__ void fill(entity *entities, uint64_t count, uint64_t seed)
{
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  entities[i] = {__uint_as_float((unsigned)i), (float)i, 0.5f, (int16_t)i, random_float(seed, i)};
}

/* Descending: complements the code of the distance. */
__global__ void encode(const entity *entities, uint64_t count, uint32_t *keys, uint32_t *indices)
{
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  keys[i] = ~(float_bits(entities[i].distance) | 0x80000000u);
  if (indices) indices[i] = (uint32_t)i;
}

__global__ void count_wrong(const entity *sorted, uint64_t count, uint64_t seed, unsigned *wrong)
{
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const entity mine = sorted[i];
  const uint64_t from = __float_as_uint(mine.x);
  bool good = from < count && mine.y == (float)from && mine.sprite == (int16_t)from &&
              mine.distance == random_float(seed, from);
  if (i + 1 < count) {
    const entity next = sorted[i + 1];
    good = good && (mine.distance > next.distance ||
                    (mine.distance == next.distance && from < __float_as_uint(next.x)));
  }
  if (!good) atomicAdd(wrong, 1u);
}

struct farther {
  __host__ __device__ bool operator()(const entity &a, const entity &b) const
  {
    return a.distance > b.distance;
  }
};

/* ---- The contenders ---- */

/* The entities, and a contender's pairs and extra memory. */
struct workplace {
  workplace(const device_job &job, uint64_t extra_bytes)
      : count(job.count), entities(count * sizeof(entity)), sorted(count * sizeof(entity)),
        pairs(device_bytes(&job, extra_bytes + 1)), wrong(sizeof(unsigned)),
        buffers(device_divide(&job, pairs.as<void>(), extra_bytes))
  {
  }
  uint32_t *keys(unsigned i) const
  {
    return (uint32_t *)buffers.keys[i];
  }
  uint32_t *indices(unsigned i) const
  {
    return (uint32_t *)buffers.indices[i];
  }
  uint64_t count;
  memory entities, sorted, pairs, wrong;
  device_buffers buffers;
};

/* Sorts. Returns which of the two arrays of indices holds the result. */
using pair_sort = std::function<unsigned(workplace &)>;

struct contender {
  std::string method, algorithm;
  unsigned block;
  uint64_t extra_bytes;
  bool needs_indices;
  pair_sort sort; // empty: thrust
};

contender ours(const device_algorithm *algorithm, uint64_t count, unsigned block)
{
  const device_job job = describe_job(count, 32, 32, block);
  const uint64_t bytes = algorithm->extra_bytes ? algorithm->extra_bytes(&job) : 0;
  return {"recsort", algorithm->shown.name, block, bytes, false, [=](workplace &at) {
            unsigned result = 0;
            if (marking) mark();
            check((cudaError_t)algorithm->sort(&job, &at.buffers, &result), algorithm->shown.name);
            return result;
          }};
}

contender peer(const std::string &name, cub_sort *call, uint64_t count, unsigned result)
{
  size_t bytes = 0;
  CHECK(call({32, 32, {}, {}, (uint32_t)count}, nullptr, bytes));
  return {
      name, "", 0, bytes, true, [=](workplace &at) {
        size_t size = bytes;
        CHECK(call(
            {32, 32, {at.keys(0), at.keys(1)}, {at.indices(0), at.indices(1)}, (uint32_t)at.count},
            at.buffers.extra, size));
        return result;
      }};
}

/* ---- Runs ---- */

void prepare(workplace &at, uint64_t seed)
{
  for (memory *each : {&at.sorted, &at.pairs})
    each->poison(nullptr);
  fill<<<blocks_for(at.count), 256>>>(at.entities.as<entity>(), at.count, seed);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

void verify(const workplace &at, const entity *sorted, uint64_t seed)
{
  unsigned found = 0;
  CHECK(cudaMemset(at.wrong.as<void>(), 0, sizeof found));
  count_wrong<<<blocks_for(at.count), 256>>>(sorted, at.count, seed, at.wrong.as<unsigned>());
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&found, at.wrong.as<void>(), sizeof found, cudaMemcpyDeviceToHost));
  if (found) throw std::runtime_error("a result is wrong in " + std::to_string(found) + " places");
}

struct run_times {
  double all, sort;
};

run_times sort_pairs(workplace &at, const contender &c, uint64_t seed)
{
  stopwatch all, sorting;
  all.start(nullptr);
  encode<<<blocks_for(at.count), 256>>>(at.entities.as<entity>(), at.count, at.keys(0),
                                        c.needs_indices ? at.indices(0) : nullptr);
  CHECK(cudaGetLastError());
  sorting.start(nullptr);
  const unsigned result = c.sort(at);
  sorting.stop(nullptr);
  records_order order = {};
  order.indices = at.indices(result);
  order.count = at.count;
  order.index_bits = 32;
  check((cudaError_t)records_gather(at.entities.as<void>(), sizeof(entity), &order,
                                    at.sorted.as<void>(), nullptr),
        "records_gather");
  all.stop(nullptr);
  const run_times times = {all.seconds(), sorting.seconds()};
  verify(at, at.sorted.as<entity>(), seed);
  return times;
}

run_times sort_structs(workplace &at, uint64_t seed)
{
  stopwatch all;
  entity *const first = at.entities.as<entity>();
  all.start(nullptr);
  thrust::stable_sort(thrust::device, first, first + at.count, farther{});
  all.stop(nullptr);
  const double seconds = all.seconds();
  verify(at, first, seed);
  return {seconds, seconds};
}

/* Measures the passes of one run, which does not count among the others. */
std::vector<double> time_passes(workplace &at, const contender &c)
{
  prepare(at, 1);
  encode<<<blocks_for(at.count), 256>>>(at.entities.as<entity>(), at.count, at.keys(0), nullptr);
  CHECK(cudaGetLastError());
  marking = true;
  c.sort(at);
  marking = false;
  return marked_times();
}

figure measure(const options &asked, const contender &c)
{
  workplace at(describe_job(asked.entities, 32, 32, c.block), c.extra_bytes);
  figure made = {"experiment", c.method, c.algorithm,   "entity", "",
                 at.count,     c.block,  c.extra_bytes, {}};
  series device = {"device", "s", {}}, sorting = {"sort", "s", {}};
  constexpr unsigned warm_ups = 2;
  for (unsigned run = 0; run < asked.runs + warm_ups; run++) {
    const uint64_t seed = mix(1000 + run);
    prepare(at, seed);
    const run_times times = c.sort ? sort_pairs(at, c, seed) : sort_structs(at, seed);
    if (run < warm_ups) continue;
    device.values.push_back(times.all);
    sorting.values.push_back(times.sort);
  }
  made.measured = {device, sorting};
  if (c.block) made.measured.push_back({"pass", "s", time_passes(at, c)});
  return made;
}

} // namespace

void measure_experiment(const options &asked, results &found)
{
  std::vector<contender> all;
  all.push_back({"thrust::stable_sort", "", 0, 0, false, nullptr});
  for (const cub_named &cub : cubs()) {
    all.push_back(peer(cub.merge, cub.sorts->merge, asked.entities, 0));
    all.push_back(peer(cub.radix, cub.sorts->radix, asked.entities, 1));
  }
  for (const device_algorithm *algorithm : algorithms(asked))
    for (unsigned block : {256u, 512u})
      all.push_back(ours(algorithm, asked.entities, block));
  print_experiment_head();
  for (const contender &c : all)
    try {
      add_figure(found, measure(asked, c));
    } catch (const std::runtime_error &error) {
      marking = false;
      add_failure(found, c.method + " " + c.algorithm, error.what());
    }
}

} // namespace bench

extern "C" cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                                  const void *kernel, void **args)
{
  const cudaError_t code = __real_cudaLaunchKernelExC(config, kernel, args);
  if (bench::marking) bench::mark();
  return code;
}
