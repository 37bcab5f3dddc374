/* slice.h - the inputs as one array of records, of which each rank reads a slice; and the new file,
 * of which it writes one. */
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
/* The number of the first record of a rank's slice. Rank `ranks` has the end. */
uint64_t inputs_begin(const inputs *in, int ranks, int rank);
/* Reads records [begin, begin + count) to `to`. False, after a message, on failure. */
bool inputs_read(const inputs *in, uint64_t begin, size_t count, void *to);
/* The input that record `number` is in, whose own number there replaces it. */
const char *inputs_find(const inputs *in, uint64_t *number);

/* A rank's place in the new file. */
typedef struct slice_output {
  const char *name; /* for messages */
  int fd;
  uint64_t offset; /* of what is written next */
} slice_output;

/* Opens the new file, at `path`. False after a message. */
bool slice_open(slice_output *output, const char *path, uint64_t offset, const char *name,
                int rank);
bool slice_write(slice_output *output, const void *data, size_t size);
/* If all is `done` well, brings it to the disk. */
bool slice_close(slice_output *output, bool done);

#endif
