/* records.c - see records.h. */
#include "support/records.h"

#include "support/around.h"
#include "support/message.h"
#include "support/places.h"
#include "support/progress.h"
#include "support/team.h"

#include "files/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
  read_size = 8 << 20,     /* bytes between updates of the progress line */
  pass_size = 1 << 20,     /* bytes of records that are passed on at a time, at least one record */
  freed_size = 2 << 20,    /* the same, if many are held: a huge page */
  first_growth = 32 << 10, /* small, so that a pipe with few records does not start the GPU */
  growth_limit = 64 << 20  /* a pipe's buffer doubles up to this size, then grows by it */
};

/* ---- What is dropped ---- */

bool tool_later_open(tool_reader *reader, const char *path, const tool_format *format)
{
  if (!tool_reader_open(reader, path, format)) return false;
  if (reader->format.heap == 0 || format->said.keep_trailer) return true;
  tool_error("%s: its records may refer to the %" PRIu64
             " bytes of its heap, which the output would lack: sort it alone, or insist by "
             "--keep-trailer",
             reader->name, reader->format.heap);
  return false;
}

void tool_dropped_add(tool_dropped *dropped, const tool_reader *reader)
{
  const uint64_t bytes = tool_reader_behind(reader);
  if (bytes <= tool_places_behind(&reader->format)) return; /* it only speaks of the records */
  if (dropped->count++ > 0) return;
  dropped->name = reader->name;
  dropped->bytes = reader->sized ? bytes : 0;
}

void tool_dropped_say(const tool_dropped *dropped)
{
  char bytes[24] = "", others[48] = "";
  if (dropped->count == 0) return;
  if (dropped->bytes != 0 && dropped->count == 1)
    snprintf(bytes, sizeof bytes, "%" PRIu64 " ", dropped->bytes);
  if (dropped->count > 1)
    snprintf(others, sizeof others, " and %zu more input%s", dropped->count - 1,
             dropped->count > 2 ? "s" : "");
  tool_error("%s%s: the %sbytes behind %s records are dropped: the output gets those of the first "
             "input",
             dropped->name, others, bytes, dropped->count > 1 ? "their" : "its");
}

/* ---- Before reading ---- */

bool tool_measure(char *const *paths, size_t path_count, const tool_format *format,
                  tool_extent *extent)
{
  *extent = (tool_extent){0};
  for (size_t i = 0; i < path_count; i++) {
    tool_reader reader;
    if (!tool_reader_measure(&reader, paths[i], format)) return false;
    if (i == 0) extent->around = reader.format.skip + tool_reader_behind(&reader);
    extent->count += reader.size / reader.format.record_size;
  }
  return path_count > 0;
}

/* ---- Reading ---- */

/* Reads part [offset, offset + size) of a file. Returns 0, an error number, or EOF at its end. */
static int read_at(const tool_reader *reader, unsigned char *to, size_t size, uint64_t offset)
{
  size_t got;
  if (!tool_stream_read_at(&reader->stream, offset, to, size, &got)) return errno;
  return got < size ? EOF : 0;
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
  const int failure =
      read_at(r->reader, r->to + offset, left < read_size ? left : read_size, r->start + offset);
  if (failure != 0) r->result = failure;
  if (slot == 0) tool_progress_update(offset);
}

/* Reads the rest of a regular file with several threads, as most of the time goes into page faults
 * of the buffer. */
static bool read_rest(tool_reader *reader, unsigned char *to, const atomic_bool *unwanted)
{
  const uint64_t size = reader->left;
  const off_t start = lseek(reader->stream.fd, 0, SEEK_CUR);
  rest r = {reader, to, (uint64_t)start, size, unwanted, start < 0 ? errno : 0};
  tool_team_each((size + read_size - 1) / read_size, read_piece, &r);
  if (r.result == EOF) return tool_reader_truncated(reader);
  if (r.result == 0 && lseek(reader->stream.fd, start + (off_t)size, SEEK_SET) < 0)
    r.result = errno;
  if (r.result != 0) {
    tool_error_errno(reader->name, r.result);
    return false;
  }
  reader->left = 0;
  reader->given += size;
  return true;
}

/* Less memory can be had than is there, such as by ulimit -v. */
static bool too_large(const tool_reader *reader)
{
  tool_error("%s: not enough memory to hold its records; set a limit by --memory", reader->name);
  return false;
}

/* Passes on all records that are held. The first bytes of another one, of a pipe, stay. The pages
 * of many are given back on the way, as whoever takes them needs as much. */
static bool pass_on(tool_records *records, const tool_reading *reading)
{
  tool_bytes *const bytes = &records->records;
  const size_t size = records->first.format.record_size, count = bytes->size / size;
  const size_t most = size < freed_size ? freed_size / size : 1;
  for (size_t done = 0, part; done < count; done += part) {
    part = count - done < most ? count - done : most;
    if (!reading->pass(reading->context, bytes->data + done * size, part)) return false;
    if (count > most) tool_bytes_give_back(bytes, (done + part) * size);
  }
  records->passed += count;
  tool_bytes_drop(bytes, count * size);
  return true;
}

/* Moves what is left to a buffer of `size` bytes. */
static bool shrink(tool_records *records, size_t size)
{
  tool_bytes small = {0};
  if (!tool_bytes_reserve(&small, size) ||
      !tool_bytes_append(&small, records->records.data, records->records.size)) {
    tool_bytes_free(&small);
    tool_error_memory(size);
    return false;
  }
  tool_bytes_free(&records->records);
  records->records = small;
  return true;
}

bool tool_records_pass(tool_records *records, const tool_reading *reading)
{
  if (!pass_on(records, reading)) return false;
  records->passing = true;
  tool_bytes_free(&records->records);
  return true;
}

