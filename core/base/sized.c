#include "base/sized.h"

#include "base/error.h"

recsort_status rs_read_sized(void *to, size_t to_size, const void *from, size_t from_size,
                             size_t first_size, const char *type, recsort_error *error)
{
  if (from_size < first_size)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "struct_size is %zu, but a %s has at least %zu bytes: set it to sizeof(%s)",
                   from_size, type, first_size, type);
  sized_copy(to, to_size, from, from_size);
  return RECSORT_OK;
}

recsort_status rs_read_array(rs_arena *arena, const void **array, size_t count, size_t stride,
                             size_t size, size_t first_size, const char *type, recsort_error *error)
{
  if (stride == 0) stride = first_size;
  if (stride < first_size)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "a stride is %zu, but a %s has at least %zu bytes: set it to sizeof(%s)", stride,
                   type, first_size, type);
  if (stride == size || !*array) return RECSORT_OK;
  char *const copies = rs_arena_array(arena, count, size);
  if (!copies) return rs_fail_memory(error, size);
  for (size_t i = 0; i < count; i++)
    sized_copy(copies + i * size, size, (const char *)*array + i * stride, stride);
  *array = copies;
  return RECSORT_OK;
}
