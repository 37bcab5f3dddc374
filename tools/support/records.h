/* records.h - the records of several files, one after the other: in one buffer, or if they do not
 * fit, passed on piece by piece. */
#ifndef TOOL_RECORDS_H
#define TOOL_RECORDS_H

#include "support/input.h"

#include <stdatomic.h>

/* The later inputs whose trailers the output lacks. */
typedef struct tool_dropped {
  const char *name; /* of the first of them */
  uint64_t bytes;   /* its */
  size_t count;
} tool_dropped;

/* Opens a later input. False, after a message, also if its records may refer to what is dropped: a
 * heap. */
bool tool_later_open(tool_reader *reader, const char *path, const tool_format *format);
/* Counts a later input, all of whose records have been read. */
void tool_dropped_add(tool_dropped *dropped, const tool_reader *reader);
/* Says what was dropped, if anything. */
void tool_dropped_say(const tool_dropped *dropped);

/* All records of the inputs, and the first input, whose header and trailer may be copied. */
typedef struct tool_records {
  tool_bytes records;
  bool passing;    /* they do not fit: each time that `records` is full, all are passed on */
  uint64_t passed; /* records that have been */
  size_t count;    /* of all inputs */
  uint64_t *ends;  /* for each input: the number of the record after its last one */
  tool_reader first;
  tool_dropped dropped;
} tool_records;

/* The contents of the inputs by their sizes, before they are read. */
typedef struct tool_extent {
  uint64_t count;  /* records of all inputs */
  uint64_t around; /* bytes of header and trailer of the first input */
} tool_extent;

/* Measures the inputs. False, without a message, if a size is unknown or wrong. */
bool tool_measure(char *const *paths, size_t path_count, const tool_format *format,
                  tool_extent *extent);

/* Whether records can be held. */
typedef enum tool_room {
  TOOL_ROOM,
  TOOL_NO_ROOM,  /* that is an error, which has been reported */
  TOOL_PASS_THEM /* no, but they can be passed on */
} tool_room;

/* How the inputs are read. */
typedef struct tool_reading {
  tool_output *output; /* gets header and trailer of the first input; NULL: nothing does */
  /* Whether there is memory for `more` bytes of records, and to sort the resulting `count` records.
   * Called before they are read. */
  tool_room (*room)(void *context, const char *name, uint64_t more, uint64_t count);
  /* Takes the next records. False after a message. */
  bool (*pass)(void *context, const void *records, size_t count);
  void *context;
  const atomic_bool *unwanted; /* another thread sets it to end the reading */
} tool_reading;

/* Reads `path_count` inputs; none: standard input. Call tool_records_free in any case. */
bool tool_read_records(tool_records *records, char *const *paths, size_t path_count,
                       const tool_format *format, const tool_reading *reading);
/* Passes on what is held, unless that has happened, and frees the memory. */
bool tool_records_pass(tool_records *records, const tool_reading *reading);
void tool_records_free(tool_records *records);

#endif
