/* phase.h - what all ranks do at once, any of which may fail.
 *
 * A phase ends with an agreement: if it failed on any rank, it failed on all. What a rank prints to
 * standard error meanwhile is held back; if the phase failed, only the first rank that failed
 * prints. So an error is one line, however many ranks met it. */
#ifndef RECSORT_MPI_PHASE_H
#define RECSORT_MPI_PHASE_H

#include <stdbool.h>

/* Holds back what is printed from now on. */
void phase_begin(void);
/* Collective. `done`: this rank has not failed. True if none has. */
bool phase_end(bool done);

#endif
