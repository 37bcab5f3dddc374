// packed.h - what you could build yourself: key and place packed in words, a sort of the words that
// need not be stable, and one gather of the records. Sorts of libraries that CMake finds: Highway's
// vqsort, ips4o, Boost, TBB; those of libstdc++ and a radix sort are always there.
#ifndef BENCH_PACKED_H
#define BENCH_PACKED_H

#include "peers.h"

#if __has_include(<boost/sort/sort.hpp>)
#include <boost/sort/sort.hpp>
#define HAVE_BOOST 1
#endif
#ifdef HAVE_VQSORT
#include <hwy/contrib/sort/vqsort.h>
#endif
#ifdef HAVE_TBB
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>
#if __has_include(<ips4o.hpp>)
#include <ips4o.hpp>
#define HAVE_IPS4O 1
#endif
#endif

__extension__ using uint128 = unsigned __int128;

struct WideWord {
  uint128 key;
  uint64_t place, reserved;

  bool operator<(const WideWord &other) const
  {
    return key != other.key ? key < other.key : place < other.place;
  }
};

// How a record becomes a word: ascending words are the order of records.
template <class Record> struct Packing;

template <> struct Packing<Entity> {
  using Word = uint64_t;
  static constexpr int KEY_BITS = 32;
  static Word pack(const Entity &record, size_t place) // no distance is negative
  {
    uint32_t bits;
    std::memcpy(&bits, &record.distance, sizeof bits);
    return static_cast<Word>(~bits) << 32 | place;
  }
  static size_t place(Word word)
  {
    return static_cast<uint32_t>(word);
  }
  static size_t digit(Word word, int shift)
  {
    return static_cast<size_t>(word >> (32 + shift));
  }
};

template <> struct Packing<Key16> : Packing<Entity> {
  static constexpr int KEY_BITS = 16;
  static Word pack(const Key16 &record, size_t place)
  {
    return static_cast<Word>(record.key) << 32 | place;
  }
};

template <> struct Packing<Key32> : Packing<Entity> {
  static Word pack(const Key32 &record, size_t place)
  {
    return static_cast<Word>(record.key) << 32 | place;
  }
};

template <> struct Packing<Key64> {
  using Word = uint128;
  static constexpr int KEY_BITS = 64;
  static Word pack(const Key64 &record, size_t place)
  {
    return static_cast<Word>(record.key) << 64 | place;
  }
  static size_t place(Word word)
  {
    return static_cast<size_t>(word);
  }
  static size_t digit(Word word, int shift)
  {
    return static_cast<size_t>(word >> (64 + shift));
  }
};

template <> struct Packing<Key128> {
  using Word = WideWord;
  static constexpr int KEY_BITS = 128;
  static Word pack(const Key128 &record, size_t place)
  {
    return {static_cast<uint128>(record.high) << 64 | record.low, place, 0};
  }
  static size_t place(const Word &word)
  {
    return word.place;
  }
  static size_t digit(const Word &word, int shift)
  {
    return static_cast<size_t>(word.key >> shift);
  }
};

template <class Record> using WordsOf = std::vector<typename Packing<Record>::Word>;
template <class Record> using WordSort = void(WordsOf<Record> &words, unsigned threads);

// Packs and gathers by all threads.
template <class Record, WordSort<Record> *sort>
void sort_packed(const void *from, const std::vector<size_t> &offsets, void *to, unsigned threads)
{
  static WordsOf<Record> words; // warm, like the others
  const auto records = static_cast<const Record *>(from);
  const auto sorted = static_cast<Record *>(to);
  const size_t count = offsets.back();
  words.resize(count);
#pragma omp parallel for num_threads(threads) if (threads > 1)
  for (size_t i = 0; i < count; i++)
    words[i] = Packing<Record>::pack(records[i], i);
  sort(words, threads);
#pragma omp parallel for num_threads(threads) if (threads > 1)
  for (size_t i = 0; i < count; i++)
    sorted[i] = records[Packing<Record>::place(words[i])];
}

// Passes of 11 bits over the key.
template <class Record> void radix_words(WordsOf<Record> &words, unsigned)
{
  constexpr int BITS = 11, PASSES = (Packing<Record>::KEY_BITS + BITS - 1) / BITS;
  constexpr size_t DIGITS = size_t{1} << BITS;
  static WordsOf<Record> other;
  std::vector<size_t> next(PASSES * DIGITS);
  const auto digit = [](const auto &word, int pass) {
    return Packing<Record>::digit(word, BITS * pass) % DIGITS;
  };
  other.resize(words.size());
  for (const auto &word : words)
    for (int pass = 0; pass < PASSES; pass++)
      next[static_cast<size_t>(pass) * DIGITS + digit(word, pass)]++;
  for (int pass = 0; pass < PASSES; pass++) {
    size_t *const at = &next[static_cast<size_t>(pass) * DIGITS];
    for (size_t value = 0, sum = 0; value < DIGITS; value++) {
      const size_t own = at[value];
      at[value] = sum;
      sum += own;
    }
    for (const auto &word : words)
      other[at[digit(word, pass)]++] = word;
    words.swap(other);
  }
}

