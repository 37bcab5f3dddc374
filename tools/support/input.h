/* input.h - reads files of records.
 *
 *   tool_reader         one file's records as a stream of bytes, in constant memory
 *   tool_read_records   the records of several files, one after the other, in one buffer
 *
 * A file consists of `skip` bytes of header, whole records, and `trailer` bytes. Header and trailer
 * are copied to the output piece by piece, however large, so that the same schema fits the output.
 * The header of a pipe is copied as it arrives, before the records are read; if only the end of the
 * pipe tells where the trailer begins, `trailer` bytes are held in memory. A header that says where
 * the records are is read first, and held in memory if it is that of a pipe; its count of records
 * becomes that of the output. Files are read with
 * read(2), never mapped: a file truncated meanwhile is an error, not a SIGBUS. A regular file is
 * refused if its size changed or it was written to while it was read.
 */
#ifndef TOOL_INPUT_H
#define TOOL_INPUT_H

#include "support/format.h"
#include "support/output.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* A header that is repeated, and what follows it. */
typedef struct tool_block {
  uint64_t header_size;
  uint64_t records;
} tool_block;

typedef struct tool_reader {
  const char *name; /* for messages */
  tool_format format;
  int fd;
  bool sized;           /* a regular file, so its layout is known: */
  struct stat status;   /* status when it was opened */
  uint64_t start;       /* sized: where the header begins */
  uint64_t size;        /* sized: bytes of records */
  uint64_t trailer;     /* sized: bytes behind them */
  uint64_t left;        /* sized or counted: bytes of records still to be read */
  uint64_t given;       /* bytes of records read */
  tool_bytes held;      /* not sized: bytes read that may be the trailer */
  tool_bytes header;    /* of a header that says where the records are: what was read of it, */
  uint64_t header_read; /* and how many bytes of the file that was; */
                        /* if headers are repeated, all of them, and for each: */
  tool_bytes blocks;    /* a tool_block */
} tool_reader;

/* Reads the header of an input, which says where its records are, into `format` and `bytes`, and
 * leaves a file as it was. `piped` tells whether it was read from a pipe. False, with `why` unless
 * there was a message, if it cannot be read. Free the bytes in any case. */
bool tool_peek_header(const char *path, tool_format *format, tool_bytes *bytes, bool *piped,
                      tool_why *why);

/* Opens `path` (NULL or "-": standard input). If it is not a regular file, copies its header to
 * `header` (NULL: discards it) at once, unless the header says where the records are. Call
 * tool_reader_close afterwards in any case. */
bool tool_reader_open(tool_reader *reader, const char *path, const tool_format *format,
                      tool_output *header);
/* Reads at most `capacity` bytes of records. Reads fewer only at the end or from a pipe; 0 only at
 * the end, when the whole file has proved valid. */
bool tool_reader_read(tool_reader *reader, void *to, size_t capacity, size_t *got);
/* Reads 1 to `capacity` whole records, or 0 at the end. */
bool tool_reader_read_records(tool_reader *reader, void *to, size_t capacity, size_t *count);
/* Copies the header, unless tool_reader_open did. If it says how many records follow, it says
 * `count` in the copy. */
bool tool_reader_put_header(tool_reader *reader, tool_output *to, uint64_t count);
/* Copies the trailer (NULL: discards it). For a pipe, call it after the last record. */
bool tool_reader_put_trailer(tool_reader *reader, tool_output *to);
void tool_reader_close(tool_reader *reader);

/* All records of the inputs, and the first input, whose header and trailer may be copied. */
typedef struct tool_records {
  tool_bytes records;
  size_t count;
  uint64_t *ends; /* for each input: the number of the record after its last one */
  tool_reader first;
} tool_records;

/* The contents of the inputs by their sizes, before they are read. */
typedef struct tool_extent {
  uint64_t count;  /* records of all inputs */
  uint64_t around; /* bytes of header and trailer of the first input */
} tool_extent;

/* Measures the inputs. False, without a message, if a size is unknown or wrong. */
bool tool_measure(char *const *paths, size_t path_count, const tool_format *format,
                  tool_extent *extent);

/* How the inputs are read. */
typedef struct tool_reading {
  tool_output *header; /* as in tool_reader_open, for the first input */
  /* True if there is memory for `more` bytes of records, and to sort the resulting `count` records;
   * otherwise reports an error. Called before they are read. */
  bool (*fits)(void *context, const char *name, uint64_t more, uint64_t count);
  void *context;
  const atomic_bool *unwanted; /* another thread sets it to end the reading */
} tool_reading;

/* Reads `path_count` inputs; none: standard input. Call tool_records_free in any case. */
bool tool_read_records(tool_records *records, char *const *paths, size_t path_count,
                       const tool_format *format, const tool_reading *reading);
void tool_records_free(tool_records *records);

#endif
