/* emulation - all device sorts, their kernels run without a GPU, and the proof that the cases see
 * what is wrong.
 *
 *   emulation conformance [ALGORITHM]   every case; exit status 0 if all passed
 *   emulation twins [ALGORITHM]         every barrier of every sort left out in turn, and every
 *                                       mistake of TWIN made: 0 if the cases caught all
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulator.h"
#include "suite.h"

enum { ALL_FAILURES = 20, PATIENCE = 60 /* seconds, far more than the cases take */ };

static bool run_conformance(const device_algorithm *algorithm)
{
  const suite_tally t = suite_run(algorithm, ALL_FAILURES, 1);
  (void)printf("%s: %zu passed, %zu failed\n", algorithm->shown.name, t.passed, t.failed);
  return t.failed == 0 && t.passed > 0;
}

/* ---- Twins ---- */

typedef struct twin {
  const char *name;
  emulator_twin_number number;
  emulator_site ignored;
} twin;

#define TWIN_ROW(twin) {#twin, TWIN_##twin, {NULL, 0}},
static const twin mistakes[] = {EMULATOR_TWINS(TWIN_ROW)};
enum { MISTAKES = sizeof mistakes / sizeof *mistakes };

/* The mistakes that can be made in an algorithm; all have their barriers beside. */
static const struct {
  const char *algorithm;
  emulator_twin_number numbers[MISTAKES + 1]; /* ends with TWIN_NONE */
} mistakes_of[] = {
    {"hybrid", {TWIN_HYBRID_ORDER, TWIN_HYBRID_REPAIR}},
    {"rank", {TWIN_TIE, TWIN_RANK_LAST, TWIN_GRID_FLOOR, TWIN_SHORT_RUN}},
    {"rank-sm8", {TWIN_TIE, TWIN_RANK_LAST, TWIN_GRID_FLOOR, TWIN_SHORT_RUN}},
    {"rank-sm9", {TWIN_TIE, TWIN_RANK_LAST, TWIN_GRID_FLOOR, TWIN_SHORT_RUN}},
    {"rank-sm", {TWIN_TIE, TWIN_RANK_LAST, TWIN_GRID_FLOOR, TWIN_SHORT_RUN, TWIN_ONE_STEP}},
    {"corank", {TWIN_TIE, TWIN_GRID_FLOOR, TWIN_SHORT_RUN}},
    {"corank-tiled", {TWIN_TIE, TWIN_GRID_FLOOR, TWIN_SHORT_RUN, TWIN_LANE_FLOOR, TWIN_WHOLE_TILE}},
    {"corank-circular",
     {TWIN_TIE, TWIN_GRID_FLOOR, TWIN_SHORT_RUN, TWIN_LANE_FLOOR, TWIN_NO_WRAP, TWIN_NO_OFFSET}},
};

/* In a process of its own: a mistake may as well crash or never end. */
static int run_twin(const device_algorithm *algorithm, const twin *wrong)
{
  int status = 0;
  (void)fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    (void)freopen("/dev/null", "w", stderr);
    (void)alarm(PATIENCE);
    emulator_twin = wrong->number;
    emulator_ignore(wrong->ignored);
    _exit(suite_run(algorithm, 1, 0).failed ? 1 : 0);
  }
  return child > 0 && waitpid(child, &status, 0) == child ? status : 0;
}

static const char *verdict(int status)
{
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGALRM ? "does not end" : "crashes";
  if (WEXITSTATUS(status) == 0) return "NOT CAUGHT";
  return WEXITSTATUS(status) == 1 ? "fails" : "stopped by a sanitizer";
}

static bool check_twin(const device_algorithm *algorithm, const twin *wrong)
{
  const int status = run_twin(algorithm, wrong);
  const char *const slash = wrong->ignored.file ? strrchr(wrong->ignored.file, '/') : NULL;
  if (slash)
    (void)printf("%s without the barrier at %s:%d: %s\n", algorithm->shown.name, slash + 1,
                 wrong->ignored.line, verdict(status));
  else
    (void)printf("%s with %s: %s\n", algorithm->shown.name, wrong->name, verdict(status));
  return status != 0;
}

static bool check_mistakes(const device_algorithm *algorithm, size_t *count)
{
  bool good = true;
  for (size_t a = 0; a < sizeof mistakes_of / sizeof *mistakes_of; a++) {
    if (strcmp(mistakes_of[a].algorithm, algorithm->shown.name) != 0) continue;
    for (const emulator_twin_number *number = mistakes_of[a].numbers; *number; number++, ++*count)
      good &= check_twin(algorithm, &mistakes[*number - 1]);
  }
  return good;
}

/* Its barriers are those that are reached when all is right. */
static bool check_barriers(const device_algorithm *algorithm, size_t *count)
{
  emulator_site sites[EMULATOR_MAX_SITES];
  bool good = true;
  emulator_clear_sites();
  if (suite_run(algorithm, 1, 1).failed) return false;
  const size_t barriers = emulator_sites(sites);
  for (size_t i = 0; i < barriers; i++) {
    const twin wrong = {"", TWIN_NONE, sites[i]};
    good &= check_twin(algorithm, &wrong);
  }
  *count += barriers;
  return good;
}

/* Nothing to break would prove nothing. */
static bool run_twins(const device_algorithm *algorithm)
{
  size_t count = 0;
  const bool mistakes_caught = check_mistakes(algorithm, &count);
  const bool caught = check_barriers(algorithm, &count) && mistakes_caught;
  (void)printf("%s: %zu twins, %s\n", algorithm->shown.name, count,
               caught ? "all caught" : "NOT all caught");
  return caught && count > 0;
}

int main(int argc, char **argv)
{
  const bool twins = argc > 1 && strcmp(argv[1], "twins") == 0;
  size_t run = 0, good = 0;
  if (argc < 2 || (!twins && strcmp(argv[1], "conformance") != 0)) {
    (void)fputs("emulation: conformance or twins [ALGORITHM]\n", stderr);
    return 2;
  }
  for (size_t i = 0; i < DEVICE_ALGORITHMS; i++) {
    const device_algorithm *const algorithm = &device_algorithms[i];
    if (argc > 2 && strcmp(argv[2], algorithm->shown.name) != 0) continue;
    run++;
    good += twins ? run_twins(algorithm) : run_conformance(algorithm);
  }
  (void)printf("%zu algorithms, %zu good\n", run, good);
  return run > 0 && run == good ? 0 : 1;
}
