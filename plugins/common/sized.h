/* sized.h - structs that grow from version to version, and say how much of them there is. */
#ifndef RECSORT_COMMON_SIZED_H
#define RECSORT_COMMON_SIZED_H

#include <stddef.h>
#include <string.h>

/* What a version took whose last member is `member`. */
#define SIZE_UP_TO(type, member) (offsetof(type, member) + sizeof((type *)0)->member)

/* Copies what both know, in either direction; zeroes what only `to` knows. */
static inline void sized_copy(void *to, size_t to_size, const void *from, size_t from_size)
{
  const size_t both = to_size < from_size ? to_size : from_size;
  memcpy(to, from, both);
  if (to_size > both) memset((char *)to + both, 0, to_size - both);
}

#endif
