/* input.h - reads files of records.
 *
 *   tool_reader   one file's records as a stream of bytes, in constant memory
 *
 * records.h reads those of several files into one buffer.
 * A file consists of `skip` bytes of header, whole records, a heap, padding, and `trailer` bytes.
 * tool_reader_open finds them, by what the schema, the command line and the header say, and refuses
 * a file that is none of the schema's; every program opens its inputs by it. around.h writes
 * what goes around the records of the output.
 *
 * What the places of a header need is read first, and the rest of it is copied piece by piece,
 * however large. Of a pipe it may have to be held in memory; if only the end of the pipe tells
 * where the trailer begins, `trailer` bytes are, too. Files are read with read(2), never mapped: a
 * file truncated meanwhile is an error, not a SIGBUS. A regular file is refused if its size changed
 * or it was written to while it was read.
 */
#ifndef TOOL_INPUT_H
#define TOOL_INPUT_H

#include "support/format.h"
#include "support/stream.h"

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
  tool_stream stream;
  bool needs_end;     /* only its end tells whether it is plain */
  bool ended;         /* a pipe: all records have been read */
  bool sized;         /* a regular file, so its layout is known: */
  struct stat status; /* status when it was opened */
  uint64_t start;     /* sized: where the header begins */
  uint64_t size;      /* sized: bytes of records */
  uint64_t padding;   /* behind them and the heap; of a pipe, known after the last record */
  uint64_t trailer;   /* bytes behind that, likewise; TOOL_ANY: up to the end */
  uint64_t left;      /* sized or counted: bytes of records still to be read */
  uint64_t given;     /* bytes of records read */
  tool_bytes header;  /* its first bytes, with all places. If headers are repeated, all of them, */
  tool_bytes blocks;  /* and a tool_block for each */
  uint64_t header_left; /* of a pipe: bytes of the header not read yet */
  bool keeps_header;    /* a pipe's header is held in memory when records are read; set it before */
  bool put;             /* the header has been written: */
  uint64_t put_size;    /* its bytes */
  bool said;            /* nothing goes stale, or that has been said */
  tool_bytes behind;    /* the first bytes of the trailer, if it has places */
} tool_reader;

/* The first input, opened to see what the schema lacks: a pipe stays open, and what was read of it
 * is its first bytes. All zero: nothing. */
typedef struct tool_ahead {
  const char *path;
  bool open;
  int fd;
  tool_bytes bytes;
} tool_ahead;

/* Opens `path`, and reads what its header says into `format`. False, with `why`, on failure. Call
 * tool_ahead_close in any case, when the inputs have been read. */
bool tool_ahead_open(tool_ahead *ahead, const char *path, tool_format *format, tool_why *why);
void tool_ahead_close(tool_ahead *ahead);
/* The format of the inputs of a schema: if their headers say how large records are, the first one
 * is opened for it, unless `look` is false, and the schema gets the size. False, after a message,
 * on failure. */
bool tool_format_open(tool_format *format, recsort_schema *schema, const tool_said *said,
                      const char *path, bool look, tool_ahead *ahead);

/* Opens `path` (NULL or "-": standard input), and refuses what is no such file. Of a pipe, reads no
 * more than that takes. Call tool_reader_close afterwards in any case. */
bool tool_reader_open(tool_reader *reader, const char *path, const tool_format *format);
/* The same without a message: `why` says why it failed. */
bool tool_reader_try(tool_reader *reader, const char *path, const tool_format *format,
                     tool_why *why);
/* Finds the parts of a regular file, without opening it unless its header says where they are.
 * False, without a message, if it is none. */
bool tool_reader_measure(tool_reader *reader, const char *path, const tool_format *format);
/* Reads at most `capacity` bytes of records. Reads fewer only at the end or from a pipe; 0 only at
 * the end, when the whole file up to the trailer has proved valid. */
bool tool_reader_read(tool_reader *reader, void *to, size_t capacity, size_t *got);
/* Reads 1 to `capacity` whole records, or 0 at the end. */
bool tool_reader_read_records(tool_reader *reader, void *to, size_t capacity, size_t *count);
/* The records of a file or, once all have been read, of a pipe; TOOL_ANY before that, unless its
 * header says it. */
uint64_t tool_reader_count(const tool_reader *reader);
/* Bytes behind the records, other than padding. Of a pipe, call it after the last record; it may be
 * too small then, but not 0. */
uint64_t tool_reader_behind(const tool_reader *reader);
/* Passes over what follows the records of a pipe, after the last one, and checks that it is as
 * long as it should be. */
bool tool_reader_end(tool_reader *reader);
/* Checks that a regular file ends after its trailer and was not written to. */
bool tool_reader_is_unchanged(const tool_reader *reader);
bool tool_reader_truncated(const tool_reader *reader);
void tool_reader_close(tool_reader *reader);

#endif
