/* output.h - writing a file so that it is the old one or the new one, never half of either.
 *
 *   tool_output_open, tool_output_write..., then tool_output_commit or tool_output_discard
 *
 * A regular file is replaced in one step; see files/replace.h.
 * Anything else (standard output, a FIFO, a terminal, a device, an open file as /dev/fd/3) is
 * written to directly.
 *
 * The kernel allocates the pages of a file on tmpfs one at a time, under the file's lock, even if
 * several threads write. So its space is reserved while the input is read, and then
 * mapped and filled by all threads, if there are at least four: fewer are faster with write, which
 * does not clear a page before filling it. On a disk this does not work: copy-on-write file systems
 * do not write to the reserved space, and a failed write of a mapping shows as a signal, or too
 * late.
 *
 * One file at a time. Its temporary name is removed when a signal ends the process; see signals.h.
 */
#ifndef TOOL_OUTPUT_H
#define TOOL_OUTPUT_H

#include "support/reserve.h"

#include "files/replace.h"
#include "files/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

typedef struct tool_output {
  const char *name;    /* name in messages */
  int fd;              /* -1: none */
  rf_replacement file; /* not open: the output is written directly */
  uint64_t written;
  uint64_t write_back; /* bytes whose write-back has started */
  bool mappable;
  tool_reservation reservation; /* mappable */
  rf_file direct;               /* the file, while `writer` writes it */
  rf_writer writer;             /* without memory: nothing does */
  void *mapping;                /* NULL: none */
  size_t mapping_size;
} tool_output;

/* One that is not open; it may be discarded. */
#define TOOL_NO_OUTPUT                                                                             \
  {                                                                                                \
    .fd = -1, .file = {.folder = -1, .fd = -1 }                                                    \
  }

/* Opens `path`; NULL or "-": standard output. If it returns true, end with tool_output_commit or
 * tool_output_discard. */
bool tool_output_open(tool_output *output, const char *path);
/* The same, but an output that would be written to directly must not be one of the inputs: it would
 * be overwritten before it has been read. No inputs: standard input. */
bool tool_output_open_apart(tool_output *output, const char *path, char *const *inputs,
                            size_t input_count);
/* Allows mapping the output, if `threads` threads fill a mapping faster than they write. */
void tool_output_fill_by(tool_output *output, unsigned threads);
/* Starts to reserve space for `size` bytes, if the file will be mapped. Call it at most once,
 * before writing. The final size may differ. */
void tool_output_reserve(tool_output *output, uint64_t size);
/* From now on writes past the page cache, if it is a file on a disk: for more than memory holds. So
 * much of it would push out what other programs need, and be written to the disk late. */
void tool_output_bypass_cache(tool_output *output);
bool tool_output_write(tool_output *output, const void *data, size_t size);
/* Writes again the first bytes of an output that is a file. */
bool tool_output_overwrite(tool_output *output, const void *data, size_t size);
/* Reads what was written from byte `offset` on. Only if the output is a file. */
bool tool_output_read(tool_output *output, uint64_t offset, void *to, size_t size);
/* Takes back all but the first `size` bytes. Only if the output is a file. */
bool tool_output_truncate(tool_output *output, uint64_t size);
/* Writes `size` bytes of one value. */
bool tool_output_write_byte(tool_output *output, unsigned char value, uint64_t size);
/* Maps the next `size` bytes of the file, which are zero; any threads may fill them. *at is NULL if
 * they can only be written. False if there is no space for them. */
bool tool_output_map(tool_output *output, size_t size, void **at);
/* Call it when the mapping is filled; it counts as written. */
bool tool_output_filled(tool_output *output);
/* Writes pieces, which `fill` makes, with all threads of the team (team.h), into a mapping if
 * possible: the kernel allocates space and zeroed pages in the thread that writes. Only for an
 * output that is a file; see tool_output_is_file. */
typedef struct tool_pieces {
  void (*fill)(const void *context, uint64_t piece, void *to, size_t *size);
  const void *context;
  uint64_t total; /* bytes of all pieces */
  size_t size;    /* of every piece but the last, which is not larger */
} tool_pieces;
bool tool_output_write_pieces(tool_output *output, const tool_pieces *pieces);
bool tool_output_is_file(const tool_output *output);
/* Lets other processes write to the new file too: gives it a name at once, whose absolute path goes
 * to `path`. Only for an output that is a file. */
bool tool_output_share(tool_output *output, char *path, size_t size);
/* Puts the new file in place. Ends the output even on failure. */
bool tool_output_commit(tool_output *output);
/* Leaves the old file as it is. */
void tool_output_discard(tool_output *output);

#endif
