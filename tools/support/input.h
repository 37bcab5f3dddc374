/* input.h - reading files of records.
 *
 *   tool_reader         one file's records as a stream of bytes, in constant memory
 *   tool_read_records   the records of several files, one after the other, in one buffer
 *
 * A file is: `skip` bytes of header, whole records, `trailer` bytes. Both keep the header and the
 * trailer, so that what is written can be read with the same schema again. Files are read with
 * read(2), never mapped: one that is truncated underway is an error and no SIGBUS. A regular file
 * that does not end where it said it would, or was written to meanwhile, is refused.
 */
#ifndef TOOL_INPUT_H
#define TOOL_INPUT_H

#include "recsort/recsort.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

typedef struct tool_format {
  size_t record_size;
  uint64_t skip;
  uint64_t trailer;
} tool_format;

tool_format tool_format_of(const recsort_schema *schema);

/* Some bytes in memory that can grow; all zero is an empty one. Large ones lie in huge pages. */
typedef struct tool_bytes {
  unsigned char *data;
  size_t size;
  size_t capacity;
} tool_bytes;

/* Makes room for `capacity` bytes in all; false, without a message, if there is no memory. */
bool tool_bytes_reserve(tool_bytes *bytes, size_t capacity);
void tool_bytes_free(tool_bytes *bytes);

typedef struct tool_reader {
  const char *name; /* for messages */
  tool_format format;
  int fd;
  bool sized;         /* a regular file: `left` is known */
  struct stat status; /* as it was opened */
  uint64_t left;      /* sized: bytes of records still to be read */
  uint64_t given;     /* bytes of records given out */
  tool_bytes header;
  tool_bytes trailer; /* whole once tool_reader_read has returned 0 bytes */
  tool_bytes held;    /* not sized: bytes read that may be the trailer */
} tool_reader;

/* Opens `path` (NULL or "-": standard input) and reads its header. Afterwards
 * tool_reader_close is due whatever was returned. */
bool tool_reader_open(tool_reader *reader, const char *path, const tool_format *format);
/* Reads at most `room` bytes of records. Fewer are given only at the end or from a pipe; 0 only
 * at the end, and then the file was whole. */
bool tool_reader_read(tool_reader *reader, void *to, size_t room, size_t *got);
/* Reads 1 to `room` whole records, or 0 at the end. */
bool tool_reader_read_records(tool_reader *reader, void *to, size_t room, size_t *count);
void tool_reader_close(tool_reader *reader);

/* All records of the inputs, and the first input's header and trailer. */
typedef struct tool_records {
  tool_bytes records;
  size_t count;
  uint64_t *ends; /* of each input, as the number of the record that follows it */
  tool_bytes header;
  tool_bytes trailer;
} tool_records;

/* How many records the inputs hold, by their sizes; false, without a message, if that cannot be
 * told before they are read, or is wrong. */
bool tool_count_records(char *const *paths, size_t path_count, const tool_format *format,
                        uint64_t *count);
/* Reads `path_count` inputs; none: standard input. `working_size` is how many bytes a record will
 * take beside itself: what cannot fit into memory is refused before it is read. Once another thread
 * sets `*unwanted` the rest is left out. tool_records_free is due whatever was returned. */
bool tool_read_records(tool_records *records, char *const *paths, size_t path_count,
                       const tool_format *format, size_t working_size, const atomic_bool *unwanted);
void tool_records_free(tool_records *records);

#endif
