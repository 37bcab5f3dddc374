/* merges.cu - merges of sorted runs of pairs on the device, beside CUB's and thrust's merges of
 * two, and sorts of everything. */
#include <algorithm>
#include <thrust/execution_policy.h>
#include <thrust/merge.h>

#include "contenders.cuh"
#include "cuda/sort/sample/sample.h"
#include "gpu/device_merge.h"

namespace bench
{

namespace
{

/* ---- Runs ---- */

/* Random keys in sorted runs of about equal length. */
template <typename Key> struct sorted_runs {
  explicit sorted_runs(const workload &load);
  std::vector<uint64_t> bounds;
  memory keys;
};

template <typename Key>
sorted_runs<Key>::sorted_runs(const workload &load)
    : bounds(load.runs + 1), keys(load.count * sizeof(Key))
{
  for (unsigned r = 0; r <= load.runs; r++)
    bounds[r] = r == load.runs ? load.count : load.count / load.runs * r;
  for (unsigned r = 0; r < load.runs; r++) {
    const uint64_t count = bounds[r + 1] - bounds[r];
    const device_job job = describe_job(count, 8 * sizeof(Key), 32, 0);
    const uint64_t extra_bytes = sample_extra_bytes(&job);
    memory room(device_bytes(&job, extra_bytes));
    const device_buffers at = device_divide(&job, room.as<void>(), extra_bytes);
    unsigned result = 0;
    fill_pairs((Key *)at.keys[0], (uint32_t *)nullptr, count, input(mix(load.count + r)));
    check((cudaError_t)sample_sort(&job, &at, &result), "sample_sort");
    CHECK(cudaMemcpy(keys.as<Key>() + bounds[r], at.keys[result], count * sizeof(Key),
                     cudaMemcpyDeviceToDevice));
  }
}

__global__ void number_kernel(uint32_t *indices, uint64_t count)
{
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) indices[i] = (uint32_t)i;
}

/* Pairs that ascend strictly, each with the key that its index had, are the stable order. */
template <typename Key>
__global__ void count_unmerged_kernel(const Key *keys, const uint32_t *indices, uint64_t count,
                                      const Key *from, unsigned *wrong)
{
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  bool good = indices[i] < count && keys[i] == from[indices[i]];
  if (i + 1 < count)
    good =
        good && (keys[i] < keys[i + 1] || (keys[i] == keys[i + 1] && indices[i] < indices[i + 1]));
  if (!good) atomicAdd(wrong, 1u);
}

template <typename Key>
void verify(const pair_buffers<Key> &at, unsigned result, const sorted_runs<Key> &runs,
            uint64_t count)
{
  memory wrong(sizeof(unsigned));
  unsigned found = 0;
  CHECK(cudaMemset(wrong.as<void>(), 0, sizeof found));
  count_unmerged_kernel<<<blocks_for(count), 256>>>(at.keys[result], at.indices[result], count,
                                                    runs.keys.template as<Key>(),
                                                    wrong.as<unsigned>());
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&found, wrong.as<void>(), sizeof found, cudaMemcpyDeviceToHost));
  if (found) throw std::runtime_error("a result is wrong in " + std::to_string(found) + " places");
}

template <typename Key> trial<Key> trial_of(const workload &load, const sorted_runs<Key> &runs)
{
  return {"merges",
          [&](const pair_buffers<Key> &at, unsigned, bool needs_indices) {
            CHECK(cudaMemcpy(at.keys[0], runs.keys.template as<void>(), load.count * sizeof(Key),
                             cudaMemcpyDeviceToDevice));
            if (needs_indices)
              number_kernel<<<blocks_for(load.count), 256>>>(at.indices[0], load.count);
            CHECK(cudaGetLastError());
            CHECK(cudaDeviceSynchronize());
          },
          [&](const pair_buffers<Key> &at, unsigned, unsigned result) {
            verify(at, result, runs, load.count);
          }};
}

/* ---- Contenders ---- */

template <typename Key> contender<Key> our_merge(const sorted_runs<Key> &runs)
{
  const device_runs all = {runs.bounds.data(), (uint32_t)runs.bounds.size() - 1};
  return {"recsort",
          "runs",
          false,
          false,
          true,
          [](const workload &load) {
            const device_job job = plan_job<Key>(load);
            return device_merge_extra_bytes(&job);
          },
          [=](const pair_buffers<Key> &at, const workload &load) {
            const device_job job = plan_job<Key>(load);
            unsigned result = 0;
            check((cudaError_t)device_merge(&job, &all, &at.all, &result), "device_merge");
            return result;
          }};
}

template <typename Key> contender<Key> thrust_merge(const sorted_runs<Key> &runs)
{
  const uint64_t first = runs.bounds[1];
  return {"thrust::merge_by_key",
          "",
          true,
          false,
          true,
          [](const workload &) { return 0; },
          [=](const pair_buffers<Key> &at, const workload &load) {
            thrust::merge_by_key(thrust::device, at.keys[0], at.keys[0] + first, at.keys[0] + first,
                                 at.keys[0] + load.count, at.indices[0], at.indices[0] + first,
                                 at.keys[1], at.indices[1]);
            return 1u;
          }};
}

/* The peers first. */
template <typename Key>
std::vector<contender<Key>> contenders(const workload &load, const sorted_runs<Key> &runs)
{
  std::vector<contender<Key>> all = peers<Key>();
  if (load.runs == 2) {
    for (const cub_named &cub : cubs())
      all.push_back(peer<Key>(cub.runs, false, cub.sorts->runs));
    all.push_back(thrust_merge<Key>(runs));
  }
  all.push_back(copy<Key>());
  all.push_back(ours<Key>(&device_algorithms[0]));
  all.push_back(our_merge<Key>(runs));
  return all;
}

template <typename Key> void measure_key(const options &asked, results &found, const char *key)
{
  for (uint64_t count : asked.merges)
    for (unsigned run_count : {2u, 8u, 64u}) {
      const workload load = {key, 8 * sizeof(Key), order::random, count, run_count};
      if (count < run_count) continue;
      const sorted_runs<Key> runs(load);
      for (const contender<Key> &c : contenders<Key>(load, runs))
        add_measured(asked, found, c, load, trial_of<Key>(load, runs));
    }
}

} // namespace

void measure_merges(const options &asked, results &found)
{
  print_merges_head();
  measure_key<uint32_t>(asked, found, "f32");
  measure_key<uint64_t>(asked, found, "u64");
  measure_key<wide_key>(asked, found, "u128");
}

} // namespace bench
