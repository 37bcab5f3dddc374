/* message.h - messages of the tools on standard error.
 *
 * Every function of tools/support that can fail prints the reason in one line and returns false or
 * NULL. Its caller only cleans up and ends with TOOL_TROUBLE.
 */
#ifndef TOOL_MESSAGE_H
#define TOOL_MESSAGE_H

#include "recsort/recsort.h"

#include "support/program.h"

/* Prints "name: text" in one line, after clearing a progress line. */
void tool_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, followed by "Run 'name --help' ...". Returns TOOL_TROUBLE, for main to return. */
int tool_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reads the number that option --`name` has: from `least` to `most`, maybe with a suffix. False,
 * with such a message, if it has none. */
bool tool_option_count(const char *name, const char *text, uint64_t least, uint64_t most,
                       uint64_t *value);
/* Prints only that second line. */
void tool_say_help(void);
/* Prints "name: FILE: " and the text of an error number. */
void tool_error_errno(const char *file, int error);
void tool_error_memory(size_t size);
void tool_error_library(const recsort_error *error);

/* Loads a schema: a file, or if there is none, the installed schema of that name, such as "las". NULL,
 * with a message, on failure. */
recsort_schema *tool_load_schema(const char *path);

/* Whether records may be written to `output` (NULL: none was named, so to standard output). False,
 * with a message, if that is a terminal, which binary data can confuse. */
bool tool_may_write(const char *output);

/* Flushes standard output. False, with a message, if that or an earlier write failed. */
bool tool_flush_stdout(void);

#endif
