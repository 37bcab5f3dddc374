/* recsort.hpp against std::stable_sort, with a comparison written by hand for each key. Every
 * record has a serial number, so an oracle's equal records show whether a sort is stable. */
#include <recsort/recsort.hpp>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstdarg>
#include <csetjmp>
#include <numeric>
#include <string>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

extern "C" {
#include <cmocka.h>
}

#include "support/random.h"

namespace
{

using recsort::asc;
using recsort::at;
using recsort::desc;

enum class kind : std::uint8_t { tree, bush, rock = 200 };
enum weather { sun = -1, rain, snow };

struct point {
  float x, y, z;
};
struct part {
  std::int16_t id;
  std::array<point, 2> ends;
};

/* Every type that can be a key. */
struct record {
  std::uint32_t serial;
  bool alive;
  char letter;
  signed char small;
  kind what;
  short near_by;
  unsigned long far_away;
  long long further;
  float speed;
  double price;
  weather sky;
  char name[3];
  unsigned char digest[4];
  std::byte raw[2];
  std::array<char, 2> code;
  std::byte one;
  char16_t wide;
  point position;
  part parts[3];
  int grid[2][3];
#ifdef __FLT16_MAX__
  _Float16 half;
#endif
};

/* Few values of each, negative and extreme ones too, so that there are ties for every key. */
template <class Number> Number pick(std::uint64_t &state)
{
  using limits = std::numeric_limits<Number>;
  const Number some[] = {Number(0),        Number(1),     Number(2),
                         limits::lowest(), limits::max(), Number(7)};
  return some[random_below(&state, 6)];
}
double pick_double(std::uint64_t &state)
{
  const double some[] = {0, -0.0, 1.5, -1.5, INFINITY, -INFINITY, 1e-3, 0.25};
  return some[random_below(&state, 8)];
}
template <class Bytes> void pick_bytes(std::uint64_t &state, Bytes &bytes)
{
  const unsigned char some[] = {0, 0x7f, 0x80};
  for (auto &byte : bytes)
    byte = static_cast<std::decay_t<decltype(byte)>>(some[random_below(&state, 3)]);
}

record pick_record(std::uint64_t &state, std::uint32_t serial)
{
  record r = {};
  r.serial = serial;
  r.alive = random_below(&state, 2);
  r.letter = pick<char>(state);
  r.small = pick<signed char>(state);
  r.what = random_below(&state, 2) ? kind::bush : kind::rock;
  r.near_by = pick<short>(state);
  r.far_away = pick<unsigned long>(state);
  r.further = pick<long long>(state);
  r.speed = static_cast<float>(pick_double(state));
  r.price = pick_double(state);
  r.sky = static_cast<weather>(static_cast<int>(random_below(&state, 3)) - 1);
  pick_bytes(state, r.name);
  pick_bytes(state, r.digest);
  pick_bytes(state, r.raw);
  pick_bytes(state, r.code);
  r.one = static_cast<std::byte>(pick<unsigned char>(state));
  r.wide = pick<char16_t>(state);
  r.position = {static_cast<float>(pick_double(state)), 1, static_cast<float>(serial % 3)};
  for (part &each : r.parts) {
    each.id = pick<short>(state);
    each.ends[1].y = static_cast<float>(pick_double(state));
  }
  for (auto &row : r.grid)
    for (int &cell : row)
      cell = pick<int>(state);
#ifdef __FLT16_MAX__
  r.half = static_cast<_Float16>(pick_double(state));
#endif
  return r;
}

std::vector<record> some_records(std::size_t count, std::uint64_t seed = 1)
{
  std::vector<record> made;
  for (std::size_t i = 0; i < count; i++)
    made.push_back(pick_record(seed, static_cast<std::uint32_t>(i)));
  return made;
}

std::vector<std::uint32_t> serials(const std::vector<record> &records)
{
  std::vector<std::uint32_t> made;
  for (const record &r : records)
    made.push_back(r.serial);
  return made;
}

enum { COUNT = 3000 };

/* Sorts by `key` both ways round, and compares with the oracle, whose order is `less`. */
template <class Less> void compare(const recsort::key<record> &key, Less less)
{
  const std::vector<record> input = some_records(COUNT);
  std::vector<record> sorted = input, expected = input;
  recsort::sorter<record> by({asc(desc(key))});
  by.sort(sorted);
  std::stable_sort(expected.begin(), expected.end(), less);
  assert_true(serials(sorted) == serials(expected));

  recsort::sorter<record> down({desc(key)});
  sorted = expected = input;
  down.sort(sorted);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](const record &a, const record &b) { return less(b, a); });
  assert_true(serials(sorted) == serials(expected));
}

/* A member, by the operator < of its type. */
#define COMPARE(path, member)                                                                      \
  compare(path, [](const record &a, const record &b) { return a.member < b.member; })
/* Bytes, by memcmp. */
#define COMPARE_BYTES(path, member)                                                                \
  compare(path, [](const record &a, const record &b) {                                             \
    return std::memcmp(&a.member, &b.member, sizeof a.member) < 0;                                 \
  })

void numbers_compare_as_in_cpp(void **)
{
  COMPARE(asc(&record::alive), alive);
  COMPARE(asc(&record::small), small);
  COMPARE(asc(&record::near_by), near_by);
  COMPARE(asc(&record::far_away), far_away);
  COMPARE(asc(&record::further), further);
  COMPARE(asc(&record::speed), speed);
  COMPARE(asc(&record::price), price);
  COMPARE(asc(&record::wide), wide);
#ifdef __FLT16_MAX__
  COMPARE(asc(&record::half), half);
#endif
}

