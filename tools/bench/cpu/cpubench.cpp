/* cpubench.cpp - recsort beside what you could build yourself on a CPU, in one process, in turns.
 *
 * Compile it with libhwy-dev, libips4o-dev, libboost-dev and libtbb-dev of Debian:
 *   g++ -O3 -march=native -fopenmp -std=c++20 cpubench.cpp $(pkg-config --cflags --libs recsort) \
 *     -lhwy_contrib -lhwy -ltbb -latomic -o cpubench
 *
 * Usage: cpubench THREADS SECONDS [CSV [RECORDS random|few|nearly [32|64|128]]]
 *        RECORDS: 2^14, 100. The last number: bits of the key
 *
 * Each contestant sorts the same records stably: of 20 bytes by a float, descending; of 16 bytes by
 * an integer of 64 bits; or of 32 bytes by one of 128. The peers of recsort pack key and index into
 * words of 64, 128 or 256 bits, sort these, and gather the records; or they sort whole
 * records. With several threads recsort sorts by its own pool, and by TBB's. Times are the least of
 * many rounds, in which the contestants take turns: machines drift. The turns are in another order
 * each round, as a contestant finds in the caches what the one before it has left there, and two of
 * them share words. Few records are sorted many times a round, other ones each time: a processor
 * learns the branches that a sort of the same hundred records takes, which makes sorts by
 * comparisons twice as fast. With several threads, each contestant first waits until the threads of
 * the one before it sleep, and sorts once to wake its own. Every result is compared with
 * std::stable_sort's.
 */
#include <parallel/algorithm>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <boost/sort/sort.hpp>
#include <hwy/contrib/sort/vqsort.h>
#include <ips4o.hpp>
#include <omp.h>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <recsort/recsort.h>

