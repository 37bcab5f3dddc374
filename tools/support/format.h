/* format.h - where the records of a file are: what the schema or the command line says, and what
 * the file's own header says. */
#ifndef TOOL_FORMAT_H
#define TOOL_FORMAT_H

#include "recsort/recsort.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No limit. */
#define TOOL_ANY UINT64_MAX

/* A growing array of bytes; all zero is an empty one. Large ones use huge pages. */
typedef struct tool_bytes {
  unsigned char *data;
  size_t size;
  size_t capacity;
} tool_bytes;

/* Grows it to `capacity` bytes in all. False, without a message, if there is no memory. */
bool tool_bytes_reserve(tool_bytes *bytes, size_t capacity);
/* Appends bytes. False as above. */
bool tool_bytes_append(tool_bytes *bytes, const void *data, size_t size);
void tool_bytes_free(tool_bytes *bytes);

typedef struct tool_format {
  size_t record_size;
  uint64_t skip;
  uint64_t count;   /* records of each input, or TOOL_ANY */
  uint64_t trailer; /* TOOL_ANY, with a count: everything behind the records */
  bool repeat; /* header and records are repeated; `skip` and `count` are those of one header */
  const struct tool_header *header; /* what of this the header of an input says; NULL: nothing */
  const recsort_field *skip_field;  /* for the header: its fields, NULL: none */
  const recsort_field *count_field;
  const void *context;     /* for the header */
  const tool_bytes *ahead; /* what has been read of a pipe at standard input; NULL: nothing */
} tool_format;

/* What is wrong with a header: the end of a line that begins with the file's name. */
typedef struct tool_why {
  char text[200];
} tool_why;

/* A kind of header that says where the records are. */
typedef struct tool_header {
  /* The bytes of it that must be read, of which `size` have been: more than that, or all. */
  size_t (*needed)(const tool_format *format, const unsigned char *bytes, size_t size);
  /* Reads `skip` and `count` from these bytes. False, with `why`, if they are wrong. */
  bool (*read)(tool_format *format, const unsigned char *bytes, size_t size, tool_why *why);
  /* Changes the bytes so that they say `count`. */
  bool (*write_count)(const tool_format *format, tool_bytes *bytes, uint64_t count, tool_why *why);
} tool_header;

/* A header with fields that hold these numbers. */
extern const tool_header tool_header_fields;

/* What the schema says. */
tool_format tool_format_of(const recsort_schema *schema);
/* Uses the fields of the header that are left, if any. */
void tool_format_settle(tool_format *format);
/* True if the header of an input says how many records it has. */
bool tool_format_is_counted_by_header(const tool_format *format);
/* Fills in a header for new files: zeros, and the numbers that the header says. */
bool tool_header_make(tool_format *format, uint64_t count, tool_bytes *bytes, tool_why *why);

#endif