void enums_compare_as_their_integers(void **)
{
  COMPARE(asc(&record::what), what);
  COMPARE(asc(&record::sky), sky);
  COMPARE(asc(&record::one), one);
}

void bytes_compare_as_memcmp(void **)
{
  COMPARE_BYTES(asc(&record::letter), letter);
  COMPARE_BYTES(asc(recsort::bytes(&record::name)), name);
  COMPARE_BYTES(asc(&record::digest), digest);
  COMPARE_BYTES(asc(&record::raw), raw);
  COMPARE_BYTES(asc(recsort::bytes(&record::code)), code);
  COMPARE_BYTES(asc(recsort::bytes(&record::code, at<1>)), code[1]);
  COMPARE_BYTES(asc(recsort::bytes(&record::far_away)), far_away);
}

/* What stands behind the NUL does not count. */
void arrays_of_char_compare_as_strncmp(void **)
{
  std::size_t hidden = 0;
  compare(asc(&record::name), [&](const record &a, const record &b) {
    const int order = std::strncmp(a.name, b.name, sizeof a.name);
    hidden += order == 0 && std::memcmp(a.name, b.name, sizeof a.name) != 0;
    return order < 0;
  });
  assert_true(hidden > 0);
  compare(asc(&record::code), [](const record &a, const record &b) {
    return std::strncmp(a.code.data(), b.code.data(), a.code.size()) < 0;
  });
}

void paths_reach_members_of_members(void **)
{
  COMPARE(asc(&record::position, &point::x), position.x);
  COMPARE(asc(&record::parts, at<0>, &part::id), parts[0].id);
  COMPARE(asc(&record::parts, at<2>, &part::id), parts[2].id);
  COMPARE(asc(&record::parts, at<1>, &part::ends, at<1>, &point::y), parts[1].ends[1].y);
  COMPARE(asc(&record::grid, at<1>, at<2>), grid[1][2]);
  COMPARE_BYTES(asc(&record::code, at<1>), code[1]);
  COMPARE(asc(&record::digest, at<3>), digest[3]);
}

void several_keys(void **)
{
  std::vector<record> sorted = some_records(COUNT), expected = sorted;
  recsort::sorter<record> by(
      {desc(&record::alive), asc(&record::what), desc(&record::position, &point::x)});
  by.sort(sorted);
  std::stable_sort(expected.begin(), expected.end(), [](const record &a, const record &b) {
    if (a.alive != b.alive) return a.alive > b.alive;
    if (a.what != b.what) return a.what < b.what;
    return a.position.x > b.position.x;
  });
  assert_true(serials(sorted) == serials(expected));
}

void keys_known_at_run_time(void **)
{
  std::vector<recsort::key<record>> keys;
  keys.push_back(asc(&record::near_by));
  keys.push_back(desc(&record::letter));
  recsort_options options = RECSORT_OPTIONS_INIT;
  options.threads = 2;
  options.reverse = true;
  recsort::sorter<record> by(keys, options);
  std::vector<record> sorted = some_records(COUNT), expected = sorted;
  by.sort(sorted);
  std::stable_sort(expected.begin(), expected.end(), [](const record &a, const record &b) {
    if (a.near_by != b.near_by) return a.near_by > b.near_by;
    return static_cast<unsigned char>(a.letter) < static_cast<unsigned char>(b.letter);
  });
  assert_true(serials(sorted) == serials(expected));
}

void nans_go_where_they_are_told(void **)
{
  struct {
    float value;
    int serial;
  } const input[] = {{NAN, 0}, {1, 1}, {-NAN, 2}, {-1, 3}};
  using one = std::remove_const_t<std::remove_reference_t<decltype(input[0])>>;
  const auto order = [&](recsort_nan where) {
    one sorted[4];
    std::copy(std::begin(input), std::end(input), sorted);
    recsort::sorter<one>({asc(&one::value).with_nan(where)}).sort(sorted);
    std::string text;
    for (const one &each : sorted)
      text += std::to_string(each.serial);
    return text;
  };
  assert_string_equal(order(RECSORT_NAN_LAST).c_str(), "3102");
  assert_string_equal(order(RECSORT_NAN_FIRST).c_str(), "0231");
  assert_string_equal(order(RECSORT_NAN_TOTAL).c_str(), "2310");
}

/* ---- Offsets ------------------------------------------------------------------------------ */

struct empty {
};
struct base {
  char first;
  double second;
};
struct derived : base { /* standard layout: only the base has members */
};
struct with_empty_bases : empty {
  short odd;
  long value;
};
struct __attribute__((packed)) packed {
  char odd;
  double value;
};
struct alignas(64) aligned {
  char odd;
  int value;
};
class closed
{
public:
  static auto member()
  {
    return asc(&closed::value_);
  }

private:
  [[maybe_unused]] char odd_ = 0;
  std::uint16_t value_ = 0;
  friend void offsets_are_those_of_the_compiler(void **);
};

template <class Record> std::uint64_t offset_in(const recsort::key<Record> &key)
{
  return key.fields[0].offset;
}

