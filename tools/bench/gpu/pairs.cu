#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "contenders.cuh"

namespace bench
{

namespace
{

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

/* New keys in each run. */
template <typename Key> trial<Key> trial_of(const workload &load)
{
  const auto from = [=](unsigned run) { return make_input(mix(run) ^ load.count, load); };
  return {"pairs",
          [=](const pair_buffers<Key> &at, unsigned run, bool needs_indices) {
            fill_pairs(at.keys[0], needs_indices ? at.indices[0] : nullptr, load.count, from(run));
          },
          [=](const pair_buffers<Key> &at, unsigned run, unsigned result) {
            verify(at, result, load.count, from(run), run == 0);
          }};
}

template <typename Key>
void measure_one(const options &asked, results &found, const contender<Key> &c,
                 const workload &load)
{
  add_measured(asked, found, c, load, trial_of<Key>(load));
}

template <typename Key> void measure_key(const options &asked, results &found, const char *key)
{
  std::vector<contender<Key>> all = peers<Key>();
  all.push_back(copy<Key>());
  for (const device_algorithm *algorithm : algorithms(asked))
    all.push_back(ours<Key>(algorithm));
  for (uint64_t count : asked.counts)
    for (const contender<Key> &c : all)
      measure_one(asked, found, c, {key, 8 * sizeof(Key), order::random, count});
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
        measure_one(asked, found, c, {key, bits, kind, count});
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
