/* The inputs of recbench-gpu are what their names say. They are made on the host here, by the code
 * that makes them on the device. */
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "bench/gpu/keys.h"

namespace
{

using namespace bench;

int failures = 0;

void expect(bool good, const char *what)
{
  if (good) return;
  std::printf("FAIL %s\n", what);
  failures++;
}

template <typename Key> std::vector<Key> keys_of(order kind, uint64_t count, unsigned bits)
{
  const input from(mix(1) ^ count, kind, count, bits);
  std::vector<Key> keys(count);
  for (uint64_t i = 0; i < count; i++)
    keys[i] = key_at<Key>(from, i);
  return keys;
}

template <typename Key> size_t distinct(std::vector<Key> keys)
{
  std::sort(keys.begin(), keys.end());
  return (size_t)(std::unique(keys.begin(), keys.end()) - keys.begin());
}

/* All possible values, ascending, found without key_at: the low `low_bits` of k * 0.01 for every
 * k. */
std::vector<uint64_t> all_cents(unsigned low_bits)
{
  std::vector<uint64_t> all;
  for (unsigned k = 0; k < 100000; k++) {
    const double price = k * 0.01;
    uint64_t bits;
    std::memcpy(&bits, &price, sizeof bits);
    all.push_back(bits << (64 - low_bits) >> (64 - low_bits));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/* Each possible value occurs: the chance that one is missing among 2^21 keys is 10^-4. Keys of 128
 * bits have the value in their high bits. */
template <typename Key> void test_cents(unsigned bits, const char *what)
{
  const std::vector<uint64_t> all = all_cents(bits > 64 ? 64 : bits);
  std::vector<Key> keys = keys_of<Key>(order::cents, 1 << 21, bits);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  bool same = keys.size() == all.size();
  for (size_t i = 0; same && i < all.size(); i++)
    same = keys[i] == (Key)all[i] << (bits > 64 ? bits - 64 : 0);
  expect(same, what);
}

/* The property that makes it hard to split by samples: except for two pairs of neighbours, every
 * value makes up at least one key in thirty. */
void test_cents_crowd()
{
  const uint64_t count = 1 << 20;
  std::vector<uint32_t> keys = keys_of<uint32_t>(order::cents, count, 32);
  expect(distinct(keys) == 28, "28 values");
  std::sort(keys.begin(), keys.end());
  unsigned large = 0;
  for (auto at = keys.begin(), next = at; at != keys.end(); at = next) {
    next = std::upper_bound(at, keys.end(), *at);
    large += (uint64_t)(next - at) > count / 30;
  }
  expect(large == 24, "24 of them come often");
  expect(std::binary_search(keys.begin(), keys.end(), 0x66666666u) &&
             std::binary_search(keys.begin(), keys.end(), 0x66666667u),
         "some are next to each other");
}

void test_bits()
{
  uint64_t any = 0;
  for (uint64_t key : keys_of<uint64_t>(order::random, 1000, 36))
    any |= key;
  expect(any == (UINT64_C(1) << 36) - 1, "36 random bits");
  const auto sorted = keys_of<uint64_t>(order::sorted, 1000, 36);
  expect(sorted[1] == 16 && std::is_sorted(sorted.begin(), sorted.end()), "36 sorted bits");
  expect(keys_of<wide_key>(order::sorted, 2, 128)[1] == (wide_key)1 << 96, "128 sorted bits");
}

/* A property of each other order. */
void test_orders()
{
  const uint64_t count = 100000;
  const auto make = [=](order kind) { return keys_of<uint32_t>(kind, count, 32); };
  const auto descents = [&](order kind) {
    const std::vector<uint32_t> keys = make(kind);
    uint64_t found = 0;
    for (uint64_t i = 1; i < count; i++)
      found += keys[i] < keys[i - 1];
    return found;
  };
  expect(descents(order::sorted) == 0, "sorted");
  expect(descents(order::reversed) == count - 1, "reversed");
  expect(descents(order::saws) == 9, "saws");
  expect(descents(order::organ) == count / 2 - 1, "organ");
  expect(descents(order::nearly) > 500 && descents(order::nearly) < 1500, "nearly");
  expect(descents(order::holes) > 500 && descents(order::holes) < 1500, "holes");
  expect(descents(order::random) > 49000 && descents(order::random) < 51000, "random");
  expect(distinct(make(order::few)) == 16, "few");
  expect(distinct(make(order::equal)) == 1, "equal");
  expect(distinct(make(order::repeats)) == count / 100 + 1, "repeats");
  expect(std::string_view(name_of(order::cents)) == "cents", "names");
}

} // namespace

int main()
{
  test_cents<uint32_t>(32, "cents of 32 bits");
  test_cents<uint64_t>(36, "cents of 36 bits");
  test_cents<uint64_t>(64, "cents of 64 bits");
  test_cents<wide_key>(128, "cents of 128 bits");
  test_cents_crowd();
  test_bits();
  test_orders();
  return failures != 0;
}
