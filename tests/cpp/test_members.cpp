/* recsort.hpp: a member's order is that of its type, wherever the member is: by itself, constant,
 * in arrays of either kind, which are keys themselves, in structs, unions and bases. The oracle is
 * std::stable_sort with the < of the type; a char alone, and std::byte, are unsigned bytes. */
#include <recsort/recsort.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdarg>
#include <csetjmp>
#include <cstring>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

extern "C" {
#include <cmocka.h>
}

#include "support/random.h"

namespace
{

using recsort::asc;
using recsort::at;
using recsort::desc;

enum class of_char : char { least = CHAR_MIN, most = CHAR_MAX };
enum class of_signed_char : signed char {};
enum class of_unsigned_char : unsigned char {};
enum class of_bool : bool {};
enum class of_short : short {};
enum class of_wchar : wchar_t {};
enum class of_char16 : char16_t {};
enum class of_char32 : char32_t {};
enum class of_long : long {};
enum of_unsigned_long_long : unsigned long long {};
enum negative { below = -1, above = 1 };
enum positive { none, some, many };
#ifdef __cpp_char8_t
enum class of_char8 : char8_t {};
#endif

template <class Value> struct inner {
  char before;
  Value value;
  std::array<Value, 3> list;
};
template <class Value> union choice {
  Value value;
  unsigned char bytes[sizeof(Value)];
};
template <class Value> struct record {
  std::uint32_t serial;
  Value value;
  const Value constant;
  volatile Value fickle;
  Value row[3];
  const Value fixed[2];
  std::array<Value, 2> pair;
  Value grid[2][2];
  inner<Value> nested;
  inner<Value> several[2];
  union {
    Value either;
    unsigned char bytes[sizeof(Value)];
  };
  choice<Value> chosen;
  const choice<Value> choices[2];
};
template <class Value> struct derived : record<Value> {
};

/* Few values, of which some differ in the highest bit only. */
template <class Value> Value pick(std::uint64_t &state)
{
  if constexpr (std::is_floating_point_v<Value>) {
    const Value some[] = {Value(0), Value(1.5), Value(-1.5), Value(-2), Value(300)};
    return some[random_below(&state, 5)];
  } else if constexpr (std::is_same_v<Value, bool> || std::is_same_v<Value, of_bool>) {
    return static_cast<Value>(random_below(&state, 2) != 0);
  } else if constexpr (std::is_same_v<Value, negative>) {
    return random_below(&state, 2) ? below : above;
  } else if constexpr (std::is_same_v<Value, positive>) {
    return static_cast<positive>(random_below(&state, 3));
  } else {
    const std::uint64_t some[] = {
        0, 1, 0x7f, 0x80, 0xff, 0x8000, UINT64_C(0x8000000000000000), ~UINT64_C(0)};
    return static_cast<Value>(some[random_below(&state, 8)]);
  }
}

/* What < compares. */
template <class Value> auto ordered(const Value &value)
{
  if constexpr (std::is_same_v<Value, char> || std::is_same_v<Value, std::byte>)
    return static_cast<unsigned char>(value);
  else
    return value;
}

template <class Value> std::vector<derived<Value>> some_records()
{
  std::uint64_t seed = 3;
  const auto draw = [&] { return pick<Value>(seed); };
  const auto drawn = [&] {
    return inner<Value>{
        static_cast<char>(random_below(&seed, 9)), draw(), {draw(), draw(), draw()}};
  };
  std::vector<derived<Value>> made;
  for (std::uint32_t i = 0; i < 500; i++)
    made.push_back({{i,
                     draw(),
                     draw(),
                     draw(),
                     {draw(), draw(), draw()},
                     {draw(), draw()},
                     {draw(), draw()},
                     {{draw(), draw()}, {draw(), draw()}},
                     drawn(),
                     {drawn(), drawn()},
                     {draw()},
                     {draw()},
                     {{draw()}, {draw()}}}});
  return made;
}

/* Sorts the records by `key` both ways round; `get` returns the value that decides. */
template <class Value, class Get>
void compare(const std::vector<derived<Value>> &records, const recsort::key<derived<Value>> &key,
             Get get)
{
  for (const bool descends : {false, true}) {
    recsort::sorter<derived<Value>> by({descends ? desc(key) : asc(key)});
    std::vector<std::uint32_t> order(records.size()), expected(records.size());
    by.argsort(records, order);
    std::iota(expected.begin(), expected.end(), 0u);
    std::stable_sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto x = ordered(get(records[a])), y = ordered(get(records[b]));
      return descends ? y < x : x < y;
    });
    assert_true(order == expected);
  }
}

