/* slice.h - the inputs as one array of records, of which each rank reads a slice. */
#ifndef RECSORT_MPI_SLICE_H
#define RECSORT_MPI_SLICE_H

#include "support/records.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Records [ends of the input before, ends[i]) are those of input i. */
typedef struct inputs {
  char *const *paths;
  size_t count;
  tool_format format;
  uint64_t *ends;
  uint64_t total;
  tool_dropped dropped;
} inputs;

/* True if they are, as far as they are there; otherwise there was a message. */
bool inputs_are_files(char *const *paths, size_t count);

/* Measures the inputs, which are regular files. False, after a message, if one cannot be opened or
 * has no whole number of records. Free `ends` in any case. */
bool inputs_measure(inputs *in, char *const *paths, size_t count, const tool_format *format);
/* Reads records [begin, begin + count) to `to`. False, after a message, on failure. */
bool inputs_read(const inputs *in, uint64_t begin, size_t count, void *to);
/* The input that record `number` is in, whose own number there replaces it. */
const char *inputs_find(const inputs *in, uint64_t *number);

#endif
