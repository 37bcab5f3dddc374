/* program.h - what every tool needs: a name, standard streams, an exit status and a clock. */
#ifndef TOOL_PROGRAM_H
#define TOOL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses, as of GNU sort. */
enum { TOOL_OK = 0, TOOL_DISORDER = 1, TOOL_TROUBLE = 2 };

/* Sets the name for messages; call it first in main. Also ensures that no file opened later gets
 * the descriptor of a closed standard stream. */
void tool_set_name(const char *name);
const char *tool_name(void);

/* True for NULL and "-", which mean standard input or output. */
bool tool_is_standard(const char *path);
/* The names of an input and an output in messages. */
const char *tool_input_name(const char *path);
const char *tool_output_name(const char *path);

/* Parses a decimal integer of at most `most`, which may end with K, M, G or T for multiples of
 * 2^10, 2^20, 2^30 and 2^40. False, without a message, if it is anything else. */
bool tool_parse_count(const char *text, uint64_t most, uint64_t *value);

/* Wall-clock seconds since some fixed point. */
double tool_seconds(void);

#endif
