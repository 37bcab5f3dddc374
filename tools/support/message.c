/* message.c - what the tools say, and a few things that every tool needs. */
#include "support/message.h"

#include "support/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *program = "recsort";

void tool_set_name(const char *name)
{
  program = name;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    /* Opened the wrong way round, so that using it still fails. */
    if (fcntl(fd, F_GETFD) < 0 &&
        open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) {
      _exit(TOOL_TROUBLE);
    }
  }
}

const char *tool_name(void)
{
  return program;
}

/* Names of files may hold anything, so what could break the line is replaced. */
static void say(const char *format, va_list arguments)
{
  char line[4096 + 512];
  const int length = vsnprintf(line, sizeof line, format, arguments);
  if (length < 0) line[0] = '\0';
  for (char *c = line; *c != '\0'; c++) {
    if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
  }
  tool_progress_clear();
  fprintf(stderr, "%s: %s\n", program, line);
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
  fprintf(stderr, "Try '%s --help' for what there is.\n", program);
  return TOOL_TROUBLE;
}

void tool_error_errno(const char *file, int error)
{
  tool_error("%s: %s", *file != '\0' ? file : "''", strerror(error));
}

void tool_error_memory(size_t size)
{
  tool_error("not enough memory: %zu bytes more were wanted", size);
}

void tool_error_library(const recsort_error *error)
{
  tool_error("%s", error->text);
}

bool tool_is_standard(const char *path)
{
  return path == NULL || strcmp(path, "-") == 0;
}

const char *tool_input_name(const char *path)
{
  return tool_is_standard(path) ? "standard input" : path;
}

const char *tool_output_name(const char *path)
{
  return tool_is_standard(path) ? "standard output" : path;
}

bool tool_parse_count(const char *text, uint64_t most, uint64_t *value)
{
  uint64_t sum = 0;
  if (*text == '\0') return false;
  for (; *text != '\0'; text++) {
    if (*text < '0' || *text > '9') return false;
    if (__builtin_mul_overflow(sum, 10u, &sum)) return false;
    if (__builtin_add_overflow(sum, (uint64_t)(*text - '0'), &sum)) return false;
  }
  if (sum > most) return false;
  *value = sum;
  return true;
}

recsort_schema *tool_load_schema(const char *path)
{
  recsort_schema *schema = NULL;
  recsort_error error;
  if (recsort_schema_load_file(path, NULL, &schema, &error) != RECSORT_OK) {
    tool_error_library(&error);
    return NULL;
  }
  return schema;
}

bool tool_flush_stdout(void)
{
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return true;
  tool_error_errno("standard output", errno != 0 ? errno : EIO);
  return false;
}

double tool_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
