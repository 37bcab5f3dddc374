/* program.h - what every tool is: a name, standard streams, an exit status, and a clock. */
#ifndef TOOL_PROGRAM_H
#define TOOL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses, those of GNU sort. */
enum { TOOL_OK = 0, TOOL_DISORDER = 1, TOOL_TROUBLE = 2 };

/* Call it first in main: sets the name that messages begin with. Also makes sure that no file
 * opened later takes the descriptor of a closed standard stream. */
void tool_set_name(const char *name);
const char *tool_name(void);

/* NULL and "-" stand for standard input or output. */
bool tool_is_standard(const char *path);
/* What messages call an input or an output. */
const char *tool_input_name(const char *path);
const char *tool_output_name(const char *path);

/* A plain decimal integer up to `most`. False, without a message, if it is something else. */
bool tool_parse_count(const char *text, uint64_t most, uint64_t *value);

/* Wall-clock seconds since some fixed point. */
double tool_seconds(void);

#endif
