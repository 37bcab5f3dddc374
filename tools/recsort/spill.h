/* spill.h - what librecsort_file does for the command: sorts of records that do not fit in memory,
 * and merges. */
#ifndef RECSORT_SPILL_H
#define RECSORT_SPILL_H

#include "cli_job.h"
#include "unique_watch.h"

#include "support/output.h"
#include "support/records.h"

#include "recsort/file.h"

typedef struct spilled_sort {
  cli_job own;  /* of the sorter that sorts: with --index, of records and their numbers */
  cli_job keys; /* of one for keys, with --unique */
  recsort_schema *numbered; /* with --index: record and number; owned */
  recsort_file *file;       /* NULL: all fits */
  unsigned char *rows;      /* with --index: a few records and their numbers */
  uint64_t passed;          /* records */
  uint64_t given;           /* to the output */
  uint64_t total;           /* records of the inputs; 0: not known */
  recsort_file_phase shown; /* of the progress */
  void (*report)(const struct spilled_sort *spill, const recsort_error *error);
  const void *inputs; /* for it */
  unique_watch watch;
  unsigned char *seen; /* with --unique: keys; the first one is that of the last record given */
  size_t key_size;
} spilled_sort;

/* Begins. `memory` is what it may take. `count`: the records that will come, at least; TOOL_ANY:
 * not known. `most_runs` as for librecsort_file. `output` gets the result. The sorter of `job` is
 * open. False after a message; call spill_close in any case. Then set `report` and `inputs`. */
bool spill_open(spilled_sort *spill, const cli_job *job, const tool_output *output, uint64_t memory,
                uint64_t count, size_t most_runs);
/* Takes the next records. */
bool spill_pass(spilled_sort *spill, const void *records, size_t count);
/* Writes the result, with what is around it: header and trailer of the first input, but for the
 * trailer of a merge. `count`: the records of the inputs, or TOOL_ANY. */
bool spill_write(spilled_sort *spill, tool_output *output, tool_reader *first, uint64_t count);
void spill_close(spilled_sort *spill);

/* Reports the error of a record of inputs that were read one after the other. */
void spill_report_record(const cli_job *job, const tool_records *input, const recsort_error *error);

#endif
