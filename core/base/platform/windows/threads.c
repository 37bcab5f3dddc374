#include "base/platform/threads.h"

#include <process.h>
#include <windows.h>

#include "base/assert.h"

_Static_assert(sizeof(rs_mutex) == sizeof(SRWLOCK), "it holds one");
_Static_assert(sizeof(rs_condition) == sizeof(CONDITION_VARIABLE), "it holds one");

enum { STACK_BYTES = 1 << 20 };

static SRWLOCK *lock_of(rs_mutex *mutex)
{
  return (SRWLOCK *)&mutex->lock;
}

static CONDITION_VARIABLE *variable_of(rs_condition *condition)
{
  return (CONDITION_VARIABLE *)&condition->variable;
}

/* There is no fork. The library stays loaded: a thread that ends waits for the lock that Windows
 * holds while it unloads a library. */
bool rs_thread_prepare(void (*before_fork)(void), void (*in_parent)(void), void (*in_child)(void))
{
  static const char here;
  HMODULE library;
  (void)before_fork, (void)in_parent, (void)in_child;
  return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                            (const wchar_t *)(const void *)&here, &library);
}

static unsigned __stdcall start(void *thread)
{
  const rs_thread *const own = thread;
  own->run(own->argument);
  return 0;
}

bool rs_thread_create(rs_thread *thread, void (*run)(void *argument), void *argument)
{
  RS_ASSERT(run);
  thread->run = run;
  thread->argument = argument;
  thread->handle = (HANDLE)_beginthreadex(NULL, STACK_BYTES, start, thread,
                                          STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
  return thread->handle != NULL;
}

void rs_thread_join(rs_thread *thread)
{
  (void)WaitForSingleObject(thread->handle, INFINITE);
  (void)CloseHandle(thread->handle);
}

void rs_thread_yield(void)
{
  (void)SwitchToThread();
}

/* No thread can be cancelled. */
int rs_thread_hold(void)
{
  return 0;
}

void rs_thread_let_go(int held)
{
  (void)held;
}

/* Of the thread's processor group, which has at most 64. */
unsigned rs_processors(void)
{
  DWORD_PTR own = 0, all = 0;
  (void)GetProcessAffinityMask(GetCurrentProcess(), &own, &all);
  const int found = __builtin_popcountll(own);
  return found > 0 ? (unsigned)found : 1; /* 0: the process has threads in several groups */
}

unsigned rs_processors_in_quota(void)
{
  return rs_processors();
}

void rs_mutex_init(rs_mutex *mutex)
{
  InitializeSRWLock(lock_of(mutex));
}

void rs_mutex_lock(rs_mutex *mutex)
{
  AcquireSRWLockExclusive(lock_of(mutex));
}

bool rs_mutex_try(rs_mutex *mutex)
{
  return TryAcquireSRWLockExclusive(lock_of(mutex));
}

void rs_mutex_unlock(rs_mutex *mutex)
{
  ReleaseSRWLockExclusive(lock_of(mutex));
}

void rs_condition_init(rs_condition *condition)
{
  InitializeConditionVariable(variable_of(condition));
}

void rs_condition_wait(rs_condition *condition, rs_mutex *mutex)
{
  (void)SleepConditionVariableSRW(variable_of(condition), lock_of(mutex), INFINITE, 0);
}

void rs_condition_signal(rs_condition *condition)
{
  WakeConditionVariable(variable_of(condition));
}

void rs_condition_broadcast(rs_condition *condition)
{
  WakeAllConditionVariable(variable_of(condition));
}
