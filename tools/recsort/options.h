/* options.h - recsort's command line. */
#ifndef RECSORT_OPTIONS_H
#define RECSORT_OPTIONS_H

#include "recsort/recsort.h"

#include "support/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cli_command {
  COMMAND_SORT,
  COMMAND_CHECK,
  COMMAND_MERGE,
  COMMAND_EXPLAIN,
  COMMAND_LIST_PLUGINS,
  COMMAND_COMPLETION,
  COMMAND_VERSION,
  COMMAND_HELP
} cli_command;

typedef enum stats_format { STATS_NONE, STATS_TEXT, STATS_JSON } stats_format;

/* --param: a point or vector that keys are computed with. */
typedef struct cli_parameter {
  const char *name; /* part of argv, up to '=' */
  size_t name_length;
  double values[RECSORT_MOST_COORDINATES];
  size_t count;
} cli_parameter;

enum { CLI_DEVICE = 96 };

typedef struct cli_options {
  cli_command command;
  const char *schema;
  const char *output;
  char device[CLI_DEVICE];   /* --device, as an option of the plugin */
  recsort_options sorting;   /* owns its keys, their paths and the array of plugin_options */
  cli_parameter *parameters; /* owned */
  size_t parameter_count;
  bool unique;
  bool quiet; /* --check: no message */
  bool has_head;
  uint64_t head;        /* the most records to write; without has_head UINT64_MAX */
  unsigned index_bits;  /* 0: records are written */
  uint64_t memory;      /* --memory: the most bytes to take, or */
  unsigned percent;     /* so many percent of the available memory; both 0: what is available */
  const char **folders; /* --temporary-directory; the array is owned */
  size_t folder_count;
  tool_said files; /* where their records are */
  stats_format stats;
  const char *shell;      /* --completion */
  const char *files_from; /* --files0-from */
  char **names;           /* the names in that file; owned */
  char *const *inputs;    /* part of argv, or `names` */
  size_t input_count;
} cli_options;

/* Reads the command line. False, after a message, if it is invalid. Call options_free in any
 * case. */
bool options_parse(cli_options *options, int argc, char **argv);
void options_free(cli_options *options);

bool print_help(void);

/* What --help says about an option. The texts are not terminated. */
typedef struct option_words {
  const char *name;     /* NULL: it has only a letter */
  char letter;          /* 0: none */
  bool is_optional;     /* its argument */
  const char *argument; /* "FILE", or values such as "text|json" */
  int argument_length;  /* 0: it has none */
  const char *usage;    /* all of the argument, with what is before it: "[=text|json]" */
  int usage_length;
  const char *text;
  int text_length;
} option_words;

/* Describes option `number`, from 0. False: there are no more. */
bool options_describe(size_t number, option_words *words);

#endif
