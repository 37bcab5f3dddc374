/* input.c - reads files of records. */
#include "support/input.h"

#include "support/message.h"
#include "support/places.h"
#include "support/signature.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
  growth = 1 << 20 /* for data that may never come */
};

/* ---- What is wrong ---- */

static bool system_failed(tool_why *why)
{
  snprintf(why->text, sizeof why->text, "%s", strerror(errno));
  why->system = true;
  return false;
}

/* Prints why a file is refused. */
static bool refused(const tool_reader *reader, const tool_why *why)
{
  tool_error("%s: %s", *reader->name != '\0' ? reader->name : "''", why->text);
  return false;
}

static bool failed(const tool_reader *reader)
{
  tool_error_errno(reader->name, errno);
  return false;
}

static bool is_counted(const tool_format *format)
{
  return format->count != TOOL_ANY;
}

static bool too_short(const tool_format *format, uint64_t size, tool_why *why)
{
  if (is_counted(format)) {
    snprintf(why->text, sizeof why->text,
             "%" PRIu64 " bytes are too few for its header of %" PRIu64 " and %" PRIu64
             " records of %zu",
             size, format->skip, format->count, format->record_size);
  } else {
    snprintf(why->text, sizeof why->text,
             "%" PRIu64 " bytes are too few for its header of %" PRIu64
             " and its trailer of %" PRIu64,
             size, format->skip, format->trailer);
  }
  return false;
}

/* The size of a file does not agree with the count in its header. */
static bool wrong_count(const tool_format *format, uint64_t size, tool_why *why)
{
  const uint64_t trailer = format->trailer != TOOL_ANY ? format->trailer : 0;
  const uint64_t around = format->skip + trailer + format->heap;
  const uint64_t allowed = size > around ? (size - around) / format->record_size : 0;
  snprintf(
      why->text, sizeof why->text,
      "its header says %" PRIu64 " records, and its size allows %" PRIu64 "%s", format->count,
      allowed,
      allowed > format->count
          ? "; if other data follows them, say so by --trailer, or by trailer: any in the schema"
          : "");
  return false;
}

static bool wrong_trailer(const tool_format *format, bool more, tool_why *why)
{
  snprintf(why->text, sizeof why->text,
           "%s than the trailer's %" PRIu64 " bytes follow %" PRIu64 " records",
           more ? "more" : "fewer", format->trailer, format->count);
  return false;
}

static bool wrong_padding(uint64_t size, tool_why *why)
{
  snprintf(why->text, sizeof why->text,
           "the %" PRIu64 " bytes behind its records are not the padding that the schema says",
           size);
  return false;
}

/* A count of 0 that may never have been filled in. */
static bool wrong_zero(tool_why *why)
{
  snprintf(
      why->text, sizeof why->text,
      "its header says 0 records, and other bytes follow it; zero: all in the schema takes them "
      "as records, and --count 0 leaves them as they are");
  return false;
}

bool tool_reader_truncated(const tool_reader *reader)
{
  tool_error("%s: it was truncated while it was being read", reader->name);
  return false;
}

static bool is_whole(const tool_format *format, uint64_t size, tool_why *why)
{
  const uint64_t rest = size % format->record_size;
  if (rest == 0) return true;
  snprintf(why->text, sizeof why->text,
           "%" PRIu64 " bytes%s are not a multiple of the record size (%zu): %" PRIu64 " left over",
           size, format->skip | format->trailer ? " without header and trailer" : "",
           format->record_size, rest);
  return false;
}

/* ---- The header ---- */

/* Reads until `size` bytes of the header, or of what follows it, are in memory. */
static bool look(tool_reader *reader, size_t size, tool_why *why)
{
  tool_bytes *const bytes = &reader->header;
  if (bytes->size >= size) return true;
  if (!reader->sized) return tool_stream_fill(&reader->stream, bytes, size) || system_failed(why);
  size_t got;
  errno = ENOMEM;
  if (!tool_bytes_reserve(bytes, size) ||
      !tool_stream_read_at(&reader->stream, reader->start + bytes->size, bytes->data + bytes->size,
                           size - bytes->size, &got)) {
    return system_failed(why);
  }
  bytes->size += got;
  return true;
}

