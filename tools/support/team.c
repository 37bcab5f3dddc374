#include "support/team.h"

#include <recsort/recsort.h>
#include <stdatomic.h>

static unsigned wanted;

void tool_team_set(unsigned threads)
{
  wanted = threads;
}

unsigned tool_team_size(void)
{
  enum { MOST = 1024 };
  const unsigned threads = wanted != 0 ? wanted : recsort_executor_default()->threads;
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