#define COMPARE(path, member)                                                                      \
  compare<Value>(records, asc path, [](const derived<Value> &one) { return one.member; })

/* The values of arrays, in the order of memory. */
template <class Array> auto list_of(const Array &array)
{
  std::vector<decltype(ordered(array[0]))> made;
  for (const auto &each : array)
    made.push_back(ordered(each));
  return made;
}

template <class Value> void whole_arrays()
{
  const std::vector<derived<Value>> records = some_records<Value>();
  using r = record<Value>;
  const auto grid_of = [](const derived<Value> &one) {
    const auto &grid = one.grid;
    return list_of(std::array<Value, 4>{{grid[0][0], grid[0][1], grid[1][0], grid[1][1]}});
  };
  compare<Value>(records, asc(&r::row), [](const derived<Value> &one) { return list_of(one.row); });
  compare<Value>(records, asc(&r::pair),
                 [](const derived<Value> &one) { return list_of(one.pair); });
  compare<Value>(records, asc(&r::fixed),
                 [](const derived<Value> &one) { return list_of(one.fixed); });
  compare<Value>(records, asc(&r::grid), grid_of);
  compare<Value>(records, asc(&r::grid, at<1>),
                 [](const derived<Value> &one) { return list_of(one.grid[1]); });
  compare<Value>(records, asc(&r::several, at<1>, &inner<Value>::list),
                 [](const derived<Value> &one) { return list_of(one.several[1].list); });
}

template <class Value> void everywhere()
{
  using r = record<Value>;
  using in = inner<Value>;
  const std::vector<derived<Value>> records = some_records<Value>();
  COMPARE((&r::value), value);
  COMPARE((&derived<Value>::value), value);
  COMPARE((&r::constant), constant);
  COMPARE((&r::fickle), fickle);
  COMPARE((&r::row, at<2>), row[2]);
  COMPARE((&r::fixed, at<1>), fixed[1]);
  COMPARE((&r::pair, at<1>), pair[1]);
  COMPARE((&r::grid, at<1>, at<0>), grid[1][0]);
  COMPARE((&r::nested, &in::value), nested.value);
  COMPARE((&r::nested, &in::list, at<2>), nested.list[2]);
  COMPARE((&r::several, at<1>, &in::value), several[1].value);
  COMPARE((&r::either), either);
  COMPARE((&r::chosen, &choice<Value>::value), chosen.value);
  COMPARE((&r::choices, at<1>, &choice<Value>::value), choices[1].value);
}

template <class... Values> void all_of()
{
  (everywhere<Values>(), ...);
}

void integers(void **)
{
  all_of<bool, signed char, unsigned char, short, unsigned short, int, unsigned, long,
         unsigned long, long long, unsigned long long>();
}

void characters(void **)
{
  all_of<char, wchar_t, char16_t, char32_t>();
#ifdef __cpp_char8_t
  all_of<char8_t>();
#endif
}

void enums(void **)
{
  all_of<of_char, of_signed_char, of_unsigned_char, of_bool, of_short, of_wchar, of_char16,
         of_char32, of_long, of_unsigned_long_long, negative, positive, std::byte>();
#ifdef __cpp_char8_t
  all_of<of_char8>();
#endif
}

void floats(void **)
{
  all_of<float, double>();
}

void arrays(void **)
{
  whole_arrays<bool>();
  whole_arrays<unsigned char>();
  whole_arrays<std::byte>();
  whole_arrays<wchar_t>();
  whole_arrays<of_char>();
  whole_arrays<short>();
  whole_arrays<double>();
}

/* ---- Times ---- */

using std::chrono::system_clock;
using seconds = std::chrono::duration<float>;

struct event {
  std::uint32_t serial;
  system_clock::time_point at;
  std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<std::int32_t>> due;
  std::chrono::milliseconds took;
  seconds left;
  std::array<std::chrono::hours, 2> shift;
};

template <class Record, class Less>
void sorts_as(std::vector<Record> records,
              std::initializer_list<std::common_type_t<recsort::key<Record>>> keys, Less less)
{
  std::vector<Record> expected = records;
  std::stable_sort(expected.begin(), expected.end(), less);
  recsort::sorter<Record>(keys).sort(records);
  for (std::size_t i = 0; i < records.size(); i++)
    assert_int_equal(records[i].serial, expected[i].serial);
}

