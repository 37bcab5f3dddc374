/* input.h - reading files of records.
 *
 *   tool_reader         one file's records as a stream of bytes, in constant memory
 *   tool_read_records   the records of several files, one after the other, in one buffer
 *
 * A file is: `skip` bytes of header, whole records, `trailer` bytes. Header and trailer go to an
 * output piece by piece, however large, so that what is written can be read with the same schema
 * again. From a pipe the header goes there as it comes, before the records are read; and of a
 * trailer whose start only the end of the pipe tells, `trailer` bytes are held. Files are read with
 * read(2), never mapped: a file truncated meanwhile is an error, not a SIGBUS. A regular file is
 * refused if its size changed or it was written to while it was read.
 */
#ifndef TOOL_INPUT_H
#define TOOL_INPUT_H

#include "support/output.h"

#include "recsort/recsort.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* As much as there is. */
#define TOOL_ANY UINT64_MAX

typedef struct tool_format {
  size_t record_size;
  uint64_t skip;
  uint64_t count;   /* records of each input, or TOOL_ANY */
  uint64_t trailer; /* TOOL_ANY, with a count: whatever follows them */
} tool_format;

tool_format tool_format_of(const recsort_schema *schema);

/* Some bytes in memory that can grow; all zero is an empty one. Large ones lie in huge pages. */
typedef struct tool_bytes {
  unsigned char *data;
  size_t size;
  size_t capacity;
} tool_bytes;

/* Grows it to `capacity` bytes in all; false, without a message, if there is no memory. */
bool tool_bytes_reserve(tool_bytes *bytes, size_t capacity);
void tool_bytes_free(tool_bytes *bytes);

typedef struct tool_reader {
  const char *name; /* for messages */
  tool_format format;
  int fd;
  bool sized;         /* a regular file: what follows is known */
  struct stat status; /* as it was opened */
  uint64_t start;     /* sized: where the header begins */
  uint64_t size;      /* sized: bytes of records */
  uint64_t trailer;   /* sized: bytes behind them */
  uint64_t left;      /* sized or counted: bytes of records still to be read */
  uint64_t given;     /* bytes of records given out */
  tool_bytes held;    /* not sized: bytes read that may be the trailer */
} tool_reader;

/* Opens `path` (NULL or "-": standard input). The header of what is no regular file goes to
 * `header` (NULL: nowhere) at once. Afterwards tool_reader_close is due whatever was returned. */
bool tool_reader_open(tool_reader *reader, const char *path, const tool_format *format,
                      tool_output *header);
/* Reads at most `capacity` bytes of records. Fewer are given only at the end or from a pipe; 0 only
 * at the end, and then the file was whole. */
bool tool_reader_read(tool_reader *reader, void *to, size_t capacity, size_t *got);
/* Reads 1 to `capacity` whole records, or 0 at the end. */
bool tool_reader_read_records(tool_reader *reader, void *to, size_t capacity, size_t *count);
/* Copies the header of a regular file; that of anything else has gone where it should. */
bool tool_reader_put_header(tool_reader *reader, tool_output *to);
/* Copies what stands behind the records (NULL: nowhere). From a pipe, after the last of them. */
bool tool_reader_put_trailer(tool_reader *reader, tool_output *to);
void tool_reader_close(tool_reader *reader);

/* All records of the inputs, and the first input, whose header and trailer may be wanted. */
typedef struct tool_records {
  tool_bytes records;
  size_t count;
  uint64_t *ends; /* of each input, as the number of the record that follows it */
  tool_reader first;
} tool_records;

/* What the inputs hold by their sizes, before they are read. */
typedef struct tool_extent {
  uint64_t count;  /* records of all */
  uint64_t around; /* bytes of header and trailer of the first */
} tool_extent;

/* False, without a message, if that is unknown or wrong. */
bool tool_measure(char *const *paths, size_t path_count, const tool_format *format,
                  tool_extent *extent);

/* How the inputs are read. */
typedef struct tool_reading {
  tool_output *header; /* as for tool_reader_open, of the first */
  /* Whether there is memory for `more` bytes of records, if `count` are to be sorted then; says so
   * if not. Asked before they are read. */
  bool (*fits)(void *context, const char *name, uint64_t more, uint64_t count);
  void *context;
  const atomic_bool *unwanted; /* another thread sets it: the rest is left out */
} tool_reading;

/* Reads `path_count` inputs; none: standard input. tool_records_free is due whatever was returned.
 */
bool tool_read_records(tool_records *records, char *const *paths, size_t path_count,
                       const tool_format *format, const tool_reading *reading);
void tool_records_free(tool_records *records);

#endif
