/* interleave - runs the protocols between threads in every order, as they are and with each memory
 * order weakened, each lock, fence and signal left out.
 *
 *   interleave                 as they are, in orders with few preemptions
 *   interleave --litmus        small programs, which fail if C11 says that they may
 *   interleave --all           as they are, in all orders, or with more preemptions
 *   interleave --mutants LIST  each mutant; exactly the mutants of the list may survive
 *   interleave --mutant NUMBER this one; shows how it fails
 *
 * Exit status: 0 if the code as it is never fails, and the mutants that survive are those of the
 * list; otherwise 1.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interleave/scenarios.h"

enum { MOST_STATES = 20000000, TEXT = 400, MOST_LINES = 200 };

typedef struct protocol {
  const char *name;
  const scenario *scenarios;
  size_t count;
} protocol;

/* ---- Places in the source ---- */

static char program[TEXT];

/* Writes the function and the text of the line of a call. False if that is in a test. */
static bool describe(const void *place, char text[TEXT])
{
  char command[2 * TEXT], function[TEXT] = "?", line[TEXT] = "?", source[TEXT] = "";
  (void)snprintf(command, sizeof command, "addr2line -f -C -e '%s' %p", program,
                 (const void *)((const char *)place - 1));
  FILE *const from = popen(command, "r");
  if (from) {
    if (!fgets(function, sizeof function, from) || !fgets(line, sizeof line, from)) line[0] = 0;
    (void)pclose(from);
  }
  function[strcspn(function, "(\n")] = 0;
  char *const colon = strrchr(line, ':');
  unsigned long left = colon ? strtoul(colon + 1, NULL, 10) : 0;
  if (colon) *colon = 0;
  const char *const inside = strstr(line, "/./"); /* behind it is the name in the sources */
  const char *const name = inside ? inside + 3 : line;
  FILE *const file = fopen(name, "r");
  while (file && left > 0 && fgets(source, sizeof source, file))
    left--;
  if (file) (void)fclose(file);
  source[strcspn(source, "\n")] = 0;
  (void)snprintf(text, TEXT, "%s: %s", function, source + strspn(source, " "));
  return !strstr(name, "tests/interleave/");
}

static void show(unsigned thread, const void *place, const char *step)
{
  char text[TEXT];
  (void)describe(place, text);
  (void)printf("  thread %u %s\n      %s\n", thread, step, text);
}

/* ---- As it is ---- */

