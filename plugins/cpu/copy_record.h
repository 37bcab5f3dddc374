/* copy_record.h - copies one record, of a size that only the program knows at run time.
 *
 * A call of memcpy takes longer than to move 20 bytes. Two words that overlap move any size between
 * one word and two, so a few loops with constant word sizes serve all sizes of records. */
#ifndef RECSORT_CPU_COPY_RECORD_H
#define RECSORT_CPU_COPY_RECORD_H

#include <stddef.h>
#include <string.h>

#include "base/assert.h"

typedef enum copy_class {
  COPY_BYTES,  /* 1 to 3 bytes, and more than 64 */
  COPY_TWO_4,  /* 4 to 8 */
  COPY_TWO_8,  /* 8 to 16 */
  COPY_TWO_16, /* 16 to 32 */
  COPY_TWO_32  /* 32 to 64 */
} copy_class;

static inline copy_class copy_class_of(size_t size)
{
  if (size < 4 || size > 64) return COPY_BYTES;
  return size <= 8 ? COPY_TWO_4 : size <= 16 ? COPY_TWO_8 : size <= 32 ? COPY_TWO_16 : COPY_TWO_32;
}

/* `word` and `end`, the bytes of the second word, are constants in each call that should be fast.
 * Reads both words before it writes either. */
__attribute__((always_inline)) static inline void copy_two(char *to, const char *from, size_t size,
                                                           size_t word, size_t end)
{
  RS_ASSERT(word <= size && end <= size && size <= word + end);
  char first[32], last[32];
  memcpy(first, from, word);
  memcpy(last, from + size - end, end);
  memcpy(to, first, word);
  memcpy(to + size - end, last, end);
}

/* `as` is copy_class_of(size), and a constant in each call that should be fast. */
__attribute__((always_inline)) static inline void copy_record(char *to, const char *from,
                                                              size_t size, copy_class as)
{
  RS_ASSERT(as == COPY_BYTES || as == copy_class_of(size));
  switch (as) {
  case COPY_TWO_4:
    copy_two(to, from, size, 4, 4);
    break;
  case COPY_TWO_8:
    copy_two(to, from, size, 8, 8);
    break;
  case COPY_TWO_16:
    if (size <= 20)
      copy_two(to, from, size, 16, 4); /* a short word crosses fewer lines */
    else
      copy_two(to, from, size, 16, 16);
    break;
  case COPY_TWO_32:
    copy_two(to, from, size, 32, 32);
    break;
  case COPY_BYTES:
    memcpy(to, from, size);
  }
}

#endif