void times_and_durations(void **)
{
  std::uint64_t seed = 9;
  std::vector<event> events(500);
  const auto draw = [&] { return static_cast<int>(random_below(&seed, 7)) - 3; };
  for (std::uint32_t i = 0; i < events.size(); i++) {
    event &made = events[i];
    made.serial = i;
    made.at = system_clock::time_point(std::chrono::seconds(draw()));
    made.due = decltype(made.due)(decltype(made.due)::duration(draw()));
    made.took = std::chrono::milliseconds(draw());
    made.left = seconds(static_cast<float>(draw()) / 4);
    made.shift = {{std::chrono::hours(draw()), std::chrono::hours(draw())}};
  }
  sorts_as(events, {asc(&event::at), desc(&event::took)}, [](const event &a, const event &b) {
    return a.at != b.at ? a.at < b.at : a.took > b.took;
  });
  sorts_as(events, {desc(&event::due), asc(&event::left)}, [](const event &a, const event &b) {
    return a.due != b.due ? a.due > b.due : a.left < b.left;
  });
  sorts_as(events, {asc(&event::shift)},
           [](const event &a, const event &b) { return a.shift < b.shift; });
  sorts_as(events, {desc(&event::shift, at<1>)},
           [](const event &a, const event &b) { return a.shift[1] > b.shift[1]; });
  std::vector<system_clock::time_point> times;
  for (const event &each : events)
    times.push_back(each.at);
  recsort::sorter<event> by({asc(&event::at)});
  by.sort({by.column(times, &event::at)});
  assert_true(std::is_sorted(times.begin(), times.end()));
}

/* ---- Bases, private members, pairs ---- */

struct left_base {
  short a;
  char name[3];
};
struct right_base {
  std::uint32_t serial;
  double b;
};
/* No standard layout: members in three classes, and some of them are private. */
class heir : public left_base, public right_base
{
public:
  float own = 0;
  void hide(int value)
  {
    hidden_ = value;
  }
  static recsort::key<heir> by_hidden()
  {
    return desc(&heir::hidden_);
  }
  int hidden() const
  {
    return hidden_;
  }

private:
  int hidden_ = 0;
  friend void inherited_and_private_members(void **);
};
struct owner {
  char before;
  heir one;
  std::uint32_t serial;
};

void inherited_and_private_members(void **)
{
  static_assert(!std::is_standard_layout_v<heir>);
  std::uint64_t seed = 11;
  std::vector<heir> heirs(500);
  std::vector<owner> owners;
  const auto draw = [&] { return static_cast<int>(random_below(&seed, 5)) - 2; };
  for (std::uint32_t i = 0; i < heirs.size(); i++) {
    heir &made = heirs[i];
    made.a = static_cast<short>(draw());
    made.name[0] = static_cast<char>('c' + draw());
    made.name[1] = 0;
    made.serial = i;
    made.b = draw();
    made.own = static_cast<float>(draw());
    made.hide(draw());
    owners.push_back({'x', made, i});
  }
  sorts_as(heirs, {asc(&heir::b), desc(&heir::own), asc(&heir::a)},
           [](const heir &a, const heir &b) {
             return a.b != b.b ? a.b < b.b : a.own != b.own ? a.own > b.own : a.a < b.a;
           });
  sorts_as(heirs, {desc(&heir::name), asc(static_cast<double heir::*>(&heir::b))},
           [](const heir &a, const heir &b) {
             return a.name[0] != b.name[0] ? a.name[0] > b.name[0] : a.b < b.b;
           });
  sorts_as(heirs, {asc(&heir::hidden_)},
           [](const heir &a, const heir &b) { return a.hidden() < b.hidden(); });
  sorts_as(heirs, {heir::by_hidden()},
           [](const heir &a, const heir &b) { return a.hidden() > b.hidden(); });
  const auto less = [](const heir &a, const heir &b) {
    return a.own + 10 * a.b < b.own + 10 * b.b;
  };
  sorts_as(heirs, {asc(recsort::dot({1, 10}, &heir::own, &heir::b))}, less);
  sorts_as(heirs, {asc(recsort::dot({10, 1}, &heir::b, &heir::own))}, less);
  sorts_as(owners, {asc(&owner::one, &heir::b), desc(&owner::one, &heir::own)},
           [](const owner &a, const owner &b) {
             return a.one.b != b.one.b ? a.one.b < b.one.b : a.one.own > b.one.own;
           });
}

using couple = std::pair<int, float>;
struct with_pair {
  std::uint32_t serial;
  couple values;
};

