/* message.c - see message.h. */
#include "support/message.h"

#include "support/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether a message's beginning is red: on terminals that can show it, for users who did not ask
 * programs not to (https://no-color.org). */
static bool has_colour(void)
{
  const char *const terminal = getenv("TERM"), *const refusal = getenv("NO_COLOR");
  return (refusal == NULL || *refusal == '\0') && terminal != NULL &&
         strcmp(terminal, "dumb") != 0 && isatty(STDERR_FILENO);
}

/* File names may contain anything, so characters that could break the line are replaced. */
static void say(const char *format, va_list arguments)
{
  char line[4096 + 512];
  const int length = vsnprintf(line, sizeof line, format, arguments);
  if (length < 0) line[0] = '\0';
  for (char *c = line; *c != '\0'; c++) {
    if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
  }
  tool_progress_clear();
  fprintf(stderr, has_colour() ? "\033[1;31m%s:\033[m %s\n" : "%s: %s\n", tool_name(), line);
}

void tool_error(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
}

int tool_usage_error(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  tool_say_help();
  return TOOL_TROUBLE;
}

bool tool_option_count(const char *name, const char *text, uint64_t least, uint64_t most,
                       uint64_t *value)
{
  uint64_t number;
  if (tool_parse_count(text, most, &number) && number >= least) {
    *value = number;
    return true;
  }
  tool_usage_error("--%s: '%s' is not a number from %" PRIu64 " to %" PRIu64
                   ", such as 500, 4K or 1M",
                   name, text, least, most);
  return false;
}

void tool_say_help(void)
{
  fprintf(stderr, "Run '%s --help' for a list of options.\n", tool_name());
}

void tool_error_errno(const char *file, int error)
{
  tool_error("%s: %s", *file != '\0' ? file : "''", strerror(error));
}

void tool_error_memory(size_t size)
{
  tool_error("out of memory: %zu more bytes are needed", size);
}

void tool_error_library(const recsort_error *error)
{
  tool_error("%s", error->text);
}

/* Whether `name` may be that of an installed schema. Then `path`, of PATH_MAX bytes, becomes its
 * file: TOOL_SCHEMAS, from where the program is. */
static bool find_installed(const char *name, char *path)
{
  if (*name == '\0' || strpbrk(name, "./") != NULL || access(name, F_OK) == 0) return false;
  const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  char *const end = strrchr(path, '/') + 1;
  const size_t room = PATH_MAX - (size_t)(end - path);
  return (size_t)snprintf(end, room, TOOL_SCHEMAS "/%s.yaml", name) < room;
}

recsort_schema *tool_load_schema(const char *path)
{
  recsort_schema *schema = NULL;
  recsort_error error;
  char installed[PATH_MAX];
  if (find_installed(path, installed)) {
    if (access(installed, F_OK) != 0) {
      tool_error("%s: no such file, and no schema of that name is installed", path);
      return NULL;
    }
    path = installed;
  }
  if (recsort_schema_load_file(path, NULL, &schema, &error) != RECSORT_OK) {
    tool_error_library(&error);
    return NULL;
  }
  return schema;
}

bool tool_may_write(const char *output)
{
  if (output != NULL || !isatty(STDOUT_FILENO)) return true;
  tool_error("standard output is a terminal and records are binary: use -o FILE, or -o - to write "
             "them there");
  return false;
}

bool tool_flush_stdout(void)
{
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return true;
  tool_error_errno("standard output", errno != 0 ? errno : EIO);
  return false;
}
