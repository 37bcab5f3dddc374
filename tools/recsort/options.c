/* options.c - recsort's command line, by getopt_long. */
#include "options.h"

#include "support/message.h"
#include "support/progress.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: recsort -s SCHEMA [OPTION]... [INPUT]...\n"
    "Sort fixed-size binary records stably; no INPUT or '-' is standard input.\n"
    "  -s, --schema FILE      what a record looks like and its keys (YAML); required\n"
    "  -k, --key PATH[:asc|:desc][:nan=first|last|total]\n"
    "                         a key instead of the schema's; repeat for more\n"
    "  -r, --reverse          reverse every key; equal records keep their order\n"
    "  -o, --output FILE      replace FILE in one step; it may be an INPUT\n"
    "  -c, --check            do not sort; exit 1 at the first record out of order\n"
    "  -m, --merge            merge INPUTs that are sorted already\n"
    "  -u, --unique           write only the first of each run of equal keys\n"
    "      --head N           write at most N records\n"
    "      --skip N, --count N, --trailer N\n"
    "                         bytes before, records, bytes after them in an INPUT\n"
    "      --index[=32|64]    write the permutation (little-endian; 64), not records\n"
    "      --plugin NAME, --algorithm NAME  what sorts (default: auto, the best here)\n"
    "      --plugin-option KEY=VALUE      for the plugin: device=1; repeat for more\n"
    "      --verify=full      look at keys and records again before they are written\n"
    "      --threads N        CPU threads; 0 (default): one for each processor\n"
    "      --stats[=text|json]            figures on standard error\n"
    "      --progress[=auto|always|never] a bar on standard error (default: auto)\n"
    "      --explain          print layout, key plan, plugin, and what INPUTs hold\n"
    "      --list-plugins     print the plugins that were found or refused\n"
    "  -h, --help, --version  print this, or the version\n"
    "Exit status: 0 done, 1 --check found disorder, 2 trouble. See recsort(1).\n";

enum {
  OPTION_HEAD = 256,
  OPTION_SKIP,
  OPTION_COUNT,
  OPTION_TRAILER,
  OPTION_INDEX,
  OPTION_PLUGIN,
  OPTION_ALGORITHM,
  OPTION_PLUGIN_OPTION,
  OPTION_VERIFY,
  OPTION_THREADS,
  OPTION_STATS,
  OPTION_PROGRESS,
  OPTION_EXPLAIN,
  OPTION_LIST_PLUGINS,
  OPTION_VERSION
};

static const char short_options[] = "s:k:ro:cmuh";

static const struct option long_options[] = {
    {"schema", required_argument, NULL, 's'},
    {"key", required_argument, NULL, 'k'},
    {"reverse", no_argument, NULL, 'r'},
    {"output", required_argument, NULL, 'o'},
    {"check", no_argument, NULL, 'c'},
    {"merge", no_argument, NULL, 'm'},
    {"unique", no_argument, NULL, 'u'},
    {"head", required_argument, NULL, OPTION_HEAD},
    {"skip", required_argument, NULL, OPTION_SKIP},
    {"count", required_argument, NULL, OPTION_COUNT},
    {"trailer", required_argument, NULL, OPTION_TRAILER},
    {"index", optional_argument, NULL, OPTION_INDEX},
    {"plugin", required_argument, NULL, OPTION_PLUGIN},
    {"algorithm", required_argument, NULL, OPTION_ALGORITHM},
    {"plugin-option", required_argument, NULL, OPTION_PLUGIN_OPTION},
    {"verify", required_argument, NULL, OPTION_VERIFY},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"stats", optional_argument, NULL, OPTION_STATS},
    {"progress", optional_argument, NULL, OPTION_PROGRESS},
    {"explain", no_argument, NULL, OPTION_EXPLAIN},
    {"list-plugins", no_argument, NULL, OPTION_LIST_PLUGINS},
    {"version", no_argument, NULL, OPTION_VERSION},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

bool print_help(void)
{
  fputs(help, stdout);
  return tool_flush_stdout();
}

static bool bad_value(const char *option, const char *value, const char *allowed)
{
  tool_usage_error("%s: '%s' is not %s", option, value, allowed);
  return false;
}

