/* cpubench.cpp - recsort beside what you could build yourself on a CPU, in one process, in turns.
 *
 * Compile it with libhwy-dev, libips4o-dev, libboost-dev and libtbb-dev of Debian:
 *   g++ -O3 -march=native -fopenmp -std=c++20 cpubench.cpp $(pkg-config --cflags --libs recsort) \
 *     -lhwy_contrib -lhwy -ltbb -latomic -o cpubench
 *
 * Usage: cpubench THREADS SECONDS [CSV [RECORDS random|few|nearly]]     RECORDS: 2^14, 100
 *
 * Each contestant sorts the same 20-byte records by one float, descending and stably. The peers of
 * recsort pack key and index into words, sort these, and gather the records; or they sort whole
 * records. Times are the least of many rounds, in which the contestants take turns: machines drift.
 * The turns are in another order each round, as a contestant finds in the caches what the one
 * before it has left there, and two of them share words. Few records are sorted many times a round,
 * other ones each time: a processor learns the branches that a sort of the same hundred records
 * takes, which makes sorts by comparisons twice as fast. With one thread it is processor time, else
 * wall-clock time. Every result is compared with std::stable_sort's.
 */
#include <parallel/algorithm>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <boost/sort/sort.hpp>
#include <hwy/contrib/sort/vqsort.h>
#include <ips4o.hpp>
#include <omp.h>
#include <tbb/global_control.h>
#include <tbb/parallel_sort.h>

#include <recsort/recsort.h>

