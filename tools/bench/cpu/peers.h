// peers.h - the records as C++ structs, and the stable sorts and merges of the C++ library: of
// namespace std, and of __gnu_parallel where libstdc++ and OpenMP are.
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#if defined(_OPENMP) && __has_include(<parallel/algorithm>)
#include <omp.h>
#include <parallel/algorithm>
#include <parallel/multiway_merge.h>
#define HAVE_PARALLEL 1
#endif

// None has padding, so results can be compared byte by byte.
struct Entity {
  float x, y, angle;
  int16_t sprite, padding;
  float distance;

  bool operator<(const Entity &other) const
  {
    return distance > other.distance;
  }
};

struct Key16 {
  uint16_t key, value[3];

  bool operator<(const Key16 &other) const
  {
    return key < other.key;
  }
};

struct Key32 {
  uint32_t key, value;

  bool operator<(const Key32 &other) const
  {
    return key < other.key;
  }
};

struct Key64 {
  uint64_t key, value;

  bool operator<(const Key64 &other) const
  {
    return key < other.key;
  }
};

struct Key128 {
  uint64_t high, low, value[2];

  bool operator<(const Key128 &other) const
  {
    return high != other.high ? high < other.high : low < other.low;
  }
};

struct Gensort {
  unsigned char key[10], value[90];

  bool operator<(const Gensort &other) const
  {
    return std::memcmp(key, other.key, sizeof key) < 0;
  }
};

// Merges the runs of `from`, run r from offsets[r] on, to `to`; or sorts the copy that is at `to`.
using PeerFunction = void(const void *from, const std::vector<size_t> &offsets, void *to,
                          unsigned threads);

enum Threads { ONE, ANY, SEVERAL }; // that a peer can use

struct Peer {
  const char *name;
  bool merges;
  Threads threads;
  PeerFunction *run;
};

template <class Record>
void sort_std(const void *, const std::vector<size_t> &offsets, void *to, unsigned)
{
  const auto first = static_cast<Record *>(to);
  std::stable_sort(first, first + offsets.back());
}

template <class Record>
void merge_std(const void *from, const std::vector<size_t> &offsets, void *to, unsigned)
{
  const auto first = static_cast<const Record *>(from);
  std::merge(first, first + offsets[1], first + offsets[1], first + offsets[2],
             static_cast<Record *>(to));
}

// The next record of a run, and the one behind its last.
template <class Record> struct Head {
  const Record *next;
  const Record *end;
  size_t run;

  bool
  operator<(const Head &other) const // what comes later is less: the queue's top is the greatest
  {
    return *other.next < *next || (!(*next < *other.next) && run > other.run);
  }
};

template <class Record>
void merge_heap(const void *from, const std::vector<size_t> &offsets, void *to, unsigned)
{
  const auto first = static_cast<const Record *>(from);
  auto next = static_cast<Record *>(to);
  std::priority_queue<Head<Record>> heads;
  for (size_t r = 0; r + 1 < offsets.size(); r++)
    if (offsets[r] < offsets[r + 1]) heads.push({first + offsets[r], first + offsets[r + 1], r});
  while (!heads.empty()) {
    Head<Record> head = heads.top();
    heads.pop();
    *next++ = *head.next++;
    if (head.next != head.end) heads.push(head);
  }
}

// The first `head` of the copy, sorted, in front of the others.
template <class Record> void sort_first_std(void *to, size_t count, size_t head)
{
  const auto first = static_cast<Record *>(to);
  std::partial_sort(first, first + static_cast<ptrdiff_t>(head), first + count);
}

#ifdef HAVE_PARALLEL
// Both would use one thread where OpenMP's own limit is one, whatever their tag asks for.
template <class Record>
void sort_parallel(const void *, const std::vector<size_t> &offsets, void *to, unsigned threads)
{
  omp_set_num_threads(static_cast<int>(threads));
  const auto first = static_cast<Record *>(to);
  std::__parallel::stable_sort(
      first, first + offsets.back(), std::less<Record>(),
      __gnu_parallel::default_parallel_tag(static_cast<__gnu_parallel::_ThreadIndex>(threads)));
}

template <class Record>
void merge_parallel(const void *from, const std::vector<size_t> &offsets, void *to,
                    unsigned threads)
{
  omp_set_num_threads(static_cast<int>(threads));
  // It wants iterators that could write, though it does not.
  const auto first = static_cast<Record *>(const_cast<void *>(from));
  std::vector<std::pair<Record *, Record *>> runs;
  for (size_t r = 0; r + 1 < offsets.size(); r++)
    if (offsets[r] < offsets[r + 1]) runs.emplace_back(first + offsets[r], first + offsets[r + 1]);
  __gnu_parallel::stable_multiway_merge(
      runs.begin(), runs.end(), static_cast<Record *>(to), static_cast<ptrdiff_t>(offsets.back()),
      std::less<Record>(),
      __gnu_parallel::parallel_tag(static_cast<__gnu_parallel::_ThreadIndex>(threads)));
}
#endif

struct Kind {
  const char *name;
  size_t size;
  std::vector<Peer> peers;
  void (*partial_sort)(void *to, size_t count, size_t head); // not stable
};

template <class Record> Kind kind(const char *name)
{
  std::vector<Peer> peers = {{"std::stable_sort", false, ONE, sort_std<Record>},
                             {"std::merge", true, ONE, merge_std<Record>},
                             {"std::priority_queue", true, ONE, merge_heap<Record>}};
#ifdef HAVE_PARALLEL
  peers.push_back({"__gnu_parallel::stable_sort", false, SEVERAL, sort_parallel<Record>});
  peers.push_back({"gnu_parallel::multiway_merge", true, ANY, merge_parallel<Record>});
#endif
  return {name, sizeof(Record), peers, sort_first_std<Record>};
}

#endif
