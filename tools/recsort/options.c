/* options.c - recsort's command line, by getopt_long. */
#include "options.h"

#include "recsort/file.h"

#include "support/message.h"
#include "support/progress.h"

#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Applies an option to those read so far; `text` is its argument, or NULL. */
typedef struct option_row option_row;
typedef bool (*apply_call)(cli_options *options, const option_row *row, const char *text);

struct option_row {
  const char *name;    /* NULL: only a letter */
  char letter;         /* 0: none */
  int has_arg;         /* as in getopt_long */
  apply_call apply;    /* NULL: the rest of the command line is ignored */
  size_t member;       /* offset in cli_options, for set_text, set_flag and set_number */
  cli_command command; /* for set_command and NULL */
  const char *help;    /* lines of --help; NULL: a neighbour's lines include it */
};

static bool bad_value(const char *option, const char *value, const char *allowed)
{
  tool_usage_error("%s: '%s' is not %s", option, value, allowed);
  return false;
}

/* Parses one modifier of a key: "asc", "nan=first". */
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
  if (key->path != text) return bad_value("--key", text, "a field"); /* no path before the ':' */
  for (const char *word; (word = strtok_r(NULL, ":", &next)) != NULL;) {
    if (!parse_modifier(key, word)) return false;
  }
  return true;
}

/* Appends a key from its text. `sorting.keys` is const only for the library; the options own the
 * keys and paths. */
