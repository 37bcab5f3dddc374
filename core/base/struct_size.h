/* struct_size.h - structs that cross the public interface with their size. */
#ifndef RS_BASE_STRUCT_SIZE_H
#define RS_BASE_STRUCT_SIZE_H

#include <stddef.h>

#include "recsort/recsort.h"

/* Refuses a struct of the caller's whose struct_size is not that of `type`, which the macro `init`
 * sets. */
#define rs_check_size(given, type, init, error)                                                    \
  rs_check_struct_size((given)->struct_size, sizeof(type), #type, #init, error)
recsort_status rs_check_struct_size(size_t given, size_t size, const char *type, const char *init,
                                    recsort_error *error);

/* Copies a struct of `own` bytes to the caller's `to`. If the caller says another size, zeroes that
 * many bytes. */
void rs_fill_struct(void *to, size_t size, const void *from, size_t own);

#endif