void offsets_are_those_of_the_compiler(void **)
{
  assert_int_equal(offset_in(asc(&record::serial)), offsetof(record, serial));
  assert_int_equal(offset_in(asc(&record::price)), offsetof(record, price));
  assert_int_equal(offset_in(asc(&record::raw)), offsetof(record, raw));
  assert_int_equal(offset_in(asc(&record::parts, at<2>, &part::ends, at<1>, &point::z)),
                   offsetof(record, parts) + 2 * sizeof(part) + offsetof(part, ends) +
                       sizeof(point) + offsetof(point, z));
  assert_int_equal(offset_in(asc(&record::grid, at<1>, at<1>)), offsetof(record, grid[1][1]));
  assert_int_equal(offset_in(recsort::key<derived>(asc(&derived::second))), offsetof(base, second));
  assert_int_equal(offset_in(asc(&with_empty_bases::value)), offsetof(with_empty_bases, value));
  assert_int_equal(offset_in(asc(&packed::value)), 1);
  assert_int_equal(offset_in(asc(&aligned::value)), offsetof(aligned, value));
  assert_int_equal(offset_in(closed::member()), offsetof(closed, value_));
}

template <class Record, class Less> void sorts_records(recsort::key<Record> key, Less less)
{
  Record records[64] = {}, expected[64] = {};
  std::uint64_t state = 3;
  for (std::size_t i = 0; i < 64; i++) {
    unsigned char bytes[sizeof(Record)] = {};
    bytes[offset_in(key)] = static_cast<unsigned char>(random_below(&state, 5));
    bytes[0] = static_cast<unsigned char>(i);
    std::memcpy(static_cast<void *>(&records[i]), bytes, sizeof bytes);
  }
  std::copy(std::begin(records), std::end(records), expected);
  recsort::sorter<Record>({key}).sort(records);
  std::stable_sort(std::begin(expected), std::end(expected), less);
  assert_memory_equal(records, expected, sizeof records);
}

void records_of_every_layout(void **)
{
  sorts_records<derived>(asc(&derived::second),
                         [](const derived &a, const derived &b) { return a.second < b.second; });
  sorts_records<packed>(asc(&packed::value),
                        [](const packed &a, const packed &b) { return a.value < b.value; });
  sorts_records<aligned>(asc(&aligned::value),
                         [](const aligned &a, const aligned &b) { return a.value < b.value; });
}

/* ---- The calls ---------------------------------------------------------------------------- */

bool less(const record &a, const record &b)
{
  return a.near_by < b.near_by;
}

std::vector<record> oracle(std::vector<record> records)
{
  std::stable_sort(records.begin(), records.end(), less);
  return records;
}

struct calls {
  std::vector<record> input = some_records(COUNT);
  recsort::sorter<record> by{{asc(&record::near_by)}};
};

void sort_takes_any_array(void **)
{
  calls c;
  const std::vector<std::uint32_t> expected = serials(oracle(c.input));
  std::vector<record> array = c.input;
  c.by.sort({array.data(), array.size()});
  assert_true(serials(array) == expected);
  static std::array<record, COUNT> fixed;
  std::copy(c.input.begin(), c.input.end(), fixed.begin());
  c.by.sort(fixed);
  assert_true(serials({fixed.begin(), fixed.end()}) == expected);
  static record plain[COUNT];
  std::copy(c.input.begin(), c.input.end(), plain);
  c.by.sort(plain);
  assert_true(serials({plain, plain + COUNT}) == expected);
#if __cplusplus >= 202002L
  array = c.input;
  c.by.sort(std::span(array).subspan(10, 100));
  assert_true(serials({array.begin() + 10, array.begin() + 110}) ==
              serials(oracle({c.input.begin() + 10, c.input.begin() + 110})));
  assert_int_equal(array[9].serial, 9);
  assert_int_equal(array[110].serial, 110);
#endif
}

void sort_to_keeps_the_input(void **)
{
  calls c;
  const std::vector<record> input = c.input;
  std::vector<record> sorted(COUNT);
  c.by.sort_to(input, sorted);
  assert_true(serials(sorted) == serials(oracle(c.input)));
  assert_true(serials(input) == serials(c.input));
  recsort_error error;
  sorted.pop_back();
  assert_false(c.by.sort_to(input, sorted, error));
  assert_int_equal(error.status, RECSORT_INVALID_ARGUMENT);
  assert_string_equal(error.text, "an array has 2999 elements, but 3000 are needed");
}

template <class Index> void indices_are_stable()
{
  calls c;
  std::vector<Index> index(COUNT);
  c.by.argsort(c.input, index);
  const std::vector<record> expected = oracle(c.input);
  for (std::size_t i = 0; i < COUNT; i++)
    assert_int_equal(index[i], expected[i].serial);
  recsort_error error;
  index.resize(10);
  assert_false(c.by.argsort(c.input, index, error));
  assert_int_equal(error.status, RECSORT_INVALID_ARGUMENT);
}

void argsort_gives_the_permutation(void **)
{
  indices_are_stable<std::uint32_t>();
  indices_are_stable<std::uint64_t>();
}

