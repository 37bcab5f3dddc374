/* options.c - see options.h. */
#include "options.h"

#include "support/message.h"

#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: recbench [OPTION]...\n"
    "Measure recsort on this machine beside the stable sorts of the C++ library. The\n"
    "contenders take turns; medians are compared.\n"
    "\n"
    "  --suite NAME          entity, keys, distributions, merge, file, all or short\n"
    "                        (all but file), which is the default\n"
    "  --record LIST         entity, key64, key128, gensort, word; for the suite's\n"
    "  --distribution LIST   random, sorted, reverse, nearly, few, equal; likewise\n"
    "  --count LIST          records, default 4M (short: 1M but for the suite entity)\n"
    "  --threads LIST        default: 1 and one for every processor\n"
    "  --repeat N            repetitions, default 5\n"
    "  --plugin NAME         default auto; all: every plugin that works here\n"
    "  --algorithm NAME      default: the plugin's; all: all that it has\n"
    "  --size BYTES          of the file that recsort sorts, default 1G\n"
    "  --folder FOLDER       where that file lies, default $TMPDIR or /tmp\n"
    "  --recsort FILE        the program; default: beside recbench, or in $PATH\n"
    "  --json FILE           write every figure to FILE\n"
    "  --svg FILE            draw them (with gnuplot)\n"
    "  --list                list plugins and algorithms, then exit\n"
    "  --help, --version     print this, or the version, then exit\n"
    "\n"
    "LIST is separated by commas; K, M and G are powers of 1024.\n";

unsigned processors(void)
{
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return (unsigned)CPU_COUNT(&set);
}

size_t options_counts(const bench_options *options, const char *suite, const size_t **counts)
{
  static const size_t full = (size_t)1 << 22, brief = (size_t)1 << 20;
  const bool is_brief = strcmp(options->suite, "short") == 0 && strcmp(suite, "entity") != 0;
  *counts = options->count_count != 0 ? options->counts : is_brief ? &brief : &full;
  return options->count_count != 0 ? options->count_count : 1;
}

bool options_suite(const bench_options *options, const char *suite)
{
  const bool is_file = strcmp(suite, "file") == 0;
  return strcmp(options->suite, suite) == 0 || strcmp(options->suite, "all") == 0 ||
         (strcmp(options->suite, "short") == 0 && !is_file);
}

static bool is_suite(const char *name)
{
  static const char *const suites[] = {"entity", "keys", "distributions", "merge",
                                       "file",   "all",  "short"};
  for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) {
    if (strcmp(name, suites[i]) == 0) return true;
  }
  return false;
}

static bool parse_size(const char *text, uint64_t *value)
{
  return tool_parse_count(text, UINT64_MAX, value) && *value != 0;
}

static bool parse_count(const char *word, void *to)
{
  uint64_t value;
  if (!parse_size(word, &value) || value > SIZE_MAX) return false;
  *(size_t *)to = (size_t)value;
  return true;
}

static bool parse_threads(const char *word, void *to)
{
  uint64_t value;
  if (!tool_parse_count(word, 4096, &value) || value == 0) return false;
  *(unsigned *)to = (unsigned)value;
  return true;
}

static bool parse_record(const char *word, void *to)
{
  for (unsigned i = 0; i < RECORD_COUNT; i++) {
    if (strcmp(word, record_name((record_id)i)) == 0) {
      *(record_id *)to = (record_id)i;
      return true;
    }
  }
  return false;
}

static bool parse_distribution(const char *word, void *to)
{
  for (unsigned i = 0; i < DISTRIBUTION_COUNT; i++) {
    if (strcmp(word, distribution_name((bench_distribution)i)) == 0) {
      *(bench_distribution *)to = (bench_distribution)i;
      return true;
    }
  }
  return false;
}

/* A list of at most `most` values of `size` bytes, and how to read one. */
typedef struct list_syntax {
  bool (*parse)(const char *word, void *to);
  size_t size;
  size_t most;
} list_syntax;

/* Parses the words of `list` into `to`. False, with a message, if one is wrong. */
static bool parse_list(const char *option, const char *list, list_syntax syntax, void *to,
                       size_t *count)
{
  *count = 0;
  for (const char *word = list;; word++) {
    const size_t length = strcspn(word, ",");
    char copy[24];
    snprintf(copy, sizeof copy, "%.*s", (int)length, word);
    if (length >= sizeof copy || !syntax.parse(copy, (char *)to + *count * syntax.size)) {
      tool_usage_error("--%s: cannot use '%.*s'", option, (int)length, word);
      return false;
    }
    ++*count;
    word += length;
    if (*word == '\0') return true;
    if (*count == syntax.most) {
      tool_usage_error("--%s: more than %zu", option, syntax.most);
      return false;
    }
  }
}

