/* streams.h - writes records to many places in turn, each of which goes on in order.
 *
 * A store to one of some hundred places waits for its line and its page. So the records of each
 * place are collected in a part, which stays in a cache, and a full part leaves by whole lines.
 */
#ifndef RECSORT_CPU_STREAMS_H
#define RECSORT_CPU_STREAMS_H

#include "base/assert.h"
#include "base/stream_copy.h"

enum {
  STREAM_PART = 256,
  STREAM_RECORD = 64, /* the largest record */
  STREAM_BYTES = STREAM_PART + STREAM_RECORD
};

/* A place, and what its part holds: bytes [skipped, filled). Parts are aligned like lines, and so
 * is where they go but for the first one. */
typedef struct stream {
  char *to;
  uint32_t filled;
  uint32_t skipped;
} stream;

static inline stream stream_at(char *to)
{
  const uint32_t skipped = (uintptr_t)to % 64;
  return (stream){to, skipped, skipped};
}

/* Writes a full part, and moves what is behind it to its beginning. */
__attribute__((noinline)) static void stream_leave(stream *s, char *part)
{
  RS_ASSERT(s->filled >= STREAM_PART && s->filled <= STREAM_BYTES);
  const size_t size = STREAM_PART - s->skipped;
  stream_part(s->to, part + s->skipped, size);
  memcpy(part, part + STREAM_PART, STREAM_RECORD);
  *s = (stream){s->to + size, s->filled - STREAM_PART, 0};
}

/* Writes what is left. */
static inline void stream_end(stream *s, const char *part)
{
  RS_ASSERT(s->skipped <= s->filled && s->filled < STREAM_PART);
  const size_t size = s->filled - s->skipped;
  memcpy(s->to, part + s->skipped, size);
  s->to += size;
}

#endif
