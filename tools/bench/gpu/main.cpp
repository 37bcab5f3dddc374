/* gpu-bench - measures sorts on the device, beside CUB and thrust: see bench.h. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <getopt.h>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "bench.h"

namespace
{

const char help[] =
    "Usage: gpu-bench [OPTION]...\n"
    "Measures sorts and merges of data that is on the CUDA device, beside CUB and thrust.\n\n"
    "  -q, --quick            fewer counts and runs: under a minute\n"
    "  -a, --algorithm NAME   this one of the plugin's, not all\n"
    "  -n, --count N[,N]...   pairs to sort, such as 2^20 or 1000; 0: none\n"
    "  -o, --ordered N[,N]... pairs in every order; 0: none (2^24)\n"
    "  -d, --order NAME[,...] these orders, not all that are not random\n"
    "  -e, --entities N       Entities of the published experiment; 0: none\n"
    "  -l, --large N[,N]...   pairs of one run each, up to 2^36: 2^31 and more\n"
    "  -m, --merges N[,N]...  pairs in 2, 8 and 64 sorted runs, to merge\n"
    "  -r, --runs N           runs of the experiment (100)\n"
    "  -j, --json FILE        every figure, for programs\n"
    "  -h, --help             this text\n\n"
    "Exit status: 0 measured, and every result was right; 1 not so for some; 2 trouble.\n";

uint64_t read_count(const char *text, uint64_t limit, char **end)
{
  uint64_t value = std::strtoull(text, end, 10);
  if (*end != text && **end == '^') {
    const char *const power = *end + 1;
    const unsigned long exponent = std::strtoul(power, end, 10);
    if (value != 2 || *end == power || exponent > 40) *end = const_cast<char *>(text);
    value = uint64_t{1} << (exponent & 63);
  }
  if (**end == '+') value += std::strtoull(*end + 1, end, 10);
  if (*end == text || value > limit)
    throw std::runtime_error(std::string("\"") + text + "\" is no count of at most " +
                             std::to_string(limit));
  return value;
}

uint64_t read_one(const char *text, uint64_t limit = UINT32_MAX)
{
  char *end;
  const uint64_t value = read_count(text, limit, &end);
  if (*end) throw std::runtime_error(std::string("\"") + text + "\" is no count");
  return value;
}

std::vector<uint64_t> read_list(const char *text, uint64_t limit = UINT32_MAX)
{
  std::vector<uint64_t> list;
  for (;;) {
    char *end;
    const uint64_t value = read_count(text, limit, &end);
    if (value) list.push_back(value);
    if (*end == '\0') return list;
    if (*end != ',') throw std::runtime_error(std::string("\"") + end + "\" is no list of counts");
    text = end + 1;
  }
}

std::vector<bench::order> read_orders(const std::string &text)
{
  std::vector<bench::order> list;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const auto *const names = bench::order_names, *const end = std::end(bench::order_names);
    const auto *const name = std::find(names, end, word);
    if (name == end) throw std::runtime_error("\"" + word + "\" is no order");
    list.push_back(static_cast<bench::order>(name - names));
  }
  return list;
}

void set_quick(bench::options &asked)
{
  asked.counts = {1u << 10, 1u << 17, 1u << 20, 1u << 24};
  asked.budget = 0.05;
  asked.runs = 10;
}

/* False: only the help was asked for. */
bool read_options(int argc, char **argv, bench::options &asked)
{
  static const option known[] = {
      {"quick", no_argument, nullptr, 'q'},       {"algorithm", required_argument, nullptr, 'a'},
      {"count", required_argument, nullptr, 'n'}, {"ordered", required_argument, nullptr, 'o'},
      {"order", required_argument, nullptr, 'd'}, {"entities", required_argument, nullptr, 'e'},
      {"large", required_argument, nullptr, 'l'}, {"merges", required_argument, nullptr, 'm'},
      {"runs", required_argument, nullptr, 'r'},  {"json", required_argument, nullptr, 'j'},
      {"help", no_argument, nullptr, 'h'},        {}};
  asked.counts = {1u << 10, 1u << 14, 1u << 17, 1u << 20, 1u << 22, 1u << 24, 1u << 28};
  for (int one; (one = getopt_long(argc, argv, "qa:n:o:d:e:l:m:r:j:h", known, nullptr)) != -1;)
    switch (one) {
    case 'q':
      set_quick(asked);
      break;
    case 'a':
      asked.algorithm = optarg;
      break;
    case 'n':
      asked.counts = read_list(optarg);
      break;
    case 'o':
      asked.ordered = read_list(optarg);
      break;
    case 'd':
      asked.orders = read_orders(optarg);
      break;
    case 'e':
      asked.entities = read_one(optarg);
      break;
    case 'l':
      asked.large = read_list(optarg, uint64_t{1} << 36);
      break;
    case 'm':
      asked.merges = read_list(optarg);
      break;
    case 'r':
      asked.runs = (unsigned)read_one(optarg);
      break;
    case 'j':
      asked.json = optarg;
      break;
    case 'h':
      std::fputs(help, stdout);
      return false;
    default:
      throw std::runtime_error("try --help");
    }
  if (optind < argc) throw std::runtime_error(std::string("unexpected \"") + argv[optind] + "\"");
  return true;
}

} // namespace

int main(int argc, char **argv)
{
  try {
    bench::options asked;
    bench::results found;
    if (!read_options(argc, argv, asked)) return 0;
    setenv("CUDA_MODULE_LOADING", "EAGER", 0); /* not during a measurement */
    bench::print_machine();
    if (!asked.counts.empty() || !asked.ordered.empty()) bench::measure_pairs(asked, found);
    if (asked.entities && asked.runs) bench::measure_experiment(asked, found);
    if (!asked.large.empty()) bench::measure_large(asked, found);
    if (!asked.merges.empty()) bench::measure_merges(asked, found);
    if (!asked.json.empty()) bench::write_json(asked.json, found);
    return found.failures ? 1 : std::fflush(stdout) == 0 ? 0 : 2;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "gpu-bench: %s\n", error.what());
    return 2;
  }
}
