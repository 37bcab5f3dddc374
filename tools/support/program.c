/* program.c - see program.h. */
#include "support/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *program = "recsort";

void tool_set_name(const char *name)
{
  program = name;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    /* opened in the wrong direction, so that using it still fails */
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
  static const char suffixes[] = "KMGT";
  char *end;
  if (*text < '0' || *text > '9') return false; /* strtoull takes blanks and signs */
  errno = 0;
  uint64_t number = strtoull(text, &end, 10);
  if (errno != 0) return false;
  if (*end != '\0') {
    const char *const suffix = strchr(suffixes, *end);
    if (suffix == NULL || end[1] != '\0' ||
        __builtin_mul_overflow(number, UINT64_C(1) << 10 * (suffix - suffixes + 1), &number)) {
      return false;
    }
  }
  if (number > most) return false;
  *value = number;
  return true;
}

double tool_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
