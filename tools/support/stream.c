/* stream.c - see stream.h. */
#include "support/stream.h"

#include "support/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { growth = 1 << 20 /* for data that may never come */ };

/* One read(2) or pread(2): 0 bytes at the end of the file. */
static bool read_once(int fd, uint64_t offset, void *to, size_t capacity, size_t *got)
{
  const size_t wanted = capacity < (1u << 30) ? capacity : 1u << 30;
  ssize_t size;
  do {
    size = offset == TOOL_HERE ? read(fd, to, wanted) : pread(fd, to, wanted, (off_t)offset);
  } while (size < 0 && errno == EINTR);
  *got = size > 0 ? (size_t)size : 0;
  return size >= 0;
}

/* The last bytes of all that were read. */
static void note_last(tool_stream *stream, const unsigned char *read, size_t size)
{
  const size_t all = sizeof stream->last, new = size < all ? size : all;
  memmove(stream->last, stream->last + new, all - new);
  memcpy(stream->last + all - new, read + size - new, new);
}

static bool read_new(tool_stream *stream, void *to, size_t capacity, size_t *got)
{
  if (!read_once(stream->fd, TOOL_HERE, to, capacity, got)) return false;
  note_last(stream, to, *got);
  return true;
}

bool tool_stream_take(tool_stream *stream, void *to, size_t capacity, size_t *got)
{
  if (stream->held.size == 0) return read_new(stream, to, capacity, got);
  *got = capacity < stream->held.size ? capacity : stream->held.size;
  memcpy(to, stream->held.data, *got);
  tool_bytes_drop(&stream->held, *got);
  return true;
}

/* Appends to `bytes` until they are `size`, by one of the two functions above. */
static bool append(tool_stream *stream, tool_bytes *bytes, uint64_t size,
                   bool (*next)(tool_stream *, void *, size_t, size_t *))
{
  while (bytes->size < size) {
    const uint64_t rest = size - bytes->size;
    const size_t capacity = rest < growth ? (size_t)rest : growth;
    size_t got;
    if (!tool_bytes_reserve(bytes, bytes->size + capacity)) {
      errno = ENOMEM;
      return false;
    }
    if (!next(stream, bytes->data + bytes->size, capacity, &got)) return false;
    if (got == 0) break;
    bytes->size += got;
  }
  return true;
}

bool tool_stream_fill(tool_stream *stream, tool_bytes *bytes, uint64_t size)
{
  return append(stream, bytes, size, tool_stream_take);
}

bool tool_stream_hold(tool_stream *stream, uint64_t size)
{
  return append(stream, &stream->held, size, read_new);
}

bool tool_stream_read_at(const tool_stream *stream, uint64_t offset, void *to, size_t size,
                         size_t *got)
{
  for (*got = 0; *got < size;) {
    size_t more;
    if (!read_once(stream->fd, offset + *got, (unsigned char *)to + *got, size - *got, &more))
      return false;
    if (more == 0) break;
    *got += more;
  }
  return true;
}

bool tool_stream_pass(tool_stream *stream, uint64_t offset, uint64_t size, tool_output *to,
                      uint64_t *passed)
{
  *passed = 0;
  if (size == 0) return true;
  const size_t capacity = size < growth ? (size_t)size : growth;
  void *const buffer = malloc(capacity);
  bool read = buffer != NULL, written = true;
  while (read && written && *passed < size) {
    const size_t wanted = size - *passed < capacity ? (size_t)(size - *passed) : capacity;
    size_t got;
    read = offset == TOOL_HERE
               ? tool_stream_take(stream, buffer, wanted, &got)
               : tool_stream_read_at(stream, offset + *passed, buffer, wanted, &got);
    written = !read || to == NULL || tool_output_write(to, buffer, got);
    if (!read || !written || got == 0) break;
    *passed += got;
  }
  if (!read) tool_error_errno(stream->name, errno);
  free(buffer);
  return read && written;
}

void tool_stream_close(tool_stream *stream)
{
  if (stream->fd > STDERR_FILENO) close(stream->fd);
  tool_bytes_free(&stream->held);
  stream->fd = -1;
}
