#include "support/team.h"

#include "files/available.h"

#include <recsort/recsort.h>
#include <sched.h>
#include <stdatomic.h>

static unsigned wanted;

void tool_team_set(unsigned threads)
{
  wanted = threads;
}

/* Asked once, so that its result does not change while the tool runs. */
static unsigned processors(void)
{
  static atomic_uint found;
  cpu_set_t set;
  if (found != 0) return found;
  const unsigned own = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
  const unsigned quota = rf_quota_in("");
  found = own < quota ? own : quota;
  return found;
}

unsigned tool_team_size(void)
{
  enum { MOST = 1024 };
  const unsigned threads = wanted != 0 ? wanted : processors();
  return threads < MOST ? threads : MOST;
}

typedef struct job {
  void (*body)(void *argument, size_t piece, unsigned slot);
  void *argument;
  size_t pieces;
  atomic_size_t next;
} job;

static void take_pieces(void *argument, size_t slot)
{
  job *const j = argument;
  for (size_t piece; (piece = atomic_fetch_add(&j->next, 1)) < j->pieces;)
    j->body(j->argument, piece, (unsigned)slot);
}

void tool_team_each(size_t pieces, void (*body)(void *argument, size_t piece, unsigned slot),
                    void *argument)
{
  const recsort_executor *const executor = recsort_executor_default();
  const unsigned threads = tool_team_size();
  job j = {.body = body, .argument = argument, .pieces = pieces};
  executor->run(executor->context, take_pieces, &j, pieces < threads ? pieces : threads);
}
