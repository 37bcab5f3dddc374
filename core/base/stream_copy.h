/* stream_copy.h - a copy to what is too large for the caches. */
#ifndef RS_BASE_STREAM_COPY_H
#define RS_BASE_STREAM_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

#include "base/assert.h"
#endif

/* From so many bytes on a target is too large for the caches. */
enum { STREAM_LEAST = 8 << 20 };

/* Like memcpy, but with non-temporal stores where the processor has them: an ordinary store would
 * read the target first. Call stream_done() before another thread reads the target. */
static inline void stream_part(void *target, const void *source, size_t size)
{
  char *to = (char *)target;
  const char *from = (const char *)source;
#ifdef __SSE2__
  enum { LINE = 64 };
  const size_t unaligned = -(uintptr_t)to % LINE;
  const size_t head = unaligned < size ? unaligned : size;
  const char *const end = from + size;
  RS_ASSERT(to + size <= from || end <= to);
  memcpy(to, from, head);
  RS_ASSERT(head == size || ((uintptr_t)to + head) % LINE == 0);
  for (to += head, from += head; end - from >= LINE; to += LINE, from += LINE)
    for (size_t i = 0; i < LINE; i += sizeof(__m128i)) {
      const __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(from + i));
      _mm_stream_si128((__m128i *)(void *)(to + i), part);
    }
  size = (size_t)(end - from);
  RS_ASSERT(size < LINE);
#endif
  memcpy(to, from, size);
}

static inline void stream_done(void)
{
#ifdef __SSE2__
  _mm_sfence();
#endif
}

/* One part, and done. */
static inline void stream_copy(void *target, const void *source, size_t size)
{
  stream_part(target, source, size);
  stream_done();
}

#endif
