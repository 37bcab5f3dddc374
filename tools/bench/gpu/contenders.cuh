/* contenders.cuh - what gpu-bench measures on pairs in device memory: the plugin's sorts, CUB's,
 * and a copy; and how: a suite says how to make an input and how to check a result. */
#ifndef RECSORT_CUDA_BENCH_CONTENDERS_CUH
#define RECSORT_CUDA_BENCH_CONTENDERS_CUH

#include <functional>
#include <stdexcept>

#include "keys.cuh"

namespace bench
{

template <typename Key> struct pair_buffers {
  explicit pair_buffers(const device_buffers &b)
      : all(b), keys{(Key *)b.keys[0], (Key *)b.keys[1]}, indices{(uint32_t *)b.indices[0],
                                                                  (uint32_t *)b.indices[1]}
  {
  }
  device_buffers all;
  Key *keys[2];
  uint32_t *indices[2];
};

/* A workload: keys of `bits` bits, in 32, 64 or 128. */
struct workload {
  const char *key;
  unsigned bits;
  order kind;
  uint64_t count;
  unsigned runs = 0; // sorted runs that the keys are in; 0: the whole is in that order
};

/* A contender: says how much memory it needs besides two arrays of pairs, and where its result
 * is. */
template <typename Key> struct contender {
  std::string method, algorithm;
  bool needs_indices, in_place, sorts;
  std::function<uint64_t(const workload &)> extra_bytes;
  std::function<unsigned(const pair_buffers<Key> &, const workload &)> sort;
};

template <typename Key> contender<Key> peer(const std::string &name, bool in_place, cub_sort *call)
{
  const auto pairs = [](const pair_buffers<Key> &at, const workload &load) {
    return cub_pairs{8 * sizeof(Key),          load.bits,
                     {at.keys[0], at.keys[1]}, {at.indices[0], at.indices[1]},
                     (uint32_t)load.count,     load.runs ? (uint32_t)(load.count / load.runs) : 0};
  };
  return {name,
          "",
          true,
          in_place,
          true,
          [=](const workload &load) {
            size_t bytes = 0;
            CHECK(call(pairs(pair_buffers<Key>(device_buffers{}), load), nullptr, bytes));
            return bytes;
          },
          [=](const pair_buffers<Key> &at, const workload &load) {
            size_t bytes = at.all.extra_bytes;
            CHECK(call(pairs(at, load), at.all.extra, bytes));
            return in_place ? 0u : 1u;
          }};
}

/* Not a sort: a lower bound for every sort that moves all pairs. */
template <typename Key> contender<Key> copy()
{
  return {"cudaMemcpyAsync",
          "",
          true,
          false,
          false,
          [](const workload &) { return 0; },
          [](const pair_buffers<Key> &at, const workload &load) {
            const cudaMemcpyKind way = cudaMemcpyDeviceToDevice;
            CHECK(cudaMemcpyAsync(at.keys[1], at.keys[0], load.count * sizeof(Key), way));
            CHECK(
                cudaMemcpyAsync(at.indices[1], at.indices[0], load.count * sizeof(uint32_t), way));
            return 1u;
          }};
}

/* Plans the job as a schema would. */
template <typename Key> device_job plan_job(const workload &load)
{
  device_job job = describe_job(load.count, 8 * sizeof(Key), 32, 0);
  job.key_bits = load.bits;
  return job;
}

template <typename Key> contender<Key> ours(const device_algorithm *algorithm)
{
  return {"recsort",
          algorithm->shown.name,
          false,
          false,
          true,
          [=](const workload &load) {
            const device_job job = plan_job<Key>(load);
            return algorithm->extra_bytes ? algorithm->extra_bytes(&job) : 0;
          },
          [=](const pair_buffers<Key> &at, const workload &load) {
            const device_job job = plan_job<Key>(load);
            unsigned result = 0;
            check((cudaError_t)algorithm->sort(&job, &at.all, &result), algorithm->shown.name);
            return result;
          }};
}

template <typename Key> std::vector<contender<Key>> peers()
{
  std::vector<contender<Key>> all;
  for (const cub_named &cub : cubs()) {
    all.push_back(peer<Key>(cub.merge, true, cub.sorts->merge));
    all.push_back(peer<Key>(cub.radix, false, cub.sorts->radix));
  }
  return all;
}

/* How a suite makes the input of a run and checks the result, which is in one of the two pairs of
 * buffers. */
template <typename Key> struct trial {
  const char *suite;
  std::function<void(const pair_buffers<Key> &, unsigned run, bool needs_indices)> prepare;
  std::function<void(const pair_buffers<Key> &, unsigned run, unsigned result)> verify;
};

inline std::string describe(const workload &load)
{
  if (load.runs) return std::to_string(load.runs) + " runs";
  return load.kind == order::random ? "" : name_of(load.kind);
}

template <typename Key>
figure measure(const options &asked, const contender<Key> &c, const workload &load,
               const trial<Key> &how)
{
  constexpr unsigned least_runs = 5, most_runs = 31, warm_ups = 2;
  const uint64_t pairs_bytes = load.count * (sizeof(Key) + 4), extra_bytes = c.extra_bytes(load);
  const device_job job = plan_job<Key>(load);
  memory block(device_bytes(&job, extra_bytes + 1));
  const pair_buffers<Key> at(device_divide(&job, block.as<void>(), extra_bytes));
  figure made = {how.suite,
                 c.method,
                 c.algorithm,
                 load.key,
                 describe(load),
                 load.count,
                 0,
                 extra_bytes + (c.in_place ? 0 : pairs_bytes),
                 {}};
  stopwatch watch;
  std::vector<double> times;
  double total = 0;
  for (unsigned run = 0; run < warm_ups + most_runs; run++) {
    block.poison(nullptr);
    how.prepare(at, run, c.needs_indices);
    keep_busy(nullptr);
    watch.start(nullptr);
    const unsigned result = c.sort(at, load);
    watch.stop(nullptr);
    const double seconds = watch.seconds();
    if (c.sorts) how.verify(at, run, result);
    if (run < warm_ups) continue;
    times.push_back(seconds);
    total += seconds;
    if (times.size() >= least_runs && total > asked.budget) break;
  }
  made.measured.push_back({"device", "s", times});
  return made;
}

template <typename Key>
void add_measured(const options &asked, results &found, const contender<Key> &c,
                  const workload &load, const trial<Key> &how)
{
  try {
    add_figure(found, measure(asked, c, load, how));
  } catch (const std::runtime_error &error) {
    add_failure(found, c.method + " " + c.algorithm,
                std::string(load.key) + " " + describe(load) + ", " + std::to_string(load.count) +
                    " pairs: " + error.what());
  }
}

} // namespace bench

#endif