/* One modifier of a key: "asc", "nan=first". */
static bool parse_modifier(recsort_key_desc *key, const char *text)
{
  static const char *const orders[] = {[RECSORT_ASCENDING] = "asc", [RECSORT_DESCENDING] = "desc"};
  static const char *const nans[] = {[RECSORT_NAN_LAST] = "nan=last",
                                     [RECSORT_NAN_FIRST] = "nan=first",
                                     [RECSORT_NAN_TOTAL] = "nan=total"};
  for (int i = 0; i < 2; i++) {
    if (strcmp(text, orders[i]) == 0) {
      key->order = (recsort_order)i;
      return true;
    }
  }
  for (int i = 0; i < 3; i++) {
    if (strcmp(text, nans[i]) == 0) {
      key->nan = (recsort_nan)i;
      return true;
    }
  }
  return bad_value("--key", text, "one of asc, desc, nan=first, nan=last, nan=total");
}

static bool parse_key(recsort_key_desc *key, char *text)
{
  char *next;
  key->path = strtok_r(text, ":", &next);
  if (key->path != text) return bad_value("--key", text, "a field"); /* nothing before the ':' */
  for (const char *word; (word = strtok_r(NULL, ":", &next)) != NULL;) {
    if (!parse_modifier(key, word)) return false;
  }
  return true;
}

/* `sorting.keys` is const for the library's sake alone; the keys and paths are the options'. */
static bool add_key(recsort_options *sorting, const char *argument)
{
  const size_t count = sorting->key_count;
  recsort_key_desc *const keys = realloc((void *)sorting->keys, (count + 1) * sizeof *keys);
  if (keys != NULL) sorting->keys = keys;
  char *const text = keys != NULL ? strdup(argument) : NULL;
  if (text == NULL) {
    tool_error_memory((count + 1) * sizeof *keys + strlen(argument));
    return false;
  }
  recsort_key_desc key = {0};
  if (!parse_key(&key, text)) {
    free(text);
    return false;
  }
  keys[count] = key;
  sorting->key_count = count + 1;
  return true;
}

/* Appends to those that were given before. What the plugin makes of it, the library says. */
static bool add_plugin_option(recsort_options *sorting, const char *argument)
{
  const char *const equals = strchr(argument, '=');
  if (equals == NULL || equals == argument || equals[1] == '\0') {
    return bad_value("--plugin-option", argument, "of the form KEY=VALUE");
  }
  const size_t size = (sorting->plugin_option_count + 1) * sizeof argument;
  const char **const texts = realloc((void *)sorting->plugin_options, size);
  if (texts == NULL) {
    tool_error_memory(size);
    return false;
  }
  texts[sorting->plugin_option_count++] = argument;
  sorting->plugin_options = texts;
  return true;
}

static bool parse_verify(recsort_options *sorting, const char *text)
{
  const bool full = strcmp(text, "full") == 0;
  if (!full && strcmp(text, "default") != 0) return bad_value("--verify", text, "full or default");
  sorting->verify = full ? RECSORT_VERIFY_FULL : RECSORT_VERIFY_DEFAULT;
  return true;
}
/* Of a file, so that sums are far from overflow. */
static const uint64_t most_bytes = INT64_MAX / 4;

static bool parse_number(const char *option, const char *text, uint64_t most, uint64_t *value)
{
  return tool_parse_count(text, most, value) || bad_value(option, text, "a number in range");
}

static bool parse_threads(cli_options *options, const char *text)
{
  uint64_t value;
  if (!parse_number("--threads", text, UINT_MAX, &value)) return false;
  options->sorting.threads = (unsigned)value;
  return true;
}

static bool parse_index(cli_options *options, const char *text)
{
  if (text == NULL || strcmp(text, "64") == 0) {
    options->index_bits = 64;
  } else if (strcmp(text, "32") == 0) {
    options->index_bits = 32;
  } else {
    return bad_value("--index", text, "32 or 64");
  }
  return true;
}

static bool parse_stats(cli_options *options, const char *text)
{
  if (text == NULL || strcmp(text, "text") == 0) {
    options->stats = STATS_TEXT;
  } else if (strcmp(text, "json") == 0) {
    options->stats = STATS_JSON;
  } else {
    return bad_value("--stats", text, "text or json");
  }
  return true;
}

static bool set_command(cli_options *options, cli_command command)
{
  if (options->command != COMMAND_SORT && options->command != command) {
    tool_usage_error("only one of --check, --merge, --explain and --list-plugins can be done");
    return false;
  }
  options->command = command;
  return true;
}