void the_first_ones_are_selected(void **)
{
  const std::vector<record> input = some_records(COUNT);
  std::vector<record> expected = input, first(10);
  std::stable_sort(expected.begin(), expected.end(),
                   [](const record &a, const record &b) { return a.far_away < b.far_away; });
  recsort::sorter<record> by({asc(&record::far_away)});
  by.set_head(9);
  for (const std::size_t head : {std::size_t{9}, std::size_t{10}}) {
    first.assign(head, record{});
    std::vector<std::uint32_t> index(head);
    by.sort_to(input, first);
    by.argsort(input, index);
    for (std::size_t i = 0; i < head; i++) {
      assert_int_equal(first[i].serial, expected[i].serial);
      assert_int_equal(index[i], expected[i].serial);
    }
    by.set_head(10);
  }
  recsort_error error;
  std::vector<std::uint32_t> nine(9);
  first.resize(9);
  assert_false(by.sort_to(input, first, error));
  assert_string_equal(error.text, "an array has 9 elements, but 10 are needed");
  assert_false(by.argsort(input, nine, error));
  by.set_head(0);
  std::vector<record> all(COUNT - 1);
  assert_false(by.sort_to(input, all, error));
}

void other_arrays_follow(void **)
{
  calls c;
  std::vector<std::array<char, 3>> names(COUNT);
  for (std::size_t i = 0; i < COUNT; i++)
    std::copy_n(c.input[i].name, 3, names[i].begin());
  const std::vector<std::array<char, 3>> before = names;
  c.by.run(c.by.from(c.input));
  c.by.apply(names);
  std::vector<record> sorted(COUNT);
  c.by.gather(c.input, sorted);
  assert_true(serials(sorted) == serials(oracle(c.input)));
  for (std::size_t i = 0; i < COUNT; i++)
    assert_memory_equal(names[i].data(), sorted[i].name, 3);
  recsort_error error;
  sorted.pop_back();
  assert_false(c.by.gather(c.input, sorted, error));
  assert_string_equal(error.text, "an array has 2999 elements, but 3000 are needed");
  names.resize(10);
  assert_false(c.by.apply(names, error));
  assert_int_equal(error.status, RECSORT_INVALID_ARGUMENT);

  names = before;
  c.by.sort(c.input); /* ends the life of the permutation */
  assert_false(c.by.apply(names, error));
  assert_string_equal(error.text, "the sorter keeps no permutation");
  assert_true(names == before);
  c.by.run(c.by.from({c.input.data(), 0}));
  assert_true(c.by.apply(recsort::view<record>(nullptr, 0), error));
}

void order_is_checked(void **)
{
  calls c;
  const std::vector<record> &input = c.input;
  const auto first = std::is_sorted_until(input.begin(), input.end(), less);
  assert_int_equal(c.by.disorder(input), first - input.begin());
  assert_false(c.by.is_sorted(input));
  const std::vector<record> sorted = oracle(input);
  assert_int_equal(c.by.disorder(sorted), COUNT);
  assert_true(c.by.is_sorted(sorted));
  assert_true(c.by.is_sorted({sorted.data(), 0}));
}

void unique_keeps_the_first_of_equals(void **)
{
  calls c;
  std::vector<record> expected = oracle(c.input);
  expected.erase(
      std::unique(expected.begin(), expected.end(),
                  [](const record &a, const record &b) { return a.near_by == b.near_by; }),
      expected.end());
  c.input.resize(c.by.unique(c.input));
  assert_true(serials(c.input) == serials(expected));
}

void runs_are_merged(void **)
{
  calls c;
  const std::size_t offsets[] = {0, 1000, 1000, COUNT};
  std::vector<record> runs = c.input;
  for (std::size_t r = 0; r < 3; r++)
    std::stable_sort(runs.begin() + static_cast<long>(offsets[r]),
                     runs.begin() + static_cast<long>(offsets[r + 1]), less);
  std::vector<record> expected = oracle(runs);

  const std::vector<record> one(runs.begin(), runs.begin() + 1000), none,
      other(runs.begin() + 1000, runs.end());
  std::vector<record> merged(COUNT);
  c.by.merge_to({one, none, other}, merged);
  assert_true(serials(merged) == serials(expected));
  c.by.merge(runs, offsets);
  assert_true(serials(runs) == serials(expected));

  recsort_error error;
  merged.pop_back();
  assert_false(c.by.merge_to({one, other}, merged, error));
  assert_int_equal(error.status, RECSORT_INVALID_ARGUMENT);
  assert_false(c.by.merge(merged, offsets, error));
  assert_int_equal(error.status, RECSORT_INVALID_ARGUMENT);
  assert_false(c.by.merge(runs, {offsets, 0}, error));
  assert_string_equal(error.text, "offsets must not be NULL");
  std::swap(runs.front(), runs.back());
  assert_false(c.by.merge(runs, offsets, error));
  assert_int_equal(error.status, RECSORT_UNSORTED_RUN);
}

/* ---- Jobs --------------------------------------------------------------------------------- */

void jobs_say_more(void **)
{
  calls c;
  const std::uint32_t offsets[] = {0, 1000, 1000, 2500};
  std::vector<record> expected = c.input;
  for (int part = 0; part < 3; part++)
    std::stable_sort(expected.begin() + offsets[part], expected.begin() + offsets[part + 1], less);
  recsort_job job = c.by.in_place(c.input);
  job.parts = RECSORT_SEGMENTS;
  job.offsets = offsets;
  job.offset_bits = 32;
  job.part_count = 3;
  assert_true(c.by.plan(job).host > 0);
  assert_int_equal(c.by.plan(job).device, 0);
  c.by.run(job);
  assert_true(serials(c.input) == serials(expected));
  recsort_error error;
  job.longest_part = 999;
  assert_false(c.by.run(job, error));
  assert_int_equal(error.status, RECSORT_INVALID_ARGUMENT);
}

