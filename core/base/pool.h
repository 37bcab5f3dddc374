/* pool.h - the threads of the library: one pool for the whole process.
 *
 *   caller    takes a slot, publishes a job in it, works on it like the workers, and waits for
 *             the others
 *   worker    claims a stripe of a job, the same one in each job, runs it, and looks for the next
 *
 * Workers are created when a job first needs them, as many as the largest job may use, and are
 * shared by all callers. If a worker cannot be created, the job runs with fewer: the caller alone
 * can finish any job. An idle worker polls for a millisecond, yielding to other processes, and then
 * sleeps. A forked child starts with an empty pool. The pool ends with the process, or when the
 * library is unloaded.
 *
 * tests/interleave runs callers and workers in every order of their steps, as they are and with
 * each lock left out and each memory order weakened.
 */
#ifndef RS_POOL_H
#define RS_POOL_H

#include "recsort/team.h"
#include "recsort/recsort.h"

/* A team of `threads` threads of the library's pool, or of `executor`, but of no more threads than
 * the executor has. `threads` 0: as many as the executor has, or one for each processor
 * that quotas leave. */
team rs_team(const recsort_executor *executor, unsigned threads);

#endif
