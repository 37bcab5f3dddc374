/* recsort.hpp: a member's order is that of its type, wherever the member is: by itself, constant,
 * in arrays of either kind, in structs, unions and bases. The oracle is std::stable_sort with the <
 * of the type; a char alone, and std::byte, are unsigned bytes. */
#include <recsort/recsort.hpp>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdarg>
#include <csetjmp>
#include <cstring>
#include <numeric>
#include <string>
#include <type_traits>
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
template <class Value> auto ordered(Value value)
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
      const auto x = ordered<Value>(get(records[a])), y = ordered<Value>(get(records[b]));
      return descends ? y < x : x < y;
    });
    assert_true(order == expected);
  }
}

#define COMPARE(path, member)                                                                      \
  compare<Value>(records, asc path, [](const derived<Value> &one) { return one.member; })

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
      cmocka_unit_test(members_that_share_bytes),
      cmocka_unit_test(two_sorters_for_members_that_share_bytes),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
