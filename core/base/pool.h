/* pool.h - the threads of the library: one pool for the whole process.
 *
 *   caller    takes a slot, publishes a job there, works on it like the workers, waits for the rest
 *   worker    claims a stripe of a job, the same one from job to job, runs it, looks for the next
 *
 * Workers are created when a job first wants them, up to what the largest job wanted, and are
 * shared by all callers. A worker that cannot be created is done without: the caller alone can
 * finish any job. An idle worker polls for a millisecond and yields to other processes meanwhile,
 * then sleeps. A forked child begins with an empty pool. The pool ends with the process, or when
 * the library is unloaded.
 */
#ifndef RS_POOL_H
#define RS_POOL_H

#include "common/team.h"
#include "recsort/recsort.h"

/* The processors that the calling thread may run on, at least 1. */
unsigned rs_processors(void);

/* `executor` with `threads`; 0: as many as it has, or if it does not say as there are processors.
 * NULL: the library's own. */
team rs_team(const recsort_executor *executor, unsigned threads);

#endif
