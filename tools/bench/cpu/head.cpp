/* headbench - the first records of many, beside std::partial_sort and a sort of all.
 *
 * Records are 64-bit words of a key and, below it, an index, so that std::partial_sort is stable
 * too; it is given a copy, which is not timed. Each figure is the median of some runs in ms; exit
 * status 1 if a result is wrong.
 *
 * Usage: headbench [COUNT] */
#include <recsort/recsort.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace
{

struct word {
  std::uint64_t key;
};

template <class Prepare, class Work> double median_ms(Prepare prepare, Work work)
{
  enum { RUNS = 21, WARM = 3 };
  std::vector<double> times;
  for (int i = 0; i < WARM + RUNS; i++) {
    prepare();
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    if (i >= WARM) times.push_back(taken.count());
  }
  std::nth_element(times.begin(), times.begin() + RUNS / 2, times.end());
  return times[RUNS / 2];
}

recsort::sorter<word> open(unsigned threads)
{
  recsort_options options = {};
  options.plugin = "cpu";
  options.threads = threads;
  return {{recsort::asc(&word::key)}, options};
}

bool measure(const char *name, const std::vector<word> &words, std::size_t head)
{
  recsort::sorter<word> all = open(0), one = open(1);
  std::vector<word> first(head), copy, sorted(words.size());
  const auto nothing = [] {};
  const double whole = median_ms(nothing, [&] { all.sort_to(words, sorted); });
  all.set_head(head);
  one.set_head(head);
  const double ours = median_ms(nothing, [&] { all.sort_to(words, first); });
  const double alone = median_ms(nothing, [&] { one.sort_to(words, first); });
  const auto less = [](const word &a, const word &b) { return a.key < b.key; };
  const double peer = median_ms(
      [&] { copy = words; },
      [&] { std::partial_sort(copy.begin(), copy.begin() + (long)head, copy.end(), less); });
  bool right = true;
  for (std::size_t i = 0; i < head; i++)
    right &= first[i].key == copy[i].key;
  std::printf("%-10s %8zu %10.3f %10.3f %12.3f %10.3f %8.2f%s\n", name, head, ours, alone, peer,
              whole, ours / peer, right ? "" : "  WRONG");
  return right;
}

} // namespace

int main(int argc, char **argv)
{
  const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::size_t(1) << 20;
  std::mt19937_64 random(1);
  std::vector<word> words(count);
  bool right = true;
  for (std::size_t i = 0; i < count; i++)
    words[i].key = random() << 32 | i;
  std::printf("%zu words, %u threads\n%-10s %8s %10s %10s %12s %10s %8s\n", count,
              open(0).stats().threads, "", "first", "recsort", "1 thread", "partial_sort",
              "sort all", "x peer");
  for (const std::size_t head : {std::size_t(1), std::size_t(100), std::size_t(10000)})
    if (head <= count) right &= measure("random", words, head);
  std::sort(words.begin(), words.end(), [](const word &a, const word &b) { return a.key < b.key; });
  right &= measure("ascending", words, std::min<std::size_t>(100, count));
  std::reverse(words.begin(), words.end());
  right &= measure("descending", words, std::min<std::size_t>(100, count));
  return !right;
}
