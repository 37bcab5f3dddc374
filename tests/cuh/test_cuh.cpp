/* A program that has recsort.cuh and nothing else of recsort: every sort against an independent one
 * of the C++ library, byte by byte, with ties in all inputs. In CI the emulator runs the kernels;
 * compiled by nvcc (tools/gpu-check.sh), a GPU does, and then sorts more keys, too. */
#include <recsort.cuh>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "cuh/device_array.h"
#include "support/random.h"

using recsort::order;

namespace
{

unsigned long checks;
uint64_t state = 38;

/* ---- Keys ---- */

enum contents { TIES, ALIKE, MIXED, EXTREME, CONTENTS };

template <class Key> Key key_of_bits(uint64_t low, uint64_t high)
{
  const uint64_t words[2] = {low, high};
  Key key;
  std::memcpy(&key, words, sizeof key);
  return key;
}

/* Extremes: zeros of both signs, NaNs, infinities, the least and the greatest integers. */
template <class Key> Key extreme_key()
{
  static const uint64_t tops[] = {0,     1,     2,     0x3ff, 0x7f8, 0x7fc,
                                  0x7ff, 0x800, 0x801, 0xff8, 0xffc, 0xfff};
  const uint64_t top = tops[random_below(&state, sizeof tops / sizeof *tops)] << 52;
  const uint64_t low = random_below(&state, 2) ? 0 : UINT64_MAX >> 12;
  if (sizeof(Key) == 4) return key_of_bits<Key>((top | low) >> 32, 0);
  return key_of_bits<Key>(top | low, sizeof(Key) == 16 ? top | low : 0);
}

template <class Key> std::vector<Key> keys_of(size_t count, contents how)
{
  std::vector<Key> keys(count);
  for (Key &key : keys) {
    const uint64_t low = next_random(&state), high = next_random(&state);
    key = how == TIES    ? (Key)(int)(low % 7) - (Key)3
          : how == ALIKE ? (Key)5
          : how == MIXED ? key_of_bits<Key>(low, high)
                         : extreme_key<Key>();
  }
  if (count > 2) keys[count / 2] = keys[0]; /* a tie */
  return keys;
}

/* ---- The oracle ---- */

__extension__ typedef unsigned __int128 uint128;

/* A number in the order of keys: not a word of it is recsort's. */
template <class Key> uint128 rank_of(Key key, order way)
{
  const unsigned width = 8 * sizeof(Key);
  const uint128 all = width == 128 ? ~(uint128)0 : ((uint128)1 << width) - 1, sign = all / 2 + 1;
  uint128 bits = 0;
  std::memcpy(&bits, &key, sizeof key);
  if constexpr (std::is_floating_point_v<Key>) {
    if (key != key) return all;
    if (key == 0) bits = 0;
    bits = bits & sign ? all - bits : bits + sign;
  } else if ((Key)-1 < (Key)0) {
    bits = (bits + sign) & all;
  }
  return way == order::descending ? all - bits : bits;
}

template <class Key>
std::vector<uint32_t> order_of(const std::vector<Key> &keys, order way, unsigned first_bit,
                               unsigned bits)
{
  std::vector<uint32_t> places(keys.size());
  std::iota(places.begin(), places.end(), 0);
  const unsigned width = 8 * sizeof(Key), used = bits ? bits : width - first_bit;
  const auto rank = [&](uint32_t place) {
    const uint128 shifted = rank_of(keys[place], way) >> first_bit;
    return used == 128 ? shifted : shifted & (((uint128)1 << used) - 1);
  };
  std::stable_sort(places.begin(), places.end(),
                   [&](uint32_t a, uint32_t b) { return rank(a) < rank(b); });
  return places;
}

/* ---- Checks ---- */

template <class Element>
void expect(const char *what, const std::vector<Element> &from, const std::vector<uint32_t> &places,
            const std::vector<Element> &found)
{
  checks++;
  for (size_t i = 0; i < places.size(); i++)
    if (std::memcmp(&found[i], &from[places[i]], sizeof(Element)) != 0) {
      std::printf("%s: element %zu of %zu is wrong\n", what, i, places.size());
      std::exit(1);
    }
}

void expect_status(const char *what, cudaError_t found, cudaError_t wanted)
{
  checks++;
  if (found == wanted) return;
  std::printf("%s: error %d in place of %d\n", what, (int)found, (int)wanted);
  std::exit(1);
}

struct fat {
  unsigned char bytes[12];
};

template <class Value> Value value_of(uint64_t random)
{
  Value value;
  std::memset(&value, 0, sizeof value);
  std::memcpy(&value, &random, std::min(sizeof value, sizeof random));
  return value;
}

struct how {
  contents keys;
  bool keys_in_place, values_in_place;
  unsigned first_bit, bits;
};

template <order way, class Key, class Value> void check_pairs(size_t count, how with)
{
  const std::vector<Key> keys = keys_of<Key>(count, with.keys);
  std::vector<Value> values(count);
  for (Value &value : values)
    value = value_of<Value>(next_random(&state));
  const device_array<Key> keys_in(keys), keys_apart(count);
  const device_array<Value> values_in(values), values_apart(count);
  Key *const keys_out = with.keys_in_place ? keys_in.data : keys_apart.data;
  Value *const values_out = with.values_in_place ? values_in.data : values_apart.data;
  const auto sort = [&](void *workspace, size_t &bytes) {
    return recsort::sort_pairs<way>(workspace, bytes, keys_in.data, keys_out, values_in.data,
                                    values_out, count, nullptr, with.first_bit, with.bits);
  };
  run("sort_pairs", sort);
  const std::vector<uint32_t> places = order_of(keys, way, with.first_bit, with.bits);
  expect("keys of pairs", keys, places, with.keys_in_place ? keys_in.read() : keys_apart.read());
  expect("values of pairs", values, places,
         with.values_in_place ? values_in.read() : values_apart.read());
  if (!with.keys_in_place) expect("keys that stay", keys, identity(count), keys_in.read());
  if (!with.values_in_place) expect("values that stay", values, identity(count), values_in.read());
}

/* Keys alone; then positions alone, without sorted keys. */
template <order way, class Key> void check_keys(size_t count, how with)
{
  const std::vector<Key> keys = keys_of<Key>(count, with.keys);
  const device_array<Key> in(keys), apart(count);
  Key *const out = with.keys_in_place ? in.data : apart.data;
  const device_array<uint64_t> positions(count);
  run("positions", [&](void *workspace, size_t &bytes) {
    return recsort::sort_pairs<way>(workspace, bytes, in.data, nullptr, nullptr, positions.data,
                                    count, nullptr, with.first_bit, with.bits);
  });
  run("sort_keys", [&](void *workspace, size_t &bytes) {
    return recsort::sort_keys<way>(workspace, bytes, in.data, out, count, nullptr, with.first_bit,
                                   with.bits);
  });
  const std::vector<uint32_t> places = order_of(keys, way, with.first_bit, with.bits);
  expect("keys alone", keys, places, with.keys_in_place ? in.read() : apart.read());
  std::vector<uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  expect("positions", numbers, places, positions.read());
}

/* All kinds of contents, in place or not, of all bits and some. */
template <class Key, class Value> void check_type(size_t count)
{
  const unsigned width = 8 * sizeof(Key);
  for (unsigned c = 0; c < CONTENTS; c++) {
    const bool one = c % 2 == 0, other = c / 2 % 2 == 0;
    const unsigned first = c == MIXED ? 3 : 0, bits = c == MIXED ? width - 9 : 0;
    check_pairs<order::ascending, Key, Value>(count, {(contents)c, one, other, 0, 0});
    check_pairs<order::descending, Key, Value>(count, {(contents)c, !one, other, first, bits});
    check_keys<order::descending, Key>(count, {(contents)c, one, false, 0, 0});
    check_keys<order::ascending, Key>(count, {(contents)c, !one, false, first, bits});
  }
}

void check_types(size_t count)
{
  check_type<uint32_t, uint32_t>(count);
  check_type<int32_t, fat>(count);
  check_type<float, uint64_t>(count);
  check_type<uint64_t, uint32_t>(count);
  check_type<int64_t, unsigned char>(count);
  check_type<double, double>(count);
}

/* ---- Wrong calls ---- */

void check_errors()
{
  enum { COUNT = 1000 };
  const std::vector<uint32_t> keys = keys_of<uint32_t>(COUNT, MIXED);
  const device_array<uint32_t> in(keys), out(COUNT);
  size_t bytes = 0, less;
  const auto sort = [&](void *workspace, size_t &given, size_t count, unsigned first,
                        unsigned bits) {
    return recsort::sort_keys(workspace, given, in.data, out.data, count, nullptr, first, bits);
  };
  expect_status("bytes", sort(nullptr, bytes, COUNT, 0, 0), cudaSuccess);
  const device_array<char> workspace(bytes + 256);
  less = bytes - 1;
  expect_status("too small", sort(workspace.data, less, COUNT, 0, 0), cudaErrorInvalidValue);
  expect_status("not aligned", sort(workspace.data + 4, bytes, COUNT, 0, 0), cudaErrorInvalidValue);
  expect_status("no such bit", sort(workspace.data, bytes, COUNT, 32, 0), cudaErrorInvalidValue);
  expect_status("too many bits", sort(workspace.data, bytes, COUNT, 4, 29), cudaErrorInvalidValue);
  expect_status("too many keys", sort(nullptr, less, ((size_t)1 << 32) + 1, 0, 0),
                cudaErrorInvalidValue);
  out.expect_poison();
  less = 0;
  expect_status("no keys", sort(nullptr, less, 0, 0, 0), cudaSuccess);
  if (less == 0) std::exit(1); /* memory of 0 bytes would be a null workspace */
  expect_status("no keys, sorted", sort(workspace.data, less, 0, 0, 0), cudaSuccess);
  out.expect_poison();
  checks++;
}

} // namespace

int main(int argc, char **argv)
{
#ifdef __CUDACC__
  const bool many = argc < 2 || std::strcmp(argv[1], "--few") != 0;
#else
  const bool many = argc > 1 && std::strcmp(argv[1], "--many") == 0;
#endif
  for (const size_t count : {0, 1, 2, 3, 257, 3000})
    check_types(count);
  check_types(20000); /* padded buckets */
  if (many)
    for (const size_t count : {1 << 17, 1000003, 3000001, (1 << 24) + 1})
      check_types(count);
  check_errors();
  std::printf("%lu checks\n", checks);
  return 0;
}
