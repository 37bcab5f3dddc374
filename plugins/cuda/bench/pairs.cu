#include <algorithm>
#include <functional>
#include <memory>
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

/* A workload: keys of `bits` bits, in 32, 64 or 128. */
struct workload {
  const char *key;
  unsigned bits;
  order kind;
  uint64_t count;
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
    return cub_pairs{8 * sizeof(Key),
                     load.bits,
                     {at.keys[0], at.keys[1]},
                     {at.indices[0], at.indices[1]},
                     (uint32_t)load.count};
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

/* Checks the order on the CPU, for counts that do not take long. */
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

/* The ranks of order::banks, on the host and the device. */
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

/* Caches the ranks for the next run with this count. */
const bank_ranks &ranks_of(uint64_t count)
{
  static std::unique_ptr<bank_ranks> kept;
  if (!kept || kept->here.size() != count) kept = std::make_unique<bank_ranks>(count);
  return *kept;
}

input make_input(uint64_t seed, const workload &load)
{
  input made(seed, load.kind, load.count, load.bits);
  if (load.kind != order::banks) return made;
  made.ranks = ranks_of(load.count).there.as<uint32_t>();
  made.host_ranks = ranks_of(load.count).here.data();
  return made;
}

template <typename Key>
figure measure(const options &asked, const contender<Key> &c, const workload &load)
{
  constexpr unsigned least_runs = 5, most_runs = 31, warm_ups = 2;
  const uint64_t pairs_bytes = load.count * (sizeof(Key) + 4), extra_bytes = c.extra_bytes(load);
  const device_job job = plan_job<Key>(load);
  memory block(device_bytes(&job, extra_bytes + 1));
  const pair_buffers<Key> at(device_divide(&job, block.as<void>(), extra_bytes));
  figure made = {"pairs",
                 c.method,
                 c.algorithm,
                 load.key,
                 load.kind == order::random ? "" : name_of(load.kind),
                 load.count,
                 0,
                 extra_bytes + (c.in_place ? 0 : pairs_bytes),
                 {}};
  stopwatch watch;
  std::vector<double> times;
  double total = 0;
  for (unsigned run = 0; run < warm_ups + most_runs; run++) {
    const input from = make_input(mix(run) ^ load.count, load);
    block.poison(nullptr);
    fill_pairs(at.keys[0], c.needs_indices ? at.indices[0] : nullptr, load.count, from);
    keep_busy(nullptr);
    watch.start(nullptr);
    const unsigned result = c.sort(at, load);
    watch.stop(nullptr);
    const double seconds = watch.seconds();
    if (c.sorts) verify(at, result, load.count, from, run == 0);
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
                  const workload &load)
{
  try {
    add_figure(found, measure(asked, c, load));
  } catch (const std::runtime_error &error) {
    add_failure(found, c.method + " " + c.algorithm,
                std::string(load.key) + " " + name_of(load.kind) + ", " +
                    std::to_string(load.count) + " pairs: " + error.what());
  }
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

template <typename Key> void measure_key(const options &asked, results &found, const char *key)
{
  std::vector<contender<Key>> all = peers<Key>();
  all.push_back(copy<Key>());
  for (const device_algorithm *algorithm : algorithms(asked))
    all.push_back(ours<Key>(algorithm));
  for (uint64_t count : asked.counts)
    for (const contender<Key> &c : all)
      add_measured(asked, found, c, {key, 8 * sizeof(Key), order::random, count});
}

/* Measures the default or the chosen algorithm, in the `usual` orders unless others were chosen. */
template <typename Key>
void measure_orders(const options &asked, results &found, const char *key, unsigned bits,
                    const std::vector<order> &usual)
{
  std::vector<contender<Key>> all = peers<Key>();
  all.push_back(ours<Key>(algorithms(asked)[0]));
  for (order kind : asked.orders.empty() ? usual : asked.orders)
    for (uint64_t count : asked.ordered)
      for (const contender<Key> &c : all)
        add_measured(asked, found, c, {key, bits, kind, count});
}

} // namespace

void measure_pairs(const options &asked, results &found)
{
  print_pairs_head("Pairs");
  measure_key<uint32_t>(asked, found, "f32");
  measure_key<uint64_t>(asked, found, "u64");
  measure_key<wide_key>(asked, found, "u128");
  const std::vector<order> usual = {order::sorted, order::reversed, order::nearly, order::few,
                                    order::saws,   order::organ,    order::equal,  order::zipf,
                                    order::holes,  order::repeats,  order::banks,  order::cents};
  measure_orders<uint32_t>(asked, found, "f32", 32, usual);
  measure_orders<uint64_t>(asked, found, "u64", 64, usual);
  measure_orders<wide_key>(asked, found, "u128", 128, usual);
  measure_orders<uint64_t>(asked, found, "u36", 36, {order::random, order::cents}); // in 64 bits
}

} // namespace bench
