/* input.c - reads files of records. */
#include "support/input.h"

#include "support/message.h"
#include "support/progress.h"
#include "support/team.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  chunk = 1 << 20,         /* growth for data that may never come */
  read_size = 8 << 20,     /* bytes between updates of the progress line */
  first_growth = 32 << 10, /* small, so that a pipe with few records does not start the GPU */
  growth_limit = 64 << 20  /* a pipe's buffer doubles up to this size, then grows by it */
};

/* ---- One file ---- */

static bool no_memory(const tool_reader *reader)
{
  tool_error_errno(reader->name, ENOMEM);
  return false;
}

/* The offset that means the current position. */
static const uint64_t here = UINT64_MAX;

/* One read(2) or pread(2): 0 bytes at the end of the file. */
static bool read_from(const tool_reader *reader, uint64_t offset, void *to, size_t capacity,
                      size_t *got)
{
  const size_t wanted = capacity < (1u << 30) ? capacity : 1u << 30;
  ssize_t size;
  do {
    size = offset == here ? read(reader->fd, to, wanted)
                          : pread(reader->fd, to, wanted, (off_t)offset);
  } while (size < 0 && errno == EINTR);
  if (size < 0) {
    tool_error_errno(reader->name, errno);
    return false;
  }
  *got = (size_t)size;
  return true;
}

static bool read_some(const tool_reader *reader, void *to, size_t capacity, size_t *got)
{
  return read_from(reader, here, to, capacity, got);
}

/* Reads until `bytes` holds `size` bytes or the file ends. */
static bool read_up_to(const tool_reader *reader, tool_bytes *bytes, uint64_t size)
{
  while (bytes->size < size) {
    const uint64_t rest = size - bytes->size;
    const size_t capacity = rest < chunk ? (size_t)rest : chunk;
    size_t got;
    if (!tool_bytes_reserve(bytes, bytes->size + capacity)) return no_memory(reader);
    if (!read_some(reader, bytes->data + bytes->size, capacity, &got)) return false;
    if (got == 0) break;
    bytes->size += got;
  }
  return true;
}

/* Copies `size` bytes, or as many as there are, to an output (NULL: discards them). */
static bool pass_on(const tool_reader *reader, uint64_t offset, uint64_t size, tool_output *to,
                    uint64_t *passed)
{
  *passed = 0;
  if (size == 0) return true;
  const size_t capacity = size < chunk ? (size_t)size : chunk;
  void *const buffer = malloc(capacity);
  bool done = buffer != NULL || no_memory(reader);
  while (done && *passed < size) {
    const uint64_t rest = size - *passed;
    size_t got;
    done = read_from(reader, offset == here ? here : offset + *passed, buffer,
                     rest < capacity ? (size_t)rest : capacity, &got) &&
           (to == NULL || tool_output_write(to, buffer, got));
    if (!done || got == 0) break;
    *passed += got;
  }
  free(buffer);
  return done;
}

static bool is_counted(const tool_format *format)
{
  return format->count != TOOL_ANY;
}

static bool too_short(const tool_reader *reader, uint64_t size)
{
  const tool_format *const format = &reader->format;
  if (is_counted(format)) {
    tool_error("%s: %" PRIu64 " bytes are too few for its header of %" PRIu64 " and %" PRIu64
               " records of %zu",
               reader->name, size, format->skip, format->count, format->record_size);
  } else {
    tool_error("%s: %" PRIu64 " bytes are too few for its header of %" PRIu64
               " and its trailer of %" PRIu64,
               reader->name, size, format->skip, format->trailer);
  }
  return false;
}

/* The size of a file does not agree with the count in its header. */
static bool wrong_count(const tool_reader *reader, uint64_t size)
{
  const tool_format *const format = &reader->format;
  const uint64_t trailer = format->trailer != TOOL_ANY ? format->trailer : 0;
  const uint64_t around = format->skip + trailer;
  const uint64_t allowed = size > around ? (size - around) / format->record_size : 0;
  tool_error(
      "%s: its header says %" PRIu64 " records, and its size allows %" PRIu64 "%s", reader->name,
      format->count, allowed,
      allowed > format->count
          ? "; if other data follows them, say so by --trailer, or by trailer: any in the schema"
          : "");
  return false;
}

