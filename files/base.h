/* base.h - what went wrong, and memory. */
#ifndef FILES_BASE_H
#define FILES_BASE_H

#include "recsort/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fills in `error` (may be NULL) and returns `status`. */
recsort_status rf_fail(recsort_error *error, recsort_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
recsort_status rf_fail_memory(recsort_error *error, uint64_t size);

/* Maps pages of memory, which take none before they are used. NULL: there is no memory. */
void *rf_map(size_t size);
void rf_unmap(void *memory, size_t size);
/* Frees the working memory of a sorter, and gives it back to the system. */
recsort_status rf_free_sorter(recsort_sorter *sorter, recsort_error *error);

double rf_seconds(void);

#endif
