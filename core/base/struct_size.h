/* struct_size.h - structs that grow from version to version and carry their size. */
#ifndef RS_BASE_STRUCT_SIZE_H
#define RS_BASE_STRUCT_SIZE_H

#include <stddef.h>
#include <string.h>

/* The size of a version of the struct whose last member is `member`. */
#define SIZE_UP_TO(type, member) (offsetof(type, member) + sizeof((type *)0)->member)

/* Copies the members that both versions know, in either direction; zeroes the rest of `to`. */
static inline void sized_copy(void *to, size_t to_size, const void *from, size_t from_size)
{
  const size_t both = to_size < from_size ? to_size : from_size;
  memcpy(to, from, both);
  if (to_size > both) memset((char *)to + both, 0, to_size - both);
}

#endif
