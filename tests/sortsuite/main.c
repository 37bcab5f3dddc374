/* sortsuite - puts sorts under the inputs and checks of suite.h.
 *
 *   sortsuite [OPTION]... [NAME]...         the sorts of these names; no name: all that are right
 *   sortsuite [OPTION]... --program COMMAND a program that sorts; README.md says how it is asked
 *
 *   --list           names the sorts, and says which are missing here
 *   --few            about one of 100 inputs
 *   --most N         only inputs of up to N records
 *   --kind NAME      only inputs of this kind, and of those that other options --kind name
 *   --unstable       the program does not claim to be stable
 *   --seconds N      of processor time, after which a call counts as endless (20); not for a program
 *
 * Each sort runs in a child process, so that a crash is a fault like others. After one, or a write
 * to memory outside the array, the next input begins in another child.
 *
 * Exit status: 0 no sort has a fault, 1 one has, 2 nothing could be tried. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sorts.h"

enum { MAX_KINDS = 256, MAX_ASKED = 32, MAX_CRASHES = 5000, MAX_ENDLESS = 3, AGAIN = 100 };

/* What one fault looked like. */
typedef struct fault_report {
  size_t cases, least, greatest; /* lengths */
  bool kinds[MAX_KINDS];
  char first[160];
} fault_report;

/* Shared by parent and child. */
typedef struct report {
  size_t next; /* the number of the first input that was not begun */
  size_t tried;
  bool kinds[MAX_KINDS];
  suite_input now;
  bool contradicts, done;
  char missing[160];
  fault_report faults[SUITE_FAULTS];
} report;

typedef struct settings {
  bool few, unstable;
  const char *kinds[MAX_ASKED];
  size_t kind_count; /* 0: all kinds */
  unsigned seconds;
  size_t most;
} settings;

typedef struct job {
  const sort_entry *entry;
  const settings *settings;
  suite *suite;
  report *report;
  size_t number;
} job;

static void note(report *r, suite_fault fault, const char *what)
{
  fault_report *const f = &r->faults[fault];
  const size_t count = r->now.count;
  if (f->cases++ == 0) {
    f->least = f->greatest = count;
    (void)snprintf(f->first, sizeof f->first, "%s, %s%s, %zu records%s%s", suite_kind(r->now.kind),
                   suite_pattern(r->now.pattern),
                   r->contradicts ? ", comparisons that contradict themselves" : "", count,
                   *what ? ": " : "", what);
  }
  if (count < f->least) f->least = count;
  if (count > f->greatest) f->greatest = count;
  f->kinds[r->now.kind] = true;
}

/* ---- The child ---- */

/* Processor time does not depend on what else runs. */
static void limit_time(unsigned seconds)
{
  struct rusage used;
  struct rlimit limit;
  (void)getrusage(RUSAGE_SELF, &used);
  (void)getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds + 1;
  (void)setrlimit(RLIMIT_CPU, &limit);
}

static void try_input(void *context, suite_input input)
{
  job *const j = context;
  report *const r = j->report;
  bool refused;
  uint64_t random = j->number;
  if (j->number++ < r->next || input.count > j->settings->most) return;
  r->next = j->number;
  r->now = input;
  (void)suite_make(j->suite, input, &random);
  limit_time(j->settings->seconds);
  const unsigned faults = suite_try(j->suite, j->entry->sort, j->entry->context, &refused);
  if (!refused) {
    r->tried++;
    r->kinds[input.kind] = true;
  }
  for (size_t i = 0; i < SUITE_FAULTS; i++)
    if (faults >> i & 1) note(r, (suite_fault)i, "");
  if (faults >> SUITE_OUTSIDE & 1) _exit(AGAIN); /* this process may be damaged */
}

static bool is_wanted(const settings *set, const char *kind)
{
  for (size_t i = 0; i < set->kind_count; i++)
    if (strcmp(set->kinds[i], kind) == 0) return true;
  return set->kind_count == 0;
}

static void try_all(job *j)
{
  const char *const missing = j->entry->missing ? j->entry->missing() : NULL;
  if (missing) (void)snprintf(j->report->missing, sizeof j->report->missing, "%s", missing);
  for (size_t pass = 0; pass < (j->entry->compares ? 2 : 1) && !missing; pass++)
    for (size_t k = 0; k < suite_kinds(); k++) {
      if (!is_wanted(j->settings, suite_kind(k))) continue;
      if (pass && strcmp(suite_kind(k), "int32") != 0) continue; /* one kind contradicts itself */
      j->report->contradicts = pass > 0;
      suite_contradict(j->suite, pass > 0);
      suite_each(k, j->settings->few, try_input, j);
    }
  j->report->done = true;
}

/* ---- The parent ---- */

static void note_end(report *r, int status)
{
  char what[64];
  if (WIFEXITED(status) && WEXITSTATUS(status) == AGAIN) return;
  const bool endless = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
  if (WIFSIGNALED(status))
    (void)snprintf(what, sizeof what, "%s", endless ? "" : strsignal(WTERMSIG(status)));
  else
    (void)snprintf(what, sizeof what, "exit status %d", WEXITSTATUS(status));
  r->tried++;
  r->kinds[r->now.kind] = true;
  note(r, endless ? SUITE_ENDLESS : SUITE_CRASH, what);
}

