/* progress.h - one line on standard error that says how far the work has come. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* "auto" (only where standard error is a terminal), "always" or "never"; NULL is "always". False,
 * without a message, if it is something else. Before the first call nothing is shown. */
bool tool_progress_set(const char *mode);

/* A stage begins; `total` 0: its length is not known. */
void tool_progress_begin(const char *stage, uint64_t total);
/* `done` of `total` is done. Cheap enough to call for every chunk. */
void tool_progress_update(uint64_t done);
/* Clears the line. */
void tool_progress_clear(void);

#endif
