/* barriers.h - shows that the cases of a test notice a missing barrier: each one is left out in
 * turn, in a process of its own. */
#ifndef RS_EMULATION_BARRIERS_H
#define RS_EMULATION_BARRIERS_H

#include <stdbool.h>
#include <stddef.h>

/* Runs the cases until one fails: false if one did. One that works for longer than `patience`
 * seconds ends the process: see barriers_limit(). */
typedef bool barriers_cases(const void *context, unsigned patience);

/* Ends the process by SIGPROF once it has worked for so many seconds from now on; 0: never. A busy
 * machine takes none of them. */
void barriers_limit(unsigned seconds);
double barriers_worked(void); /* for how many seconds it has worked */

/* Leaves out each barrier that was reached since emulator_clear_sites(), tells what came of it, and
 * returns whether all were noticed. `longest`: seconds that a case takes. Any kernel that uses
 * shared memory must have barriers, unless none does. */
bool barriers_check(const char *name, barriers_cases *cases, const void *context, double longest);

#endif
