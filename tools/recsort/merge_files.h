/* merge_files.h - files merged by all threads. */
#ifndef RECSORT_MERGE_FILES_H
#define RECSORT_MERGE_FILES_H

#include "cli_job.h"

/* Whether the inputs can be merged so: they are regular files, records are not large, and there is
 * memory for the buffers. */
bool merge_files_can(const cli_job *job, const tool_format *format);

/* Merges the inputs to an output that is open. *taken: records passed over. False, after a message,
 * if it failed. */
bool merge_files(cli_job *job, const tool_format *format, tool_output *output, uint64_t *taken);

#endif
