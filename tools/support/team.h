/* team.h - the library's threads, for what the tools do beside sorting. */
#ifndef TOOL_TEAM_H
#define TOOL_TEAM_H

#include <stddef.h>

/* How many threads a tool uses from now on; 0: one for each processor, as at first. */
void tool_team_set(unsigned threads);
unsigned tool_team_size(void);

/* Runs body(argument, piece, slot) once for each piece below `pieces`, by the team; returns when
 * all are done. `slot` is below tool_team_size(), and no other piece has it meanwhile. */
void tool_team_each(size_t pieces, void (*body)(void *argument, size_t piece, unsigned slot),
                    void *argument);

#endif
