/* keys.h - keys that are a function of their position, so that a result can be checked without the
 * input. For host and device. */
#ifndef BENCH_KEYS_H
#define BENCH_KEYS_H

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define BENCH_BOTH __host__ __device__
#else
#define BENCH_BOTH
#endif

namespace bench
{

__extension__ using wide_key = unsigned __int128;

/* The distribution and order of keys. */
enum class order {
  random,
  sorted,
  reversed,
  nearly,  // sorted but for 1%
  few,     // 16 values
  saws,    // ascending repeatedly
  organ,   // up and down
  equal,   // all equal
  zipf,    // frequency inversely proportional to the value
  holes,   // sorted, except for 1% that are 0, like missing values
  repeats, // random ones, a hundred times each
  cents    // the low bits of doubles k * 0.01, k random below 100,000: 32 or 36 of them look random
           // but have only 28 values, some of them adjacent
};

/* Names of orders. */
constexpr const char *order_names[] = {"random", "sorted", "reversed", "nearly",
                                       "few",    "saws",   "organ",    "equal",
                                       "zipf",   "holes",  "repeats",  "cents"};

inline const char *name_of(order kind)
{
  return order_names[static_cast<unsigned>(kind)];
}

/* splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). */
BENCH_BOTH inline uint64_t mix(uint64_t x)
{
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* A random float of [0, 1000). */
BENCH_BOTH inline float random_float(uint64_t seed, uint64_t i)
{
  return (float)(mix(seed ^ mix(i)) >> 40) * (1000.0f / (1 << 24));
}

BENCH_BOTH inline uint32_t float_bits(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

BENCH_BOTH inline uint64_t double_bits(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* The parameters of keys. With only a seed, they are random. */
struct input {
  input(uint64_t seed_, order kind_ = order::random, uint64_t count_ = 0, unsigned bits_ = 0)
      : seed(seed_), kind(kind_), count(count_), bits(bits_)
  {
  }
  uint64_t seed;
  order kind;
  uint64_t count;
  unsigned bits; // bits that vary, at least 32; 0: all
};

template <typename Key> struct random_key;

/* The code of a nonnegative float, as for a float field. */
template <> struct random_key<uint32_t> {
  BENCH_BOTH static uint32_t at(uint64_t seed, uint64_t i)
  {
    return float_bits(random_float(seed, i)) | 0x80000000u;
  }
};

template <> struct random_key<uint64_t> {
  BENCH_BOTH static uint64_t at(uint64_t seed, uint64_t i)
  {
    return mix(seed ^ mix(i));
  }
};

template <> struct random_key<wide_key> {
  BENCH_BOTH static wide_key at(uint64_t seed, uint64_t i)
  {
    const uint64_t high = mix(seed ^ mix(i));
    return (wide_key)high << 64 | mix(high);
  }
};

/* A number from 1 to 2^bits - 1, with a probability about inversely proportional to it. */
BENCH_BOTH inline uint64_t zipf(uint64_t chance, unsigned bits)
{
  const unsigned bit = (unsigned)(chance % bits);
  return ((uint64_t)1 << bit) | ((chance >> 8) & (((uint64_t)1 << bit) - 1));
}

/* Key `i` of an input, a function of `i`. 32-bit numbers become the highest of the bits that vary.
 */
template <typename Key> BENCH_BOTH Key key_at(const input &from, uint64_t i)
{
  const unsigned bits = from.bits ? from.bits : 8 * (unsigned)sizeof(Key), shift = bits - 32;
  const Key all = (Key)-1 >> (8 * sizeof(Key) - bits);
  const uint64_t chance = mix(from.seed ^ mix(i));
  switch (from.kind) {
  case order::sorted:
    return (Key)i << shift;
  case order::reversed:
    return (Key)(from.count - 1 - i) << shift;
  case order::nearly:
    return (Key)(chance % 100 ? i : (chance >> 8) % from.count) << shift;
  case order::few:
    return (Key)(chance % 16) << shift;
  case order::saws:
    return (Key)(i % 10000) << shift;
  case order::organ:
    return (Key)(i < from.count / 2 ? i : from.count - 1 - i) << shift;
  case order::equal:
    return (Key)7 << shift;
  case order::zipf:
    return (Key)zipf(chance, 24) << shift;
  case order::holes:
    return (Key)(chance % 100 ? i : 0) << shift;
  case order::repeats:
    return ((Key)mix(chance % (from.count / 100 + 1)) << (bits > 64 ? bits - 64 : 0)) & all;
  case order::cents:
    return ((Key)double_bits((double)(chance % 100000) * 0.01) << (bits > 64 ? bits - 64 : 0)) &
           all;
  default:
    return random_key<Key>::at(from.seed, i) & all;
  }
}

} // namespace bench

#endif
