/* signals.c - removes the temporary name when a signal ends the process. */
#include "support/signals.h"

#include "support/message.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* CHANGING while name and file may disagree. ENDING is final: a signal is ending the process. */
enum { IDLE, CHANGING, ENDING };
static atomic_int state = IDLE;

/* The temporary that has a name; NULL: none. */
static const rf_temporary *_Atomic pending;

/* Waits while another thread is CHANGING, which is brief. Does not return once the process is
 * ENDING. The caller has blocked all signals. */
static void enter(int next)
{
  for (int idle = IDLE; !atomic_compare_exchange_weak(&state, &idle, next); idle = IDLE) {
    while (idle == ENDING)
      pause();
  }
}

/* The signal handler. Runs with all signals blocked in its thread; other threads may still get
 * signals. */
static void remove_pending(int number)
{
  sigset_t only;
  enter(ENDING);
  const rf_temporary *const temporary = pending;
  if (temporary != NULL) unlinkat(temporary->folder, temporary->name, 0);
  signal(number, SIG_DFL);
  sigemptyset(&only);
  sigaddset(&only, number);
  raise(number);
  pthread_sigmask(SIG_UNBLOCK, &only, NULL);
  _exit(128 + number); /* a container's first process ignores signals that it sends to itself */
}

static bool is_fatal(int number)
{
  static const int others[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU,
                               SIGCONT, SIGCHLD, SIGURG,  SIGWINCH};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    if (number == others[i]) return false;
  }
  return true;
}

/* Ignores a signal that the C library reserves and does not allow to be caught. It sets a handler
 * when it needs one; until then the signal would end the process. */
static void ignore_reserved(int number)
{
  unsigned long old[4] = {0}; /* the kernel's struct: handler, ..., mask */
  const unsigned long ignored[4] = {(unsigned long)SIG_IGN};
  const size_t mask_size = 8;
  if (syscall(SYS_rt_sigaction, number, NULL, old, mask_size) == 0 &&
      old[0] == (unsigned long)SIG_DFL) {
    syscall(SYS_rt_sigaction, number, ignored, NULL, mask_size);
  }
}

static void catch_signals(void)
{
  struct sigaction action = {.sa_handler = remove_pending};
  sigfillset(&action.sa_mask);
  for (int number = 1; number <= SIGRTMAX; number++) {
    struct sigaction old;
    if (!is_fatal(number)) continue;
    if (sigaction(number, NULL, &old) != 0) {
      ignore_reserved(number);
    } else if (old.sa_handler == SIG_DFL) {
      sigaction(number, &action, NULL);
    }
  }
}

static void begin_change(void)
{
  enter(CHANGING);
}

static void end_change(const rf_temporary *temporary)
{
  pending = temporary;
  state = IDLE;
}

static void warn(const char *text)
{
  tool_error("%s", text);
}

const rf_watcher *tool_catch_signals(void)
{
  static const rf_watcher watcher = {begin_change, end_change, warn};
  catch_signals();
  return &watcher;
}
