/* format.h - where the records of a file are: what the schema, the command line and the file's own
 * header say. */
#ifndef TOOL_FORMAT_H
#define TOOL_FORMAT_H

#include "recsort/tools.h"

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
/* Gives the system the pages of the first `size` bytes back: what they hold is lost. */
void tool_bytes_give_back(const tool_bytes *bytes, size_t size);
/* Removes the first `size` bytes. */
void tool_bytes_drop(tool_bytes *bytes, size_t size);
void tool_bytes_free(tool_bytes *bytes);

/* What the command line says about files. */
typedef struct tool_said {
  uint64_t skip; /* TOOL_ANY: not given, also in the next two */
  uint64_t count;
  uint64_t trailer;
  bool raw;          /* records, whatever the file looks like */
  bool keep_trailer; /* although the number of records changes */
} tool_said;

#define TOOL_SAID_NOTHING ((tool_said){.skip = TOOL_ANY, .count = TOOL_ANY, .trailer = TOOL_ANY})

typedef struct tool_format {
  size_t record_size;
  bool settled; /* `record_size` is that of all inputs; otherwise a header may still say it */
  uint64_t skip;
  uint64_t count;   /* records of each input, or TOOL_ANY */
  uint64_t trailer; /* TOOL_ANY, with a count: everything behind the records and their padding */
  uint64_t heap;    /* bytes behind the records, before the padding */
  bool zero;        /* every place that says the count says 0 */
  recsort_schema_desc file; /* what the schema says */
  tool_said said;
  const struct tool_header *header; /* reads a header without places; NULL: the places do */
  const void *context;              /* for it */
  struct tool_ahead *ahead;         /* the first input, if it is open already; NULL: it is not */
} tool_format;

/* What is wrong with a file: the end of a line that begins with its name. */
typedef struct tool_why {
  char text[320];
  bool system; /* it cannot be opened or read */
} tool_why;

/* A kind of header that a schema cannot describe, and that says where the records are. */
typedef struct tool_header {
  /* The bytes of it that must be read, of which `size` have been: more than that, or all. */
  size_t (*needed)(const tool_format *format, const unsigned char *bytes, size_t size);
  /* Reads `skip` and `count` from these bytes. False, with `why`, if they are wrong. */
  bool (*read)(tool_format *format, const unsigned char *bytes, size_t size, tool_why *why);
  /* Changes the bytes so that they say `count`. */
  bool (*write_count)(const tool_format *format, tool_bytes *bytes, uint64_t count, tool_why *why);
} tool_header;

/* What the schema and the command line say. */
tool_format tool_format_of(const recsort_schema *schema, const tool_said *said);
/* True if a place counts: the command line may have taken its office. */
bool tool_format_uses(const tool_format *format, const recsort_place_desc *place);
/* True if a place of a kind in [first, last] is used. */
bool tool_format_has(const tool_format *format, recsort_place_kind first, recsort_place_kind last);
/* True if the header of a file has numbers that depend on how many records there are. */
bool tool_format_has_numbers(const tool_format *format);
/* True if a file says itself how many records it has. */
bool tool_format_is_counted_by_file(const tool_format *format);
/* The bytes of `count` records. False if no file is so large. */
bool tool_format_size(const tool_format *format, uint64_t count, uint64_t *size);
/* The bytes of padding behind `count` records and the heap, behind a header of `skip` bytes. */
uint64_t tool_format_padding(const tool_format *format, uint64_t skip, uint64_t count);

#endif
