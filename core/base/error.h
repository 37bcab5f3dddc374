/* error.h - how the library reports failures. */
#ifndef RS_BASE_ERROR_H
#define RS_BASE_ERROR_H

#include "recsort/recsort.h"

#include <stdarg.h>

#include "base/platform/print.h"

/* A place in a text: `source` may be NULL, `line` 0. */
typedef struct rs_place {
  const char *source;
  uint32_t line;
  uint32_t column;
} rs_place;

/* Fills in `error` (NULL is allowed) and returns `status`, so that a failing function can end with
 * `return rs_fail(error, ...)`. Text that is too long is cut; control characters become '?'. */
recsort_status rs_fail(recsort_error *error, recsort_status status, const char *format, ...)
    RS_PRINTS(3, 4);

/* The same, with the parts of "source:line:column: " that are known before the text. */
recsort_status rs_fail_at(recsort_error *error, recsort_status status, rs_place place,
                          const char *format, ...) RS_PRINTS(4, 5);

recsort_status rs_fail_memory(recsort_error *error, size_t size);

#endif
