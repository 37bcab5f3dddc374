/* stream.h - bytes of an open file: what has been read ahead of a pipe comes first. */
#ifndef TOOL_STREAM_H
#define TOOL_STREAM_H

#include "support/format.h"
#include "support/output.h"

typedef struct tool_stream {
  const char *name;      /* for messages */
  int fd;                /* -1: none */
  tool_bytes held;       /* read, and not yet taken */
  unsigned char last[4]; /* the last bytes that were read */
} tool_stream;

/* Takes 1 to `capacity` bytes, or 0 at the end. These three return false, with errno and no
 * message, on failure. */
bool tool_stream_take(tool_stream *stream, void *to, size_t capacity, size_t *got);
/* Takes bytes until `bytes` has `size` of them, or the file ends. */
bool tool_stream_fill(tool_stream *stream, tool_bytes *bytes, uint64_t size);
/* Reads ahead until `size` bytes are held, or the file ends. */
bool tool_stream_hold(tool_stream *stream, uint64_t size);

/* Reads bytes at an offset, which leaves the position alone: fewer only at the end. As above. */
bool tool_stream_read_at(const tool_stream *stream, uint64_t offset, void *to, size_t size,
                         size_t *got);

/* The offset that means the current position. */
#define TOOL_HERE UINT64_MAX
/* Copies `size` bytes, or as many as there are, to an output (NULL: discards them). False, after a
 * message, on failure. */
bool tool_stream_pass(tool_stream *stream, uint64_t offset, uint64_t size, tool_output *to,
                      uint64_t *passed);
/* Closes it, unless it is a standard stream. */
void tool_stream_close(tool_stream *stream);

#endif