/* Reads a header that only code understands. */
static bool read_special(tool_reader *reader, tool_why *why)
{
  tool_format *const format = &reader->format;
  const tool_bytes *const bytes = &reader->header;
  for (size_t asked = 0;;) {
    const size_t needed = format->header->needed(format, bytes->data, asked);
    if (needed == asked) return format->header->read(format, bytes->data, asked, why);
    if (!look(reader, needed, why)) return false;
    if (bytes->size < needed) {
      snprintf(why->text, sizeof why->text, "%zu bytes are too few for its header", bytes->size);
      return false;
    }
    asked = needed;
  }
}

/* Reads where the records are, if the header says it. */
static bool read_header(tool_reader *reader, tool_why *why)
{
  tool_format *const format = &reader->format;
  const tool_bytes *const bytes = &reader->header;
  if (format->header != NULL) return read_special(reader, why);
  if (format->file.place_count == 0) return true;
  for (size_t asked = 0;;) {
    size_t needed;
    const bool ended = bytes->size < asked;
    tool_format found = *format;
    if (!tool_places_read(&found, bytes->data, bytes->size, ended, &needed, why)) return false;
    if (needed <= bytes->size) {
      *format = found;
      if (is_counted(format) || format->trailer != TOOL_ANY) return true;
      snprintf(why->text, sizeof why->text,
               "it has none of the places that say how many records there are");
      return false;
    }
    asked = needed;
    if (!look(reader, needed, why)) return false;
  }
}

/* True if the schema or the command line says what the file is. */
static bool is_insisted(const tool_format *format)
{
  return format->header != NULL || format->said.raw ||
         tool_format_has(format, RECSORT_PLACE_EXPECT, RECSORT_PLACE_EXPECT);
}

static bool knows_header(const tool_format *format)
{
  return format->said.skip != TOOL_ANY || format->skip != 0 ||
         tool_format_has(format, RECSORT_PLACE_SKIP, RECSORT_PLACE_SKIP_LINES);
}

/* Refuses a file that is known to hold something else. */
static bool is_plain(tool_reader *reader, tool_why *why)
{
  const tool_format *const format = &reader->format;
  const tool_bytes *const bytes = &reader->header;
  unsigned char end[TOOL_SIGNATURE_END];
  size_t got = 0;
  if (is_insisted(format)) return true;
  if (!look(reader, TOOL_SIGNATURE, why)) return false;
  if (tool_signature_is_npy(bytes->data, bytes->size) && !knows_header(format)) {
    snprintf(why->text, sizeof why->text,
             "it is a .npy file, which needs no schema; to use one, say how long its header is: "
             "--skip N");
    return false;
  }
  reader->needs_end = tool_signature_needs_end(bytes->data, bytes->size);
  if (reader->sized && reader->needs_end &&
      !tool_stream_read_at(&reader->stream, (uint64_t)reader->status.st_size - sizeof end, end,
                           sizeof end, &got)) {
    return system_failed(why);
  }
  return !tool_signature_is_foreign(bytes->data, bytes->size, got == sizeof end ? end : NULL, why);
}

/* Whether a pipe that began so has ended otherwise. */
static bool ends_plain(const tool_reader *reader, tool_why *why)
{
  const unsigned char *const last = reader->stream.last;
  return !reader->needs_end || !tool_signature_is_foreign(last, TOOL_SIGNATURE_END, last, why);
}

/* ---- The parts of a file ---- */

static bool is_padding(const tool_format *format, const unsigned char *bytes, size_t size)
{
  size_t i = 0;
  while (i < size && bytes[i] == format->file.pad_with)
    i++;
  return i == size;
}

/* The bytes behind the header of a file without records, other than padding. */
static uint64_t least_behind(const tool_format *format)
{
  return format->heap + (format->trailer != TOOL_ANY ? format->trailer : 0);
}

/* True if `rest` bytes follow the header that may be the records of a count of 0: not only padding,
 * as are the bytes of `padding`, and the header has no offset of them. */
static bool is_followed(const tool_reader *reader, const unsigned char *padding, size_t size,
                        uint64_t rest)
{
  const tool_format *const format = &reader->format;
  uint64_t fixed = least_behind(format);
  if (is_padding(format, padding, size)) fixed += size;
  return rest > fixed && rest - fixed >= format->record_size &&
         !tool_places_end_at(format, &reader->header, format->skip);
}