#ifdef HAVE_VQSORT
template <class Record> void vqsort_words(WordsOf<Record> &words, unsigned)
{
  using Word = typename Packing<Record>::Word;
  using Own = std::conditional_t<sizeof(Word) == 16, hwy::uint128_t, uint64_t>;
  static const hwy::Sorter sorter;
  sorter(reinterpret_cast<Own *>(words.data()), words.size(), hwy::SortAscending());
}
#endif

#ifdef HAVE_BOOST
template <class Record>
void sort_spin(const void *, const std::vector<size_t> &offsets, void *to, unsigned)
{
  const auto first = static_cast<Record *>(to);
  boost::sort::spinsort(first, first + offsets.back());
}

template <class Record>
void sort_stable_boost(const void *, const std::vector<size_t> &offsets, void *to, unsigned threads)
{
  const auto first = static_cast<Record *>(to);
  boost::sort::parallel_stable_sort(first, first + offsets.back(), threads);
}

template <class Record> void block_words(WordsOf<Record> &words, unsigned threads)
{
  boost::sort::block_indirect_sort(words.begin(), words.end(), threads);
}
#endif

#ifdef HAVE_TBB
template <class Record> void tbb_words(WordsOf<Record> &words, unsigned threads)
{
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  tbb::parallel_sort(words.begin(), words.end());
}
#endif

#ifdef HAVE_IPS4O
template <class Record> void ips4o_words(WordsOf<Record> &words, unsigned threads)
{
  ips4o::parallel::sort(words.begin(), words.end(), std::less<>{}, static_cast<int>(threads));
}
#endif

#ifdef HAVE_PARALLEL
template <class Record> void gnu_words(WordsOf<Record> &words, unsigned threads)
{
  omp_set_num_threads(static_cast<int>(threads));
  std::__parallel::sort(
      words.begin(), words.end(), std::less<>{},
      __gnu_parallel::default_parallel_tag(static_cast<__gnu_parallel::_ThreadIndex>(threads)));
}
#endif

// One pass, by a count of each key.
inline void sort_by_counts(const void *from, const std::vector<size_t> &offsets, void *to, unsigned)
{
  const auto records = static_cast<const Key16 *>(from);
  std::vector<uint32_t> next(1 << 16);
  uint32_t sum = 0;
  for (size_t i = 0; i < offsets.back(); i++)
    next[records[i].key]++;
  for (uint32_t &each : next)
    sum += std::exchange(each, sum);
  for (size_t i = 0; i < offsets.back(); i++)
    static_cast<Key16 *>(to)[next[records[i].key]++] = records[i];
}

template <class Record> Kind kind_with_words(const char *name)
{
  Kind all = kind<Record>(name);
  std::vector<Peer> &peers = all.peers;
  peers.push_back({"packed, LSD radix", false, ANY, sort_packed<Record, radix_words<Record>>});
  if constexpr (Packing<Record>::KEY_BITS == 16)
    peers.push_back({"counting sort", false, ONE, sort_by_counts});
#ifdef HAVE_VQSORT
  if constexpr (Packing<Record>::KEY_BITS <= 64)
    peers.push_back({"packed, vqsort", false, ANY, sort_packed<Record, vqsort_words<Record>>});
#endif
#ifdef HAVE_BOOST
  peers.push_back({"boost::sort::spinsort", false, ONE, sort_spin<Record>});
  peers.push_back({"boost::sort::parallel_stable_sort", false, SEVERAL, sort_stable_boost<Record>});
  peers.push_back(
      {"packed, block_indirect_sort", false, SEVERAL, sort_packed<Record, block_words<Record>>});
#endif
#ifdef HAVE_TBB
  peers.push_back(
      {"packed, tbb::parallel_sort", false, SEVERAL, sort_packed<Record, tbb_words<Record>>});
#endif
#ifdef HAVE_IPS4O
  peers.push_back({"packed, ips4o", false, SEVERAL, sort_packed<Record, ips4o_words<Record>>});
#endif
#ifdef HAVE_PARALLEL
  peers.push_back(
      {"packed, gnu_parallel::sort", false, SEVERAL, sort_packed<Record, gnu_words<Record>>});
#endif
  return all;
}

inline const std::vector<Kind> kinds = {
    kind_with_words<Entity>("entity"), kind_with_words<Key16>("key16"),
    kind_with_words<Key32>("key32"),   kind_with_words<Key64>("key64"),
    kind_with_words<Key128>("key128"), kind<Gensort>("gensort"),
    kind<uint64_t>("word")};

#endif
