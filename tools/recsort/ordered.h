/* ordered.h - copies records to the output as long as they are in order.
 *
 * More records than memory holds are sorted by way of temporary files, but for those that are in
 * order already: they need be read and written only once. So the first records go to the output
 * until one is out of order. Then they are read back, and sorted with the others. Records in no
 * order cost nothing, as one of the first ones shows it. */
#ifndef RECSORT_ORDERED_H
#define RECSORT_ORDERED_H

#include "cli_job.h"

#include "support/input.h"
#include "support/output.h"

typedef struct ordered_copy {
  cli_job keys; /* with a sorter of its own */
  tool_output *output;
  bool copies;    /* all records so far are in order, and in the output, */
  uint64_t begin; /* from this byte on */
  uint64_t size;  /* bytes of them */
  size_t key_size;
  unsigned char *seen; /* keys: the first one is that of the last record */
} ordered_copy;

/* Begins, if the output can be taken back, and has room for what comes before the records. `count`:
 * the records that will come; TOOL_ANY: not known. False after a message. */
bool ordered_begin(ordered_copy *ordered, const cli_job *job, tool_output *output,
                   tool_reader *first, uint64_t count);
/* Copies records. If one of them is out of order, copies none of them, and `copies` becomes false.
 * False after a message. */
bool ordered_add(ordered_copy *ordered, const void *records, size_t count);
/* Takes what was copied back, and passes it on. False after a message. */
bool ordered_take_back(ordered_copy *ordered,
                       bool (*pass)(void *context, const void *records, size_t count),
                       void *context);
void ordered_end(ordered_copy *ordered);

#endif