/* Keys in an array of their own, and their values. */
void numbers_with_values(void **)
{
  const float input[] = {2, -1, 7, 2, -1.5f};
  float keys[5];
  const char letters[] = {'a', 'b', 'c', 'd', 'e'};
  char sorted[5];
  const recsort_array values = {letters, sorted, 1};
  recsort::sorter<float> by({desc(recsort::number<float>())});
  recsort_job job = by.from(input);
  job.sorted = keys;
  job.arrays = &values;
  job.array_count = 1;
  by.run(job);
  assert_memory_equal(sorted, "cadbe", 5);
  assert_true(std::is_sorted(std::rbegin(keys), std::rend(keys)));
}

/* Without a plugin for one: tests/cuda has its stand-in. */
void a_device_sorter_needs_a_device(void **)
{
  recsort_error error;
  recsort_options options = RECSORT_OPTIONS_INIT;
  options.plugin = "cpu";
  recsort::device_sorter<record> by({asc(&record::near_by)}, options, error);
  assert_false(bool(by));
  assert_int_equal(error.status, RECSORT_PLUGIN_ERROR);
  assert_non_null(std::strstr(error.text, "on a device"));
  std::vector<record> records = some_records(10);
  assert_int_equal(by.plan(by.in_place(records), error).device, 0);
  assert_int_equal(error.status, RECSORT_INVALID_ARGUMENT);
  assert_false(by.run(by.in_place(records), error));
  recsort::sorter<point> host({asc(recsort::distance("eye", &point::x))});
  const double at_host[] = {1};
  assert_false(host.bind_parameter("eye", at_host, error));
  assert_non_null(std::strstr(error.text, "in the host's"));
}

/* ---- Columns ------------------------------------------------------------------------------ */

struct arrays {
  std::vector<std::uint32_t> serial;
  std::vector<short> near_by;
  std::vector<float> x;     /* of position */
  std::vector<part> part_1; /* of parts[1] */
  std::vector<std::array<char, 3>> name;
  std::vector<double> price;
  char code[COUNT][2];

  explicit arrays(const std::vector<record> &records)
  {
    for (std::size_t i = 0; i < records.size(); i++) {
      const record &r = records[i];
      serial.push_back(r.serial);
      near_by.push_back(r.near_by);
      x.push_back(r.position.x);
      part_1.push_back(r.parts[1]);
      name.push_back({r.name[0], r.name[1], r.name[2]});
      price.push_back(r.price);
      std::memcpy(code[i], r.code.data(), 2);
    }
  }
};

/* A sorter whose keys read five of the arrays, one of which has a struct around its member. */
struct columns {
  const std::vector<record> input = some_records(COUNT);
  arrays a{input};
  recsort::sorter<record> by{
      {asc(&record::name), desc(&record::parts, at<1>, &part::id),
       asc(recsort::distance({0.5, 1}, recsort::member(&record::position, &point::x),
                             &record::price)),
       asc(&record::code)}};
  std::vector<record> expected{COUNT};

  columns()
  {
    by.sort_to(input, expected);
  }
};

#define COLUMNS(c)                                                                                 \
  {                                                                                                \
    (c).by.column((c).a.name, &record::name), (c).by.column((c).a.part_1, &record::parts, at<1>),  \
        (c).by.column((c).a.x, &record::position, &point::x),                                      \
        (c).by.column((c).a.price, &record::price), (c).by.column((c).a.code, &record::code),      \
        (c).by.column((c).a.serial, &record::serial)                                               \
  }

void columns_are_sorted_alike(void **)
{
  columns c;
  const std::vector<short> rest = c.a.near_by;
  c.by.sort(COLUMNS(c));
  const arrays expected(c.expected);
  assert_true(c.a.serial == expected.serial && c.a.x == expected.x && c.a.name == expected.name);
  for (std::size_t i = 0; i < COUNT; i++)
    assert_int_equal(c.a.part_1[i].id, expected.part_1[i].id);
  assert_memory_equal(c.a.code, expected.code, sizeof expected.code);
  assert_true(c.a.near_by == rest); /* no column */
}

void columns_give_a_permutation(void **)
{
  columns c;
  std::vector<std::uint64_t> index(COUNT);
  c.by.argsort(COLUMNS(c), index);
  for (std::size_t i = 0; i < COUNT; i++)
    assert_int_equal(index[i], c.expected[i].serial);
  c.by.set_head(10);
  index.resize(10);
  c.by.argsort(COLUMNS(c), index);
  c.by.set_head(0);
  c.by.run(c.by.from(COLUMNS(c)));
  c.by.apply(c.a.near_by);
  assert_true(c.a.near_by == arrays(c.expected).near_by);
}

struct longer : base {
};

