/* emulation - the device sorts, their kernels run without a GPU, and the proof that the cases see
 * what is wrong: every barrier of a sort is left out in turn, and every mistake of TWIN made.
 *
 *   emulation [--cases] [ALGORITHM]      the cases alone: in builds with sanitizers, which are slow
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

/* ---- Twins ---- */

typedef struct twin {
  const char *name;
  emulator_twin_number number;
  emulator_site ignored;
} twin;

#define TWIN_ROW(twin) {#twin, TWIN_##twin, {NULL, 0}},
static const twin mistakes[] = {EMULATOR_TWINS(TWIN_ROW)};
enum { MISTAKES = sizeof mistakes / sizeof *mistakes, MOST_TWINS = MISTAKES + EMULATOR_MAX_SITES };

/* The mistakes that can be made in an algorithm; all have their barriers beside. */
static const struct {
  const char *algorithm;
  emulator_twin_number numbers[MISTAKES + 1]; /* ends with TWIN_NONE */
} mistakes_of[] = {
    {"rank", {TWIN_TIE, TWIN_RANK_LAST, TWIN_GRID_FLOOR, TWIN_SHORT_RUN}},
    {"rank-sm8", {TWIN_TIE, TWIN_RANK_LAST, TWIN_GRID_FLOOR, TWIN_SHORT_RUN}},
    {"rank-sm9", {TWIN_TIE, TWIN_RANK_LAST, TWIN_GRID_FLOOR, TWIN_SHORT_RUN}},
    {"rank-sm", {TWIN_TIE, TWIN_RANK_LAST, TWIN_GRID_FLOOR, TWIN_SHORT_RUN, TWIN_ONE_STEP}},
    {"corank", {TWIN_TIE, TWIN_GRID_FLOOR, TWIN_SHORT_RUN}},
    {"corank-tiled", {TWIN_TIE, TWIN_GRID_FLOOR, TWIN_SHORT_RUN, TWIN_LANE_FLOOR, TWIN_WHOLE_TILE}},
    {"corank-circular",
     {TWIN_TIE, TWIN_GRID_FLOOR, TWIN_SHORT_RUN, TWIN_LANE_FLOOR, TWIN_NO_WRAP, TWIN_NO_OFFSET}},
};

static const char *verdict(int status)
{
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGALRM ? "does not end" : "crashes";
  if (WEXITSTATUS(status) == 0) return "NOT CAUGHT";
  return WEXITSTATUS(status) == 1 ? "fails" : "stopped by a sanitizer";
}

static void tell(const device_algorithm *algorithm, const twin *wrong, const char *how)
{
  const char *const slash = wrong->ignored.file ? strrchr(wrong->ignored.file, '/') : NULL;
  if (slash)
    (void)printf("%s without the barrier at %s:%d: %s\n", algorithm->shown.name, slash + 1,
                 wrong->ignored.line, how);
  else
    (void)printf("%s with %s: %s\n", algorithm->shown.name, wrong->name, how);
}

/* In a process of its own: a mistake may as well crash or never end. */
static pid_t start_twin(const device_algorithm *algorithm, const twin *wrong, unsigned patience)
{
  (void)fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    (void)freopen("/dev/null", "w", stderr);
    emulator_twin = wrong->number;
    emulator_ignore(wrong->ignored);
    _exit(suite_run(algorithm, 1, false, patience).failed ? 1 : 0);
  }
  return child;
}

/* As many at a time as there are processors. */
static bool check_twins(const device_algorithm *algorithm, const twin *twins, size_t count,
                        unsigned patience)
{
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const size_t most = processors > 0 ? (size_t)processors : 1;
  pid_t children[MOST_TWINS] = {0};
  size_t started = 0, caught = 0;
  for (size_t ended = 0; ended < count; ended++) {
    int status = 0;
    for (; started < count && started < ended + most; started++)
      children[started] = start_twin(algorithm, &twins[started], patience);
    const pid_t child = wait(&status);
    if (child <= 0) return false;
    for (size_t i = 0; i < started; i++)
      if (children[i] == child) tell(algorithm, &twins[i], verdict(status));
    caught += status != 0;
  }
  return caught == count;
}

/* The mistakes of an algorithm, and its barriers that are reached when all is right. */
static size_t list_twins(const device_algorithm *algorithm, twin *twins)
{
  emulator_site sites[EMULATOR_MAX_SITES];
  const size_t barriers = emulator_sites(sites);
  size_t count = 0;
  for (size_t a = 0; a < sizeof mistakes_of / sizeof *mistakes_of; a++) {
    if (strcmp(mistakes_of[a].algorithm, algorithm->shown.name) != 0) continue;
    for (const emulator_twin_number *number = mistakes_of[a].numbers; *number; number++)
      twins[count++] = mistakes[*number - 1];
  }
  for (size_t i = 0; i < barriers; i++)
    twins[count++] = (twin){"", TWIN_NONE, sites[i]};
  return count;
}

/* ---- An algorithm ---- */

/* Nothing to break would prove nothing. */
static bool check_algorithm(const device_algorithm *algorithm, bool only_cases)
{
  enum { LEAST = 10, TIMES = 10 }; /* patience with a twin's case */
  twin twins[MOST_TWINS];
  emulator_clear_sites();
  const suite_tally t = suite_run(algorithm, SHOWN_FAILURES, true, 0);
  (void)printf("%s: %zu passed, %zu failed\n", algorithm->shown.name, t.passed, t.failed);
  if (t.failed || t.passed == 0 || only_cases) return t.failed == 0 && t.passed > 0;
  const size_t count = list_twins(algorithm, twins);
  const bool caught = check_twins(algorithm, twins, count, LEAST + (unsigned)(TIMES * t.longest));
  (void)printf("%s: %zu twins, %s\n", algorithm->shown.name, count,
               caught ? "all caught" : "NOT all caught");
  return caught && count > 0;
}

int main(int argc, char **argv)
{
  const bool only_cases = argc > 1 && strcmp(argv[1], "--cases") == 0;
  const char *const name = argc > 1 + only_cases ? argv[1 + only_cases] : NULL;
  size_t run = 0, good = 0;
  for (size_t i = 0; i < DEVICE_ALGORITHMS; i++) {
    if (name && strcmp(name, device_algorithms[i].shown.name) != 0) continue;
    run++;
    good += check_algorithm(&device_algorithms[i], only_cases);
  }
  (void)printf("%zu algorithms, %zu good\n", run, good);
  return run > 0 && run == good ? 0 : 1;
}
