// cpp_sorts.cpp - the C++ library's sorts, and those of others if their headers were found.
#include <algorithm>
#include <cstring>
#include <vector>

#include "sorts.h"

#ifdef HAVE_PARALLEL
#include <parallel/algorithm>
#endif
#ifdef HAVE_BOOST
#include <boost/sort/sort.hpp>
#endif
#ifdef HAVE_IPS4O
#include <ips4o.hpp>
#endif
#ifdef HAVE_VQSORT
#include <hwy/contrib/sort/vqsort.h>
#endif

namespace
{

// ---- Records of a size, by the suite's comparison

template <size_t Size> struct bytes {
  unsigned char at[Size];
};

struct by_suite {
  const suite_case *now;
  template <typename Record> bool operator()(const Record &a, const Record &b) const
  {
    return suite_compare(now, &a, &b) < 0;
  }
};

template <typename Sort, size_t Size> int sort_bytes(const suite_case *c)
{
  const auto first = reinterpret_cast<bytes<Size> *>(c->records);
  Sort()(first, first + c->count, by_suite{c});
  return SUITE_SORTED;
}

// Some sizes, since each takes a compiler seconds.
template <typename Sort> int sort_records(void *, const suite_case *c)
{
  switch (c->record_size) {
  case 9:
    return sort_bytes<Sort, 9>(c);
  case 10:
    return sort_bytes<Sort, 10>(c);
  case 12:
    return sort_bytes<Sort, 12>(c);
  case 16:
    return sort_bytes<Sort, 16>(c);
  case 24:
    return sort_bytes<Sort, 24>(c);
  case 88:
    return sort_bytes<Sort, 88>(c);
  default:
    return SUITE_REFUSED;
  }
}

// ---- Records with a number as their key, by its operator <

#pragma pack(push, 1)
template <typename Key> struct keyed {
  Key key;
  uint64_t tag;
};
#pragma pack(pop)

struct by_less {
  template <typename Key> bool operator()(const keyed<Key> &a, const keyed<Key> &b) const
  {
    return a.key < b.key;
  }
};

template <typename Sort, typename Key> int sort_keyed(const suite_case *c)
{
  const auto first = reinterpret_cast<keyed<Key> *>(c->records);
  Sort()(first, first + c->count, by_less());
  return SUITE_SORTED;
}

template <typename Sort> int sort_numbers(void *, const suite_case *c)
{
  static const struct {
    const char *kind;
    int (*sort)(const suite_case *);
  } types[] = {{"int8", sort_keyed<Sort, int8_t>},   {"uint8", sort_keyed<Sort, uint8_t>},
               {"int16", sort_keyed<Sort, int16_t>}, {"uint16", sort_keyed<Sort, uint16_t>},
               {"int32", sort_keyed<Sort, int32_t>}, {"uint32", sort_keyed<Sort, uint32_t>},
               {"int64", sort_keyed<Sort, int64_t>}, {"uint64", sort_keyed<Sort, uint64_t>},
               {"float32", sort_keyed<Sort, float>}, {"float64", sort_keyed<Sort, double>}};
  for (const auto &type : types)
    if (std::strcmp(type.kind, c->kind) == 0) return type.sort(c);
  return SUITE_REFUSED;
}

// ---- The sorts

#define SORT(name, call)                                                                           \
  struct name {                                                                                    \
    template <typename Record, typename Less>                                                      \
    void operator()(Record *first, Record *last, Less less) const                                  \
    {                                                                                              \
      call(first, last, less);                                                                     \
    }                                                                                              \
  };

SORT(std_stable, std::stable_sort)
SORT(std_sort, std::sort)

template <typename Sort> constexpr sort_entry records(const char *name, bool stable)
{
  return {name, stable, true, sort_records<Sort>, nullptr, nullptr};
}

template <typename Sort> constexpr sort_entry numbers(const char *name, bool stable)
{
  return {name, stable, false, sort_numbers<Sort>, nullptr, nullptr};
}

[[maybe_unused]] const char *not_found()
{
  return "its header was not found when sortsuite was built";
}

[[maybe_unused]] constexpr sort_entry missing(const char *name, bool stable)
{
  return {name, stable, false, nullptr, nullptr, not_found};
}

#ifdef HAVE_VQSORT
// Pairs of key and index. Its keys are the only ones for which it takes values.
template <typename Pair, typename Key> int sort_pairs(const suite_case *c)
{
  std::vector<Pair> pairs(c->count);
  for (size_t i = 0; i < c->count; i++) {
    std::memcpy(&pairs[i].key, c->input + i * c->record_size, sizeof(Key));
    pairs[i].value = static_cast<Key>(i);
  }
  hwy::Sorter()(pairs.data(), pairs.size(), hwy::SortAscending());
  for (size_t i = 0; i < c->count; i++)
    c->places[i] = pairs[i].value;
  return SUITE_PLACED;
}

int vqsort(void *, const suite_case *c)
{
  if (std::strcmp(c->kind, "uint32") == 0) return sort_pairs<hwy::K32V32, uint32_t>(c);
  if (std::strcmp(c->kind, "uint64") == 0) return sort_pairs<hwy::K64V64, uint64_t>(c);
  return SUITE_REFUSED;
}
#endif

#ifdef HAVE_BOOST
SORT(spinsort, boost::sort::spinsort)
SORT(flat_stable, boost::sort::flat_stable_sort)
SORT(pdqsort, boost::sort::pdqsort)
#endif
#ifdef HAVE_PARALLEL
SORT(parallel_stable, __gnu_parallel::stable_sort)
#endif
#ifdef HAVE_IPS4O
SORT(ips4o_sort, ips4o::sort)
#endif

} // namespace

extern "C" const sort_entry cpp_sorts[] = {
    records<std_stable>("std::stable_sort", true),
    records<std_sort>("std::sort", false),
    numbers<std_stable>("std::stable_sort by <", true),
    numbers<std_sort>("std::sort by <", false),
#ifdef HAVE_PARALLEL
    records<parallel_stable>("__gnu_parallel::stable_sort", true),
#else
    missing("__gnu_parallel::stable_sort", true),
#endif
#ifdef HAVE_BOOST
    records<spinsort>("boost::sort::spinsort", true),
    records<flat_stable>("boost::sort::flat_stable_sort", true),
    records<pdqsort>("boost::sort::pdqsort", false),
#else
    missing("boost::sort::spinsort", true),
    missing("boost::sort::flat_stable_sort", true),
    missing("boost::sort::pdqsort", false),
#endif
#ifdef HAVE_IPS4O
    records<ips4o_sort>("ips4o::sort", false),
#else
    missing("ips4o::sort", false),
#endif
#ifdef HAVE_VQSORT
    {"hwy::Sorter", false, false, vqsort, nullptr, nullptr},
#else
    missing("hwy::Sorter", false),
#endif
    {nullptr, false, false, nullptr, nullptr, nullptr}};