/* Decides what a count of 0 means. */
static bool settle_zero(tool_reader *reader, tool_why *why)
{
  tool_format *const format = &reader->format;
  const size_t due = (size_t)tool_format_padding(format, format->skip, 0);
  if (!format->zero) return true;
  if (reader->sized) {
    const uint64_t size = (uint64_t)reader->status.st_size - reader->start;
    tool_bytes padding = {0};
    errno = ENOMEM;
    const bool read =
        tool_bytes_reserve(&padding, due) &&
        tool_stream_read_at(&reader->stream, reader->start + format->skip + format->heap,
                            padding.data, due, &padding.size);
    format->zero = is_followed(reader, padding.data, padding.size,
                               size > format->skip ? size - format->skip : 0);
    tool_bytes_free(&padding);
    if (!read) return system_failed(why);
  } else {
    const tool_bytes *const held = &reader->stream.held;
    if (!tool_stream_hold(&reader->stream, least_behind(format) + due + format->record_size))
      return system_failed(why);
    const bool whole = held->size >= format->heap + due;
    format->zero =
        is_followed(reader, whole ? held->data + format->heap : NULL, whole ? due : 0, held->size);
  }
  if (!format->zero) return true;
  if (!format->file.zero_all) return wrong_zero(why);
  format->count = TOOL_ANY;
  if (format->trailer == TOOL_ANY) format->trailer = 0;
  return true;
}

/* Divides a file of `size` bytes into its parts. False if it is too short. */
static bool divide(tool_reader *reader, uint64_t size)
{
  const tool_format *const format = &reader->format;
  if (format->skip > size) return false;
  const uint64_t rest = size - format->skip;
  if (!is_counted(format)) {
    const uint64_t fixed = format->trailer + format->heap;
    if (fixed > rest) return false;
    const uint64_t records = rest - fixed, over = records % format->record_size;
    const uint64_t due = tool_format_padding(format, format->skip, records / format->record_size);
    reader->padding = format->heap == 0 && over == due ? over : 0;
    reader->size = records - reader->padding;
    reader->trailer = format->trailer;
    return true;
  }
  if (!tool_format_size(format, format->count, &reader->size) || reader->size > rest ||
      format->heap > rest - reader->size) {
    return false;
  }
  const uint64_t behind = rest - reader->size - format->heap;
  const uint64_t due = tool_format_padding(format, format->skip, format->count);
  reader->padding = due < behind ? due : behind; /* the last one may be missing */
  reader->trailer = behind - reader->padding;
  return true;
}

static uint64_t behind_offset(const tool_reader *reader)
{
  return reader->start + reader->format.skip + reader->size;
}

/* Checks the padding of a regular file, and what its trailer says. */
static bool check_behind(tool_reader *reader, tool_why *why)
{
  tool_format *const format = &reader->format;
  const uint64_t at = behind_offset(reader) + format->heap;
  const size_t places = tool_places_behind(format);
  const uint64_t wanted = places < reader->trailer ? places : reader->trailer;
  size_t got;
  tool_bytes padding = {0};
  errno = ENOMEM;
  bool good = tool_bytes_reserve(&padding, (size_t)reader->padding) &&
              tool_bytes_reserve(&reader->behind, (size_t)wanted);
  good = good &&
         tool_stream_read_at(&reader->stream, at, padding.data, (size_t)reader->padding, &got) &&
         tool_stream_read_at(&reader->stream, at + reader->padding, reader->behind.data,
                             (size_t)wanted, &reader->behind.size);
  if (!good) system_failed(why);
  if (good && !is_padding(format, padding.data, (size_t)reader->padding))
    good = wrong_padding(reader->padding, why);
  tool_bytes_free(&padding);
  return good && (places == 0 || tool_places_check(format, &reader->header, &reader->behind,
                                                   tool_reader_count(reader), why));
}

/* True if what follows the records is short or long by at least a record. */
static bool is_off_by_records(const tool_reader *reader)
{
  const uint64_t trailer = reader->format.trailer;
  return reader->trailer < trailer || reader->trailer - trailer >= reader->format.record_size;
}

