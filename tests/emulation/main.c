/* emulation - tests the device sorts without a GPU, and that the cases notice errors: every barrier
 * of a sort is left out in turn. (tests/mutants has other mistakes.)
 *
 *   emulation [--cases] [ALGORITHM] only the cases: for builds with sanitizers, which are slow
 *   emulation --devices [ALGORITHM] with the shared memory of each kind of GPU
 *
 * Exit status: 0 if all cases passed, and failed where they should; otherwise 1.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulator.h"
#include "suite.h"

enum { SHOWN_FAILURES = 20 };

/* ---- Barriers ---- */

static const char *verdict(int status)
{
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGALRM ? "does not end" : "crashes";
  if (WEXITSTATUS(status) == 0) return "NOT CAUGHT";
  return WEXITSTATUS(status) == 1 ? "fails" : "stopped by a sanitizer";
}

static void tell(const device_algorithm *algorithm, emulator_site barrier, const char *how)
{
  const char *const slash = strrchr(barrier.file, '/');
  (void)printf("%s without the barrier at %s:%d: %s\n", algorithm->shown.name,
               slash ? slash + 1 : barrier.file, barrier.line, how);
}

/* Runs the cases in a new process, as without a barrier they may crash or never end. */
static pid_t start_without(const device_algorithm *algorithm, emulator_site barrier,
                           unsigned patience)
{
  (void)fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    (void)freopen("/dev/null", "w", stderr);
    emulator_ignore(barrier);
    _exit(suite_run(algorithm, 1, false, patience).failed ? 1 : 0);
  }
  return child;
}

/* Tests all barriers, as many at a time as there are processors. */
static bool check_barriers(const device_algorithm *algorithm, const emulator_site *barriers,
                           size_t count, unsigned patience)
{
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const size_t most = processors > 0 ? (size_t)processors : 1;
  pid_t children[EMULATOR_MAX_SITES] = {0};
  size_t started = 0, caught = 0;
  for (size_t ended = 0; ended < count; ended++) {
    int status = 0;
    for (; started < count && started < ended + most; started++)
      children[started] = start_without(algorithm, barriers[started], patience);
    const pid_t child = wait(&status);
    if (child <= 0) return false;
    for (size_t i = 0; i < started; i++)
      if (children[i] == child) tell(algorithm, barriers[i], verdict(status));
    caught += status != 0;
  }
  return caught == count;
}

/* ---- An algorithm ---- */

/* A sort that uses shared memory must have met barriers: its threads cooperate. In others, such as
 * rank, they do not. */
static bool check_algorithm(const device_algorithm *algorithm, bool only_cases)
{
  enum { LEAST = 10, TIMES = 10 }; /* time limit of a case that lacks a barrier */
  emulator_site barriers[EMULATOR_MAX_SITES];
  emulator_clear_sites();
  const suite_tally t = suite_run(algorithm, SHOWN_FAILURES, true, 0);
  (void)printf("%s: %zu passed, %zu failed\n", algorithm->shown.name, t.passed, t.failed);
  if (t.failed || t.passed == 0 || only_cases) return t.failed == 0 && t.passed > 0;
  const size_t count = emulator_sites(barriers);
  const bool shared = emulator_used_shared();
  const bool caught =
      check_barriers(algorithm, barriers, count, LEAST + (unsigned)(TIMES * t.longest));
  (void)printf("%s: %zu barriers left out, %s\n", algorithm->shown.name, count,
               caught ? "all caught" : "NOT all caught");
  return caught && (count > 0) == shared;
}

static bool check_devices(const device_algorithm *algorithm)
{
  const suite_tally t = suite_run_devices(algorithm);
  (void)printf("%s: %zu passed, %zu failed\n", algorithm->shown.name, t.passed, t.failed);
  return t.failed == 0 && t.passed > 0;
}

int main(int argc, char **argv)
{
  const bool only_cases = argc > 1 && strcmp(argv[1], "--cases") == 0;
  const bool devices = argc > 1 && strcmp(argv[1], "--devices") == 0;
  const int options = only_cases || devices;
  const char *const name = argc > 1 + options ? argv[1 + options] : NULL;
  size_t run = 0, good = 0;
  for (size_t i = 0; i < device_algorithm_count; i++) {
    if (name && strcmp(name, device_algorithms[i].shown.name) != 0) continue;
    run++;
    good += devices ? check_devices(&device_algorithms[i])
                    : check_algorithm(&device_algorithms[i], only_cases);
  }
  (void)printf("%zu algorithms, %zu good\n", run, good);
  return run > 0 && run == good ? 0 : 1;
}
