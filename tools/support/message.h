/* message.h - what the tools say on standard error.
 *
 * Every function of tools/support that can fail says why in one line by itself and returns false
 * or NULL; its caller only has to clean up and end with TOOL_TROUBLE.
 */
#ifndef TOOL_MESSAGE_H
#define TOOL_MESSAGE_H

#include "recsort/recsort.h"

#include "support/program.h"

/* "name: text" in one line; a progress line is cleared first. */
void tool_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same followed by "Run 'name --help' ...". Always returns TOOL_TROUBLE, for main to return. */
int tool_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* That second line alone. */
void tool_say_help(void);
/* "name: FILE: what errno says". */
void tool_error_errno(const char *file, int error);
void tool_error_memory(size_t size);
void tool_error_library(const recsort_error *error);

/* Loads a schema, or says why not and returns NULL. */
recsort_schema *tool_load_schema(const char *path);

/* Writes out what stdio holds for standard output; false, with a message, if that failed. */
bool tool_flush_stdout(void);

#endif
