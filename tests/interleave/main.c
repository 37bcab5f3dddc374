/* interleave - runs the protocols between threads in every order, as they are and with each memory
 * order weakened, each lock, fence and signal left out.
 *
 *   interleave                 as they are, in orders with few preemptions
 *   interleave --all           as they are, in all orders, or with more preemptions
 *   interleave --mutants [N]   each weakened; N: only this one, and shows how it fails
 *
 * Exit status: 0 if the code as it is never fails, and no mutant survives that is not listed as one
 * that may; otherwise 1.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interleave/scenarios.h"

enum { MOST_STATES = 20000000, TEXT = 400, FEW_PREEMPTIONS = 1 };

/* ---- Places in the source ---- */

static char program[TEXT];

/* Writes the function and the text of the line of a call. */
static void describe(const void *place, char text[TEXT])
{
  char command[2 * TEXT], function[TEXT] = "?", line[TEXT] = "?", source[TEXT] = "";
  (void)snprintf(command, sizeof command, "addr2line -f -e '%s' %p", program,
                 (const void *)((const char *)place - 1));
  FILE *const from = popen(command, "r");
  if (from) {
    if (!fgets(function, sizeof function, from) || !fgets(line, sizeof line, from)) line[0] = 0;
    (void)pclose(from);
  }
  function[strcspn(function, "\n")] = 0;
  char *const colon = strrchr(line, ':');
  unsigned long left = colon ? strtoul(colon + 1, NULL, 10) : 0;
  if (colon) *colon = 0;
  const char *const inside = strstr(line, "/./"); /* the folder of the sources is not in it */
  FILE *const file = fopen(inside ? inside + 3 : line, "r");
  while (file && left > 0 && fgets(source, sizeof source, file))
    left--;
  if (file) (void)fclose(file);
  source[strcspn(source, "\n")] = 0;
  (void)snprintf(text, TEXT, "%s: %s", function, source + strspn(source, " "));
}

static void show(unsigned thread, const void *place, const char *step)
{
  char text[TEXT];
  describe(place, text);
  (void)printf("  thread %u %s\n      %s\n", thread, step, text);
}

/* ---- As it is ---- */

static scenario capped(const scenario *s, unsigned preemptions)
{
  scenario some = *s;
  if (some.preemptions > preemptions) some.preemptions = preemptions;
  return some;
}

static bool check(const scenario *s)
{
  char orders[TEXT] = "all orders";
  const outcome o = checker_explore(s, (mutant){0}, MOST_STATES);
  if (s->preemptions != CHECKER_ANY)
    (void)snprintf(orders, sizeof orders, "at most %u preemptions", s->preemptions);
  (void)printf("%-46s %-24s %9zu states %10zu steps  %s\n", s->name, orders, o.states, o.steps,
               o.failure    ? o.failure
               : o.complete ? "never fails"
                            : "NOT all seen");
  (void)fflush(stdout);
  if (o.failure) checker_show(s, show);
  return !o.failure && o.complete;
}

/* ---- Mutants ---- */

/* A failure of a mutant, found in a process of its own, as it may crash. Returns false if it
 * survives. */
static bool is_found(mutant m, char how[TEXT], bool shows)
{
  int ends[2], status;
  if (pipe(ends) != 0) return false;
  (void)fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    for (size_t i = 0; i < pool_scenario_count; i++) {
      const scenario s = capped(&pool_scenarios[i], FEW_PREEMPTIONS);
      const outcome o = checker_explore(&s, m, MOST_STATES);
      if (!o.failure) continue;
      if (shows) checker_show(&s, show);
      (void)fflush(stdout);
      (void)dprintf(ends[1], "%s (%s)", o.failure, s.name);
      _exit(1);
    }
    _exit(0);
  }
  (void)close(ends[1]);
  const ssize_t size = read(ends[0], how, TEXT - 1);
  (void)close(ends[0]);
  how[size > 0 ? size : 0] = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  if (WIFSIGNALED(status)) (void)snprintf(how, TEXT, "crashes");
  return status != 0;
}

static const char *order_name(int order)
{
  static const char *const names[] = {"relaxed", "consume", "acquire",
                                      "release", "acq_rel", "seq_cst"};
  return names[order];
}

static size_t mutants, found;
static long wanted = -1;

static bool try_mutant(const site *s, change how, int order, const char *what)
{
  char text[TEXT] = "", place[TEXT];
  const size_t number = mutants++;
  if (wanted >= 0 && (size_t)wanted != number) return true;
  const bool good = is_found((mutant){s->place, how, order}, text, wanted >= 0);
  found += good;
  describe(s->place, place);
  (void)printf("%3zu %-8s %-60.90s | %s\n", number, what, place, good ? text : "SURVIVES");
  (void)fflush(stdout);
  return good;
}

static void weaken(const site *s)
{
  const int order = s->order;
  switch (s->kind) {
  case SITE_LOAD:
  case SITE_STORE: {
    const int middle = s->kind == SITE_LOAD ? __ATOMIC_ACQUIRE : __ATOMIC_RELEASE;
    if (order != __ATOMIC_RELAXED &&
        try_mutant(s, CHANGE_ORDER, __ATOMIC_RELAXED, order_name(__ATOMIC_RELAXED)) &&
        order == __ATOMIC_SEQ_CST)
      (void)try_mutant(s, CHANGE_ORDER, middle, order_name(middle));
    return;
  }
  case SITE_EXCHANGE: {
    static const int orders[] = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE, __ATOMIC_RELEASE,
                                 __ATOMIC_ACQ_REL};
    bool needed = true;
    for (size_t i = 0; i < 4 && needed && order == __ATOMIC_SEQ_CST; i++)
      needed = try_mutant(s, CHANGE_ORDER, orders[i], order_name(orders[i]));
    (void)try_mutant(s, CHANGE_SPLIT, 0, "split");
    return;
  }
  default:
    (void)try_mutant(s, CHANGE_OMIT, 0, "left out");
    return;
  }
}

static bool check_mutants(void)
{
  const site *sites;
  for (size_t i = 0; i < pool_scenario_count; i++) { /* to meet all sites */
    const scenario s = capped(&pool_scenarios[i], FEW_PREEMPTIONS);
    if (checker_explore(&s, (mutant){0}, MOST_STATES).failure) return false;
  }
  const size_t count = checker_sites(&sites);
  for (size_t i = 0; i < count; i++)
    weaken(&sites[i]);
  (void)printf("%zu places, %zu mutants, %zu found\n", count, mutants, found);
  return true;
}

int main(int argc, char **argv)
{
  const ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
  if (size <= 0) return 1;
  if (argc > 1 && strcmp(argv[1], "--mutants") == 0) {
    if (argc > 2) wanted = atol(argv[2]);
    return check_mutants() ? 0 : 1;
  }
  const bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
  bool good = true;
  for (size_t i = 0; i < pool_scenario_count; i++) {
    const scenario s = capped(&pool_scenarios[i], all ? CHECKER_ANY : FEW_PREEMPTIONS);
    good = check(&s) && good;
  }
  return good ? 0 : 1;
}
