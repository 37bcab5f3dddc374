// peers.cpp - std::stable_sort and __gnu_parallel's, the latter where libstdc++ and OpenMP are.
#include "peers.h"

#include <algorithm>
#include <cstring>
#include <new>

#if defined(_OPENMP) && __has_include(<parallel/algorithm>)
#include <omp.h>
#include <parallel/algorithm>
#define HAVE_PARALLEL 1
#endif

namespace
{

inline bool operator<(const entity &a, const entity &b)
{
  return a.distance > b.distance;
}

inline bool operator<(const key64 &a, const key64 &b)
{
  return a.key < b.key;
}

inline bool operator<(const key128 &a, const key128 &b)
{
  return a.high != b.high ? a.high < b.high : a.low < b.low;
}

inline bool operator<(const gensort &a, const gensort &b)
{
  return std::memcmp(a.key, b.key, sizeof a.key) < 0;
}

template <class Record> struct Before {
  bool operator()(const Record &a, const Record &b) const
  {
    return a < b;
  }
};

template <class Record> bool sort_std(void *records, size_t count, unsigned)
{
  const auto first = static_cast<Record *>(records);
  std::stable_sort(first, first + count, Before<Record>());
  return true;
}

#ifdef HAVE_PARALLEL
template <class Record> bool sort_parallel(void *records, size_t count, unsigned threads)
{
  const auto first = static_cast<Record *>(records);
  const int before = omp_get_max_threads();
  bool done = true;
  // It would sort with one thread where OpenMP's own limit is one, whatever its tag asks for.
  omp_set_num_threads(static_cast<int>(threads));
  try {
    const auto wanted = static_cast<__gnu_parallel::_ThreadIndex>(threads);
    std::__parallel::stable_sort(first, first + count, Before<Record>(),
                                 __gnu_parallel::default_parallel_tag(wanted));
  } catch (const std::bad_alloc &) {
    done = false;
  }
  omp_set_num_threads(before);
  return done;
}
#endif

} // namespace

extern "C" peer_sort *peer_std(record_id record)
{
  static peer_sort *const sorts[RECORD_COUNT] = {sort_std<entity>, sort_std<key64>,
                                                 sort_std<key128>, sort_std<gensort>};
  return sorts[record];
}

extern "C" peer_sort *peer_parallel(record_id record)
{
#ifdef HAVE_PARALLEL
  static peer_sort *const sorts[RECORD_COUNT] = {sort_parallel<entity>, sort_parallel<key64>,
                                                 sort_parallel<key128>, sort_parallel<gensort>};
  return sorts[record];
#else
  (void)record;
  return nullptr;
#endif
}