static bool wrong_trailer(const tool_reader *reader, bool more)
{
  tool_error("%s: %s than the trailer's %" PRIu64 " bytes follow %" PRIu64 " records", reader->name,
             more ? "more" : "fewer", reader->format.trailer, reader->format.count);
  return false;
}

static bool truncated(const tool_reader *reader)
{
  tool_error("%s: it was truncated while it was being read", reader->name);
  return false;
}

static bool check_whole(const tool_reader *reader, uint64_t size)
{
  const uint64_t rest = size % reader->format.record_size;
  if (rest == 0) return true;
  tool_error("%s: %" PRIu64 " bytes%s are not a multiple of the record size (%zu): %" PRIu64
             " left over",
             reader->name, size,
             reader->format.skip | reader->format.trailer ? " without header and trailer" : "",
             reader->format.record_size, rest);
  return false;
}

/* The bytes of counted records. False if no file is so large. */
static bool counted_size(const tool_format *format, uint64_t *size)
{
  return !__builtin_mul_overflow(format->count, (uint64_t)format->record_size, size) &&
         *size <= INT64_MAX;
}

/* Divides a file of `size` bytes into records and trailer. False if it is too short. */
static bool divide(const tool_format *format, uint64_t size, uint64_t *records, uint64_t *trailer)
{
  if (format->skip > size) return false;
  const uint64_t rest = size - format->skip;
  *trailer = format->trailer;
  if (!is_counted(format)) {
    *records = rest - *trailer;
    return *trailer <= rest;
  }
  if (!counted_size(format, records) || *records > rest) return false;
  *trailer = rest - *records;
  return true;
}

/* Reads where the records are, if the header says it. False, with `why` unless there was a message,
 * if it cannot be read. */
static bool find_records(tool_reader *reader, tool_why *why)
{
  tool_format *const format = &reader->format;
  tool_bytes *const bytes = &reader->header;
  why->text[0] = '\0';
  for (;;) {
    const size_t needed = format->header->needed(format, bytes->data, bytes->size);
    if (needed <= bytes->size) break;
    if (!read_up_to(reader, bytes, needed)) return false;
    if (bytes->size >= needed) continue;
    snprintf(why->text, sizeof why->text, "%zu bytes are too few for its header", bytes->size);
    return false;
  }
  reader->header_read = bytes->size;
  return format->header->read(format, bytes->data, bytes->size, why);
}

static bool read_header(tool_reader *reader)
{
  tool_why why;
  if (reader->format.header == NULL || find_records(reader, &why)) return true;
  if (why.text[0] != '\0') tool_error("%s: %s", reader->name, why.text);
  return false;
}

/* True if what follows the records is short or long by at least a record. */
static bool is_off_by_records(const tool_reader *reader)
{
  const uint64_t trailer = reader->format.trailer;
  return reader->trailer < trailer || reader->trailer - trailer >= reader->format.record_size;
}