static bool parse_option(cli_options *options, int option, const char *argument)
{
  switch (option) {
  case 's':
    options->schema = argument;
    return true;
  case 'k':
    return add_key(&options->sorting, argument);
  case 'r':
    options->sorting.reverse = true;
    return true;
  case 'o':
    options->output = argument;
    return true;
  case 'c':
    return set_command(options, COMMAND_CHECK);
  case 'm':
    return set_command(options, COMMAND_MERGE);
  case 'u':
    options->unique = true;
    return true;
  case OPTION_HEAD:
    options->has_head = true;
    return parse_number("--head", argument, UINT64_MAX, &options->head);
  case OPTION_SKIP:
    return parse_number("--skip", argument, most_bytes, &options->skip);
  case OPTION_COUNT:
    return parse_number("--count", argument, most_bytes, &options->count);
  case OPTION_TRAILER:
    return parse_number("--trailer", argument, most_bytes, &options->trailer);
  case OPTION_INDEX:
    return parse_index(options, argument);
  case OPTION_PLUGIN:
    options->sorting.plugin = argument;
    return true;
  case OPTION_ALGORITHM:
    options->sorting.algorithm = argument;
    return true;
  case OPTION_PLUGIN_OPTION:
    return add_plugin_option(&options->sorting, argument);
  case OPTION_VERIFY:
    return parse_verify(&options->sorting, argument);
  case OPTION_THREADS:
    return parse_threads(options, argument);
  case OPTION_STATS:
    return parse_stats(options, argument);
  case OPTION_PROGRESS:
    return tool_progress_set(argument) ||
           bad_value("--progress", argument, "auto, always or never");
  case OPTION_EXPLAIN:
    return set_command(options, COMMAND_EXPLAIN);
  case OPTION_LIST_PLUGINS:
    return set_command(options, COMMAND_LIST_PLUGINS);
  default: /* getopt_long has said what is wrong */
    fprintf(stderr, "Try '%s --help' for what there is.\n", tool_name());
    return false;
  }
}

/* What follows the counted records is copied when they have been written, and is no input. */
static bool reads_standard_input_twice(const cli_options *options)
{
  size_t times = 0;
  for (size_t i = 0; i < options->input_count; i++)
    times += tool_is_standard(options->inputs[i]);
  return times > 1;
}

static bool check_together(const cli_options *options)
{
  const cli_command command = options->command;
  if (command == COMMAND_LIST_PLUGINS) return true;
  if (options->schema == NULL) {
    tool_usage_error("a schema is needed: --schema FILE");
    return false;
  }
  if (command == COMMAND_CHECK && (options->output != NULL || options->unique ||
                                   options->has_head || options->index_bits != 0)) {
    tool_usage_error("--check writes nothing: no --output, --unique, --head or --index");
    return false;
  }
  if (options->count != UINT64_MAX && reads_standard_input_twice(options)) {
    tool_usage_error("--count: standard input can be one of the inputs only once");
    return false;
  }
  if (command == COMMAND_MERGE && options->index_bits != 0) {
    tool_usage_error("--merge keeps no permutation: no --index");
    return false;
  }
  return true;
}

bool options_parse(cli_options *options, int argc, char **argv)
{
  *options = (struct cli_options){.sorting.struct_size = sizeof options->sorting,
                                  .head = UINT64_MAX,
                                  .skip = UINT64_MAX,
                                  .count = UINT64_MAX,
                                  .trailer = UINT64_MAX};
  tool_progress_set("auto");
  for (;;) {
    const int option = getopt_long(argc, argv, short_options, long_options, NULL);
    if (option == -1) break;
    if (option == 'h' || option == OPTION_VERSION) {
      options->command = option == 'h' ? COMMAND_HELP : COMMAND_VERSION;
      return true;
    }
    if (!parse_option(options, option, optarg)) return false;
  }
  options->inputs = argv + optind;
  options->input_count = (size_t)(argc - optind);
  return check_together(options);
}

void options_free(cli_options *options)
{
  for (size_t i = 0; i < options->sorting.key_count; i++) {
    free((void *)options->sorting.keys[i].path);
  }
  free((void *)options->sorting.keys);
  free((void *)options->sorting.plugin_options);
  options->sorting.plugin_options = NULL;
  options->sorting.plugin_option_count = 0;
  options->sorting.keys = NULL;
  options->sorting.key_count = 0;
}
