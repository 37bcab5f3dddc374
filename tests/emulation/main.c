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
#include <time.h>
#include <unistd.h>

#include "emulator.h"
#include "suite.h"

enum { SHOWN_FAILURES = 20 };

/* Seconds that a twin is given, far more than the cases take when all is right. */
static unsigned patience;

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
    {"hybrid", {TWIN_HYBRID_RANK,   TWIN_HYBRID_NEAR,     TWIN_HYBRID_RUN,    TWIN_HYBRID_FENCE,
                TWIN_HYBRID_ORDER,  TWIN_HYBRID_TIE,      TWIN_HYBRID_LEAD,   TWIN_HYBRID_LEFT,
                TWIN_HYBRID_GUESS,  TWIN_HYBRID_TAIL,     TWIN_HYBRID_OCTAVE, TWIN_HYBRID_CROWD,
                TWIN_HYBRID_EXTENT, TWIN_HYBRID_SPLITTER, TWIN_HYBRID_LAST,   TWIN_HYBRID_EQUAL,
                TWIN_HYBRID_ROW,    TWIN_HYBRID_BOUNDS,   TWIN_HYBRID_AIM,    TWIN_HYBRID_GONE}},
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
    (void)alarm(patience);
    emulator_twin = wrong->number;
    emulator_ignore(wrong->ignored);
    _exit(suite_run(algorithm, 1, false).failed ? 1 : 0);
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

static bool check_barriers(const device_algorithm *algorithm, const emulator_site *sites,
                           size_t count)
{
  bool good = true;
  for (size_t i = 0; i < count; i++) {
    const twin wrong = {"", TWIN_NONE, sites[i]};
    good &= check_twin(algorithm, &wrong);
  }
  return good;
}

/* ---- An algorithm ---- */

/* Its barriers are those that are reached when all is right. Nothing to break would prove nothing.
 */
static bool check_algorithm(const device_algorithm *algorithm, bool only_cases)
{
  emulator_site sites[EMULATOR_MAX_SITES];
  emulator_clear_sites();
  const time_t start = time(NULL);
  const suite_tally t = suite_run(algorithm, SHOWN_FAILURES, true);
  patience = 10 + 3 * (unsigned)(time(NULL) - start);
  (void)printf("%s: %zu passed, %zu failed\n", algorithm->shown.name, t.passed, t.failed);
  if (t.failed || t.passed == 0 || only_cases) return t.failed == 0 && t.passed > 0;
  const size_t barriers = emulator_sites(sites);
  size_t twins = barriers;
  bool caught = check_mistakes(algorithm, &twins);
  caught &= check_barriers(algorithm, sites, barriers);
  (void)printf("%s: %zu twins, %s\n", algorithm->shown.name, twins,
               caught ? "all caught" : "NOT all caught");
  return caught && twins > 0;
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