/* Measures a regular file. Size 0 may mean that the size is unknown, as in /proc. */
static bool measure(tool_reader *reader)
{
  const tool_format *const format = &reader->format;
  const off_t start = lseek(reader->fd, 0, SEEK_CUR);
  reader->sized = S_ISREG(reader->status.st_mode) && start >= 0 && reader->status.st_size > start;
  if (!reader->sized) return true;
  const uint64_t size = (uint64_t)(reader->status.st_size - start);
  if (!read_header(reader)) return false;
  const bool divided = divide(format, size, &reader->size, &reader->trailer);
  const bool exact = format->trailer == TOOL_ANY || reader->trailer == format->trailer;
  if (format->header != NULL && is_counted(format) && format->skip <= size &&
      (!divided || (!exact && is_off_by_records(reader)))) {
    return wrong_count(reader, size);
  }
  if (!divided) return too_short(reader, size);
  if (!exact) {
    return wrong_trailer(reader, reader->trailer > format->trailer);
  }
  if (!check_whole(reader, reader->size)) return false;
  reader->start = (uint64_t)start;
  reader->left = reader->size;
  posix_fadvise(reader->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  if (format->skip == 0 || lseek(reader->fd, start + (off_t)format->skip, SEEK_SET) >= 0) {
    return true;
  }
  tool_error_errno(reader->name, errno);
  return false;
}

/* The header of a pipe that says where the records are; it is written when the count is known. */
static bool hold_header(tool_reader *reader)
{
  const tool_bytes *const ahead = reader->format.ahead;
  if (ahead != NULL && reader->fd == STDIN_FILENO &&
      !tool_bytes_append(&reader->header, ahead->data, ahead->size)) {
    return no_memory(reader);
  }
  if (!read_header(reader)) return false;
  if (!read_up_to(reader, &reader->header, reader->format.skip)) return false;
  reader->header_read = reader->header.size;
  return reader->header.size == reader->format.skip || too_short(reader, reader->header.size);
}

static bool begin_pipe(tool_reader *reader, tool_output *header)
{
  uint64_t passed;
  const bool held = reader->format.header != NULL;
  if (held && !hold_header(reader)) return false;
  if (is_counted(&reader->format) && !counted_size(&reader->format, &reader->left)) {
    return too_short(reader, 0);
  }
  return held || (pass_on(reader, here, reader->format.skip, header, &passed) &&
                  (passed == reader->format.skip || too_short(reader, passed)));
}

bool tool_reader_open(tool_reader *reader, const char *path, const tool_format *format,
                      tool_output *header)
{
  *reader = (tool_reader){.name = tool_input_name(path), .format = *format};
  reader->fd = tool_is_standard(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (reader->fd < 0 || fstat(reader->fd, &reader->status) != 0) {
    tool_error_errno(reader->name, errno);
    return false;
  }
  if (S_ISDIR(reader->status.st_mode)) {
    tool_error_errno(reader->name, EISDIR);
    return false;
  }
  if (format->repeat) return true; /* what it holds is known once it has been read */
  return measure(reader) && (reader->sized || begin_pipe(reader, header));
}

static bool same_time(struct timespec a, struct timespec b)
{
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* mtime can be set back, ctime cannot. But ctime also changes when the file loses a name, because
 * it was replaced or removed while it was read. */
static bool was_changed(const struct stat *before, const struct stat *now)
{
  return now->st_size != before->st_size || !same_time(now->st_mtim, before->st_mtim) ||
         (now->st_nlink == before->st_nlink && !same_time(now->st_ctim, before->st_ctim));
}

static uint64_t trailer_offset(const tool_reader *reader)
{
  return reader->start + reader->format.skip + reader->size;
}

/* Checks that a regular file ends after its trailer and was not written to. */
static bool finish_sized(const tool_reader *reader)
{
  unsigned char beyond;
  size_t got;
  struct stat now;
  if (!read_from(reader, trailer_offset(reader) + reader->trailer, &beyond, 1, &got)) return false;
  if (fstat(reader->fd, &now) != 0) {
    tool_error_errno(reader->name, errno);
    return false;
  }
  if (got != 0 || was_changed(&reader->status, &now)) {
    tool_error("%s: it was changed while it was being read", reader->name);
    return false;
  }
  return true;
}

static bool read_sized(tool_reader *reader, unsigned char *to, size_t capacity, size_t *got)
{
  const size_t wanted = capacity < reader->left ? capacity : (size_t)reader->left;
  size_t size = 0;
  if (wanted == 0) {
    *got = 0;
    return finish_sized(reader);
  }
  while (size < wanted) {
    size_t more;
    if (!read_some(reader, to + size, wanted - size, &more)) return false;
    if (more == 0) return truncated(reader);
    size += more;
  }
  reader->left -= size;
  *got = size;
  return true;
}

/* Reads part [offset, offset + size) of a file. Returns 0, an error number, or EOF at its end. */
static int read_at(int fd, unsigned char *to, size_t size, uint64_t offset)
{
  while (size > 0) {
    const ssize_t got = pread(fd, to, size, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : EOF;
    to += got;
    size -= (size_t)got;
    offset += (uint64_t)got;
  }
  return 0;
}

/* A file that several threads read. */
typedef struct rest {
  const tool_reader *reader;
  unsigned char *to;
  uint64_t start;
  uint64_t size;
  const atomic_bool *unwanted;
  atomic_int result;
} rest;

static void read_piece(void *argument, size_t piece, unsigned slot)
{
  rest *const r = argument;
  const uint64_t offset = piece * read_size, left = r->size - offset;
  if (r->result != 0 || *r->unwanted) return;
  const int failure = read_at(r->reader->fd, r->to + offset, left < read_size ? left : read_size,
                              r->start + offset);
  if (failure != 0) r->result = failure;
  if (slot == 0) tool_progress_update(offset);
}

/* Reads the rest of a regular file with several threads, as most of the time goes into page faults
 * of the buffer. */
static bool read_rest(tool_reader *reader, unsigned char *to, const atomic_bool *unwanted)
{
  const uint64_t size = reader->left;
  const off_t start = lseek(reader->fd, 0, SEEK_CUR);
  rest r = {reader, to, (uint64_t)start, size, unwanted, start < 0 ? errno : 0};
  tool_team_each((size + read_size - 1) / read_size, read_piece, &r);
  if (r.result == EOF) return truncated(reader);
  if (r.result == 0 && lseek(reader->fd, start + (off_t)size, SEEK_SET) < 0) r.result = errno;
  if (r.result != 0) {
    tool_error_errno(reader->name, r.result);
    return false;
  }
  reader->left = 0;
  reader->given += size;
  return true;
}

/* Reads the given number of records from a pipe. */
static bool read_counted(tool_reader *reader, unsigned char *to, size_t capacity, size_t *got)
{
  *got = 0;
  if (reader->left == 0) return true;
  if (!read_some(reader, to, capacity < reader->left ? capacity : (size_t)reader->left, got))
    return false;
  if (*got == 0) return too_short(reader, reader->format.skip + reader->given);
  reader->left -= *got;
  return true;
}

/* Reads records from a pipe whose last bytes are the trailer: always holds back as many bytes. */
static bool read_held(tool_reader *reader, unsigned char *to, size_t capacity, size_t *got)
{
  tool_bytes *const held = &reader->held;
  const uint64_t trailer = reader->format.trailer;
  if (held->size <= trailer && !read_up_to(reader, held, trailer + chunk)) return false;
  if (held->size < trailer) return too_short(reader, reader->format.skip + held->size);
  const size_t free_bytes = held->size - (size_t)trailer;
  const size_t size = capacity < free_bytes ? capacity : free_bytes;
  *got = size;
  if (size == 0) return true;
  memcpy(to, held->data, size);
  memmove(held->data, held->data + size, held->size - size);
  held->size -= size;
  return true;
}

/* Reads the next of the repeated headers. `*ended` tells whether there is none. */
static bool next_block(tool_reader *reader, bool *ended)
{
  tool_format *const format = &reader->format;
  tool_bytes *const bytes = &reader->header;
  const size_t begin = bytes->size;
  tool_why why = {""};
  const size_t needed = format->header != NULL ? format->header->needed(format, NULL, 0) : 1;
  if (!read_up_to(reader, bytes, begin + needed)) return false;
  *ended = bytes->size == begin;
  if (*ended) return true;
  bool good = bytes->size - begin >= needed;
  if (good && format->header != NULL &&
      !format->header->read(format, bytes->data + begin, needed, &why)) {
    tool_error("%s: block %zu: %s", reader->name, reader->blocks.size / sizeof(tool_block),
               why.text);
    return false;
  }
  if (good && !read_up_to(reader, bytes, begin + format->skip)) return false;
  good = good && bytes->size - begin == format->skip && counted_size(format, &reader->left);
  if (!good) {
    tool_error("%s: block %zu: its header ends early", reader->name,
               reader->blocks.size / sizeof(tool_block));
    return false;
  }
  const tool_block block = {format->skip, format->count};
  return tool_bytes_append(&reader->blocks, &block, sizeof block) || no_memory(reader);
}

/* True if a regular file is still as it was opened. */
static bool is_unchanged(const tool_reader *reader)
{
  struct stat now;
  if (!S_ISREG(reader->status.st_mode) ||
      (fstat(reader->fd, &now) == 0 && !was_changed(&reader->status, &now))) {
    return true;
  }
  tool_error("%s: it was changed while it was being read", reader->name);
  return false;
}

/* Reads records between repeated headers. */
static bool read_repeated(tool_reader *reader, unsigned char *to, size_t capacity, size_t *got)
{
  bool ended = false;
  *got = 0;
  while (reader->left == 0 && !ended) {
    if (!next_block(reader, &ended)) return false;
  }
  if (ended) return is_unchanged(reader);
  if (!read_some(reader, to, capacity < reader->left ? capacity : (size_t)reader->left, got)) {
    return false;
  }
  reader->left -= *got;
  if (*got != 0) return true;
  tool_error("%s: block %zu: its header says %" PRIu64 " records, and the file ends before them",
             reader->name, reader->blocks.size / sizeof(tool_block) - 1, reader->format.count);
  return false;
}

bool tool_reader_read(tool_reader *reader, void *to, size_t capacity, size_t *got)
{
  size_t size;
  if (reader->sized) {
    if (!read_sized(reader, to, capacity, &size)) return false;
  } else {
    const bool read = reader->format.repeat         ? read_repeated(reader, to, capacity, &size)
                      : is_counted(&reader->format) ? read_counted(reader, to, capacity, &size)
                      : reader->format.trailer != 0 ? read_held(reader, to, capacity, &size)
                                                    : read_some(reader, to, capacity, &size);
    if (!read || (size == 0 && !check_whole(reader, reader->given))) return false;
  }
  reader->given += size;
  *got = size;
  return true;
}

bool tool_reader_read_records(tool_reader *reader, void *to, size_t capacity, size_t *count)
{
  const size_t record_size = reader->format.record_size;
  size_t size = 0;
  do {
    const size_t wanted = size == 0 ? capacity * record_size : record_size - size % record_size;
    size_t got;
    if (!tool_reader_read(reader, (unsigned char *)to + size, wanted, &got)) return false;
    if (got == 0) break;
    size += got;
  } while (size % record_size != 0);
  *count = size / record_size;
  return true;
}

bool tool_reader_put_header(tool_reader *reader, tool_output *to, uint64_t count)
{
  const tool_format *const format = &reader->format;
  tool_why why;
  uint64_t passed;
  if (format->header != NULL) {
    if (!format->header->write_count(format, &reader->header, count, &why)) {
      tool_error("%s: %s", reader->name, why.text);
      return false;
    }
    if (!tool_output_write(to, reader->header.data, reader->header.size)) return false;
  }
  if (!reader->sized) return true;
  const uint64_t left = format->skip - reader->header_read;
  return pass_on(reader, reader->start + reader->header_read, left, to, &passed) &&
         (passed == left || truncated(reader));
}

/* True if the file is also the output, as with 1<>FILE; it then changes while it is written. */
static bool is_input(const tool_reader *reader, const tool_output *output)
{
  struct stat status;
  return fstat(output->fd, &status) == 0 && status.st_ino == reader->status.st_ino &&
         status.st_dev == reader->status.st_dev;
}

static bool put_sized_trailer(const tool_reader *reader, tool_output *to)
{
  uint64_t passed;
  if (to == NULL || reader->trailer == 0) return true;
  if (!pass_on(reader, trailer_offset(reader), reader->trailer, to, &passed)) return false;
  if (passed < reader->trailer) return truncated(reader);
  return is_input(reader, to) || finish_sized(reader);
}

static bool put_counted_trailer(const tool_reader *reader, tool_output *to)
{
  const uint64_t wanted = reader->format.trailer;
  uint64_t passed, beyond = 0;
  if (!pass_on(reader, here, wanted, to, &passed)) return false;
  if (wanted == TOOL_ANY) return true;
  if (passed < wanted) return wrong_trailer(reader, false);
  return pass_on(reader, here, 1, NULL, &beyond) && (beyond == 0 || wrong_trailer(reader, true));
}

bool tool_reader_put_trailer(tool_reader *reader, tool_output *to)
{
  if (reader->format.repeat) return true;
  if (reader->sized) return put_sized_trailer(reader, to);
  if (is_counted(&reader->format)) return put_counted_trailer(reader, to);
  return to == NULL || tool_output_write(to, reader->held.data, reader->held.size);
}

void tool_reader_close(tool_reader *reader)
{
  if (reader->fd > STDERR_FILENO) close(reader->fd);
  tool_bytes_free(&reader->held);
  tool_bytes_free(&reader->header);
  tool_bytes_free(&reader->blocks);
  reader->fd = -1;
}

/* ---- All files ---- */

bool tool_peek_header(const char *path, tool_format *format, tool_bytes *bytes, bool *piped,
                      tool_why *why)
{
  const bool standard = tool_is_standard(path);
  tool_reader reader = {.name = tool_input_name(path), .format = *format};
  why->text[0] = '\0';
  reader.fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (reader.fd < 0) {
    tool_error_errno(reader.name, errno);
    return false;
  }
  const off_t start = lseek(reader.fd, 0, SEEK_CUR);
  const bool found = find_records(&reader, why);
  *piped = start < 0;
  if (!*piped) (void)lseek(reader.fd, start, SEEK_SET);
  *format = reader.format;
  *bytes = reader.header;
  reader.header = (tool_bytes){0};
  tool_reader_close(&reader);
  return found;
}

/* The format of one file; false if its header cannot be read, which opening it will report. */
static bool format_of(const char *path, tool_format *format)
{
  tool_bytes bytes = {0};
  tool_why why;
  bool piped;
  const bool found = format->header == NULL || tool_peek_header(path, format, &bytes, &piped, &why);
  tool_bytes_free(&bytes);
  return found;
}

bool tool_measure(char *const *paths, size_t path_count, const tool_format *format,
                  tool_extent *extent)
{
  *extent = (tool_extent){0};
  for (size_t i = 0; i < path_count; i++) {
    struct stat status;
    uint64_t records, trailer;
    tool_format own = *format;
    if (own.repeat || tool_is_standard(paths[i]) || stat(paths[i], &status) != 0 ||
        !S_ISREG(status.st_mode) || !format_of(paths[i], &own) ||
        !divide(&own, (uint64_t)status.st_size, &records, &trailer)) {
      return false;
    }
    if (i == 0) extent->around = own.skip + trailer;
    extent->count += records / own.record_size;
  }
  return path_count > 0;
}

/* Less memory can be had than is there, such as by ulimit -v. */
static bool too_large(const tool_reader *reader)
{
  tool_error("%s: not enough memory to sort it; " TOOL_SORT_PARTS, reader->name);
  return false;
}

/* Makes space for `more` bytes, if they and the memory to sort all records fit. */
static bool make_room(tool_records *records, const tool_reader *reader, uint64_t more,
                      const tool_reading *reading)
{
  size_t size;
  if (__builtin_add_overflow(records->records.size, more, &size)) return too_large(reader);
  if (!reading->fits(reading->context, reader->name, more, size / reader->format.record_size)) {
    return false;
  }
  /* at least one byte, so that the pointer is not NULL */
  return tool_bytes_reserve(&records->records, size != 0 ? size : 1) || too_large(reader);
}

/* Appends the records of one open input. */
static bool read_input(tool_records *records, tool_reader *reader, const tool_reading *reading)
{
  tool_bytes *const bytes = &records->records;
  if (reader->sized && !make_room(records, reader, reader->left, reading)) return false;
  tool_progress_begin("reading", reader->left);
  if (reader->sized && reader->left > read_size) {
    const size_t size = (size_t)reader->left;
    if (!read_rest(reader, bytes->data + bytes->size, reading->unwanted)) return false;
    bytes->size += size;
  }
  for (;;) {
    if (!reader->sized && bytes->size == bytes->capacity) {
      const size_t step = bytes->size < growth_limit ? bytes->size + first_growth : growth_limit;
      if (!make_room(records, reader, step, reading)) return false;
    }
    const size_t capacity = bytes->capacity - bytes->size;
    size_t got;
    if (!tool_reader_read(reader, bytes->data + bytes->size,
                          capacity < read_size ? capacity : read_size, &got)) {
      return false;
    }
    if (got == 0) return true;
    bytes->size += got;
    tool_progress_update(reader->given);
  }
}

/* The first input stays open: its header and trailer are copied when the records are written. */
bool tool_read_records(tool_records *records, char *const *paths, size_t path_count,
                       const tool_format *format, const tool_reading *reading)
{
  const size_t inputs = path_count != 0 ? path_count : 1;
  *records = (tool_records){.ends = calloc(inputs, sizeof *records->ends), .first.fd = -1};
  if (records->ends == NULL) {
    tool_error_memory(inputs * sizeof *records->ends);
    return false;
  }
  for (size_t i = 0; i < inputs && !*reading->unwanted; i++) {
    tool_reader later;
    tool_reader *const reader = i == 0 ? &records->first : &later;
    const bool done = tool_reader_open(reader, path_count != 0 ? paths[i] : NULL, format,
                                       i == 0 ? reading->header : NULL) &&
                      read_input(records, reader, reading) &&
                      (i == 0 || tool_reader_put_trailer(reader, NULL));
    if (i != 0) tool_reader_close(reader);
    if (!done) return false;
    records->ends[i] = records->records.size / format->record_size;
  }
  records->count = records->records.size / format->record_size;
  return true;
}

void tool_records_free(tool_records *records)
{
  free(records->ends);
  tool_bytes_free(&records->records);
  tool_reader_close(&records->first);
}
