/* team.h - divides work between several threads.
 *
 * A job is cut into more pieces than there are threads. Each thread has a share: a range of
 * consecutive pieces. When its own pieces are taken, it takes pieces of other shares. So a thread
 * finds in its caches what it wrote in the previous job, and a thread that starts late, or never,
 * delays a job by at most one piece. No piece waits for another, so one thread can run them all. C
 * only, as it needs <stdatomic.h>.
 */
#ifndef RECSORT_TEAM_H
#define RECSORT_TEAM_H

#include <stdatomic.h>
#include <stddef.h>

#include "recsort/plugin.h"

/* At most `threads` threads, at least 1. `run` is as in recsort_executor and recsort_host. */
typedef struct team {
  void (*run)(void *context, void (*task)(void *argument, size_t number), void *argument,
              size_t count);
  void *context;
  unsigned threads;
} team;

/* Items [begin, end) of a job. */
typedef struct team_range {
  size_t begin;
  size_t end;
} team_range;

/* Range `piece` when [0, count) is cut into `pieces` ranges whose sizes differ by at most one. */
static inline team_range team_cut(size_t count, size_t piece, size_t pieces)
{
  const size_t each = count / pieces, rest = count % pieces;
  const size_t begin = each * piece + (piece < rest ? piece : rest);
  const team_range range = {begin, begin + each + (piece < rest)};
  return range;
}

/* Runs one piece of a job. `slot` is below the team's `threads`; no two pieces that run at the same
 * time have the same slot. */
typedef void team_body(void *argument, size_t piece, unsigned slot);

enum { TEAM_SHARES = 64 };

typedef struct team_share {
  atomic_size_t next;
  size_t end;
  char apart[48]; /* gives each share a cache line */
} team_share;

typedef struct team_job {
  team_body *body;
  void *argument;
  size_t shares;
  team_share share[TEAM_SHARES];
} team_job;

static inline void team_take_pieces(void *argument, size_t slot)
{
  team_job *const job = (team_job *)argument;
  for (size_t i = 0; i < job->shares; i++) {
    team_share *const share = &job->share[(slot + i) % job->shares];
    size_t piece;
    while (atomic_load_explicit(&share->next, memory_order_relaxed) < share->end &&
           (piece = atomic_fetch_add_explicit(&share->next, 1, memory_order_relaxed)) < share->end)
      job->body(job->argument, piece, (unsigned)slot);
  }
}

/* Runs body(argument, piece, slot) once for each piece below `pieces`; returns when all are done.
 */
static inline void team_each(team t, size_t pieces, team_body *body, void *argument)
{
  const size_t threads = pieces < t.threads ? pieces : t.threads;
  team_job job;
  job.body = body;
  job.argument = argument;
  job.shares = threads < TEAM_SHARES ? threads : TEAM_SHARES;
  for (size_t i = 0; i < job.shares; i++) {
    const team_range range = team_cut(pieces, i, job.shares);
    atomic_init(&job.share[i].next, range.begin);
    job.share[i].end = range.end;
  }
  if (threads > 1)
    t.run(t.context, team_take_pieces, &job, threads);
  else
    team_take_pieces(&job, 0);
}

/* The same team with at most `most` threads. */
static inline team team_of_at_most(team t, size_t most)
{
  if (most < t.threads) t.threads = most ? (unsigned)most : 1;
  return t;
}

/* The number of pieces for work whose pieces take equally long. */
static inline size_t team_pieces(team t)
{
  enum { PIECES_A_THREAD = 8 };
  return t.threads > 1 ? (size_t)PIECES_A_THREAD * t.threads : 1;
}

static inline void team_run_alone(void *context, void (*task)(void *argument, size_t number),
                                  void *argument, size_t count)
{
  (void)context;
  for (size_t i = 0; i < count; i++)
    task(argument, i);
}

/* The team of a plugin. */
static inline team team_of_host(const recsort_host *host, unsigned threads)
{
  const team made = {host->run, host->context, threads};
  return made;
}

#endif