/* Measures a regular file, whose header has been read. */
static bool measure(tool_reader *reader, tool_why *why)
{
  const tool_format *const format = &reader->format;
  const uint64_t size = (uint64_t)reader->status.st_size - reader->start;
  if (!settle_zero(reader, why)) return false;
  const bool divided = divide(reader, size);
  const bool exact = format->trailer == TOOL_ANY || reader->trailer == format->trailer;
  if (tool_format_is_counted_by_file(format) && is_counted(format) && format->skip <= size &&
      (!divided || (!exact && is_off_by_records(reader)))) {
    return wrong_count(format, size, why);
  }
  if (!divided) return too_short(format, size, why);
  if (!exact) return wrong_trailer(format, reader->trailer > format->trailer, why);
  if (!is_whole(format, reader->size, why) || !check_behind(reader, why)) return false;
  if (reader->header.size > format->skip) reader->header.size = (size_t)format->skip;
  reader->left = reader->size;
  posix_fadvise(reader->stream.fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  return lseek(reader->stream.fd, (off_t)(reader->start + format->skip), SEEK_SET) >= 0 ||
         system_failed(why);
}

/* A pipe, whose header has been read as far as its places need it. If it has any, the rest of it
 * is too: it is written when the number of records is known. */
static bool begin_pipe(tool_reader *reader, tool_why *why)
{
  tool_format *const format = &reader->format;
  tool_bytes *const header = &reader->header;
  const bool has_places = format->header != NULL || format->file.place_count != 0;
  if (has_places) {
    tool_stream *const stream = &reader->stream;
    if (header->size < format->skip && !tool_stream_fill(stream, header, format->skip))
      return system_failed(why);
    if (header->size < format->skip) return too_short(format, header->size, why);
  }
  if (header->size > format->skip) { /* these are records */
    if (!tool_bytes_append(&reader->stream.held, header->data + format->skip,
                           header->size - (size_t)format->skip)) {
      errno = ENOMEM;
      return system_failed(why);
    }
    header->size = (size_t)format->skip;
  }
  reader->header_left = format->skip - header->size;
  if (!settle_zero(reader, why)) return false;
  return !is_counted(format) || tool_format_size(format, format->count, &reader->left) ||
         too_short(format, 0, why);
}

/* Opens the file, or takes over what has been opened already. */
static bool open_stream(tool_reader *reader, const char *path, tool_why *why)
{
  tool_ahead *const ahead = reader->format.ahead;
  if (ahead != NULL && ahead->open && ahead->path == path) {
    reader->stream.fd = ahead->fd;
    reader->header = ahead->bytes;
    *ahead = (tool_ahead){0};
  } else if (tool_is_standard(path)) {
    reader->stream.fd = STDIN_FILENO;
  } else {
    reader->stream.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  }
  if (reader->stream.fd < 0 || fstat(reader->stream.fd, &reader->status) != 0)
    return system_failed(why);
  errno = EISDIR;
  if (S_ISDIR(reader->status.st_mode)) return system_failed(why);
  /* Size 0 may mean that the size is unknown, as in /proc. */
  const off_t start = lseek(reader->stream.fd, 0, SEEK_CUR);
  reader->sized = !reader->format.file.repeat && S_ISREG(reader->status.st_mode) && start >= 0 &&
                  reader->status.st_size > start;
  reader->start = start >= 0 ? (uint64_t)start : 0;
  return true;
}

bool tool_reader_try(tool_reader *reader, const char *path, const tool_format *format,
                     tool_why *why)
{
  *reader = (tool_reader){.name = tool_input_name(path), .format = *format};
  reader->stream = (tool_stream){.name = reader->name, .fd = -1};
  why->system = false;
  if (!open_stream(reader, path, why) || !is_plain(reader, why)) return false;
  if (format->file.repeat) { /* what it holds is known once it has been read */
    reader->stream.held = reader->header;
    reader->header = (tool_bytes){0};
    return true;
  }
  return read_header(reader, why) &&
         (reader->sized ? measure(reader, why) : begin_pipe(reader, why));
}

bool tool_reader_open(tool_reader *reader, const char *path, const tool_format *format)
{
  tool_why why;
  return tool_reader_try(reader, path, format, &why) || refused(reader, &why);
}

bool tool_reader_measure(tool_reader *reader, const char *path, const tool_format *format)
{
  tool_why why;
  *reader = (tool_reader){.format = *format, .stream.fd = -1, .sized = true};
  if (format->file.repeat || tool_is_standard(path) || stat(path, &reader->status) != 0 ||
      !S_ISREG(reader->status.st_mode)) {
    return false;
  }
  if (format->header == NULL && format->file.place_count == 0)
    return divide(reader, (uint64_t)reader->status.st_size);
  const bool known = tool_reader_try(reader, path, format, &why);
  tool_reader_close(reader);
  return known;
}

/* ---- The first input ---- */

bool tool_ahead_open(tool_ahead *ahead, const char *path, tool_format *format, tool_why *why)
{
  tool_reader reader = {.name = tool_input_name(path), .format = *format};
  reader.stream = (tool_stream){.name = reader.name, .fd = -1};
  why->system = false;
  const bool found =
      open_stream(&reader, path, why) && is_plain(&reader, why) && read_header(&reader, why);
  *format = reader.format;
  /* A file is read again: this one was read without moving its position. */
  const bool open = found && !reader.sized && reader.stream.fd >= 0;
  *ahead = (tool_ahead){.path = path, .open = open, .fd = reader.stream.fd, .bytes = reader.header};
  if (open) reader.stream.fd = -1;
  tool_stream_close(&reader.stream);
  return found;
}

void tool_ahead_close(tool_ahead *ahead)
{
  if (ahead->open && ahead->fd > STDERR_FILENO) close(ahead->fd);
  tool_bytes_free(&ahead->bytes);
  *ahead = (tool_ahead){0};
}

bool tool_format_open(tool_format *format, recsort_schema *schema, const tool_said *said,
                      const char *path, bool look, tool_ahead *ahead)
{
  recsort_error error;
  tool_why why;
  *format = tool_format_of(schema, said);
  format->ahead = ahead;
  if (format->settled || !look) return true;
  tool_format found = *format;
  const char *const name = tool_input_name(path);
  if (!tool_ahead_open(ahead, path, &found, &why)) {
    tool_error("%s: %s", *name != '\0' ? name : "''", why.text);
    return false;
  }
  if (recsort_schema_set_record_size(schema, found.record_size, &error) != RECSORT_OK) {
    tool_error("%s: %s", name, error.text);
    return false;
  }
  format->record_size = found.record_size;
  format->settled = true;
  return true;
}

/* ---- Changes ---- */

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

static bool changed(const tool_reader *reader)
{
  tool_error("%s: it was changed while it was being read", reader->name);
  return false;
}

bool tool_reader_is_unchanged(const tool_reader *reader)
{
  unsigned char beyond;
  size_t got = 0;
  struct stat now;
  if (!S_ISREG(reader->status.st_mode)) return true;
  const uint64_t end = behind_offset(reader) + tool_reader_behind(reader) + reader->padding;
  if ((reader->sized && !tool_stream_read_at(&reader->stream, end, &beyond, 1, &got)) ||
      fstat(reader->stream.fd, &now) != 0) {
    return failed(reader);
  }
  return (got == 0 && !was_changed(&reader->status, &now)) || changed(reader);
}

/* ---- Records ---- */

static bool take(tool_reader *reader, void *to, size_t capacity, size_t *got)
{
  return tool_stream_take(&reader->stream, to, capacity, got) || failed(reader);
}

static bool read_sized(tool_reader *reader, unsigned char *to, size_t capacity, size_t *got)
{
  const size_t wanted = capacity < reader->left ? capacity : (size_t)reader->left;
  size_t size = 0;
  if (wanted == 0) {
    *got = 0;
    return tool_reader_is_unchanged(reader);
  }
  while (size < wanted) {
    size_t more;
    if (!take(reader, to + size, wanted - size, &more)) return false;
    if (more == 0) return tool_reader_truncated(reader);
    size += more;
  }
  reader->left -= size;
  *got = size;
  return true;
}

/* Reads the given number of records from a pipe. */
static bool read_counted(tool_reader *reader, unsigned char *to, size_t capacity, size_t *got)
{
  tool_why why;
  *got = 0;
  if (reader->left == 0) return true;
  if (!take(reader, to, capacity < reader->left ? capacity : (size_t)reader->left, got))
    return false;
  reader->left -= *got;
  return *got != 0 || (too_short(&reader->format, reader->format.skip + reader->given, &why),
                       refused(reader, &why));
}

/* Whether what ends the records is known only at the end of the pipe. */
static bool is_held(const tool_format *format)
{
  return format->trailer != 0 || format->heap != 0 || (format->zero && format->file.pad_to != 0);
}

/* Reads records from a pipe whose last bytes are the trailer: always holds back as many bytes, and
 * what is no whole record. */
static bool read_held(tool_reader *reader, unsigned char *to, size_t capacity, size_t *got)
{
  const tool_format *const format = &reader->format;
  const tool_bytes *const held = &reader->stream.held;
  const uint64_t behind = format->trailer + format->heap;
  tool_why why;
  *got = 0;
  for (bool ended = false;;) {
    if (held->size >= behind) {
      const uint64_t free_bytes = reader->given + held->size - behind;
      const uint64_t whole = free_bytes - free_bytes % format->record_size - reader->given;
      if (whole != 0) return take(reader, to, whole < capacity ? (size_t)whole : capacity, got);
    }
    if (ended) break;
    const size_t before = held->size;
    if (!tool_stream_hold(&reader->stream, behind + format->record_size + growth))
      return failed(reader);
    ended = held->size == before || held->size < behind + format->record_size + growth;
  }
  if (held->size >= behind) return true;
  too_short(format, format->skip + held->size, &why);
  return refused(reader, &why);
}

/* ---- The end of a pipe ---- */

/* The parts behind counted records, of which all that tells where they end is held. */
static bool split_counted(tool_reader *reader, tool_why *why)
{
  const tool_format *const format = &reader->format;
  const tool_bytes *const held = &reader->stream.held;
  const bool any = format->trailer == TOOL_ANY;
  const uint64_t due = tool_format_padding(format, format->skip, format->count);
  const uint64_t before = format->heap + due, wanted = any ? 0 : format->trailer;
  if (!tool_stream_hold(&reader->stream, before + wanted + 2)) return system_failed(why);
  if (held->size < format->heap) return too_short(format, format->skip + held->size, why);
  const uint64_t behind = held->size - format->heap;
  reader->padding = due < behind ? due : behind;
  const uint64_t trailer = behind - reader->padding;
  if (!is_padding(format, held->data + format->heap, (size_t)reader->padding))
    return wrong_padding(reader->padding, why);
  reader->trailer = any && trailer != 0 ? TOOL_ANY : trailer;
  return any || trailer == wanted || wrong_trailer(format, trailer > wanted, why);
}

/* The parts of what is left at the end of the pipe. */
static bool split_held(tool_reader *reader, tool_why *why)
{
  const tool_format *const format = &reader->format;
  const tool_bytes *const held = &reader->stream.held;
  const uint64_t behind = format->trailer + format->heap, over = held->size - behind;
  const uint64_t count = reader->given / format->record_size;
  reader->trailer = format->trailer;
  if (format->heap == 0 && over == tool_format_padding(format, format->skip, count) &&
      is_padding(format, held->data, (size_t)over)) {
    reader->padding = over;
    return true;
  }
  return is_whole(format, reader->given + over, why);
}

/* Finds the parts behind the records of a pipe, all of which have been read. */
static bool find_behind(tool_reader *reader)
{
  tool_format *const format = &reader->format;
  const size_t places = tool_places_behind(format);
  tool_why why = {.system = false};
  if (reader->ended) return true;
  reader->ended = true;
  bool good = is_counted(format) ? split_counted(reader, &why)
              : is_held(format)  ? split_held(reader, &why)
                                 : is_whole(format, reader->given, &why);
  good = good && (is_counted(format) || ends_plain(reader, &why));
  if (good && places != 0) {
    const tool_bytes *const held = &reader->stream.held;
    const size_t at = (size_t)(format->heap + reader->padding);
    const size_t there = held->size - at;
    good = tool_bytes_append(&reader->behind, held->data + at, places < there ? places : there) &&
           tool_places_check(format, &reader->header, &reader->behind, tool_reader_count(reader),
                             &why);
  }
  return good || refused(reader, &why);
}

/* Before the first record of a pipe: the header that has not been copied is held, or passed over.
 */
static bool pass_header(tool_reader *reader)
{
  const uint64_t skip = reader->format.skip;
  uint64_t passed = reader->header_left;
  tool_why why;
  if (reader->header_left == 0) return true;
  if (reader->keeps_header) {
    const size_t before = reader->header.size;
    if (!tool_stream_fill(&reader->stream, &reader->header, skip)) return failed(reader);
    passed = reader->header.size - before;
  } else if (!tool_stream_pass(&reader->stream, TOOL_HERE, reader->header_left, NULL, &passed)) {
    return false;
  }
  if (passed < reader->header_left) {
    too_short(&reader->format, skip - reader->header_left + passed, &why);
    return refused(reader, &why);
  }
  reader->header_left = 0;
  return true;
}

/* ---- Repeated headers ---- */

static bool bad_block(const tool_reader *reader, const char *text)
{
  tool_error("%s: block %zu: %s", reader->name, reader->blocks.size / sizeof(tool_block), text);
  return false;
}

/* Reads the next of the repeated headers. `*ended` tells whether there is none. */
static bool next_block(tool_reader *reader, bool *ended)
{
  tool_format *const format = &reader->format;
  tool_bytes *const bytes = &reader->header;
  const size_t begin = bytes->size;
  tool_why why = {.system = false};
  format->count = format->file.count != 0 ? format->file.count : TOOL_ANY;
  for (size_t needed = 1, size = 0; needed > size;) {
    if (!tool_stream_fill(&reader->stream, bytes, begin + needed)) return failed(reader);
    size = bytes->size - begin;
    *ended = size == 0;
    if (*ended) return true;
    if (size < needed) return bad_block(reader, "its header ends early");
    if (!tool_places_read(format, bytes->data + begin, size, false, &needed, &why))
      return bad_block(reader, why.text);
  }
  if (!is_counted(format))
    return bad_block(reader, "it has none of the places that say how many records there are");
  if (!tool_stream_fill(&reader->stream, bytes, begin + format->skip)) return failed(reader);
  if (bytes->size - begin != format->skip ||
      !tool_format_size(format, format->count, &reader->left)) {
    return bad_block(reader, "its header ends early");
  }
  const tool_block block = {format->skip, format->count};
  errno = ENOMEM;
  return tool_bytes_append(&reader->blocks, &block, sizeof block) || failed(reader);
}

/* Reads records between repeated headers. */
static bool read_repeated(tool_reader *reader, unsigned char *to, size_t capacity, size_t *got)
{
  bool ended = false;
  *got = 0;
  while (reader->left == 0 && !ended) {
    if (!next_block(reader, &ended)) return false;
  }
  if (ended) return tool_reader_is_unchanged(reader);
  if (!take(reader, to, capacity < reader->left ? capacity : (size_t)reader->left, got))
    return false;
  reader->left -= *got;
  if (*got != 0) return true;
  tool_error("%s: block %zu: its header says %" PRIu64 " records, and the file ends before them",
             reader->name, reader->blocks.size / sizeof(tool_block) - 1, reader->format.count);
  return false;
}

/* ---- One file ---- */

bool tool_reader_read(tool_reader *reader, void *to, size_t capacity, size_t *got)
{
  const tool_format *const format = &reader->format;
  size_t size;
  if (reader->sized) {
    if (!read_sized(reader, to, capacity, &size)) return false;
  } else {
    if (!pass_header(reader)) return false;
    const bool read = format->file.repeat  ? read_repeated(reader, to, capacity, &size)
                      : is_counted(format) ? read_counted(reader, to, capacity, &size)
                      : is_held(format)    ? read_held(reader, to, capacity, &size)
                                           : take(reader, to, capacity, &size);
    if (!read || (size == 0 && !format->file.repeat && !find_behind(reader))) return false;
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

uint64_t tool_reader_count(const tool_reader *reader)
{
  const size_t size = reader->format.record_size;
  if (reader->sized) return reader->size / size;
  return reader->ended ? reader->given / size : reader->format.count;
}

uint64_t tool_reader_behind(const tool_reader *reader)
{
  const tool_format *const format = &reader->format;
  const bool known = reader->sized || reader->ended;
  const uint64_t trailer = known ? reader->trailer : format->trailer;
  if (trailer != TOOL_ANY) return format->heap + trailer;
  /* more may follow than is held */
  return reader->ended ? reader->stream.held.size - reader->padding : format->heap + 1;
}

bool tool_reader_end(tool_reader *reader)
{
  uint64_t passed;
  return reader->sized || reader->format.file.repeat ||
         tool_stream_pass(&reader->stream, TOOL_HERE, TOOL_ANY, NULL, &passed);
}

void tool_reader_close(tool_reader *reader)
{
  tool_stream_close(&reader->stream);
  tool_bytes_free(&reader->header);
  tool_bytes_free(&reader->blocks);
  tool_bytes_free(&reader->behind);
}