static int compare_threads(const void *a, const void *b)
{
  const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
  return (x > y) - (x < y);
}

static const struct option table[] = {
    {"suite", required_argument, NULL, 's'},
    {"record", required_argument, NULL, 'r'},
    {"distribution", required_argument, NULL, 'd'},
    {"count", required_argument, NULL, 'n'},
    {"threads", required_argument, NULL, 't'},
    {"repeat", required_argument, NULL, 'R'},
    {"plugin", required_argument, NULL, 'p'},
    {"algorithm", required_argument, NULL, 'a'},
    {"size", required_argument, NULL, 'S'},
    {"folder", required_argument, NULL, 'f'},
    {"recsort", required_argument, NULL, 'c'},
    {"json", required_argument, NULL, 'j'},
    {"svg", required_argument, NULL, 'g'},
    {"list", no_argument, NULL, 'l'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'v'},
    {0},
};

static const list_syntax record_list = {parse_record, sizeof(record_id), RECORD_COUNT};
static const list_syntax distribution_list = {parse_distribution, sizeof(bench_distribution),
                                              DISTRIBUTION_COUNT};
static const list_syntax count_list = {parse_count, sizeof(size_t), LIST_MAX};
static const list_syntax thread_list = {parse_threads, sizeof(unsigned), LIST_MAX};

/* Reads one option and its argument. False, with a message, if that is wrong. */
static bool read_option(bench_options *o, int letter)
{
  uint64_t value;
  switch (letter) {
  case 's':
    o->suite = optarg;
    if (is_suite(optarg)) return true;
    tool_usage_error("--suite: there is no '%s'", optarg);
    return false;
  case 'r':
    return parse_list("record", optarg, record_list, o->records, &o->record_count);
  case 'd':
    return parse_list("distribution", optarg, distribution_list, o->distributions,
                      &o->distribution_count);
  case 'n':
    return parse_list("count", optarg, count_list, o->counts, &o->count_count);
  case 't':
    return parse_list("threads", optarg, thread_list, o->threads, &o->thread_count);
  case 'R':
    if (tool_parse_count(optarg, 1000, &value) && value != 0) {
      o->repeat = (unsigned)value;
      return true;
    }
    tool_usage_error("--repeat: '%s' is not from 1 to 1000", optarg);
    return false;
  case 'S':
    if (parse_size(optarg, &o->file_size)) return true;
    tool_usage_error("--size: cannot use '%s'", optarg);
    return false;
  case 'p':
    o->plugin = optarg;
    return true;
  case 'a':
    o->algorithm = optarg;
    return true;
  case 'f':
    o->folder = optarg;
    return true;
  case 'c':
    o->command = optarg;
    return true;
  case 'j':
    o->json = optarg;
    return true;
  default:
    o->svg = optarg;
    return true;
  }
}

static void set_defaults(bench_options *o)
{
  const char *const folder = getenv("TMPDIR");
  *o = (bench_options){.suite = "short",
                       .counts = {(size_t)1 << 22},
                       .count_count = 1,
                       .threads = {1, processors()},
                       .repeat = 5,
                       .plugin = "auto",
                       .file_size = (uint64_t)1 << 30,
                       .folder = folder != NULL && *folder != '\0' ? folder : "/tmp"};
  o->thread_count = o->threads[1] > 1 ? 2 : 1;
}

options_result options_read(bench_options *options, int argc, char **argv)
{
  set_defaults(options);
  bool list = false;
  for (int letter; (letter = getopt_long(argc, argv, "", table, NULL)) != -1;) {
    switch (letter) {
    case 'h':
      fputs(help, stdout);
      return OPTIONS_DONE;
    case 'v':
      printf("recbench %s\n", recsort_version());
      return OPTIONS_DONE;
    case 'l':
      list = true;
      break;
    case '?':
      fprintf(stderr, "Run 'recbench --help' for a list of options.\n");
      return OPTIONS_WRONG;
    default:
      if (!read_option(options, letter)) return OPTIONS_WRONG;
    }
  }
  if (optind < argc) {
    tool_usage_error("unexpected argument '%s'", argv[optind]);
    return OPTIONS_WRONG;
  }
  qsort(options->threads, options->thread_count, sizeof *options->threads, compare_threads);
  return list ? OPTIONS_LIST : OPTIONS_RUN;
}