void wrong_columns_are_refused(void **)
{
  columns c;
  recsort_error error;
  const std::vector<double> price = c.a.price;
  std::vector<std::uint32_t> index(COUNT);
  assert_false(c.by.sort({c.by.column(c.a.name, &record::name)}, error));
  assert_non_null(std::strstr(error.text, "which has no column"));
  assert_int_equal(error.status, RECSORT_INVALID_ARGUMENT);
  c.a.x.pop_back();
  assert_false(c.by.sort(COLUMNS(c), error));
  assert_string_equal(error.text, "columns have different sizes");
  assert_false(c.by.argsort(COLUMNS(c), index, error));
  assert_string_equal(error.text, "columns have different sizes");
  assert_false(c.by.run(c.by.from(COLUMNS(c), error), error));
  assert_int_equal(error.status, RECSORT_INVALID_ARGUMENT);

  recsort::sorter<record> by({asc(&record::price)});
  assert_false(by.sort({by.column(price, &record::price)}, error)); /* a constant one */
  assert_int_equal(error.status, RECSORT_INVALID_ARGUMENT);
  by.argsort({by.column(price, &record::price)}, index);
  assert_false(
      by.sort({by.column(c.a.price, &record::price), by.column(c.a.price, &record::price)}, error));
  assert_true(price == c.a.price);

  std::vector<double> second = {3, 1, 2}; /* a member of a base */
  recsort::sorter<longer> of_base({asc(&longer::second)});
  of_base.sort({of_base.column(second, &longer::second)});
  assert_true(second == std::vector<double>({1, 2, 3}));
}

/* ---- Computed keys ------------------------------------------------------------------------ */

struct place {
  std::uint32_t serial;
  std::uint8_t column, row;
  point at;
};

std::vector<place> some_places()
{
  std::uint64_t state = 5;
  std::vector<place> made(COUNT);
  for (std::uint32_t i = 0; i < COUNT; i++) {
    const auto part = [&] { return static_cast<float>(random_below(&state, 8)); };
    made[i] = {i,
               static_cast<std::uint8_t>(part()),
               static_cast<std::uint8_t>(part()),
               {part(), part(), part()}};
  }
  return made;
}

template <class Code> void compare_places(recsort::sorter<place> &by, Code code)
{
  std::vector<place> sorted = some_places(), expected = sorted;
  by.sort(sorted);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](const place &a, const place &b) { return code(a) < code(b); });
  for (std::size_t i = 0; i < COUNT; i++)
    assert_int_equal(sorted[i].serial, expected[i].serial);
}

void distances_from_points(void **)
{
  using recsort::member;
  recsort::sorter<place> by({asc(
      recsort::distance("eye", member(&place::at, &point::x), member(&place::at, &point::z)))});
  recsort_error error;
  std::vector<place> places = some_places();
  assert_false(by.sort(places, error)); /* the point is not set */
  for (const double x : {0.0, 3.5, -1.0}) {
    by.set_parameter("eye", {x, 2});
    compare_places(by, [&](const place &p) {
      return (p.at.x - x) * (p.at.x - x) + (p.at.z - 2.0) * (p.at.z - 2.0);
    });
  }
  assert_false(by.set_parameter("ear", {1, 2}, error));
  assert_int_equal(error.status, RECSORT_INVALID_ARGUMENT);
  recsort::sorter<place> fixed({desc(recsort::distance({4, 0.5}, &place::column, &place::row))});
  compare_places(fixed, [](const place &p) {
    return -((p.column - 4.0) * (p.column - 4.0) + (p.row - 0.5) * (p.row - 0.5));
  });
}

void depths_along_an_axis(void **)
{
  using recsort::member;
  recsort::sorter<place> by({desc(
      recsort::dot("forward", member(&place::at, &point::x), member(&place::at, &point::z)))});
  recsort_error error;
  std::vector<place> places = some_places();
  assert_false(by.sort(places, error)); /* the vector is not set */
  assert_non_null(std::strstr(error.text, "\"forward\""));
  for (const double x : {0.0, 3.5, -1.0}) {
    by.set_parameter("forward", {x, 2});
    compare_places(by, [&](const place &p) { return -(p.at.x * x + p.at.z * 2.0); });
  }
  recsort::sorter<place> fixed({asc(recsort::dot({1, -2}, &place::column, &place::row))});
  compare_places(fixed, [](const place &p) { return p.column - 2 * p.row; });
}

/* The definition for a grid of 8 by 8 cells, bit by bit. */
unsigned morton_of(const place &p)
{
  unsigned code = 0;
  for (int bit = 2; bit >= 0; bit--)
    code = code << 2 | (p.column >> bit & 1u) << 1 | (p.row >> bit & 1u);
  return code;
}

void places_on_curves(void **)
{
  recsort::sorter<place> morton(
      {asc(recsort::morton(3, {0, 0}, {8, 8}, &place::column, &place::row))});
  compare_places(morton, morton_of);
  recsort::sorter<place> hilbert(
      {asc(recsort::hilbert(3, {0, 0}, {8, 8}, &place::column, &place::row))});
  /* Neighbours on the curve are neighbours in the grid, whichever way the curve is turned. */
  std::vector<place> sorted = some_places();
  hilbert.sort(sorted);
  std::size_t cells = 1;
  for (std::size_t i = 1; i < COUNT; i++) {
    const int step = std::abs(sorted[i].column - sorted[i - 1].column) +
                     std::abs(sorted[i].row - sorted[i - 1].row);
    assert_in_range(step, 0, 1);
    cells += step == 1;
    if (step == 0) assert_true(sorted[i].serial > sorted[i - 1].serial);
  }
  assert_int_equal(cells, 64);
}

