/* folders.h - where temporary files go. */
#ifndef RECSORT_FOLDERS_H
#define RECSORT_FOLDERS_H

#include "options.h"

/* The folder if no option says it. Free it. NULL: there is no memory. */
char *folders_usual(const cli_options *options);
/* Refuses at once what the folders have no space for, and what a folder in memory cannot hold:
 * `size` bytes, beside `memory` bytes that the sort takes. False after a message. */
bool folders_have_space(const char *const *folders, size_t count, uint64_t size, uint64_t memory);

#endif
