/* runner.h - runs commands and measures their time and peak memory.
 *
 * Linux includes the memory of the process that starts a command in the command's peak. So a small
 * process starts them, which is forked before the benchmark allocates memory. */
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
  int status; /* as from wait(2) */
  double seconds;
  uint64_t peak; /* bytes of memory */
} command_result;

/* Starts the runner. Call it before you allocate memory. False, with a message, on failure. */
bool runner_start(bench_runner *runner);
void runner_stop(bench_runner *runner);

/* Runs a command, searched for in $PATH if it has no slash, and discards its output. False, with a
 * message, if it fails. */
bool runner_run(bench_runner *runner, const char *const *arguments, command_result *result);

#endif