static size_t count_kinds(const bool kinds[MAX_KINDS])
{
  size_t count = 0;
  for (size_t k = 0; k < MAX_KINDS; k++)
    count += kinds[k];
  return count;
}

/* Returns the exit status. */
static int show(const sort_entry *entry, const report *r)
{
  size_t faults = 0;
  if (r->tried == 0) {
    (void)printf("%s: not run: %s\n", entry->name,
                 *r->missing ? r->missing : "it refused every input");
    return 2;
  }
  (void)printf("%s (%s): %zu inputs of %zu kinds%s\n", entry->name,
               entry->stable ? "says that it is stable" : "does not say that it is stable",
               r->tried, count_kinds(r->kinds), r->done ? "" : ", then given up");
  for (size_t i = 0; i < SUITE_FAULTS; i++) {
    const fault_report *const f = &r->faults[i];
    faults += f->cases;
    if (f->cases)
      (void)printf("  %s: %zu inputs of %zu kinds, %zu to %zu records; first: %s\n",
                   suite_fault_names[i], f->cases, count_kinds(f->kinds), f->least, f->greatest,
                   f->first);
  }
  if (!faults) (void)printf("  no fault\n");
  return faults > 0;
}

static int run(const sort_entry *entry, const settings *set, suite *memory)
{
  report *const r =
      mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (r == MAP_FAILED) return 2;
  while (!r->done && r->faults[SUITE_CRASH].cases < MAX_CRASHES &&
         r->faults[SUITE_ENDLESS].cases < MAX_ENDLESS) {
    int status;
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      job j = {entry, set, memory, r, 0};
      try_all(&j);
      _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) break;
    if (!r->done) note_end(r, status);
  }
  const int shown = show(entry, r);
  (void)munmap(r, sizeof *r);
  return shown;
}

/* ---- The command ---- */

static const sort_entry *find_in(const sort_entry *list, const char *name)
{
  for (; list->name; list++)
    if (strcmp(list->name, name) == 0) return list;
  return NULL;
}

static const sort_entry *find(const char *name)
{
  const sort_entry *found = find_in(wrong_sorts, name);
  for (size_t l = 0; sort_lists[l] && !found; l++)
    found = find_in(sort_lists[l], name);
  return found;
}

static void show_names(const sort_entry *list)
{
  for (; list->name; list++) {
    const char *const missing = list->missing ? list->missing() : NULL;
    (void)printf("%s%s%s\n", list->name, missing ? ": missing: " : "", missing ? missing : "");
  }
}

static int list_all(void)
{
  for (size_t l = 0; sort_lists[l]; l++)
    show_names(sort_lists[l]);
  show_names(wrong_sorts);
  return 0;
}

static int usage(void)
{
  (void)fputs(
      "usage: sortsuite [--list] [--few] [--most N] [--kind NAME]... [--unstable] [--seconds N]\n"
      "                 [--program COMMAND | NAME...]\n",
      stderr);
  return 2;
}

static int worse(int a, int b)
{
  return a == 1 || b == 1 ? 1 : a < b ? a : b; /* 2 only if all are */
}

int main(int argc, char **argv)
{
  settings set = {.seconds = 20, .most = SUITE_MOST};
  const struct rlimit none = {0, 0};
  char *program = NULL;
  int at = 1, status = 2;
  for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
    const char *const option = argv[at];
    if (strcmp(option, "--list") == 0) return list_all();
    if (strcmp(option, "--few") == 0)
      set.few = true;
    else if (strcmp(option, "--unstable") == 0)
      set.unstable = true;
    else if (at + 1 == argc)
      return usage();
    else if (strcmp(option, "--kind") == 0 && set.kind_count < MAX_ASKED)
      set.kinds[set.kind_count++] = argv[++at];
    else if (strcmp(option, "--most") == 0)
      set.most = strtoul(argv[++at], NULL, 10);
    else if (strcmp(option, "--seconds") == 0)
      set.seconds = (unsigned)strtoul(argv[++at], NULL, 10);
    else if (strcmp(option, "--program") == 0)
      program = argv[++at];
    else
      return usage();
  }
  suite *const memory = suite_create(SUITE_MOST);
  if (!memory || suite_kinds() > MAX_KINDS || (program && at < argc)) return usage();
  (void)setrlimit(RLIMIT_CORE, &none);
  const sort_entry asked = {program, !set.unstable, false, program_sort, program, NULL};
  if (program) status = run(&asked, &set, memory);
  for (int i = at; i < argc; i++) {
    const sort_entry *const entry = find(argv[i]);
    if (!entry) (void)fprintf(stderr, "sortsuite: there is no sort \"%s\"\n", argv[i]);
    if (!entry) return 2;
    status = worse(status, run(entry, &set, memory));
  }
  for (size_t l = 0; sort_lists[l] && !program && at == argc; l++)
    for (const sort_entry *entry = sort_lists[l]; entry->name; entry++)
      status = worse(status, run(entry, &set, memory));
  suite_destroy(memory);
  return status;
}
