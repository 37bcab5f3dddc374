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

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

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

/* The order of numbers of a type that holds `used` bits of a rank. */
template <class Rank, class Key>
std::vector<uint32_t> order_by(const std::vector<Key> &keys, order way, unsigned first_bit,
                               unsigned used)
{
  struct ranked {
    Rank rank;
    uint32_t place;
  };
  std::vector<ranked> all(keys.size());
  std::vector<uint32_t> places;
  for (uint32_t i = 0; i < keys.size(); i++) {
    const uint128 shifted = rank_of(keys[i], way) >> first_bit;
    all[i] = {(Rank)(used == 128 ? shifted : shifted & (((uint128)1 << used) - 1)), i};
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const ranked &a, const ranked &b) { return a.rank < b.rank; });
  for (const ranked &each : all)
    places.push_back(each.place);
  return places;
}

template <class Key>
std::vector<uint32_t> order_of(const std::vector<Key> &keys, order way, unsigned first_bit,
                               unsigned bits)
{
  const unsigned used = bits ? bits : 8 * sizeof(Key) - first_bit;
  return used <= 64 ? order_by<uint64_t>(keys, way, first_bit, used)
                    : order_by<uint128>(keys, way, first_bit, used);
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
                                    values_out, count, stream, with.first_bit, with.bits);
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
                                    count, stream, with.first_bit, with.bits);
  });
  run("sort_keys", [&](void *workspace, size_t &bytes) {
    return recsort::sort_keys<way>(workspace, bytes, in.data, out, count, stream, with.first_bit,
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
  check_pairs<order::descending, uint32_t, uint32_t>(count, {MIXED, true, false, 7, 0});
  check_keys<order::ascending, int64_t>(count, {MIXED, false, false, 9, 0});
  check_pairs<order::ascending, uint128, uint32_t>(count, {MIXED, false, true, 5, 120});
  check_pairs<order::descending, int128, uint32_t>(count, {EXTREME, true, false, 0, 0});
  check_keys<order::ascending, int128>(count, {EXTREME, false, false, 60, 9});
}

/* ---- Records ---- */

enum class team : int16_t { RED = -2, GREEN, BLUE = 300 };

struct position {
  float x, y;
};

struct entity {
  uint32_t serial;
  position at;
  team side;
  bool visible;
  float distance;
};

struct wide_entity {
  double mass;
  int64_t born;
  uint32_t serial;
};

std::vector<entity> entities_of(size_t count)
{
  static const team teams[] = {team::RED, team::GREEN, team::BLUE};
  const std::vector<float> distances = keys_of<float>(count, count % 2 ? TIES : EXTREME);
  std::vector<entity> made(count);
  for (size_t i = 0; i < count; i++) {
    std::memset((void *)&made[i], 0, sizeof made[i]); /* the padding, too */
    made[i].serial = (uint32_t)i;
    made[i].at = {(float)random_below(&state, 3), (float)random_below(&state, 2)};
    made[i].side = teams[random_below(&state, 3)];
    made[i].visible = random_below(&state, 2);
    made[i].distance = distances[i];
  }
  return made;
}

/* Sorts with `keys`, apart or in place. `less` is what they mean. */
template <class Record, class Less, class... Keys>
void check_records(const char *what, const std::vector<Record> &records, bool in_place,
                   const Less &less, const Keys &...keys)
{
  const size_t count = records.size();
  const device_array<Record> in(records), apart(count);
  Record *const out = in_place ? in.data : apart.data;
  run(what, [&](void *workspace, size_t &bytes) {
    return recsort::sort_records(workspace, bytes, in.data, out, count, stream, keys...);
  });
  std::vector<uint32_t> places = identity(count);
  std::stable_sort(places.begin(), places.end(),
                   [&](uint32_t a, uint32_t b) { return less(records[a], records[b]); });
  expect(what, records, places, in_place ? in.read() : apart.read());
  if (!in_place) expect("records that stay", records, identity(count), in.read());
}

void check_all_records(size_t count)
{
  using recsort::asc;
  using recsort::desc;
  const std::vector<entity> some = entities_of(count);
  const auto further = [](const entity &a, const entity &b) {
    return rank_of(a.distance, order::descending) < rank_of(b.distance, order::descending);
  };
  check_records("records by a float", some, false, further, desc(&entity::distance));
  check_records("records in place", some, true, further, desc(&entity::distance));
  check_records(
      "records by two keys", some, count % 2 == 0,
      [&](const entity &a, const entity &b) {
        return a.side != b.side ? a.side < b.side : further(a, b);
      },
      asc(&entity::side), desc(&entity::distance));
  check_records(
      "records by 33 bits", some, count % 2 == 1,
      [&](const entity &a, const entity &b) {
        return a.visible != b.visible ? b.visible : further(a, b);
      },
      asc(&entity::visible), desc(&entity::distance));
  check_records(
      "records by 64 bits", some, count % 2 == 0,
      [](const entity &a, const entity &b) {
        return a.at.y != b.at.y ? a.at.y > b.at.y : a.serial > b.serial;
      },
      desc(&entity::at, &position::y), desc(&entity::serial));
  check_records(
      "records by a bool, a member of a member and a number", some, count % 2 == 1,
      [](const entity &a, const entity &b) {
        if (a.visible != b.visible) return a.visible;
        return a.at.x != b.at.x ? a.at.x < b.at.x : a.serial > b.serial;
      },
      desc(&entity::visible), asc(&entity::at, &position::x), desc(&entity::serial));
  std::vector<wide_entity> wide(count);
  for (uint32_t i = 0; i < count; i++)
    wide[i] = {(double)random_below(&state, 5), (int64_t)random_below(&state, 9) - 4, i};
  for (wide_entity &each : wide) /* the padding */
    std::memset((char *)&each + offsetof(wide_entity, serial) + 4, 0,
                sizeof each - offsetof(wide_entity, serial) - 4);
  check_records(
      "records by 128 bits", wide, count % 2 == 0,
      [](const wide_entity &a, const wide_entity &b) {
        return a.mass != b.mass ? a.mass > b.mass : a.born < b.born;
      },
      desc(&wide_entity::mass), asc(&wide_entity::born));
}

/* ---- Merges ---- */

template <order way, class Key, class Value>
void check_merge(size_t count, size_t runs, bool in_place)
{
  std::vector<size_t> bounds(runs + 1);
  for (size_t r = 1; r < runs; r++)
    bounds[r] = random_below(&state, count + 1);
  bounds[runs] = count;
  std::sort(bounds.begin(), bounds.end());
  for (size_t r = 1; r + 1 < runs; r += 3) /* empty runs */
    bounds[r] = bounds[r + 1];
  std::vector<Key> keys = keys_of<Key>(count, count % 2 ? TIES : EXTREME);
  for (size_t r = 0; r < runs; r++)
    std::stable_sort(keys.data() + bounds[r], keys.data() + bounds[r + 1],
                     [](Key a, Key b) { return rank_of(a, way) < rank_of(b, way); });
  std::vector<Value> values(count);
  for (Value &value : values)
    value = value_of<Value>(next_random(&state));
  const device_array<Key> keys_in(keys), keys_apart(count);
  const device_array<Value> values_in(values), values_apart(count);
  Key *const keys_out = in_place ? keys_in.data : keys_apart.data;
  Value *const values_out = in_place ? values_in.data : values_apart.data;
  run("merge", [&](void *workspace, size_t &bytes) {
    return recsort::merge<way>(workspace, bytes, keys_in.data, keys_out, values_in.data, values_out,
                               bounds.data(), runs, stream);
  });
  const std::vector<uint32_t> places = order_of(keys, way, 0, 0);
  expect("merged keys", keys, places, in_place ? keys_in.read() : keys_apart.read());
  expect("merged values", values, places, in_place ? values_in.read() : values_apart.read());
}

void check_merges(size_t count)
{
  check_merge<order::ascending, uint32_t, uint32_t>(count, 1, false);
  check_merge<order::descending, float, fat>(count, 2, false);
  check_merge<order::ascending, float, uint64_t>(count, 5, true);
  check_merge<order::descending, uint64_t, uint32_t>(count, 2, true);
  check_merge<order::ascending, int64_t, uint32_t>(count, 9, false);
  check_merge<order::ascending, uint32_t, uint32_t>(count, 200, true);
}

/* ---- Segments ---- */

/* Offsets of segments of at most `longest` elements. The first and the last elements are in none.
 */
template <class Offset> std::vector<Offset> offsets_of(size_t count, size_t longest)
{
  std::vector<Offset> offsets = {(Offset)std::min<size_t>(count, 3)};
  while (offsets.back() + longest + 2 < count)
    offsets.push_back(offsets.back() + (Offset)random_below(&state, longest + 1));
  return offsets;
}

/* The order of each segment, and the elements in none, which stay. */
template <class Key, class Offset>
std::vector<uint32_t> order_of_segments(const std::vector<Key> &keys, order way,
                                        const std::vector<Offset> &offsets)
{
  std::vector<uint32_t> places = identity(keys.size());
  for (size_t s = 0; s + 1 < offsets.size(); s++)
    std::stable_sort(
        places.data() + offsets[s], places.data() + offsets[s + 1],
        [&](uint32_t a, uint32_t b) { return rank_of(keys[a], way) < rank_of(keys[b], way); });
  return places;
}

template <order way, class Key, class Value, class Offset>
void check_segments(size_t count, size_t longest, bool told, bool in_place)
{
  const std::vector<Offset> offsets = offsets_of<Offset>(count, longest);
  const std::vector<Key> keys = keys_of<Key>(count, count % 2 ? TIES : EXTREME);
  std::vector<Value> values(count);
  for (Value &value : values)
    value = value_of<Value>(next_random(&state));
  const device_array<Key> keys_in(keys), keys_apart(count);
  const device_array<Value> values_in(values), values_apart(count);
  const device_array<Offset> bounds(offsets);
  const device_array<uint32_t> positions(count);
  const device_array<Key> keys_alone(count);
  Key *const keys_out = in_place ? keys_in.data : keys_apart.data;
  Value *const values_out = in_place ? values_in.data : values_apart.data;
  const size_t segments = offsets.size() - 1, most = told ? longest : 0;
  run("segmented_sort_keys", [&](void *workspace, size_t &bytes) {
    return recsort::segmented_sort_keys<way>(workspace, bytes, keys_in.data, keys_alone.data, count,
                                             bounds.data, segments, stream, most);
  });
  run("positions in segments", [&](void *workspace, size_t &bytes) {
    return recsort::segmented_sort_pairs<way>(workspace, bytes, keys_in.data, nullptr, nullptr,
                                              positions.data, count, bounds.data, segments, stream,
                                              most);
  });
  run("segmented_sort_pairs", [&](void *workspace, size_t &bytes) {
    return recsort::segmented_sort_pairs<way>(workspace, bytes, keys_in.data, keys_out,
                                              values_in.data, values_out, count, bounds.data,
                                              segments, stream, most);
  });
  const std::vector<uint32_t> places = order_of_segments(keys, way, offsets);
  expect("keys alone in segments", keys, places, keys_alone.read());
  expect("keys of segments", keys, places, in_place ? keys_in.read() : keys_apart.read());
  expect("values of segments", values, places, in_place ? values_in.read() : values_apart.read());
  expect("positions in segments", identity(count), places, positions.read());
}

void check_all_segments(size_t count)
{
  for (const size_t longest : {(size_t)1, (size_t)20, (size_t)300, (size_t)17000, count / 3})
    for (const bool told : {true, false}) {
      check_segments<order::ascending, float, uint32_t, uint32_t>(count, longest, told, false);
      check_segments<order::descending, uint32_t, fat, uint64_t>(count, longest, told, true);
      check_segments<order::descending, double, uint64_t, uint32_t>(count, longest, told, true);
      check_segments<order::ascending, int64_t, unsigned char, uint64_t>(count, longest, told,
                                                                         false);
    }
}

/* A segment that is longer than was said: each segment is sorted, or as it was. */
void check_overlong()
{
  const std::vector<uint32_t> keys = keys_of<uint32_t>(9000, MIXED),
                              offsets = {0, 10, 8000, 8020, 9000};
  const device_array<uint32_t> in(keys), out(keys.size()), values(keys.size()), bounds(offsets);
  run("overlong", [&](void *workspace, size_t &bytes) {
    return recsort::segmented_sort_pairs(workspace, bytes, in.data, out.data, nullptr, values.data,
                                         keys.size(), bounds.data, offsets.size() - 1, stream, 20);
  });
  const std::vector<uint32_t> found = out.read(),
                              places = order_of_segments(keys, order::ascending, offsets);
  for (size_t s = 0; s + 1 < offsets.size(); s++) {
    bool stays = true, sorted = true;
    for (size_t i = offsets[s]; i < offsets[s + 1]; i++) {
      stays = stays && found[i] == keys[i];
      sorted = sorted && found[i] == keys[places[i]];
    }
    checks++;
    if (stays || sorted) continue;
    std::printf("an overlong segment spoils others\n");
    std::exit(1);
  }
}

/* ---- Top ---- */

template <order way, class Key, class Value>
void check_top(size_t count, size_t most, contents how, bool in_place)
{
  const std::vector<Key> keys = keys_of<Key>(count, how);
  std::vector<Value> values(count);
  for (Value &value : values)
    value = value_of<Value>(next_random(&state));
  const device_array<Key> keys_in(keys), keys_apart(most);
  const device_array<Value> values_in(values), values_apart(most);
  const device_array<uint32_t> positions(most);
  run("positions of the top", [&](void *workspace, size_t &bytes) {
    return recsort::top<way>(workspace, bytes, keys_in.data, nullptr, nullptr, positions.data,
                             count, most, stream);
  });
  Key *const keys_out = in_place ? keys_in.data : keys_apart.data;
  Value *const values_out = in_place ? values_in.data : values_apart.data;
  run("top", [&](void *workspace, size_t &bytes) {
    return recsort::top<way>(workspace, bytes, keys_in.data, keys_out, values_in.data, values_out,
                             count, most, stream);
  });
  std::vector<uint32_t> places = order_of(keys, way, 0, 0);
  places.resize(most);
  expect("keys of the top", keys, places, in_place ? keys_in.read() : keys_apart.read());
  expect("values of the top", values, places, in_place ? values_in.read() : values_apart.read());
  expect("positions of the top", identity(count), places, positions.read());
}

void check_tops(size_t count)
{
  for (const size_t most : {(size_t)0, (size_t)1, std::min<size_t>(count, 13), count}) {
    check_top<order::ascending, float, uint32_t>(count, std::min(most, count), EXTREME, false);
    check_top<order::descending, uint32_t, fat>(count, std::min(most, count), MIXED, true);
    check_top<order::descending, int64_t, uint64_t>(count, std::min(most, count), TIES, false);
    check_top<order::ascending, double, double>(count, std::min(most, count), MIXED, true);
  }
}

/* ---- The top of segments ---- */

enum arrangement { AS_THEY_ARE, ASCENDING, DESCENDING, ARRANGEMENTS };

/* Segments of many lengths: none, one, a few, and one of all that is left at `longest`. */
template <class Offset> std::vector<Offset> ragged_offsets(size_t count, size_t longest)
{
  std::vector<Offset> offsets = {(Offset)std::min<size_t>(count, 3)};
  while (offsets.back() + longest + 2 < count) {
    const size_t few = std::min<size_t>(longest, 40);
    const size_t lengths[] = {0, 1, random_below(&state, few + 1),
                              random_below(&state, longest + 1), longest};
    offsets.push_back(offsets.back() + (Offset)lengths[random_below(&state, 5)]);
  }
  return offsets;
}

/* What has to be in an array of `most` elements for each segment, where the others stay. */
template <class Element, class Offset>
void expect_tops(const char *what, const std::vector<Element> &from,
                 const std::vector<uint32_t> &places, const std::vector<Offset> &offsets,
                 size_t most, const std::vector<Element> &found)
{
  checks++;
  unsigned char stays[sizeof(Element)];
  std::memset(stays, device_array<Element>::POISON, sizeof stays);
  for (size_t s = 0; s + 1 < offsets.size(); s++)
    for (size_t i = 0; i < most; i++) {
      const bool written = i < (size_t)(offsets[s + 1] - offsets[s]);
      const void *const wanted = written ? (const void *)&from[places[offsets[s] + i]] : stays;
      if (std::memcmp(&found[s * most + i], wanted, sizeof(Element)) == 0) continue;
      std::printf("%s: element %zu of %zu of segment %zu is wrong\n", what, i, most, s);
      std::exit(1);
    }
}

template <order way, class Key, class Value, class Offset>
void check_segmented_top(const std::vector<Offset> &offsets, size_t count, size_t most,
                         contents how, arrangement arranged)
{
  std::vector<Key> keys = keys_of<Key>(count, how);
  if (arranged != AS_THEY_ARE)
    std::stable_sort(keys.begin(), keys.end(), [&](Key a, Key b) {
      const order by = arranged == ASCENDING ? order::ascending : order::descending;
      return rank_of(a, by) < rank_of(b, by);
    });
  std::vector<Value> values(count);
  for (Value &value : values)
    value = value_of<Value>(next_random(&state));
  const size_t segments = offsets.size() - 1;
  const device_array<Key> keys_in(keys), keys_out(segments * most);
  const device_array<Value> values_in(values), values_out(segments * most);
  const device_array<Offset> bounds(offsets);
  const device_array<uint32_t> positions(segments * most);
  run("positions of the tops of segments", [&](void *workspace, size_t &bytes) {
    return recsort::segmented_top<way>(workspace, bytes, keys_in.data, nullptr, nullptr,
                                       positions.data, count, bounds.data, segments, most, stream);
  });
  run("segmented_top", [&](void *workspace, size_t &bytes) {
    return recsort::segmented_top<way>(workspace, bytes, keys_in.data, keys_out.data,
                                       values_in.data, values_out.data, count, bounds.data,
                                       segments, most, stream);
  });
  const std::vector<uint32_t> places = order_of_segments(keys, way, offsets);
  expect_tops("keys of the tops", keys, places, offsets, most, keys_out.read());
  expect_tops("values of the tops", values, places, offsets, most, values_out.read());
  expect_tops("positions of the tops", identity(count), places, offsets, most, positions.read());
  expect("keys that stay", keys, identity(count), keys_in.read());
}

template <class Key, class Value, class Offset>
void check_segmented_tops_of(size_t count, size_t longest, size_t most)
{
  const auto offsets = ragged_offsets<Offset>(count, longest);
  const arrangement arranged = (arrangement)random_below(&state, ARRANGEMENTS);
  const contents how = (contents)random_below(&state, CONTENTS);
  check_segmented_top<order::ascending, Key, Value>(offsets, count, most, how, arranged);
  check_segmented_top<order::descending, Key, Value>(offsets, count, most, MIXED, AS_THEY_ARE);
}

void check_segmented_tops(size_t count, size_t longest)
{
  for (const size_t most : {0u, 1u, 13u, 1024u}) {
    check_segmented_tops_of<float, uint32_t, uint32_t>(count, longest, most);
    check_segmented_tops_of<float, fat, uint64_t>(count, longest, most);
    check_segmented_tops_of<uint32_t, uint64_t, uint32_t>(count, longest, most);
    check_segmented_tops_of<int32_t, unsigned char, uint64_t>(count, longest, most);
    check_segmented_tops_of<int64_t, double, uint32_t>(count, longest, most);
    check_segmented_tops_of<double, uint32_t, uint64_t>(count, longest, most);
  }
}

/* All contents of all arrangements, in segments of which a block has several batches. */
void check_contents_of_tops(size_t count, size_t longest)
{
  for (unsigned c = 0; c < CONTENTS; c++)
    for (unsigned a = 0; a < ARRANGEMENTS; a++) {
      const auto offsets = ragged_offsets<uint32_t>(count, longest);
      const size_t most = a == DESCENDING ? 1024 : 100;
      check_segmented_top<order::ascending, float, uint32_t>(offsets, count, most, (contents)c,
                                                             (arrangement)a);
      check_segmented_top<order::ascending, uint64_t, uint32_t>(offsets, count, most, (contents)c,
                                                                (arrangement)a);
    }
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
  const size_t back[] = {0, 9, 8, COUNT}, late[] = {1, COUNT};
  const auto merge = [&](const size_t *bounds, size_t runs) {
    size_t asked = 0;
    return recsort::merge(nullptr, asked, in.data, out.data, nullptr, out.data, bounds, runs);
  };
  expect_status("bounds that descend", merge(back, 3), cudaErrorInvalidValue);
  expect_status("bounds that begin late", merge(late, 1), cudaErrorInvalidValue);
  size_t asked = 0;
  expect_status(
      "more than all",
      recsort::top(nullptr, asked, in.data, out.data, nullptr, out.data, COUNT, COUNT + 1),
      cudaErrorInvalidValue);
  expect_status("too many keys", sort(nullptr, less, ((size_t)1 << 32) + 1, 0, 0),
                cudaErrorInvalidValue);
  const device_array<float> floats(COUNT);
  const device_array<char> large(8 * bytes);
  size_t enough = 8 * bytes;
  const auto pairs = [&](const uint32_t *keys_in, const auto *values_in, auto *values_out) {
    return recsort::sort_pairs(large.data, enough, keys_in, out.data, values_in, values_out, COUNT);
  };
  expect_status("no keys_in", pairs(nullptr, in.data, out.data), cudaErrorInvalidValue);
  expect_status("no values_out", pairs(in.data, in.data, (uint32_t *)nullptr),
                cudaErrorInvalidValue);
  expect_status("positions as floats", pairs(in.data, (const float *)nullptr, floats.data),
                cudaErrorInvalidValue);
  const auto tops = [&](const uint32_t *keys_in, uint32_t *keys_out, const uint32_t *values_in,
                        uint32_t *values_out) {
    return recsort::segmented_top(large.data, enough, keys_in, keys_out, values_in, values_out,
                                  COUNT, keys_in, 1, 1);
  };
  uint32_t *const none = nullptr;
  expect_status("keys in place", tops(in.data, in.data, none, out.data), cudaErrorInvalidValue);
  expect_status("values in place", tops(in.data, none, out.data, out.data), cudaErrorInvalidValue);
  expect_status("no values of tops", tops(in.data, none, none, none), cudaErrorInvalidValue);
  floats.expect_poison();
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
  for (const size_t count :
       {0u, 1u, 2u, 3u, 257u, 3000u, 20000u}) { /* the last one to padded buckets */
    check_types(count);
    check_all_records(count);
    check_merges(count);
    check_tops(count);
    check_all_segments(count);
    if (count <= 3000) check_segmented_tops(count, count / 9);
  }
  check_segmented_tops(31, 1);
  check_segmented_tops(60001, 40000); /* lists overflow, and segments have several parts */
  check_contents_of_tops(90001, 70000);
#ifndef __CUDACC__
  for (uint64_t seed = 1; seed <= 3; seed++) {
    emulator_set_order(seed == 1 ? EMULATOR_REVERSE : EMULATOR_SHUFFLED, seed);
    check_contents_of_tops(40001, 30000);
    check_segmented_tops(3000, 500);
  }
  emulator_set_order(EMULATOR_FORWARD, 0);
#endif
  check_overlong();
  if (many) {
    check_types(1000003);
    for (const size_t count : {1u << 17, 1000003u, 5000001u}) {
      check_all_records(count);
      check_merges(count);
      check_tops(count);
      check_all_segments(count);
      check_segmented_tops(count, count / 7);
      check_segmented_tops(count, 5000);
      check_contents_of_tops(count, count / 3);
    }
    check_pairs<order::ascending, float, uint32_t>(1 << 17, {MIXED, true, true, 0, 0});
    check_pairs<order::descending, uint32_t, uint32_t>(5000001, {MIXED, true, true, 0, 0});
    check_keys<order::ascending, double>(5000001, {MIXED, false, false, 0, 0});
    check_pairs<order::ascending, float, uint64_t>((1 << 24) + 1, {MIXED, false, false, 0, 0});
  }
  check_errors();
  std::printf("%lu checks\n", checks);
  return 0;
}
