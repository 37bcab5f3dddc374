#include "base/struct_size.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"

recsort_status rs_check_struct_size(size_t given, size_t size, const char *type, const char *init,
                                    recsort_error *error)
{
  RS_ASSERT(size > 0 && type && init);
  if (given == size) return RECSORT_OK;
  return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                 "struct_size is %zu, but a %s has %zu bytes: use %s", given, type, size, init);
}

void rs_fill_struct(void *to, size_t size, const void *from, size_t own)
{
  RS_ASSERT(own > 0 && from);
  RS_ASSERT(to || size == 0);
  if (size == own)
    memcpy(to, from, own);
  else
    memset(to, 0, size);
}
