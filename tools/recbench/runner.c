/* runner.c - see runner.h. A message to the runner holds a command's words, each with its NUL; the
 * reply is a command_result. */
#include "runner.h"

#include "support/message.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 32, MESSAGE_MAX = 16384 };

extern char **environ;

static command_result run(char **words)
{
  command_result result = {0};
  pid_t process;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const double before = tool_seconds();
  result.error = posix_spawnp(&process, words[0], &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (result.error != 0) return result;
  struct rusage usage = {0};
  while (wait4(process, &result.status, 0, &usage) < 0 && errno == EINTR)
    continue;
  result.seconds = tool_seconds() - before;
  result.peak = (uint64_t)usage.ru_maxrss * 1024;
  return result;
}

/* The runner's loop, until the other end of the socket is closed. */
static void serve(int socket)
{
  char message[MESSAGE_MAX];
  for (;;) {
    const ssize_t size = recv(socket, message, sizeof message, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    char *words[WORDS_MAX + 1] = {0};
    size_t count = 0;
    for (char *c = message; c < message + size; c += strlen(c) + 1)
      words[count++] = c;
    const command_result result = run(words);
    if (send(socket, &result, sizeof result, MSG_NOSIGNAL) < 0) return;
  }
}

bool runner_start(bench_runner *runner)
{
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    tool_error_errno("socketpair", errno);
    return false;
  }
  const pid_t process = fork();
  if (process == 0) {
    close(ends[0]);
    serve(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  if (process < 0) {
    tool_error_errno("fork", errno);
    close(ends[0]);
    return false;
  }
  runner->process = process;
  runner->socket = ends[0];
  return true;
}

void runner_stop(bench_runner *runner)
{
  close(runner->socket);
  while (waitpid(runner->process, NULL, 0) < 0 && errno == EINTR)
    continue;
}

static bool ask(int socket, const char *const *arguments, command_result *result)
{
  char message[MESSAGE_MAX];
  size_t size = 0, count = 0;
  for (; arguments[count] != NULL; count++) {
    const size_t length = strlen(arguments[count]) + 1;
    if (count == WORDS_MAX || length > sizeof message - size) {
      errno = E2BIG;
      return false;
    }
    memcpy(message + size, arguments[count], length);
    size += length;
  }
  if (send(socket, message, size, MSG_NOSIGNAL) < 0) return false;
  ssize_t got;
  do {
    got = recv(socket, result, sizeof *result, 0);
  } while (got < 0 && errno == EINTR);
  if (got == (ssize_t)sizeof *result) return true;
  if (got >= 0) errno = EPIPE;
  return false;
}

bool runner_run(bench_runner *runner, const char *const *arguments, command_result *result)
{
  const char *const name = arguments[0];
  command_result got;
  if (!ask(runner->socket, arguments, &got)) {
    tool_error_errno(name, errno);
    return false;
  }
  if (got.error != 0) {
    tool_error_errno(name, got.error);
    return false;
  }
  if (!WIFEXITED(got.status) || WEXITSTATUS(got.status) != 0) {
    tool_error("%s: failed", name);
    return false;
  }
  *result = got;
  return true;
}
