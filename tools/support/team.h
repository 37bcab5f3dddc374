/* team.h - the library's threads, for the tools' own work. */
#ifndef TOOL_TEAM_H
#define TOOL_TEAM_H

#include <stddef.h>

/* Sets how many threads the tool uses from now on; 0: one for each processor that the process may
 * run on, as far as the CPU quotas of its control groups allow. That is the default. */
void tool_team_set(unsigned threads);
unsigned tool_team_size(void);

/* Runs body(argument, piece, slot) once for each piece below `pieces`, with the team, and returns
 * when all are done. `slot` is below tool_team_size(); no two pieces that run at the same time have
 * the same slot. */
void tool_team_each(size_t pieces, void (*body)(void *argument, size_t piece, unsigned slot),
                    void *argument);

#endif