namespace
{

unsigned threads = 1;

double seconds()
{
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

[[noreturn]] void fail(const char *text)
{
  std::fprintf(stderr, "cpubench: %s\n", text);
  std::exit(1);
}

/* ---- Records ---- */

using uint128 = unsigned __int128;

struct Entity {
  float x, y, angle;
  int16_t sprite;
  float distance;
};

/* By distance. Ascending words are descending distances, which are not negative. */
struct by_float {
  using Record = Entity;
  using Word = uint64_t;
  static constexpr int KEY_BITS = 32, INDEX_BITS = 32;
  static constexpr const char *NAME = "Entities";
  static constexpr const char *SCHEMA =
      "record: Entity\nfields:\n  - {name: x, type: float32}\n  - {name: y, type: float32}\n"
      "  - {name: angle, type: float32}\n  - {name: sprite, type: int16}\n"
      "  - {name: distance, type: float32}\nkeys:\n  - {field: distance, order: desc}\n";

  static Record make(size_t i, uint64_t few, std::mt19937_64 &random)
  {
    std::uniform_real_distribution<float> any(0, 1000);
    const float distance = few ? float(random() % few) : any(random);
    return {float(i >> 16), 2, float(i & 65535), int16_t(i), distance};
  }
  static void take_key(Record &to, const Record &from)
  {
    to.distance = from.distance;
  }
  static Word key(const Record &record)
  {
    uint32_t bits;
    std::memcpy(&bits, &record.distance, sizeof bits);
    return Word(~bits);
  }
  static bool before(const Record &a, const Record &b)
  {
    return a.distance > b.distance;
  }
  static bool same(const Record &a, const Record &b)
  {
    return a.distance == b.distance && a.x == b.x && a.angle == b.angle;
  }
};

struct wide_word {
  uint128 key;
  uint64_t index, reserved;

  bool operator<(const wide_word &other) const
  {
    return key != other.key ? key < other.key : index < other.index;
  }
};

template <class Key> struct by_integer {
  struct Record {
    Key key;
    uint64_t number;
  };
  static constexpr bool WIDE = sizeof(Key) > sizeof(uint64_t);
  using Word = std::conditional_t<WIDE, wide_word, uint128>;
  static constexpr int KEY_BITS = 8 * sizeof(Key), INDEX_BITS = 64;
  static constexpr const char *NAME =
      WIDE ? "records with keys of 128 bits" : "records with keys of 64 bits";
  static constexpr const char *SCHEMA = WIDE
                                            ? "record: R\nfields:\n  - {name: key, type: uint128}\n"
                                              "  - {name: number, type: uint64}\nkeys:\n  - key\n"
                                            : "record: R\nfields:\n  - {name: key, type: uint64}\n"
                                              "  - {name: number, type: uint64}\nkeys:\n  - key\n";

  static Record make(size_t i, uint64_t few, std::mt19937_64 &random)
  {
    const Key any = Key(uint128(random()) << 64 | random());
    return {few ? Key(any % few * (Key(~Key(0)) / few)) : any, i};
  }
  static void take_key(Record &to, const Record &from)
  {
    to.key = from.key;
  }
  static uint128 key(const Record &record)
  {
    return record.key;
  }
  static bool before(const Record &a, const Record &b)
  {
    return a.key < b.key;
  }
  static bool same(const Record &a, const Record &b)
  {
    return a.key == b.key && a.number == b.number;
  }
};

/* ---- Words of a key and an index ---- */

template <class Kind> typename Kind::Word word_of(const typename Kind::Record &record, size_t i)
{
  if constexpr (Kind::KEY_BITS == 128)
    return {Kind::key(record), i, 0};
  else
    return Kind::key(record) << Kind::INDEX_BITS | i;
}

template <class Kind> uint32_t index_of(const typename Kind::Word &word)
{
  if constexpr (Kind::KEY_BITS == 128)
    return uint32_t(word.index);
  else
    return uint32_t(word);
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

template <class Kind> size_t digit_of(const typename Kind::Word &word, int pass)
{
  if constexpr (Kind::KEY_BITS == 128)
    return size_t(word.key >> DIGIT_BITS * pass) % DIGITS;
  else
    return size_t(word >> (Kind::INDEX_BITS + DIGIT_BITS * pass)) % DIGITS;
}

/* Passes of 11 bits over the key. */
template <class Kind>
void radix_sort(std::vector<typename Kind::Word> &words, std::vector<typename Kind::Word> &other)
{
  constexpr int PASSES = (Kind::KEY_BITS + DIGIT_BITS - 1) / DIGIT_BITS;
  std::vector<size_t> next(size_t(PASSES) * DIGITS);
  for (const auto &word : words)
    for (int pass = 0; pass < PASSES; pass++)
      next[size_t(pass) * DIGITS + digit_of<Kind>(word, pass)]++;
  for (int pass = 0; pass < PASSES; pass++) {
    size_t *const at = &next[size_t(pass) * DIGITS];
    for (size_t value = 0, sum = 0, own; value < DIGITS; value++, sum += own) {
      own = at[value];
      at[value] = sum;
    }
    for (const auto &word : words)
      other[at[digit_of<Kind>(word, pass)]++] = word;
    words.swap(other);
  }
}

/* `count` records in a given order. Ties are always among them. */
template <class Kind>
std::vector<typename Kind::Record> make_input(size_t count, const std::string &order, size_t seed)
{
  std::mt19937_64 random(count + seed);
  std::vector<typename Kind::Record> input(count);
  for (size_t i = 0; i < count; i++)
    input[i] = Kind::make(i, order == "few" ? 100 : 0, random);
  for (size_t i = 0; i < count / 16; i++)
    Kind::take_key(input[random() % count], input[random() % count]);
  if (order == "nearly") {
    std::stable_sort(input.begin(), input.end(), Kind::before);
    for (size_t i = 0; i < (count + 99) / 100; i++)
      Kind::take_key(input[random() % count], Kind::make(0, 0, random));
  }
  return input;
}

/* A caller's job system. */
void run_by_tbb(void *, void (*task)(void *, size_t), void *argument, size_t count)
{
  const tbb::blocked_range<size_t> tasks(0, count, 1);
  const auto run = [&](const tbb::blocked_range<size_t> &some) {
    for (size_t i = some.begin(); i < some.end(); i++)
      task(argument, i);
  };
  tbb::parallel_for(tasks, run, tbb::simple_partitioner());
}

/* ---- Contests ---- */

template <class Kind> class Contest
{
  using Record = typename Kind::Record;
  using Word = typename Kind::Word;

public:
  Contest(size_t count, const std::string &order)
      : order_(order), count_(count), copies_(count < 1 << 13 ? (1 << 14) / count : 1),
        all_(copies_ * count), output_(count), words_(count), other_(count)
  {
    for (size_t i = 0; i < copies_; i++) {
      const std::vector<Record> one = make_input<Kind>(count, order, i);
      input_.insert(input_.end(), one.begin(), one.end());
    }
    recsort_error error;
    recsort_options options = {};
    options.struct_size = sizeof options;
    options.threads = threads;
    options.plugin = "cpu";
    if (recsort_schema_load_memory(Kind::SCHEMA, std::strlen(Kind::SCHEMA), nullptr, nullptr,
                                   &schema_, &error) ||
        recsort_sorter_create(schema_, &options, &sorter_, &error))
      fail(error.text);
    const recsort_executor by_tbb = {sizeof by_tbb, nullptr, run_by_tbb, threads};
    options.executor = &by_tbb;
    if (recsort_sorter_create(schema_, &options, &tbb_sorter_, &error)) fail(error.text);
    expected_ = input_;
    for (size_t i = 0; i < copies_; i++)
      std::stable_sort(&expected_[i * count_], &expected_[i * count_] + count_, Kind::before);
    enter();
  }
  ~Contest()
  {
    recsort_sorter_destroy(tbb_sorter_);
    recsort_sorter_destroy(sorter_);
    recsort_schema_destroy(schema_);
  }
  Contest(const Contest &) = delete;
  Contest &operator=(const Contest &) = delete;

  void run(double budget)
  {
    const double end = seconds() + budget;
    std::vector<size_t> turns(contestants_.size());
    std::iota(turns.begin(), turns.end(), 0);
    std::mt19937 random;
    for (int round = 0; round < 4 || (seconds() < end && round < 1000); round++) {
      std::shuffle(turns.begin(), turns.end(), random);
      for (size_t turn : turns) {
        Contestant &one = contestants_[turn];
        if (one.is_slow && round > 1 && count_ > 1 << 20) continue;
        if (threads > 1 && count_ <= 1 << 17) wake(one);
        std::copy(input_.begin(), input_.end(), all_.begin());
        const double begin = seconds();
        for (size_t i = 0; i < copies_; i++) {
          records_ = &all_[i * count_];
          one.sort();
          if (round == 0) check(one, &expected_[i * count_]);
        }
        const double spent = (seconds() - begin) / double(copies_);
        if (round > 0 && spent < one.best) one.best = spent;
      }
    }
  }

  void report(FILE *csv) const
  {
    const double ours = contestants_[0].best;
    std::printf("%zu %s, %s, %u threads\n", count_, Kind::NAME, order_.c_str(), threads);
    for (auto &one : contestants_) {
      std::printf("  %-36s %#11.4g ms  %5.2f\n", one.name, 1e3 * one.best, one.best / ours);
      if (csv)
        std::fprintf(csv, "%zu,%s,%d,%u,%s,%.6f\n", count_, order_.c_str(), Kind::KEY_BITS, threads,
                     one.name, 1e3 * one.best);
    }
    std::fflush(stdout);
  }

private:
  struct Contestant {
    const char *name;
    std::function<void()> sort;
    bool in_place;
    bool is_slow; /* not worth many rounds of millions of records */
    double best = 1e30;
  };

  void wake(const Contestant &one)
  {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::copy(input_.begin(), input_.begin() + std::ptrdiff_t(count_), all_.begin());
    records_ = all_.data();
    one.sort();
  }

  void pack()
  {
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (size_t i = 0; i < words_.size(); i++)
      words_[i] = word_of<Kind>(records_[i], i);
  }

  void gather()
  {
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (size_t i = 0; i < words_.size(); i++)
      output_[i] = records_[index_of<Kind>(words_[i])];
  }

  void add(const char *name, bool in_place, std::function<void()> sort, bool is_slow = false)
  {
    contestants_.push_back({name, std::move(sort), in_place, is_slow});
  }

  void add_packed(const char *name, std::function<void()> sort)
  {
    add(name, false, [this, sort] {
      pack();
      sort();
      gather();
    });
  }

  void enter()
  {
    recsort_error *const error = &error_;
    add("recsort_sort", true, [this, error] {
      if (recsort_sort(sorter_, records_, count_, error)) fail(error->text);
    });
    add("recsort_sort_to", false, [this, error] {
      if (recsort_sort_to(sorter_, records_, count_, output_.data(), error)) fail(error->text);
    });
    add(
        "std::stable_sort", true,
        [this] { std::stable_sort(records_, records_ + count_, Kind::before); }, true);
    add(
        "boost::sort::spinsort", true,
        [this] { boost::sort::spinsort(records_, records_ + count_, Kind::before); }, true);
    if constexpr (Kind::KEY_BITS < 128) {
      using Own = std::conditional_t<Kind::KEY_BITS == 64, hwy::uint128_t, uint64_t>;
      add_packed("packed, Highway vqsort, gather", [this] {
        vqsort_(reinterpret_cast<Own *>(words_.data()), words_.size(), hwy::SortAscending());
      });
    }
    add_packed("packed, LSD radix, gather", [this] { radix_sort<Kind>(words_, other_); });
    if (threads == 1) return;
    add("recsort_sort, TBB as its executor", true, [this, error] {
      if (recsort_sort(tbb_sorter_, records_, count_, error)) fail(error->text);
    });
    add("gnu_parallel::stable_sort", true, [this] {
      __gnu_parallel::stable_sort(records_, records_ + count_, Kind::before,
                                  __gnu_parallel::default_parallel_tag(threads));
    });
    add_packed("packed, ips4o parallel, gather", [this] {
      ips4o::parallel::sort(words_.begin(), words_.end(), std::less<>{}, int(threads));
    });
    add_packed("packed, block_indirect_sort, gather",
               [this] { boost::sort::block_indirect_sort(words_.begin(), words_.end(), threads); });
    add_packed("packed, gnu_parallel::sort, gather", [this] {
      __gnu_parallel::sort(words_.begin(), words_.end(),
                           __gnu_parallel::default_parallel_tag(threads));
    });
    add_packed("packed, tbb::parallel_sort, gather",
               [this] { tbb::parallel_sort(words_.begin(), words_.end()); });
  }

  void check(const Contestant &one, const Record *expected) const
  {
    const Record *const result = one.in_place ? records_ : output_.data();
    for (size_t i = 0; i < count_; i++)
      if (!Kind::same(result[i], expected[i])) fail(one.name);
  }

  std::string order_;
  size_t count_, copies_; /* inputs of a round */
  std::vector<Record> input_, all_, output_, expected_;
  Record *records_ = nullptr;
  std::vector<Word> words_, other_;
  std::vector<Contestant> contestants_;
  hwy::Sorter vqsort_;
  recsort_error error_;
  recsort_schema *schema_ = nullptr;
  recsort_sorter *sorter_ = nullptr, *tbb_sorter_ = nullptr;
};

template <class Kind> void hold(size_t count, const std::string &order, double budget, FILE *csv)
{
  Contest<Kind> contest(count, order);
  contest.run(budget);
  contest.report(csv);
}

} // namespace

int main(int argc, char **argv)
{
  if (argc < 3) fail("usage: cpubench THREADS SECONDS [CSV [RECORDS ORDER [BITS]]]");
  threads = unsigned(std::atoi(argv[1]));
  const double budget = std::atof(argv[2]);
  FILE *const csv = argc > 3 ? std::fopen(argv[3], "w") : nullptr;
  if (argc > 3 && !csv) fail("cannot write the result");
  omp_set_num_threads(int(threads));
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  const std::string wanted = argc > 5 ? argv[4] : "", bits = argc > 6 ? argv[6] : "32";
  std::vector<size_t> sizes;
  if (wanted.compare(0, 2, "2^") == 0)
    sizes = {size_t(1) << std::stoi(wanted.substr(2))};
  else if (!wanted.empty())
    sizes = {std::stoul(wanted)};
  else
    sizes = {100, 1 << 7, 1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 22, 1 << 24};
  const std::vector<std::string> orders = {"random", "few", "nearly"};
  for (auto &order : orders)
    for (size_t size : sizes) {
      if (argc > 5 && order != argv[5]) continue;
      (bits == "64" ? hold<by_integer<uint64_t>>
       : bits == "128"
           ? hold<by_integer<uint128>>
           : hold<by_float>)(size, order,
                             budget / double(argc > 5 ? 1 : sizes.size() * orders.size()), csv);
    }
  if (csv && std::fclose(csv)) fail("cannot write the result");
}
