/* emulation - tests the device sorts without a GPU, and that the cases notice errors: every barrier
 * of a sort is left out in turn. (tests/mutants makes other mistakes.)
 *
 *   emulation [--cases] [ALGORITHM] only the cases: for builds with sanitizers, which are slow
 *   emulation --devices [ALGORITHM] with the shared memory of each kind of GPU
 *   emulation --path NAME           cases that must take a rare path of the sort `sample`
 *
 * Exit status: 0 if all cases passed, and failed where they should; otherwise 1.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "barriers.h"
#include "emulator.h"
#include "suite.h"

enum { SHOWN_FAILURES = 20 };

/* ---- An algorithm ---- */

static bool run_cases(const void *algorithm, unsigned patience)
{
  return suite_run(algorithm, 1, false, patience).failed == 0;
}

/* A sort that uses shared memory must have met barriers: its threads cooperate. In others, such as
 * rank, they do not. */
static bool check_algorithm(const device_algorithm *algorithm, bool only_cases)
{
  emulator_clear_sites();
  const suite_tally t = suite_run(algorithm, SHOWN_FAILURES, true, 0);
  (void)printf("%s: %zu passed, %zu failed\n", algorithm->shown.name, t.passed, t.failed);
  if (t.failed || t.passed == 0 || only_cases) return t.failed == 0 && t.passed > 0;
  return barriers_check(algorithm->shown.name, run_cases, algorithm, t.longest);
}

static bool check_devices(const device_algorithm *algorithm)
{
  const suite_tally t = suite_run_devices(algorithm);
  (void)printf("%s: %zu passed, %zu failed\n", algorithm->shown.name, t.passed, t.failed);
  return t.failed == 0 && t.passed > 0;
}

static bool check_path(const char *name)
{
  size_t sort = 0;
  suite_tally t = {0, 0, 0};
  while (strcmp(device_algorithms[sort].shown.name, "sample") != 0)
    sort++;
  const size_t taken = suite_run_path(&device_algorithms[sort], name, &t);
  (void)printf("%s: %zu passed, %zu failed, taken %zu times\n", name, t.passed, t.failed, taken);
  return t.failed == 0 && t.passed > 0 && taken > 0;
}

int main(int argc, char **argv)
{
  if (argc == 3 && strcmp(argv[1], "--path") == 0) return check_path(argv[2]) ? 0 : 1;
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
