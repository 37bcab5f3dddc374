/* slice.c - see slice.h. */
#include "slice.h"

#include "support/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool inputs_are_files(char *const *paths, size_t count)
{
  struct stat status;
  for (size_t i = 0; i < count; i++) {
    if (!tool_is_standard(paths[i]) && (stat(paths[i], &status) != 0 || S_ISREG(status.st_mode)))
      continue;
    tool_error("%s: it is no regular file, of which each process could read a part",
               tool_input_name(paths[i]));
    return false;
  }
  return true;
}

bool inputs_measure(inputs *in, char *const *paths, size_t count, const tool_format *format)
{
  *in = (inputs){.paths = paths, .count = count, .format = *format};
  in->ends = calloc(count, sizeof *in->ends);
  if (in->ends == NULL) {
    tool_error_memory(count * sizeof *in->ends);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    tool_reader reader;
    const bool opened = (i > 0 ? tool_later_open : tool_reader_open)(&reader, paths[i], format);
    if (opened && i > 0) tool_dropped_add(&in->dropped, &reader);
    if (opened) in->total += reader.size / format->record_size;
    in->ends[i] = in->total;
    tool_reader_close(&reader);
    if (!opened) return false;
  }
  return true;
}

/* Reads `size` bytes. A file that has changed since it was opened is refused. */
static bool read_at(const tool_reader *reader, uint64_t offset, unsigned char *to, size_t size)
{
  struct stat now;
  while (size > 0) {
    const ssize_t got =
        pread(reader->stream.fd, to, size < (1u << 30) ? size : 1u << 30, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      tool_error_errno(reader->name, errno);
      return false;
    }
    if (got == 0) break;
    to += got;
    size -= (size_t)got;
    offset += (uint64_t)got;
  }
  if (size == 0 && fstat(reader->stream.fd, &now) == 0 && now.st_size == reader->status.st_size &&
      now.st_mtim.tv_sec == reader->status.st_mtim.tv_sec &&
      now.st_mtim.tv_nsec == reader->status.st_mtim.tv_nsec) {
    return true;
  }
  tool_error("%s: it was changed while it was being read", reader->name);
  return false;
}

/* Reads records [begin, end) of all, which are in input `i`. */
static bool read_input(const inputs *in, size_t i, uint64_t begin, uint64_t end, void *to)
{
  const uint64_t first = i > 0 ? in->ends[i - 1] : 0;
  const size_t record_size = in->format.record_size;
  tool_reader reader;
  bool done = tool_reader_open(&reader, in->paths[i], &in->format);
  if (done && reader.size != (in->ends[i] - first) * record_size) {
    tool_error("%s: it was changed while it was being read", reader.name);
    done = false;
  }
  const uint64_t offset = reader.start + reader.format.skip + (begin - first) * record_size;
  done = done && read_at(&reader, offset, to, (size_t)(end - begin) * record_size);
  tool_reader_close(&reader);
  return done;
}

uint64_t inputs_begin(const inputs *in, int ranks, int rank)
{
  const uint64_t share = in->total / (uint64_t)ranks, rest = in->total % (uint64_t)ranks;
  const uint64_t before = (uint64_t)rank;
  return before * share + (before < rest ? before : rest);
}

bool inputs_read(const inputs *in, uint64_t begin, size_t count, void *to)
{
  const uint64_t end = begin + count;
  unsigned char *at = to;
  for (size_t i = 0; i < in->count && begin < end; i++) {
    const uint64_t last = in->ends[i] < end ? in->ends[i] : end;
    if (last <= begin) continue;
    if (!read_input(in, i, begin, last, at)) return false;
    at += (last - begin) * in->format.record_size;
    begin = last;
  }
  return true;
}

const char *inputs_find(const inputs *in, uint64_t *number)
{
  size_t i = 0;
  while (i + 1 < in->count && in->ends[i] <= *number)
    i++;
  *number -= i > 0 ? in->ends[i - 1] : 0;
  return tool_input_name(in->paths[i]);
}

/* ---- Output ---- */

bool slice_open(slice_output *output, const char *path, uint64_t offset, const char *name, int rank)
{
  *output = (slice_output){name, open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW), offset};
  if (output->fd >= 0) return true;
  tool_error("%s: process %d cannot open the new file, %s: %s", name, rank, path, strerror(errno));
  return false;
}

bool slice_write(slice_output *output, const void *data, size_t size)
{
  const unsigned char *from = data;
  while (size > 0) {
    const ssize_t done =
        pwrite(output->fd, from, size < (1u << 30) ? size : 1u << 30, (off_t)output->offset);
    if (done < 0 && errno != EINTR) {
      tool_error_errno(output->name, errno);
      return false;
    }
    if (done <= 0) continue;
    from += done;
    output->offset += (uint64_t)done;
    size -= (size_t)done;
  }
  return true;
}

bool slice_close(slice_output *output, bool done)
{
  int failure = 0;
  do {
    failure = done && fsync(output->fd) != 0 ? errno : 0;
  } while (failure == EINTR);
  if (close(output->fd) != 0 && done && failure == 0 && errno != EINTR) failure = errno;
  if (failure != 0) tool_error_errno(output->name, failure);
  return done && failure == 0;
}
