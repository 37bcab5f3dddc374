#define _XOPEN_SOURCE 700
#include "barriers.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emulator.h"

void barriers_limit(unsigned seconds)
{
  (void)setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = (time_t)seconds}, NULL);
}

double barriers_worked(void)
{
  struct timespec time;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static const char *verdict(int status)
{
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGPROF ? "does not end" : "crashes";
  if (WEXITSTATUS(status) == 0) return "NOT CAUGHT";
  return WEXITSTATUS(status) == 1 ? "fails" : "stopped by a sanitizer";
}

static void tell(const char *name, emulator_site barrier, const char *how)
{
  const char *const slash = strrchr(barrier.file, '/');
  (void)printf("%s without the barrier at %s:%d: %s\n", name, slash ? slash + 1 : barrier.file,
               barrier.line, how);
}

/* In a new process, as without a barrier the cases may crash or never end. */
static pid_t start_without(emulator_site barrier, barriers_cases *cases, const void *context,
                           unsigned patience)
{
  (void)fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    if (!freopen("/dev/null", "w", stderr)) _exit(0); /* as if no fault was seen */
    emulator_ignore(barrier);
    _exit(cases(context, patience) ? 0 : 1);
  }
  return child;
}

/* True if the cases need not notice that a barrier is left out: few pairs are sorted by splitters
 * of any order, and by a table that is too small. */
static bool is_spared(emulator_site barrier)
{
  return strstr(barrier.file, "carry/splitters.cuh") != NULL;
}

bool barriers_check(const char *name, barriers_cases *cases, const void *context, double longest)
{
  enum { LEAST = 10, TIMES = 10 }; /* time limit of a case that lacks a barrier */
  const unsigned patience = LEAST + (unsigned)(TIMES * longest);
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const size_t most = processors > 0 ? (size_t)processors : 1;
  emulator_site barriers[EMULATOR_MAX_SITES];
  pid_t children[EMULATOR_MAX_SITES] = {0};
  const size_t met = emulator_sites(barriers);
  size_t count = 0, started = 0, caught = 0;
  for (size_t i = 0; i < met; i++)
    if (!is_spared(barriers[i])) barriers[count++] = barriers[i];
  for (size_t ended = 0; ended < count; ended++) {
    int status = 0;
    for (; started < count && started < ended + most; started++)
      children[started] = start_without(barriers[started], cases, context, patience);
    const pid_t child = wait(&status);
    if (child <= 0) return false;
    for (size_t i = 0; i < started; i++)
      if (children[i] == child) tell(name, barriers[i], verdict(status));
    caught += status != 0;
  }
  (void)printf("%s: %zu barriers left out, %s\n", name, count,
               caught == count ? "all caught" : "NOT all caught");
  return caught == count && (count > 0) == emulator_used_shared();
}
