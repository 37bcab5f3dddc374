/* places.h - the places of a file that say something about its records: reads them, and writes
 * what they say about other records. */
#ifndef TOOL_PLACES_H
#define TOOL_PLACES_H

#include "support/format.h"

/* Reads what the header's places say into `format`: its `skip`, `count`, `heap`, `zero` and, unless
 * settled, `record_size`. The file begins with these bytes, and has no others if it has `ended`.
 * `*needed` becomes the bytes that this takes: if they are more than `size`, call it again with as
 * many, or all there are. False, with `why`, if the header is wrong or that of another file. */
bool tool_places_read(tool_format *format, const unsigned char *bytes, size_t size, bool ended,
                      size_t *needed, tool_why *why);
/* The bytes of a trailer that have places. */
size_t tool_places_behind(const tool_format *format);
/* True if an offset in the header says that something else begins at byte `end`. */
bool tool_places_end_at(const tool_format *format, const tool_bytes *header, uint64_t end);
/* True if the file with this header says itself how many records it has. */
bool tool_places_count(const tool_format *format, const tool_bytes *header);
/* True if what a trailer's places say agrees with `count`; otherwise `why`. Sets `zero` if they are
 * the only ones, say 0, and the schema allows that. */
bool tool_places_check(tool_format *format, const tool_bytes *header, const tool_bytes *trailer,
                       uint64_t count, tool_why *why);

/* How a file changes. */
typedef struct tool_change {
  uint64_t from, to;               /* records */
  uint64_t padding, padding_after; /* bytes before, and afterwards if the header stays as long */
} tool_change;

/* Makes `made`, the header of the changed file, from that of the old one; and likewise its trailer,
 * if that is not NULL. A header in lines may grow or shrink. False, with `why`, if a number has no
 * room. */
bool tool_places_write(const tool_format *format, const tool_bytes *header,
                       const tool_bytes *trailer, const tool_change *change, tool_bytes *made,
                       tool_why *why);

/* Makes a header for a new file, of zeros except where places say something, and then the first
 * bytes of its trailer. Sets `skip`. */
bool tool_header_make(tool_format *format, uint64_t count, tool_bytes *header, tool_bytes *trailer,
                      tool_why *why);

#endif
