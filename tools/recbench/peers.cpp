// peers.cpp - the sorts and merges of namespace std, and those of __gnu_parallel where libstdc++
// and OpenMP are.
#include "peers.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <queue>
#include <utility>
#include <vector>

#if defined(_OPENMP) && __has_include(<parallel/algorithm>)
#include <omp.h>
#include <parallel/algorithm>
#include <parallel/multiway_merge.h>
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

inline bool operator<(const packed_word &a, const packed_word &b)
{
  return a.key < b.key;
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

template <class Record>
bool merge_std(const void *records, const size_t *offsets, size_t, void *merged, unsigned)
{
  const auto first = static_cast<const Record *>(records);
  std::merge(first, first + offsets[1], first + offsets[1], first + offsets[2],
             static_cast<Record *>(merged), Before<Record>());
  return true;
}

// The next record of a run, and the one behind its last.
template <class Record> struct Head {
  const Record *next;
  const Record *end;
  size_t run;
};

template <class Record> struct After {
  bool operator()(const Head<Record> &a, const Head<Record> &b) const
  {
    return *b.next < *a.next || (!(*a.next < *b.next) && a.run > b.run);
  }
};

template <class Record>
bool merge_heap(const void *records, const size_t *offsets, size_t run_count, void *merged,
                unsigned)
{
  const auto first = static_cast<const Record *>(records);
  auto to = static_cast<Record *>(merged);
  try {
    std::priority_queue<Head<Record>, std::vector<Head<Record>>, After<Record>> heads;
    for (size_t r = 0; r < run_count; r++)
      if (offsets[r] < offsets[r + 1]) heads.push({first + offsets[r], first + offsets[r + 1], r});
    while (!heads.empty()) {
      Head<Record> head = heads.top();
      heads.pop();
      *to++ = *head.next++;
      if (head.next != head.end) heads.push(head);
    }
  } catch (const std::bad_alloc &) {
    return false;
  }
  return true;
}

#ifdef HAVE_PARALLEL
template <class Record>
bool merge_parallel(const void *records, const size_t *offsets, size_t run_count, void *merged,
                    unsigned threads)
{
  // It wants iterators that could write, though it does not.
  const auto first = static_cast<Record *>(const_cast<void *>(records));
  const int before = omp_get_max_threads();
  bool done = true;
  omp_set_num_threads(static_cast<int>(threads));
  try {
    const auto wanted = static_cast<__gnu_parallel::_ThreadIndex>(threads);
    std::vector<std::pair<Record *, Record *>> runs;
    for (size_t r = 0; r < run_count; r++)
      if (offsets[r] < offsets[r + 1])
        runs.emplace_back(first + offsets[r], first + offsets[r + 1]);
    __gnu_parallel::stable_multiway_merge(runs.begin(), runs.end(), static_cast<Record *>(merged),
                                          static_cast<ptrdiff_t>(offsets[run_count]),
                                          Before<Record>(), __gnu_parallel::parallel_tag(wanted));
  } catch (const std::bad_alloc &) {
    done = false;
  }
  omp_set_num_threads(before);
  return done;
}

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
                                                 sort_std<key128>, sort_std<gensort>,
                                                 sort_std<packed_word>};
  return sorts[record];
}

extern "C" peer_sort *peer_parallel(record_id record)
{
#ifdef HAVE_PARALLEL
  static peer_sort *const sorts[RECORD_COUNT] = {sort_parallel<entity>, sort_parallel<key64>,
                                                 sort_parallel<key128>, sort_parallel<gensort>,
                                                 sort_parallel<packed_word>};
  return sorts[record];
#else
  (void)record;
  return nullptr;
#endif
}

extern "C" peer_merge *peer_merge_std(record_id record)
{
  static peer_merge *const merges[RECORD_COUNT] = {merge_std<entity>, merge_std<key64>,
                                                   merge_std<key128>, merge_std<gensort>,
                                                   merge_std<packed_word>};
  return merges[record];
}

extern "C" peer_merge *peer_merge_heap(record_id record)
{
  static peer_merge *const merges[RECORD_COUNT] = {merge_heap<entity>, merge_heap<key64>,
                                                   merge_heap<key128>, merge_heap<gensort>,
                                                   merge_heap<packed_word>};
  return merges[record];
}

extern "C" peer_merge *peer_merge_parallel(record_id record)
{
#ifdef HAVE_PARALLEL
  static peer_merge *const merges[RECORD_COUNT] = {merge_parallel<entity>, merge_parallel<key64>,
                                                   merge_parallel<key128>, merge_parallel<gensort>,
                                                   merge_parallel<packed_word>};
  return merges[record];
#else
  (void)record;
  return nullptr;
#endif
}