static bool add_key(cli_options *options, const char *argument, size_t length)
{
  recsort_options *const sorting = &options->sorting;
  const size_t count = sorting->key_count;
  recsort_key_desc *const keys = realloc((void *)sorting->keys, (count + 1) * sizeof *keys);
  if (keys != NULL) sorting->keys = keys;
  char *const text = keys != NULL ? strndup(argument, length) : NULL;
  if (text == NULL) {
    tool_error_memory((count + 1) * sizeof *keys + length);
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

/* The length of the first key of a text: up to a comma that is not in parentheses, as the names of
 * computed keys have them. */
static size_t key_length(const char *text)
{
  int depth = 0;
  const char *end = text;
  for (; *end != '\0' && (*end != ',' || depth > 0); end++)
    depth += (*end == '(') - (*end == ')');
  return (size_t)(end - text);
}

/* Keys with commas between them. */
static bool add_keys(cli_options *options, const option_row *row, const char *text)
{
  (void)row;
  for (;; text++) {
    const size_t length = key_length(text);
    if (!add_key(options, text, length)) return false;
    text += length;
    if (*text == '\0') return true;
  }
}

/* Appends an option for the plugin. The library checks whether the plugin has it. */
static bool append_plugin_option(recsort_options *sorting, const char *argument)
{
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

static bool add_plugin_option(cli_options *options, const option_row *row, const char *argument)
{
  const char *const equals = strchr(argument, '=');
  (void)row;
  if (equals == NULL || equals == argument || equals[1] == '\0') {
    return bad_value("--plugin-option", argument, "of the form KEY=VALUE");
  }
  return append_plugin_option(&options->sorting, argument);
}

/* If it comes again, the text that was appended is replaced. */
static bool add_device(cli_options *options, const option_row *row, const char *argument)
{
  const bool again = options->device[0] != '\0';
  const int length = snprintf(options->device, sizeof options->device, "device=%s", argument);
  (void)row;
  if (argument[0] == '\0' || length < 0 || (size_t)length >= sizeof options->device)
    return bad_value("--device", argument, "the number of a device");
  return again || append_plugin_option(&options->sorting, options->device);
}

/* Parses numbers with commas between them. */
static bool parse_values(cli_parameter *parameter, const char *text)
{
  for (char *end;; text = end + 1) {
    if (parameter->count == RECSORT_MOST_COORDINATES) return false;
    const double value = strtod(text, &end);
    if (end == text || !isfinite(value) || (*end != ',' && *end != '\0')) return false;
    parameter->values[parameter->count++] = value;
    if (*end == '\0') return true;
  }
}

/* The library checks whether a key has such a parameter. */
static bool add_parameter(cli_options *options, const option_row *row, const char *argument)
{
  const char *const equals = strchr(argument, '=');
  cli_parameter parameter = {.name = argument};
  (void)row;
  if (equals == NULL || equals == argument || !parse_values(&parameter, equals + 1)) {
    return bad_value("--param", argument, "of the form NAME=NUMBER[,NUMBER]...");
  }
  parameter.name_length = (size_t)(equals - argument);
  const size_t size = (options->parameter_count + 1) * sizeof parameter;
  cli_parameter *const parameters = realloc(options->parameters, size);
  if (parameters == NULL) {
    tool_error_memory(size);
    return false;
  }
  parameters[options->parameter_count++] = parameter;
  options->parameters = parameters;
  return true;
}

static bool parse_verify(cli_options *options, const option_row *row, const char *text)
{
  static const char *const names[] = {"default", "off", "full"}; /* as recsort_verify counts */
  (void)row;
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(text, names[i]) == 0) {
      options->sorting.verify = (recsort_verify)i;
      return true;
    }
  return bad_value("--verify", text, "default, off or full");
}

static bool parse_threads(cli_options *options, const option_row *row, const char *text)
{
  uint64_t value;
  if (!tool_option_count(row->name, text, 0, UINT_MAX, &value)) return false;
  options->sorting.threads = (unsigned)value;
  return true;
}

static bool parse_head(cli_options *options, const option_row *row, const char *text)
{
  options->has_head = true;
  return tool_option_count(row->name, text, 0, UINT64_MAX, &options->head);
}

/* Bytes, or a percentage of the available memory. */
static bool parse_memory(cli_options *options, const option_row *row, const char *text)
{
  char *end;
  const unsigned long percent = strtoul(text, &end, 10);
  options->memory = options->percent = 0;
  if (*text >= '0' && *text <= '9' && strcmp(end, "%") == 0) {
    if (percent < 1 || percent > 100)
      return bad_value("--memory", text, "a percentage from 1% to 100%");
    options->percent = (unsigned)percent;
    return true;
  }
  return tool_option_count(row->name, text, 1, INT64_MAX, &options->memory);
}

static bool add_folder(cli_options *options, const option_row *row, const char *text)
{
  (void)row;
  if (options->folder_count == RECSORT_FILE_MOST_FOLDERS) {
    tool_usage_error("--temporary-directory: there can be at most %d", RECSORT_FILE_MOST_FOLDERS);
    return false;
  }
  const size_t size = (options->folder_count + 1) * sizeof text;
  const char **const folders = realloc((void *)options->folders, size);
  if (folders == NULL) {
    tool_error_memory(size);
    return false;
  }
  folders[options->folder_count++] = text;
  options->folders = folders;
  return true;
}

static bool parse_index(cli_options *options, const option_row *row, const char *text)
{
  (void)row;
  if (text == NULL || strcmp(text, "64") == 0) {
    options->index_bits = 64;
  } else if (strcmp(text, "32") == 0) {
    options->index_bits = 32;
  } else {
    return bad_value("--index", text, "32 or 64");
  }
  return true;
}

static bool parse_stats(cli_options *options, const option_row *row, const char *text)
{
  (void)row;
  if (text == NULL || strcmp(text, "text") == 0) {
    options->stats = STATS_TEXT;
  } else if (strcmp(text, "json") == 0) {
    options->stats = STATS_JSON;
  } else {
    return bad_value("--stats", text, "text or json");
  }
  return true;
}

static bool parse_progress(cli_options *options, const option_row *row, const char *text)
{
  (void)options, (void)row;
  return tool_progress_set(text) || bad_value("--progress", text, "auto, always or never");
}

/* ---- The table ---------------------------------------------------------------------------- */

static bool set_text(cli_options *options, const option_row *row, const char *text)
{
  *(const char **)(void *)((char *)options + row->member) = text;
  return true;
}

static bool set_output(cli_options *options, const option_row *row, const char *text)
{
  (void)row;
  if (options->output != NULL) {
    tool_usage_error("--output: only one file can be written, not '%s' and '%s'", options->output,
                     text);
    return false;
  }
  options->output = text;
  return true;
}

static bool set_flag(cli_options *options, const option_row *row, const char *text)
{
  (void)text;
  *(bool *)((char *)options + row->member) = true;
  return true;
}

/* A number of bytes or records of a file; the limit keeps sums from overflowing. */
static bool set_number(cli_options *options, const option_row *row, const char *text)
{
  return tool_option_count(row->name, text, 0, INT64_MAX / 4,
                           (uint64_t *)(void *)((char *)options + row->member));
}

static bool set_command(cli_options *options, const option_row *row, const char *text)
{
  (void)text;
  if (options->command != COMMAND_SORT && options->command != row->command) {
    tool_usage_error(
        "only one of --check, --merge, --explain, --list-plugins and --completion can be done");
    return false;
  }
  options->command = row->command;
  return true;
}

/* --check, and -C, which has no name. */
static bool parse_check(cli_options *options, const option_row *row, const char *text)
{
  if (text != NULL && strcmp(text, "quiet") != 0) return bad_value("--check", text, "quiet");
  options->quiet = options->quiet || text != NULL || row->name == NULL;
  return set_command(options, row, NULL);
}

static bool set_shell(cli_options *options, const option_row *row, const char *text)
{
  options->shell = text;
  return set_command(options, row, NULL);
}

#define SETS(member_) .member = offsetof(cli_options, member_)
#define DOES(command_) .apply = set_command, .command = COMMAND_##command_

/* All options, in the order of --help. */
static const option_row rows[] = {
    {"schema", 's', required_argument, .apply = set_text, SETS(schema),
     .help = "  -s, --schema FILE      fields and keys of a record (YAML); .npy needs none\n"},
    {"key", 'k', required_argument, .apply = add_keys,
     .help = "  -k, --key PATH[:asc|:desc][:nan=first|last|total][,PATH...]...\n"
             "                         keys instead of the schema's; may be repeated\n"},
    {"param", 0, required_argument, .apply = add_parameter,
     .help = "      --param NAME=X[,Y]...  a point or vector that keys are computed with\n"},
    {"reverse", 'r', no_argument, .apply = set_flag, SETS(sorting.reverse),
     .help = "  -r, --reverse          reverse every key; equal records keep their order\n"},
    {"files0-from", 0, required_argument, .apply = set_text, SETS(files_from),
     .help = "      --files0-from FILE  read the names of INPUTs, each with a NUL behind it\n"},
    {"output", 'o', required_argument, .apply = set_output,
     .help = "  -o, --output FILE      replace FILE in one step; it may be an INPUT\n"},
    {"check", 'c', optional_argument, .apply = parse_check, .command = COMMAND_CHECK,
     .help = "  -c, --check[=quiet]    do not sort; exit 1 if out of order (-C: quietly)\n"},
    {NULL, 'C', no_argument, .apply = parse_check, .command = COMMAND_CHECK},
    {"merge", 'm', no_argument, DOES(MERGE),
     .help = "  -m, --merge            merge INPUTs that are sorted already\n"},
    {"unique", 'u', no_argument, .apply = set_flag, SETS(unique),
     .help = "  -u, --unique, --head N  only the first of equal keys, at most N records\n"},
    {"head", 0, required_argument, .apply = parse_head},
    {"skip", 0, required_argument, .apply = set_number, SETS(files.skip),
     .help = "      --skip N, --count N, --trailer N  bytes before, records, bytes after\n"},
    {"count", 0, required_argument, .apply = set_number, SETS(files.count)},
    {"trailer", 0, required_argument, .apply = set_number, SETS(files.trailer)},
    {"keep-trailer", 0, no_argument, .apply = set_flag, SETS(files.keep_trailer),
     .help = "      --keep-trailer, --raw  header that may go stale; what looks packed\n"},
    {"raw", 0, no_argument, .apply = set_flag, SETS(files.raw)},
    {"index", 0, optional_argument, .apply = parse_index,
     .help = "      --index[=32|64]    write the permutation (little-endian; 64), not records\n"},
    {"memory", 'S', required_argument, .apply = parse_memory,
     .help = "  -S, --memory SIZE|N%, -T, --temporary-directory DIR  to sort in; for the rest\n"},
    {"temporary-directory", 'T', required_argument, .apply = add_folder},
    {"plugin", 0, required_argument, .apply = set_text, SETS(sorting.plugin),
     .help = "      --plugin NAME, --algorithm NAME  what sorts (default: auto, the CPU)\n"},
    {"algorithm", 0, required_argument, .apply = set_text, SETS(sorting.algorithm)},
    {"device", 0, required_argument, .apply = add_device,
     .help = "      --device NUMBER, --plugin-option KEY=VALUE  which GPU; memory=8G\n"},
    {"plugin-option", 0, required_argument, .apply = add_plugin_option},
    {"verify", 0, required_argument, .apply = parse_verify,
     .help = "      --verify=default|off|full  whether results are checked, and how\n"},
    {"threads", 0, required_argument, .apply = parse_threads,
     .help = "      --threads N, --parallel N  CPU threads; 0: one for each processor\n"},
    {"parallel", 0, required_argument, .apply = parse_threads},
    {"stats", 0, optional_argument, .apply = parse_stats,
     .help = "      --stats[=text|json], --progress[=auto|always|never]  on standard error\n"},
    {"progress", 0, optional_argument, .apply = parse_progress},
    {"explain", 0, no_argument, DOES(EXPLAIN),
     .help = "      --explain, --list-plugins  print the plan and INPUTs, or the plugins\n"},
    {"list-plugins", 0, no_argument, DOES(LIST_PLUGINS)},
    {"version", 0, no_argument, .command = COMMAND_VERSION,
     .help = "  -h, --help, --version, --completion=bash|zsh|fish  print this, version, script\n"},
    {"completion", 0, required_argument, .apply = set_shell, .command = COMMAND_COMPLETION},
    {"help", 'h', no_argument, .command = COMMAND_HELP},
};

enum { ROW_COUNT = sizeof rows / sizeof *rows, UNLETTERED = 256 };

bool print_help(void)
{
  fputs("Usage: recsort [-s SCHEMA] [OPTION]... [INPUT]...\n"
        "Sort fixed-size binary records stably; no INPUT or '-' is standard input.\n",
        stdout);
  for (size_t i = 0; i < ROW_COUNT; i++)
    if (rows[i].help != NULL) fputs(rows[i].help, stdout);
  fputs("Exit status: 0 done, 1 disorder, 2 trouble. recschema(1) makes a SCHEMA.\n", stdout);
  return tool_flush_stdout();
}

/* The argument of a row, in the line of --help that has its name: FILE of "--schema FILE", or
 * text|json of "--stats[=text|json]". It ends before a comma with a space, or two spaces. */
static void find_argument(const char *help, option_words *words)
{
  char name[32];
  const int length = snprintf(name, sizeof name, "--%s", words->name);
  const char *at = strstr(help, name);
  if (at == NULL) return;
  at += length;
  words->usage = at;
  while (at[0] != '\n' && strncmp(at, ", ", 2) != 0 && strncmp(at, "  ", 2) != 0)
    at++;
  words->usage_length = (int)(at - words->usage);
  at = words->usage + strspn(words->usage, " [=");
  words->argument = at;
  words->argument_length = (int)strcspn(at, "] ,\n");
}

/* A row without lines of its own is in those of a row before it. Their text is behind the last two
 * spaces. */
bool options_describe(size_t number, option_words *words)
{
  if (number >= ROW_COUNT) return false;
  const option_row *row = &rows[number];
  *words = (option_words){.name = row->name, .letter = row->letter};
  words->is_optional = row->has_arg == optional_argument;
  while (row->help == NULL)
    row--;
  for (const char *at = row->help; (at = strstr(at, "  ")) != NULL; at++)
    words->text = at + 2;
  words->text_length = (int)strcspn(words->text, "\n");
  if (rows[number].has_arg != no_argument) find_argument(row->help, words);
  return true;
}

/* The value that getopt_long returns for a row. */
static int code_of(size_t row)
{
  return rows[row].letter != 0 ? rows[row].letter : UNLETTERED + (int)row;
}

/* After getopt_long has said that a word is no option: where to look. */
static void say_where(const char *word)
{
  static const char *const other[] = {"--emit-header", "--from-header", "--from-elf", "--struct"};
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    const size_t length = strlen(other[i]);
    if (strncmp(word, other[i], length) == 0 && (word[length] == '\0' || word[length] == '=')) {
      fputs("It is an option of recschema, which makes schemas: run 'recschema --help'.\n", stderr);
      return;
    }
  }
  tool_say_help();
}

/* The next option of the command line, NULL after the last one. False if there is no such
 * option. */
static bool next_option(int argc, char **argv, const option_row **row)
{
  struct option long_options[ROW_COUNT + 1] = {{0}}, *named = long_options;
  char letters[2 * ROW_COUNT + 1] = "", *letter = letters;
  for (size_t i = 0; i < ROW_COUNT; i++) {
    if (rows[i].name != NULL)
      *named++ = (struct option){rows[i].name, rows[i].has_arg, NULL, code_of(i)};
    if (rows[i].letter == 0) continue;
    *letter++ = rows[i].letter;
    if (rows[i].has_arg == required_argument) *letter++ = ':';
  }
  const int code = getopt_long(argc, argv, letters, long_options, NULL);
  *row = NULL;
  if (code == -1) return true;
  for (size_t i = 0; i < ROW_COUNT; i++)
    if (code == code_of(i)) *row = &rows[i];
  if (*row == NULL) say_where(argv[optind - 1]);
  return *row != NULL;
}

static bool check_together(const cli_options *options)
{
  const cli_command command = options->command;
  if (command == COMMAND_LIST_PLUGINS || command == COMMAND_COMPLETION) return true;
  if (options->schema == NULL &&
      (options->files.skip != TOOL_ANY || options->files.count != TOOL_ANY)) {
    tool_usage_error(
        "--skip and --count need a schema: --schema FILE; a .npy file says both itself");
    return false;
  }
  if (command == COMMAND_CHECK && (options->output != NULL || options->unique ||
                                   options->has_head || options->index_bits != 0)) {
    tool_usage_error("--check writes nothing: no --output, --unique, --head or --index");
    return false;
  }
  if (options->files_from != NULL && options->input_count > 0) {
    tool_usage_error("--files0-from names the inputs, so '%s' cannot", options->inputs[0]);
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
                                  .files = TOOL_SAID_NOTHING};
  tool_progress_set("auto");
  for (const option_row *row;;) {
    if (!next_option(argc, argv, &row)) return false;
    if (row == NULL) break;
    if (row->apply == NULL) {
      options->command = row->command;
      return true;
    }
    if (!row->apply(options, row, optarg)) return false;
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
  free((void *)options->folders);
  free(options->parameters);
  for (size_t i = 0; options->names != NULL && i < options->input_count; i++)
    free(options->names[i]);
  free(options->names);
  options->names = NULL;
  options->folders = NULL;
  options->folder_count = 0;
  options->parameters = NULL;
  options->parameter_count = 0;
  options->sorting.plugin_options = NULL;
  options->sorting.plugin_option_count = 0;
  options->sorting.keys = NULL;
  options->sorting.key_count = 0;
}