namespace
{

struct Entity {
  float x, y, angle;
  int16_t sprite;
  float distance;
};

const char schema_text[] =
    "record: Entity\nfields:\n  - {name: x, type: float32}\n  - {name: y, type: float32}\n"
    "  - {name: angle, type: float32}\n  - {name: sprite, type: int16}\n"
    "  - {name: distance, type: float32}\nkeys:\n  - {field: distance, order: desc}\n";

unsigned threads = 1;

double seconds()
{
  timespec now;
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

[[noreturn]] void fail(const char *text)
{
  std::fprintf(stderr, "cpubench: %s\n", text);
  std::exit(1);
}

bool greater(const Entity &a, const Entity &b)
{
  return a.distance > b.distance;
}

/* The word of a record: ascending words are descending distances, which are not negative. */
uint64_t word_of(const Entity &entity, size_t i)
{
  uint32_t bits;
  std::memcpy(&bits, &entity.distance, sizeof bits);
  return uint64_t(~bits) << 32 | i;
}

/* Three passes of 11 bits over the upper half. */
void radix_sort(std::vector<uint64_t> &words, std::vector<uint64_t> &other)
{
  enum { PASSES = 3, BITS = 11, VALUES = 1 << BITS };
  std::vector<size_t> next(PASSES * VALUES);
  auto digit = [](uint64_t word, int pass) { return word >> (32 + BITS * pass) & (VALUES - 1); };
  for (uint64_t word : words)
    for (int pass = 0; pass < PASSES; pass++)
      next[size_t(pass) * VALUES + digit(word, pass)]++;
  for (int pass = 0; pass < PASSES; pass++) {
    size_t *const at = &next[size_t(pass) * VALUES];
    for (size_t value = 0, sum = 0, own; value < VALUES; value++, sum += own) {
      own = at[value];
      at[value] = sum;
    }
    for (uint64_t word : words)
      other[at[digit(word, pass)]++] = word;
    words.swap(other);
  }
}

/* `count` records in a given order. Ties are always among them. */
std::vector<Entity> make_input(size_t count, const std::string &order, size_t seed)
{
  std::mt19937_64 random(count + seed);
  std::uniform_real_distribution<float> any(0, 1000);
  std::vector<Entity> input(count);
  for (size_t i = 0; i < count; i++) {
    const float distance = order == "few" ? float(random() % 100) : any(random);
    input[i] = {float(i >> 16), 2, float(i & 65535), int16_t(i), distance};
  }
  for (size_t i = 0; i < count / 16; i++)
    input[random() % count].distance = input[random() % count].distance;
  if (order == "nearly") {
    std::stable_sort(input.begin(), input.end(), greater);
    for (size_t i = 0; i < (count + 99) / 100; i++)
      input[random() % count].distance = any(random);
  }
  return input;
}

class Contest
{
public:
  Contest(size_t count, const std::string &order)
      : order_(order), count_(count), copies_(count < 1 << 13 ? (1 << 14) / count : 1),
        all_(copies_ * count), output_(count), words_(count), other_(count)
  {
    for (size_t i = 0; i < copies_; i++) {
      const std::vector<Entity> one = make_input(count, order, i);
      input_.insert(input_.end(), one.begin(), one.end());
    }
    recsort_error error;
    recsort_options options = {};
    options.struct_size = sizeof options;
    options.threads = threads;
    options.plugin = "cpu";
    if (recsort_schema_load_memory(schema_text, sizeof schema_text - 1, "Entity", nullptr, &schema_,
                                   &error) ||
        recsort_sorter_create(schema_, &options, &sorter_, &error))
      fail(error.text);
    expected_ = input_;
    for (size_t i = 0; i < copies_; i++)
      std::stable_sort(&expected_[i * count_], &expected_[i * count_] + count_, greater);
    enter();
  }
  ~Contest()
  {
    recsort_sorter_destroy(sorter_);
    recsort_schema_destroy(schema_);
  }
  Contest(const Contest &) = delete;
  Contest &operator=(const Contest &) = delete;

  void run(double budget)
  {
    const double end = wall() + budget;
    std::vector<size_t> turns(contestants_.size());
    std::iota(turns.begin(), turns.end(), 0);
    std::mt19937 random;
    for (int round = 0; round < 4 || (wall() < end && round < 1000); round++) {
      std::shuffle(turns.begin(), turns.end(), random);
      for (size_t turn : turns) {
        Contestant &one = contestants_[turn];
        if (one.is_slow && round > 1 && count_ > 1 << 20) continue;
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
    std::printf("%zu records, %s, %u threads\n", count_, order_.c_str(), threads);
    for (auto &one : contestants_) {
      std::printf("  %-36s %11.4f ms  %5.2f\n", one.name, 1e3 * one.best, one.best / ours);
      if (csv)
        std::fprintf(csv, "%zu,%s,%u,%s,%.6f\n", count_, order_.c_str(), threads, one.name,
                     1e3 * one.best);
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

  static double wall()
  {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
  }

  void pack()
  {
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (size_t i = 0; i < words_.size(); i++)
      words_[i] = word_of(records_[i], i);
  }

  void gather()
  {
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (size_t i = 0; i < words_.size(); i++)
      output_[i] = records_[uint32_t(words_[i])];
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
        [this] { std::stable_sort(records_, records_ + count_, greater); }, true);
    add(
        "boost::sort::spinsort", true,
        [this] { boost::sort::spinsort(records_, records_ + count_, greater); }, true);
    add_packed("packed, Highway vqsort, gather",
               [this] { vqsort_(words_.data(), words_.size(), hwy::SortAscending()); });
    add_packed("packed, LSD radix, gather", [this] { radix_sort(words_, other_); });
    if (threads == 1) return;
    add("gnu_parallel::stable_sort", true, [this] {
      __gnu_parallel::stable_sort(records_, records_ + count_, greater,
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

  void check(const Contestant &one, const Entity *expected) const
  {
    const Entity *const result = one.in_place ? records_ : output_.data();
    for (size_t i = 0; i < count_; i++)
      if (result[i].distance != expected[i].distance || result[i].x != expected[i].x ||
          result[i].angle != expected[i].angle)
        fail(one.name);
  }

  std::string order_;
  size_t count_, copies_; /* inputs of a round */
  std::vector<Entity> input_, all_, output_, expected_;
  Entity *records_ = nullptr;
  std::vector<uint64_t> words_, other_;
  std::vector<Contestant> contestants_;
  hwy::Sorter vqsort_;
  recsort_error error_;
  recsort_schema *schema_ = nullptr;
  recsort_sorter *sorter_ = nullptr;
};

} // namespace

int main(int argc, char **argv)
{
  if (argc < 3) fail("usage: cpubench THREADS SECONDS [CSV [RECORDS ORDER]]");
  threads = unsigned(std::atoi(argv[1]));
  const double budget = std::atof(argv[2]);
  FILE *const csv = argc > 3 ? std::fopen(argv[3], "w") : nullptr;
  if (argc > 3 && !csv) fail("cannot write the result");
  omp_set_num_threads(int(threads));
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  const std::string wanted = argc > 5 ? argv[4] : "";
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
      Contest contest(size, order);
      contest.run(budget / double(argc > 5 ? 1 : sizes.size() * orders.size()));
      contest.report(csv);
    }
  if (csv && std::fclose(csv)) fail("cannot write the result");
}