void a_member_may_be_in_several_keys(void **)
{
  recsort::sorter<place> by(
      {asc(recsort::distance({0, 0}, &place::column, &place::row)), desc(&place::column)});
  compare_places(
      by, [](const place &p) { return (p.column * p.column + p.row * p.row) * 100 - p.column; });
}

void several_computed_keys(void **)
{
  recsort::sorter<place> by(
      {asc(recsort::distance({3}, &place::column)), desc(recsort::distance({0}, &place::row))});
  compare_places(
      by, [](const place &p) { return (p.column - 3) * (p.column - 3) * 100 - p.row * p.row; });
}

/* ---- Schemas, errors, ownership ----------------------------------------------------------- */

struct entity {
  float x, y, angle;
  std::int16_t sprite;
  float distance;
};

void a_schema_gives_the_keys(void **)
{
  recsort_schema *schema = nullptr;
  assert_int_equal(
      recsort_schema_load_file(RS_NATIVE_SCHEMAS "/entity.yaml", nullptr, &schema, nullptr), 0);
  entity entities[3] = {{0, 0, 0, 0, 1}, {0, 0, 0, 0, 3}, {0, 0, 0, 0, 2}};
  recsort::sorter<entity> by(schema, {});
  by.sort(entities);
  assert_true(entities[0].distance > entities[1].distance &&
              entities[1].distance > entities[2].distance);
  recsort_error error;
  std::vector<float> distance = {1, 2};
  assert_false(by.sort({by.column(distance, &entity::distance)}, error));
  assert_string_equal(error.text, "columns are for sorters that are made of keys");
  recsort::sorter<point> other(schema, {}, error); /* of another size */
  assert_false(bool(other));
  assert_int_equal(error.status, RECSORT_INVALID_ARGUMENT);
  recsort_schema_destroy(schema);
}

void errors_are_thrown_with_their_text(void **)
{
  calls c;
  const recsort::view<record> others(c.input.data() + 1,
                                     COUNT - 1); /* they overlap the first ones */
  const recsort::view<const record> first(c.input.data(), COUNT - 1);
  std::string text;
  try {
    c.by.sort_to(first, others);
  } catch (const recsort::error &error) {
    assert_int_equal(error.details.status, RECSORT_INVALID_ARGUMENT);
    assert_string_equal(error.what(), error.details.text);
    text = error.what();
  }
  recsort_error error;
  assert_false(c.by.sort_to(first, others, error));
  assert_string_equal(text.c_str(), error.text);
  assert_true(c.by.sort(c.input, error));
  assert_int_equal(error.status, RECSORT_OK);
  assert_string_equal(error.text, "");
}

template <class Make> void refuses(recsort_status status, const char *words, Make make)
{
  recsort_error told = {};
  try {
    make();
  } catch (const recsort::error &error) {
    told = error.details;
  }
  assert_int_equal(told.status, status);
  if (std::strstr(told.text, words) == nullptr) fail_msg("'%s' lacks '%s'", told.text, words);
}

void wrong_keys_are_refused(void **)
{
  using sorter = recsort::sorter<record>;
  refuses(RECSORT_INVALID_ARGUMENT, "a sorter needs a key",
          [] { sorter(std::initializer_list<recsort::key<record>>{}); });
  refuses(RECSORT_INVALID_KEY, "bool at byte 4", [] {
    sorter({asc(&record::alive), desc(&record::alive)});
  });
  refuses(RECSORT_INVALID_KEY, "int16 at byte 8",
          [] { sorter({asc(&record::near_by).with_nan(RECSORT_NAN_FIRST)}); });
  refuses(RECSORT_INVALID_SCHEMA, "char at byte 53", [] {
    sorter({asc(&record::name), asc(&record::name, at<1>)});
  });
  refuses(RECSORT_INVALID_SCHEMA, "null pointer to a member",
          [] { sorter({asc(static_cast<short record::*>(nullptr))}); });
  refuses(RECSORT_INVALID_SCHEMA, "null pointer to a member",
          [] { sorter({asc(&record::position, static_cast<float point::*>(nullptr))}); });
}

void an_empty_sorter_refuses_every_call(void **)
{
  recsort_error error;
  recsort_options options = RECSORT_OPTIONS_INIT;
  options.plugin = "none such";
  recsort::sorter<record> by({asc(&record::near_by)}, options, error);
  assert_false(bool(by));
  assert_int_equal(error.status, RECSORT_PLUGIN_ERROR);
  std::vector<record> records = some_records(10);
  assert_false(by.sort(records, error));
  assert_int_equal(error.status, RECSORT_INVALID_ARGUMENT);
  assert_int_equal(by.unique(records, error), 0);
  assert_false(by.is_sorted(records, error));
  assert_int_equal(by.plan(by.in_place(records), error).host, 0);
  assert_false(by.apply(records, error));
}

void sorters_move(void **)
{
  calls c;
  recsort_sorter *const handle = c.by.get();
  recsort::sorter<record> moved = std::move(c.by);
  assert_ptr_equal(moved.get(), handle);
  assert_null(c.by.get());
  recsort_error error;
  std::vector<short> near_by(COUNT);
  assert_false(c.by.sort(c.input, error));
  assert_false(c.by.sort({c.by.column(near_by, &record::near_by)}, error));
  moved.sort(c.input);
  assert_int_equal(moved.stats().records, COUNT);
  assert_int_equal(moved.stats().record_size, sizeof(record));
  moved.sort(c.input);
  assert_true(moved.plan(moved.in_place(c.input)).host >= moved.stats().memory);
}

