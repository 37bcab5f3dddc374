/* compile.c - see compile.h. */
#include "recschema/dwarf/compile.h"

#include "support/message.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_cxx(const char *header)
{
  static const char *const suffixes[] = {".hpp", ".hh",  ".hxx", ".h++",
                                         ".H",   ".cpp", ".cc",  ".cxx"};
  const char *const suffix = strrchr(header, '.');
  for (size_t i = 0; suffix != NULL && i < sizeof suffixes / sizeof *suffixes; i++)
    if (strcmp(suffix, suffixes[i]) == 0) return true;
  return false;
}

static const char *variable(const char *name, const char *otherwise)
{
  const char *const value = getenv(name);
  return value != NULL && *value != '\0' ? value : otherwise;
}

/* Runs a command to its end, as system(3) does: an interrupt ends the command, not this process,
 * which has something to remove. */
static bool run(char **command)
{
  struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
  posix_spawnattr_t attributes;
  sigset_t defaults;
  pid_t child;
  int status = -1;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGQUIT);
  if (posix_spawnattr_init(&attributes) != 0) return false;
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  sigaction(SIGINT, &ignore, &interrupt);
  sigaction(SIGQUIT, &ignore, &quit);
  const int error = posix_spawnp(&child, command[0], NULL, &attributes, command, environ);
  if (error != 0) {
    tool_error_errno(command[0], error);
  } else {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  sigaction(SIGINT, &interrupt, NULL);
  sigaction(SIGQUIT, &quit, NULL);
  posix_spawnattr_destroy(&attributes);
  return error == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool compile(const compiled *result, const char *header, char *const *options)
{
  const bool cxx = is_cxx(header);
  const char *const fixed[] = {cxx ? variable("CXX", "c++") : variable("CC", "cc")};
  /* A header's types are kept though nothing uses them. */
  const char *const last[] = {"-g",       "-fno-eliminate-unused-debug-types",
                              "-include", header,
                              "-x",       cxx ? "c++" : "c",
                              "-c",       "/dev/null",
                              "-o",       result->object,
                              NULL};
  size_t count = 0;
  while (options[count] != NULL)
    count++;
  const char **const command = malloc((1 + count) * sizeof *command + sizeof last);
  if (command == NULL) {
    tool_error_memory((1 + count) * sizeof *command + sizeof last);
    return false;
  }
  command[0] = fixed[0];
  memcpy(command + 1, options, count * sizeof *options);
  memcpy(command + 1 + count, last, sizeof last);
  const bool done = run((char **)command);
  free(command);
  if (!done) tool_error("%s: %s did not compile it", header, fixed[0]);
  return done;
}

bool compile_header(compiled *result, const char *header, char *const *options)
{
  const char *const folder = variable("TMPDIR", "/tmp");
  const int length = snprintf(result->folder, sizeof result->folder, "%s/recschema-XXXXXX", folder);
  if (length < 0 || (size_t)length >= sizeof result->folder || !mkdtemp(result->folder)) {
    tool_error_errno(folder, (size_t)length < sizeof result->folder ? errno : ENAMETOOLONG);
    return false;
  }
  snprintf(result->object, sizeof result->object, "%s/object.o", result->folder);
  if (compile(result, header, options)) return true;
  compile_remove(result);
  return false;
}

void compile_remove(const compiled *result)
{
  unlink(result->object);
  rmdir(result->folder);
}
