/* message.h - what the tools say on standard error, and how they end.
 *
 * Every function of tools/support that can fail says why in one line by itself and returns false
 * or NULL; its caller only has to clean up and end with TOOL_TROUBLE.
 */
#ifndef TOOL_MESSAGE_H
#define TOOL_MESSAGE_H

#include "recsort/recsort.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses, those of GNU sort. */
enum { TOOL_OK = 0, TOOL_DISORDER = 1, TOOL_TROUBLE = 2 };

/* Called first in main: the program's name, as messages begin with it. Also sees to it that no file
 * that is opened later takes the place of a standard stream that was closed. */
void tool_set_name(const char *name);
const char *tool_name(void);

/* "name: text" in one line; a progress line is cleared first. */
void tool_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same followed by "Try 'name --help' ...". Always returns TOOL_TROUBLE, for main to return. */
int tool_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "name: FILE: what errno says". */
void tool_error_errno(const char *file, int error);
void tool_error_memory(size_t size);
void tool_error_library(const recsort_error *error);

/* NULL and "-" stand for standard input or output. */
bool tool_is_standard(const char *path);
/* What messages call an input or an output. */
const char *tool_input_name(const char *path);
const char *tool_output_name(const char *path);

/* A plain decimal integer up to `most`. False, without a message, if it is something else. */
bool tool_parse_count(const char *text, uint64_t most, uint64_t *value);

/* Loads a schema, or says why not and returns NULL. */
recsort_schema *tool_load_schema(const char *path);

/* Writes out what stdio holds for standard output; false, with a message, if that failed. */
bool tool_flush_stdout(void);

/* Wall-clock seconds since some fixed point. */
double tool_seconds(void);

#endif