/* The bytes that are passed on at a time. */
static size_t passed_size(const tool_reader *reader)
{
  const size_t size = reader->format.record_size;
  return size < pass_size ? pass_size / size * size : size;
}

/* Makes space for `more` bytes, if they and the memory to sort all records fit. Otherwise makes it
 * for what is passed on at a time. */
static bool make_room(tool_records *records, const tool_reader *reader, uint64_t more,
                      const tool_reading *reading)
{
  size_t size;
  if (__builtin_add_overflow(records->records.size, more, &size)) return too_large(reader);
  const tool_room room =
      reading->room(reading->context, reader->name, more, size / reader->format.record_size);
  if (room == TOOL_NO_ROOM) return false;
  if (room == TOOL_PASS_THEM) {
    records->passing = true;
    return pass_on(records, reading) && shrink(records, passed_size(reader));
  }
  /* at least one byte, so that the pointer is not NULL */
  return tool_bytes_reserve(&records->records, size != 0 ? size : 1) || too_large(reader);
}

static bool pass_pieces(tool_records *records, tool_reader *reader, rf_input *input,
                        const tool_reading *reading)
{
  const size_t record_size = reader->format.record_size;
  const void *piece;
  while (reader->left > 0) {
    size_t size;
    if (!rf_input_next(input, &piece, &size)) {
      tool_error_errno(reader->name, input->failure);
      return false;
    }
    if (size == 0 || size % record_size != 0) return tool_reader_truncated(reader);
    if (!reading->pass(reading->context, piece, size / record_size)) return false;
    records->passed += size / record_size;
    reader->left -= size;
    reader->given += size;
    tool_progress_update(reader->given);
  }
  return tool_reader_is_unchanged(reader);
}

/* Passes on the rest of a regular file, behind what is held. */
static bool pass_rest(tool_records *records, tool_reader *reader, const tool_reading *reading)
{
  const int fd = reader->stream.fd;
  const size_t size = passed_size(reader);
  const off_t start = lseek(fd, 0, SEEK_CUR), end = start + (off_t)reader->left;
  rf_input input;
  if (!pass_on(records, reading)) return false;
  if (!rf_input_open(&input, fd, (uint64_t)start, (uint64_t)end, size)) {
    tool_error_memory(2 * size);
    return false;
  }
  const bool passed = pass_pieces(records, reader, &input, reading);
  rf_input_close(&input);
  lseek(fd, end, SEEK_SET);
  return passed;
}

/* Appends the records of one open input. */
static bool read_input(tool_records *records, tool_reader *reader, const tool_reading *reading)
{
  tool_bytes *const bytes = &records->records;
  if (reader->sized && !records->passing && !make_room(records, reader, reader->left, reading)) {
    return false;
  }
  tool_progress_begin("reading", reader->left);
  if (reader->sized && records->passing) return pass_rest(records, reader, reading);
  if (reader->sized && !records->passing && reader->left > read_size) {
    const size_t size = (size_t)reader->left;
    if (!read_rest(reader, bytes->data + bytes->size, reading->unwanted)) return false;
    bytes->size += size;
  }
  for (;;) {
    const size_t most = records->passing ? passed_size(reader) : bytes->capacity;
    if (records->passing && bytes->size == most) {
      if (!pass_on(records, reading)) return false;
    } else if (!reader->sized && bytes->size == most) {
      const size_t step = bytes->size < growth_limit ? bytes->size + first_growth : growth_limit;
      if (!make_room(records, reader, step, reading)) return false;
      continue;
    }
    const size_t capacity = most - bytes->size;
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

/* A pipe's header goes to the new file at once, if it does not depend on the records. */
static bool begin_first(tool_reader *first, tool_output *output)
{
  if (output == NULL || first->header_left == 0) return true;
  if (tool_output_is_file(output) && !tool_format_has_numbers(&first->format))
    return tool_around_begin(first, output, TOOL_ANY);
  first->keeps_header = true;
  return true;
}

/* What follows the records of a later input is not copied. */
static bool end_later(tool_records *records, const tool_reading *reading, tool_reader *later)
{
  if (reading->output != NULL) tool_dropped_add(&records->dropped, later);
  return tool_reader_end(later);
}

/* The first input stays open: its header and trailer are copied when the records are written. */
bool tool_read_records(tool_records *records, char *const *paths, size_t path_count,
                       const tool_format *format, const tool_reading *reading)
{
  const size_t inputs = path_count != 0 ? path_count : 1;
  *records = (tool_records){.ends = calloc(inputs, sizeof *records->ends), .first.stream.fd = -1};
  if (records->ends == NULL) {
    tool_error_memory(inputs * sizeof *records->ends);
    return false;
  }
  for (size_t i = 0; i < inputs && !*reading->unwanted; i++) {
    tool_reader later;
    tool_reader *const reader = i == 0 ? &records->first : &later;
    const bool dropping = i > 0 && reading->output != NULL;
    const bool done =
        (dropping ? tool_later_open : tool_reader_open)(reader, path_count != 0 ? paths[i] : NULL,
                                                        format) &&
        (i > 0 || begin_first(reader, reading->output)) && read_input(records, reader, reading) &&
        (i == 0 || end_later(records, reading, reader));
    if (i != 0) tool_reader_close(reader);
    if (!done) return false;
    records->ends[i] = records->passed + records->records.size / format->record_size;
  }
  if (records->passing && !tool_records_pass(records, reading)) return false;
  records->count = (size_t)records->passed + records->records.size / format->record_size;
  return true;
}

void tool_records_free(tool_records *records)
{
  free(records->ends);
  tool_bytes_free(&records->records);
  tool_reader_close(&records->first);
}