/* With fewer preemptions, for a test that takes seconds. */
static scenario shortened(const scenario *s)
{
  enum { MANY_THREADS = 1, TWO_THREADS = 2 };
  scenario some = *s;
  some.preemptions = s->preemptions == CHECKER_ANY ? TWO_THREADS : MANY_THREADS;
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
static bool is_found(const protocol *p, mutant m, char how[TEXT], bool shows)
{
  int ends[2], status;
  if (pipe(ends) != 0) return false;
  (void)fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    for (size_t i = 0; i < p->count; i++) {
      const scenario s = shortened(&p->scenarios[i]);
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

static bool is_acquire(int order)
{
  return order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL;
}

static bool is_release(int order)
{
  return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL;
}

/* Shared with the processes that try mutants. */
static struct counts {
  size_t mutants, found, problems;
  bool survives[MOST_LINES]; /* a mutant of this line of the list */
} * counts;
static long wanted = -1;
static const char
    *list; /* a file: a line for each mutant that survives: what is changed, the place, and why */

/* False if the mutant is not in the list. Places with the same text have one line. */
static bool note_survivor(const char *what, const char *place)
{
  char line[4 * TEXT], start[2 * TEXT];
  (void)snprintf(start, sizeof start, "%s\t%s\t", what, place);
  FILE *const file = fopen(list, "r");
  bool listed = false;
  for (size_t i = 0; file && !listed && i < MOST_LINES && fgets(line, sizeof line, file); i++) {
    listed = strncmp(line, start, strlen(start)) == 0;
    counts->survives[i] = counts->survives[i] || listed;
  }
  if (file) (void)fclose(file);
  return listed;
}

/* Lines of the list whose mutants are found, all of them. */
static size_t count_stale(void)
{
  char line[4 * TEXT];
  size_t stale = 0;
  FILE *const file = list ? fopen(list, "r") : NULL;
  for (size_t i = 0; file && i < MOST_LINES && fgets(line, sizeof line, file); i++) {
    if (counts->survives[i]) continue;
    (void)printf("listed, but found: %s", line);
    stale++;
  }
  if (file) (void)fclose(file);
  return stale;
}

/* Returns whether it was found. */
static bool try_mutant(const protocol *p, size_t number, const site *s, mutant m,
                       const char *changed)
{
  static const char *const kinds[] = {"load", "store",  "exchange", "fence",
                                      "lock", "signal", "join",     "barrier"};
  char how[TEXT] = "", place[TEXT], what[40];
  if (!describe(s->place, place) || (wanted >= 0 && (size_t)wanted != number)) return true;
  (void)snprintf(what, sizeof what, "%s %s", kinds[s->kind], changed);
  const bool good = is_found(p, m, how, wanted >= 0);
  (void)__atomic_fetch_add(&counts->mutants, 1, __ATOMIC_RELAXED);
  (void)__atomic_fetch_add(&counts->found, good, __ATOMIC_RELAXED);
  (void)printf("%4zu %s  %s\n     %s\n", number, what, place, good ? how : "survives");
  if (list && !good && !note_survivor(what, place)) {
    (void)printf("     which is not in the list\n");
    (void)__atomic_fetch_add(&counts->problems, 1, __ATOMIC_RELAXED);
  }
  (void)fflush(stdout);
  return good;
}

/* Weaker orders first: if one is enough, so are the stronger ones. */
static void weaken(const protocol *p, size_t number, const site *s)
{
  static const int orders[] = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE, __ATOMIC_RELEASE,
                               __ATOMIC_ACQ_REL, __ATOMIC_SEQ_CST};
  if (s->kind > SITE_EXCHANGE) {
    (void)try_mutant(p, number, s, (mutant){s->place, CHANGE_OMIT, 0}, "left out");
    return;
  }
  for (size_t i = 0; orders[i] != s->order; i++) {
    if (s->kind == SITE_LOAD && is_release(orders[i])) continue;
    if (s->kind == SITE_STORE && is_acquire(orders[i])) continue;
    if (!try_mutant(p, number + i, s, (mutant){s->place, CHANGE_ORDER, orders[i]},
                    order_name(orders[i])))
      break;
  }
  if (s->kind == SITE_EXCHANGE)
    (void)try_mutant(p, number + 9, s, (mutant){s->place, CHANGE_SPLIT, 0}, "split");
}

/* Waits for one of the processes that try mutants. */
static bool ends_well(void)
{
  int status;
  return wait(&status) > 0 && status == 0;
}

/* Each place in a process of its own, as many at once as there are processors. */
static void check_mutants(const protocol *p)
{
  const site *sites;
  const size_t first = checker_sites(&sites);
  for (size_t i = 0; i < p->count; i++) { /* to meet all places */
    const scenario s = shortened(&p->scenarios[i]);
    (void)checker_explore(&s, (mutant){0}, MOST_STATES);
  }
  const size_t count = checker_sites(&sites);
  FILE **const said = calloc(count, sizeof *said);
  const long most = sysconf(_SC_NPROCESSORS_ONLN);
  size_t running = 0;
  for (size_t i = first; said && i < count; i++) {
    for (; running >= (size_t)most; running--)
      counts->problems += !ends_well();
    said[i] = tmpfile();
    (void)fflush(stdout);
    if (!said[i] || fork() == 0) {
      if (!said[i] || dup2(fileno(said[i]), STDOUT_FILENO) < 0) _exit(1);
      weaken(p, 10 * i, &sites[i]);
      _exit(0);
    }
    running++;
  }
  for (; running > 0; running--)
    counts->problems += !ends_well();
  for (size_t i = first; said && i < count; i++) {
    char line[4 * TEXT];
    rewind(said[i]);
    while (fgets(line, sizeof line, said[i]))
      (void)fputs(line, stdout);
    (void)fclose(said[i]);
  }
  free(said);
}

static bool all_are_found(const protocol protocols[], size_t count)
{
  for (size_t i = 0; i < count; i++) {
    (void)printf("\n%s\n\n", protocols[i].name);
    check_mutants(&protocols[i]);
  }
  (void)printf("\n");
  counts->problems += count_stale();
  (void)printf("%zu mutants, %zu found, %zu survive; %zu are not as listed\n", counts->mutants,
               counts->found, counts->mutants - counts->found, counts->problems);
  return counts->mutants > 0 && counts->problems == 0;
}

static bool are_c11(void)
{
  bool good = true;
  for (size_t i = 0; i < litmus_count; i++) {
    const litmus *const l = &litmus_tests[i];
    const outcome o = checker_explore(&l->program, (mutant){0}, MOST_STATES);
    const bool right = o.complete && !o.failure == !l->fails;
    (void)printf("%-50s %6zu states  %s%s\n", l->program.name, o.states,
                 o.failure ? o.failure : "never fails", right ? "" : ": WRONG");
    good = good && right;
  }
  return good;
}

static bool never_fail(const protocol protocols[], size_t count, bool all)
{
  bool good = true;
  for (size_t i = 0; i < count; i++) {
    (void)printf("%s\n", protocols[i].name);
    for (size_t k = 0; k < protocols[i].count; k++) {
      const scenario *const whole = &protocols[i].scenarios[k];
      const scenario s = all ? *whole : shortened(whole);
      good = check(&s) && good;
    }
  }
  return good;
}

int main(int argc, char **argv)
{
  const protocol protocols[] = {
      {"The pool of threads", pool_scenarios, pool_scenario_count},
      {"Blocks of a kernel", block_scenarios, block_scenario_count},
  };
  enum { PROTOCOLS = sizeof protocols / sizeof *protocols };
  const char *const option = argc > 1 ? argv[1] : "";
  if (readlink("/proc/self/exe", program, sizeof program - 1) <= 0) return 1;
  counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (counts == MAP_FAILED) return 1;
  if (argc == 3 && strcmp(option, "--mutant") == 0) wanted = atol(argv[2]);
  if (argc == 3 && strcmp(option, "--mutants") == 0) list = argv[2];
  if (argc == 3) return all_are_found(protocols, PROTOCOLS) ? 0 : 1;
  if (strcmp(option, "--litmus") == 0) return are_c11() ? 0 : 1;
  return never_fail(protocols, PROTOCOLS, strcmp(option, "--all") == 0) ? 0 : 1;
}
