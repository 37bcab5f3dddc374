/* around.h - what goes around the records of the output: header and trailer of the first input, in
 * which every number that depends on the records is made true. */
#ifndef TOOL_AROUND_H
#define TOOL_AROUND_H

#include "support/input.h"
#include "support/output.h"

/* Writes the header, unless that is done. `count`: the records of the output; TOOL_ANY: that is not
 * known yet, and no number in the header depends on it. Refuses, before it writes, what would go
 * stale. */
bool tool_around_begin(tool_reader *first, tool_output *to, uint64_t count);
/* Makes the header true that was written before `count` was known. Only if the output is a file. */
bool tool_around_correct(const tool_reader *first, tool_output *to, uint64_t count);
/* Writes heap, padding and trailer, behind `count` records. Of a pipe, call it after the last
 * record. */
bool tool_around_end(tool_reader *first, tool_output *to, uint64_t count);

#endif
