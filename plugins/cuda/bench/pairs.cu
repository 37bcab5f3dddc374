#include <algorithm>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "keys.cuh"

namespace bench
{

namespace
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

/* What is measured: it says how much memory it needs beside two arrays of pairs, and where the
 * result is. */
template <typename Key> struct contender {
  std::string method, algorithm;
  bool needs_indices, in_place, sorts;
  std::function<uint64_t(uint64_t count)> extra_bytes;
  std::function<unsigned(const pair_buffers<Key> &, uint64_t count)> sort;
};

struct less {
  template <typename Key> __host__ __device__ bool operator()(const Key &a, const Key &b) const
  {
    return a < b;
  }
};

template <typename Key>
uint64_t merge_sort(void *extra, size_t bytes, const pair_buffers<Key> &at, uint64_t count)
{
  CHECK(cub::DeviceMergeSort::StableSortPairs(extra, bytes, at.keys[0], at.indices[0], count,
                                              less{}));
  return bytes;
}

template <typename Key>
uint64_t radix_sort(void *extra, size_t bytes, const pair_buffers<Key> &at, uint64_t count)
{
  CHECK(cub::DeviceRadixSort::SortPairs(extra, bytes, at.keys[0], at.keys[1], at.indices[0],
                                        at.indices[1], count));
  return bytes;
}

template <typename Key>
using peer_call = uint64_t(void *, size_t, const pair_buffers<Key> &, uint64_t);

template <typename Key> contender<Key> peer(const char *name, bool in_place, peer_call<Key> *call)
{
  return {
      name,
      "",
      true,
      in_place,
      true,
      [=](uint64_t count) { return call(nullptr, 0, pair_buffers<Key>(device_buffers{}), count); },
      [=](const pair_buffers<Key> &at, uint64_t count) {
        call(at.all.extra, at.all.extra_bytes, at, count);
        return in_place ? 0u : 1u;
      }};
}

/* No sort, but what each takes at least that moves all pairs. */
template <typename Key> contender<Key> copy()
{
  return {"cudaMemcpyAsync",
          "",
          true,
          false,
          false,
          [](uint64_t) { return 0; },
          [](const pair_buffers<Key> &at, uint64_t count) {
            const cudaMemcpyKind way = cudaMemcpyDeviceToDevice;
            CHECK(cudaMemcpyAsync(at.keys[1], at.keys[0], count * sizeof(Key), way));
            CHECK(cudaMemcpyAsync(at.indices[1], at.indices[0], count * sizeof(uint32_t), way));
            return 1u;
          }};
}

/* As a schema would plan the job: keys of 36 bits are in 64. */
template <typename Key> device_job plan_job(uint64_t count, order kind)
{
  device_job job = describe_job(count, 8 * sizeof(Key), 32, 0);
  if (kind == order::bits36) job.key_bits = 36;
  return job;
}

template <typename Key> contender<Key> ours(const device_algorithm *algorithm, order kind)
{
  return {"recsort",
          algorithm->shown.name,
          false,
          false,
          true,
          [=](uint64_t count) {
            const device_job job = plan_job<Key>(count, kind);
            return algorithm->extra_bytes ? algorithm->extra_bytes(&job) : 0;
          },
          [=](const pair_buffers<Key> &at, uint64_t count) {
            const device_job job = plan_job<Key>(count, kind);
            unsigned result = 0;
            check((cudaError_t)algorithm->sort(&job, &at.all, &result), algorithm->shown.name);
            return result;
          }};
}

/* The order that the CPU finds, for counts that do not take it long. */
template <typename Key>
void compare_with_cpu(const uint32_t *indices, uint64_t count, const input &from)
{
  std::vector<uint32_t> found(count), order(count);
  std::vector<Key> keys(count);
  CHECK(cudaMemcpy(found.data(), indices, count * sizeof *indices, cudaMemcpyDeviceToHost));
  for (uint64_t i = 0; i < count; i++)
    keys[i] = key_at<Key>(from, i);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
  if (order != found) throw std::runtime_error("a result differs from the CPU's");
}

template <typename Key>
void verify(const pair_buffers<Key> &at, unsigned result, uint64_t count, const input &from,
            bool cpu)
{
  constexpr uint64_t cpu_limit = 1u << 20;
  check_pairs(at.keys[result], at.indices[result], count, from);
  if (cpu && count <= cpu_limit) compare_with_cpu<Key>(at.indices[result], count, from);
}

const char *name_of(order kind)
{
  static const char *const names[] = {"",        "sorted",  "reversed", "nearly", "few",
                                      "36 bits", "saws",    "organ",    "equal",  "zipf",
                                      "holes",   "repeats", "banks"};
  return names[static_cast<unsigned>(kind)];
}

/* Those of order::banks, on both sides. */
struct bank_ranks {
  explicit bank_ranks(uint64_t count)
      : here(conflicting_ranks(count)), there(count * sizeof(uint32_t))
  {
    CHECK(cudaMemcpy(there.as<void>(), here.data(), count * sizeof(uint32_t),
                     cudaMemcpyHostToDevice));
  }
  std::vector<uint32_t> here;
  memory there;
};

/* Of the orders but the random one there is one count. */
input make_input(uint64_t seed, order kind, uint64_t count)
{
  input made(seed, kind, count);
  if (kind != order::banks) return made;
  static const bank_ranks ranks(count);
  made.ranks = ranks.there.as<uint32_t>();
  made.host_ranks = ranks.here.data();
  return made;
}

template <typename Key>
figure measure(const options &asked, const contender<Key> &c, uint64_t count, order kind)
{
  constexpr unsigned least_runs = 5, most_runs = 31, warm_ups = 2;
  const uint64_t pairs_bytes = count * (sizeof(Key) + 4), extra_bytes = c.extra_bytes(count);
  const device_job job = describe_job(count, 8 * sizeof(Key), 32, 0);
  memory block(device_bytes(&job, extra_bytes + 1));
  const pair_buffers<Key> at(device_divide(&job, block.as<void>(), extra_bytes));
  figure made = {"pairs",
                 c.method,
                 c.algorithm,
                 random_key<Key>::name,
                 name_of(kind),
                 count,
                 0,
                 extra_bytes + (c.in_place ? 0 : pairs_bytes),
                 {}};
  stopwatch watch;
  std::vector<double> times;
  double total = 0;
  for (unsigned run = 0; run < warm_ups + most_runs; run++) {
    const input from = make_input(mix(run) ^ count, kind, count);
    block.poison(nullptr);
    fill_pairs(at.keys[0], c.needs_indices ? at.indices[0] : nullptr, count, from);
    keep_busy(nullptr);
    watch.start(nullptr);
    const unsigned result = c.sort(at, count);
    watch.stop(nullptr);
    const double seconds = watch.seconds();
    if (c.sorts) verify(at, result, count, from, run == 0);
    if (run < warm_ups) continue;
    times.push_back(seconds);
    total += seconds;
    if (times.size() >= least_runs && total > asked.budget) break;
  }
  made.measured.push_back({"device", "s", times});
  return made;
}

template <typename Key>
void add_measured(const options &asked, results &found, const contender<Key> &c, uint64_t count,
                  order kind)
{
  try {
    add_figure(found, measure(asked, c, count, kind));
  } catch (const std::runtime_error &error) {
    add_failure(found, c.method + " " + c.algorithm,
                std::string(random_key<Key>::name) + " " + name_of(kind) + ", " +
                    std::to_string(count) + " pairs: " + error.what());
  }
}

template <typename Key> std::vector<contender<Key>> peers()
{
  return {peer<Key>("cub::DeviceMergeSort", true, merge_sort<Key>),
          peer<Key>("cub::DeviceRadixSort", false, radix_sort<Key>)};
}

template <typename Key> void measure_key(const options &asked, results &found)
{
  std::vector<contender<Key>> all = peers<Key>();
  all.push_back(copy<Key>());
  for (const device_algorithm *algorithm : algorithms(asked))
    all.push_back(ours<Key>(algorithm, order::random));
  for (uint64_t count : asked.counts)
    for (const contender<Key> &c : all)
      add_measured(asked, found, c, count, order::random);
}

/* The default, or the algorithm that was asked for. */
template <typename Key>
void measure_orders(const options &asked, results &found, std::vector<order> kinds)
{
  for (order kind : kinds) {
    std::vector<contender<Key>> all = peers<Key>();
    all.push_back(ours<Key>(algorithms(asked)[0], kind));
    for (const contender<Key> &c : all)
      add_measured(asked, found, c, asked.ordered, kind);
  }
}

} // namespace

void measure_pairs(const options &asked, results &found)
{
  print_pairs_head("Pairs");
  measure_key<uint32_t>(asked, found);
  measure_key<uint64_t>(asked, found);
  measure_key<unsigned __int128>(asked, found);
  if (asked.ordered == 0) return;
  const std::vector<order> kinds = {order::sorted, order::reversed, order::nearly, order::few,
                                    order::saws,   order::organ,    order::equal,  order::zipf,
                                    order::holes,  order::repeats,  order::banks};
  measure_orders<uint32_t>(asked, found, kinds);
  measure_orders<uint64_t>(asked, found, kinds);
  measure_orders<unsigned __int128>(asked, found, kinds);
  measure_orders<uint64_t>(asked, found, {order::bits36});
}

} // namespace bench
