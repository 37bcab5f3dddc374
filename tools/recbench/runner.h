/* runner.h - runs commands and says how long they took and how much memory they needed.
 *
 * Linux counts the peak memory of the process that starts a command into that of the command. So
 * commands are started by a small process that was forked before the benchmark took any memory. */
#ifndef BENCH_RUNNER_H
#define BENCH_RUNNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct bench_runner {
  pid_t process;
  int socket;
} bench_runner;

typedef struct command_result {
  int error;  /* why it could not be started, or 0 */
  int status; /* as wait(2) gives it */
  double seconds;
  uint64_t peak; /* bytes of memory */
} command_result;

/* To be called before memory is taken; false, with a message, on failure. */
bool runner_start(bench_runner *runner);
void runner_stop(bench_runner *runner);

/* Runs the command, which is looked for in $PATH if it has no slash, without its output. False,
 * with a message, if it failed in any way. */
bool runner_run(bench_runner *runner, const char *const *arguments, command_result *result);

#endif
