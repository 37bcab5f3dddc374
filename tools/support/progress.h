/* progress.h - shows progress in one line on standard error. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Sets the mode: "auto" (shown if standard error is a terminal), "always" or "never"; NULL means
 * "always". False, without a message, if it is anything else. Nothing is shown before the first
 * call. */
bool tool_progress_set(const char *mode);

/* Starts a stage; `total` 0: its length is unknown. */
void tool_progress_begin(const char *stage, uint64_t total);
/* Shows that `done` of `total` is done. Cheap enough to call for every chunk. */
void tool_progress_update(uint64_t done);
/* Clears the line. */
void tool_progress_clear(void);

#endif