/* Counts what comes from operator new, and lets one call fail. Out of line: gcc would warn of free
 * where it sees new. */
std::size_t news = 0, failing = SIZE_MAX;

__attribute__((noinline)) void *allocate(std::size_t size)
{
  return news++ == failing ? nullptr : std::malloc(size > 0 ? size : 1);
}
__attribute__((noinline)) void release(void *memory)
{
  std::free(memory);
}

void no_memory_for_a_sorter(void **)
{
  const auto keys = {asc(&record::near_by), desc(&record::price)};
  std::size_t before = news;
  recsort_error error;
  recsort::sorter<record> by(keys, error);
  const std::size_t needed = news - before;
  assert_true(by && needed > 0);
  for (std::size_t i = 0; i < needed; i++) {
    failing = news + i;
    recsort::sorter<record> none(keys, error);
    failing = SIZE_MAX;
    assert_false(bool(none));
    assert_int_equal(error.status, RECSORT_OUT_OF_MEMORY);
  }
}

/* Counts what the library takes. */
struct counted {
  std::size_t live = 0, calls = 0;
};
void *take(void *context, std::size_t size)
{
  static_cast<counted *>(context)->live++;
  static_cast<counted *>(context)->calls++;
  return std::malloc(size);
}
void give(void *context, void *memory, std::size_t)
{
  static_cast<counted *>(context)->live--;
  std::free(memory);
}

void memory_comes_from_the_allocator_and_goes_back(void **)
{
  counted count;
  const recsort_allocator allocator = {&count, take, give};
  recsort_options options = RECSORT_OPTIONS_INIT;
  options.allocator = &allocator;
  {
    recsort::sorter<record> by({asc(&record::near_by), desc(&record::price)}, options);
    std::vector<record> records = some_records(COUNT);
    by.sort(records);
    const std::size_t after_first = count.calls, news_before = news;
    by.sort(records);
    assert_int_equal(news, news_before);
    assert_int_equal(count.calls, after_first); /* the sorter keeps its memory */
    by.is_sorted(records);
    assert_int_equal(news, news_before);
    by.unique(records);
    assert_int_equal(news, news_before + 1); /* the copy */
  }
  assert_true(count.calls > 0);
  assert_int_equal(count.live, 0);
}

} // namespace

/* All forms, as sanitizers have their own of those that a program leaves out. */
void *operator new(std::size_t size)
{
  if (void *const memory = allocate(size)) return memory;
  throw std::bad_alloc();
}
void *operator new[](std::size_t size)
{
  return operator new(size);
}
void *operator new(std::size_t size, const std::nothrow_t &) noexcept
{
  return allocate(size);
}
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept
{
  return allocate(size);
}
void operator delete(void *memory) noexcept
{
  release(memory);
}
void operator delete[](void *memory) noexcept
{
  release(memory);
}
void operator delete(void *memory, std::size_t) noexcept
{
  release(memory);
}
void operator delete[](void *memory, std::size_t) noexcept
{
  release(memory);
}

int main()
{
  const CMUnitTest tests[] = {
      cmocka_unit_test(numbers_compare_as_in_cpp),
      cmocka_unit_test(enums_compare_as_their_integers),
      cmocka_unit_test(bytes_compare_as_memcmp),
      cmocka_unit_test(arrays_of_char_compare_as_strncmp),
      cmocka_unit_test(paths_reach_members_of_members),
      cmocka_unit_test(several_keys),
      cmocka_unit_test(keys_known_at_run_time),
      cmocka_unit_test(nans_go_where_they_are_told),
      cmocka_unit_test(offsets_are_those_of_the_compiler),
      cmocka_unit_test(records_of_every_layout),
      cmocka_unit_test(sort_takes_any_array),
      cmocka_unit_test(sort_to_keeps_the_input),
      cmocka_unit_test(argsort_gives_the_permutation),
      cmocka_unit_test(the_first_ones_are_selected),
      cmocka_unit_test(other_arrays_follow),
      cmocka_unit_test(order_is_checked),
      cmocka_unit_test(unique_keeps_the_first_of_equals),
      cmocka_unit_test(runs_are_merged),
      cmocka_unit_test(jobs_say_more),
      cmocka_unit_test(numbers_with_values),
      cmocka_unit_test(a_device_sorter_needs_a_device),
      cmocka_unit_test(columns_are_sorted_alike),
      cmocka_unit_test(columns_give_a_permutation),
      cmocka_unit_test(wrong_columns_are_refused),
      cmocka_unit_test(distances_from_points),
      cmocka_unit_test(depths_along_an_axis),
      cmocka_unit_test(places_on_curves),
      cmocka_unit_test(a_member_may_be_in_several_keys),
      cmocka_unit_test(several_computed_keys),
      cmocka_unit_test(a_schema_gives_the_keys),
      cmocka_unit_test(errors_are_thrown_with_their_text),
      cmocka_unit_test(wrong_keys_are_refused),
      cmocka_unit_test(an_empty_sorter_refuses_every_call),
      cmocka_unit_test(sorters_move),
      cmocka_unit_test(no_memory_for_a_sorter),
      cmocka_unit_test(memory_comes_from_the_allocator_and_goes_back),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
