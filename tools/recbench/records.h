// records.h - the records that are measured, made from a place and a rank in the sorted order. None
// has padding, so results can be compared byte by byte; the bytes outside the key tell the place,
// so an unstable sort gives other bytes.
#ifndef BENCH_RECORDS_H
#define BENCH_RECORDS_H

#include "support/random.h"

#include <cstring>

// The random number of a place.
inline uint64_t mix(uint64_t place)
{
  return random_next(&place);
}

struct Entity {
  float x, y, angle;
  int16_t sprite, padding;
  float distance;

  static constexpr const char *name = "entity";
  static constexpr const char *schema = "record: Entity\n"
                                        "size: 20\n"
                                        "fields:\n"
                                        "  - {name: x, type: float32}\n"
                                        "  - {name: y, type: float32}\n"
                                        "  - {name: angle, type: float32}\n"
                                        "  - {name: spriteIndex, type: int16}\n"
                                        "  - {name: distanceFromPlayer, type: float32}\n"
                                        "keys:\n"
                                        "  - {field: distanceFromPlayer, order: desc}\n";
  static Entity make(uint64_t rank, uint64_t place)
  {
    const auto near = static_cast<float>(0xffffff - (rank >> 40));
    return {static_cast<float>(place & 0xffffff),
            static_cast<float>(place >> 24),
            static_cast<float>(place % 360),
            static_cast<int16_t>(place & 0x7fff),
            0,
            near * (1000.0f / 0x1p24f)};
  }
  bool operator<(const Entity &other) const
  {
    return distance > other.distance;
  }
};

struct Key64 {
  uint64_t key, value;

  static constexpr const char *name = "key64";
  static constexpr const char *schema =
      "record: Key64\n"
      "fields: [{name: key, type: uint64}, {name: value, type: uint64}]\n"
      "keys: [key]\n";
  static Key64 make(uint64_t rank, uint64_t place)
  {
    return {rank, place};
  }
  bool operator<(const Key64 &other) const
  {
    return key < other.key;
  }
};

struct Key128 {
  uint64_t high, low, value[2];

  static constexpr const char *name = "key128";
  static constexpr const char *schema = "record: Key128\n"
                                        "fields:\n"
                                        "  - {name: high, type: uint64}\n"
                                        "  - {name: low, type: uint64}\n"
                                        "  - {name: value, type: uint64, count: 2}\n"
                                        "keys: [high, low]\n";
  static Key128 make(uint64_t rank, uint64_t place)
  {
    return {rank, mix(rank), {place, ~place}};
  }
  bool operator<(const Key128 &other) const
  {
    return high != other.high ? high < other.high : low < other.low;
  }
};

struct Gensort {
  unsigned char key[10], value[90];

  static constexpr const char *name = "gensort";
  static constexpr const char *schema = "record: Gensort\n"
                                        "fields:\n"
                                        "  - {name: key, type: bytes, count: 10}\n"
                                        "  - {name: value, type: bytes, count: 90}\n"
                                        "keys: [key]\n";
  static Gensort make(uint64_t rank, uint64_t place)
  {
    Gensort made;
    for (unsigned i = 0; i < 8; i++)
      made.key[i] = static_cast<unsigned char>(rank >> (56 - 8 * i));
    std::memset(made.key + 8, static_cast<int>(mix(rank) & 0xff), 2);
    std::memset(made.value, static_cast<int>(place & 0xff), sizeof made.value);
    std::memcpy(made.value, &place, sizeof place);
    return made;
  }
  bool operator<(const Gensort &other) const
  {
    return std::memcmp(key, other.key, sizeof key) < 0;
  }
};

// All of it is the key, as of a packed key and index: a rank of 48 bits, and 16 of the place.
struct Word {
  uint64_t key;

  static constexpr const char *name = "word";
  static constexpr const char *schema = "record: Word\n"
                                        "fields: [{name: key, type: uint64}]\n"
                                        "keys: [key]\n";
  static Word make(uint64_t rank, uint64_t place)
  {
    return {(rank & ~uint64_t{0xffff}) | (place & 0xffff)};
  }
  bool operator<(const Word &other) const
  {
    return key < other.key;
  }
};

#endif