void pairs(void **)
{
  std::uint64_t seed = 13;
  std::vector<couple> couples;
  std::vector<with_pair> records;
  for (std::uint32_t i = 0; i < 500; i++) {
    couples.push_back(
        {static_cast<int>(random_below(&seed, 5)), static_cast<float>(random_below(&seed, 5))});
    records.push_back({i, couples[i]});
  }
  sorts_as(
      records, {asc(&with_pair::values, &couple::second)},
      [](const with_pair &a, const with_pair &b) { return a.values.second < b.values.second; });
  recsort::sorter<with_pair> by({asc(&with_pair::values, &couple::first)});
  std::vector<couple> moved = couples, sorted = couples;
  by.run(by.from(records));
  by.apply(moved);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const couple &a, const couple &b) { return a.first < b.first; });
  assert_true(moved == sorted);
  recsort::sorter<couple>({desc(&couple::second), asc(&couple::first)}).sort_to(couples, moved);
  std::stable_sort(couples.begin(), couples.end(), [](const couple &a, const couple &b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  assert_true(moved == couples);
}

struct text {
  std::uint32_t serial;
  char name[4];
  unsigned char raw[2];
  std::array<char, 3> code;
  union {
    float real;
    int whole;
    short low;
  };
  float both[2];
};

template <class... Keys> void refuses(const char *one, const char *other, Keys... keys)
{
  recsort_error error;
  recsort::sorter<text>({keys...}, error);
  assert_int_equal(error.status, RECSORT_INVALID_SCHEMA);
  assert_non_null(std::strstr(error.text, " overlaps "));
  for (const std::string name : {one, other})
    assert_non_null(std::strstr(error.text, ('"' + name + '"').c_str()));
}

/* The library takes no fields that overlap; the words name both. */
void members_that_share_bytes(void **)
{
  refuses("char at byte 4", "cstring of 4 at byte 4", asc(&text::name), asc(&text::name, at<0>));
  refuses("char at byte 7", "cstring of 4 at byte 4", desc(&text::name, at<3>), asc(&text::name));
  refuses("bytes of 4 at byte 4", "cstring of 4 at byte 4", asc(&text::name),
          asc(recsort::bytes(&text::name)));
  refuses("cstring of 3 at byte 10", "char at byte 10", asc(&text::code, at<0>), asc(&text::serial),
          asc(&text::code));
  refuses("float32 at byte 24", "float32 of 2 at byte 20", asc(&text::both),
          asc(&text::both, at<1>));
  refuses("uint8 at byte 9", "bytes of 2 at byte 8", asc(&text::raw), asc(&text::raw, at<1>));
  refuses("int16 at byte 16", "float32 at byte 16", asc(&text::serial),
          asc(recsort::distance({0.0}, &text::real)), asc(&text::low));
  refuses("int32 at byte 16", "float32 at byte 16",
          asc(recsort::distance({0.0, 0.0}, &text::real, &text::whole)));
  recsort::sorter<text>({asc(&text::real), asc(recsort::distance({0.0}, &text::real)), /* again */
                         asc(&text::raw), asc(&text::code), asc(&text::name)}); /* side by side */
}

/* The way out: the last letter decides, downwards, then the name. */
void two_sorters_for_members_that_share_bytes(void **)
{
  std::uint64_t seed = 5;
  std::vector<text> records(500);
  for (std::uint32_t i = 0; i < records.size(); i++) {
    records[i].serial = i;
    for (char &letter : records[i].name)
      letter = static_cast<char>('a' + random_below(&seed, 3));
  }
  std::vector<text> expected = records;
  std::stable_sort(expected.begin(), expected.end(), [](const text &a, const text &b) {
    const int names = std::strncmp(a.name, b.name, sizeof a.name);
    return a.name[3] != b.name[3] ? a.name[3] > b.name[3] : names < 0;
  });
  recsort::sorter<text>({asc(&text::name)}).sort(records);
  recsort::sorter<text>({desc(&text::name, at<3>)}).sort(records);
  for (std::size_t i = 0; i < records.size(); i++)
    assert_int_equal(records[i].serial, expected[i].serial);
}

} // namespace

int main()
{
  const CMUnitTest tests[] = {
      cmocka_unit_test(integers),
      cmocka_unit_test(characters),
      cmocka_unit_test(enums),
      cmocka_unit_test(floats),
      cmocka_unit_test(arrays),
      cmocka_unit_test(times_and_durations),
      cmocka_unit_test(inherited_and_private_members),
      cmocka_unit_test(pairs),
      cmocka_unit_test(members_that_share_bytes),
      cmocka_unit_test(two_sorters_for_members_that_share_bytes),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
