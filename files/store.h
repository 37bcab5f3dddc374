/* store.h - temporary files, and the runs in them.
 *
 * There is a file in each folder. It has no name, or loses it at once; if the process is killed
 * between, the next sort in that folder removes it (temporary.h). Runs are written behind each
 * other, and alternate between the files; each begins at a multiple of RF_SECTOR. The files bypass
 * the page cache (O_DIRECT) where the file system allows it: then other programs keep their memory,
 * and this one uses no more than it says. Otherwise pages are written and dropped as soon as
 * possible.
 *
 * Of each run a few checksums stay in memory, so that a bit that the disk changed is an error.
 */
#ifndef FILES_STORE_H
#define FILES_STORE_H

#include "base.h"
#include "checksum.h"
#include "task.h"

#include <stdatomic.h>

enum { RF_SECTOR = 4096, RF_PARTS = 32 };

typedef struct rf_file {
  char *folder;
  int fd;             /* -1: not made yet */
  uint64_t end;       /* bytes, with the ones that still wait in a writer */
  atomic_bool direct; /* settled by the first accesses */
  bool in_memory;     /* the folder is */
} rf_file;

typedef struct rf_store {
  rf_file files[RECSORT_FILE_MOST_FOLDERS];
  size_t file_count;
  size_t next; /* the file of the next run */
  uint64_t written;
  atomic_uint_least64_t read;
} rf_store;

/* Checksums of the first bytes of a run: sums[i] is that of i + 1 parts, or of all if it ends
 * before. Parts are of equal size, which doubles when a run has more of them. So what is read of a
 * run can be compared without its end. */
typedef struct rf_sums {
  uint64_t part; /* bytes */
  uint64_t sums[RF_PARTS];
} rf_sums;

/* Bytes of a run. */
typedef struct rf_extent {
  size_t file;
  uint64_t begin;
  uint64_t size;
  rf_sums sums;
} rf_extent;

/* Copies the names. No file is made before the first run. */
recsort_status rf_store_open(rf_store *store, const char *const *folders, size_t count,
                             recsort_error *error);
void rf_store_close(rf_store *store);

/* Reads bytes [begin, begin + size) of a file; fewer, *got, only at its end. `memory` begins at a
 * multiple of RF_SECTOR and has room for `size` bytes and 2 * RF_SECTOR; *at is where the bytes are
 * in it. Returns an error number. Any thread. */
int rf_file_read(rf_file *file, uint64_t begin, size_t size, void *memory, void **at, size_t *got);

/* Reads bytes [offset, offset + size) of a run. `memory` begins at a multiple of RF_SECTOR and has
 * room for `size` bytes and 2 * RF_SECTOR; *at is where the bytes are in it. Any thread. */
recsort_status rf_store_read(rf_store *store, const rf_extent *run, uint64_t offset, size_t size,
                             void *memory, void **at, recsort_error *error);
/* Reads the bytes that follow those of which *sum is; it begins with zeros. At the end of a part
 * this fails if a byte so far is not what was written. */
recsort_status rf_store_next(rf_store *store, const rf_extent *run, rf_checksum *sum, size_t size,
                             void *memory, void **at, recsort_error *error);
/* The bytes up to the end of the part that rf_store_next is in; 0: all so far were compared. */
uint64_t rf_store_rest(const rf_extent *run, const rf_checksum *sum);
/* IO_ERROR: a temporary file has changed. */
recsort_status rf_store_fail_changed(const rf_store *store, const rf_extent *run,
                                     recsort_error *error);
/* True if a file's folder has room for so many bytes more. */
bool rf_store_has_room(const rf_store *store, size_t file, uint64_t size);
/* Gives the disk the space of a run's first `size` bytes back, if the file system can. */
void rf_store_drop(rf_store *store, const rf_extent *run, uint64_t size);

/* What is to be written to a file. */
typedef struct rf_write {
  rf_file *file;
  uint64_t at;
  const unsigned char *from;
  size_t size;
} rf_write;

/* Writes bytes behind each other to files. It has two buffers: the caller fills one while a thread
 * writes the other one. */
typedef struct rf_writer {
  size_t piece;              /* bytes that are filled at a time, at most */
  unsigned char *memory;     /* of the buffers */
  unsigned char *buffers[2]; /* each has room for a piece and a sector; the first one is filled */
  rf_file *file;
  uint64_t begin; /* where it began in the file */
  uint64_t size;  /* bytes since then */
  size_t held;    /* bytes in the buffer */
  rf_sums sums;   /* of a run; no parts: none are wanted */
  rf_checksum sum;
  rf_task task;
  rf_write write; /* of the task */
  int failure;    /* its error number */
} rf_writer;

/* The memory of a writer. */
uint64_t rf_writer_size(size_t piece);
/* False if there is no memory. */
bool rf_writer_open(rf_writer *writer, size_t piece);
void rf_writer_close(rf_writer *writer);

/* Begins at the end of the file, which is a multiple of RF_SECTOR. */
void rf_writer_begin(rf_writer *writer, rf_file *file);
/* Where the next bytes go: there is room for a piece. */
void *rf_writer_room(const rf_writer *writer);
/* Writes so many of them, at most a piece. False, with `failure`, if a write failed. */
bool rf_writer_put(rf_writer *writer, size_t size);
/* Copies bytes of any number, and writes each piece that is full. False as above. */
bool rf_writer_add(rf_writer *writer, const void *data, size_t size);
/* Writes what is held. `pads`: up to a multiple of RF_SECTOR. False as above. */
bool rf_writer_end(rf_writer *writer, bool pads);
/* Waits until all is written. False as above. */
bool rf_writer_wait(rf_writer *writer);

/* ---- Runs ---- */

/* How far a thread is that writes a buffer, for the one that fills it again. */
typedef struct rf_passed {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  uint64_t size; /* bytes that may be filled */
} rf_passed;

void rf_passed_open(rf_passed *passed);
void rf_passed_close(rf_passed *passed);
void rf_passed_set(rf_passed *passed, uint64_t size);
/* Waits until it is `least` bytes or more, and returns it. */
uint64_t rf_passed_wait(rf_passed *passed, uint64_t least);

/* Writes a run. Its memory begins at a multiple of RF_SECTOR, and has room up to another one.
 * `passed` may be NULL. */
recsort_status rf_store_write(rf_store *store, unsigned char *memory, uint64_t size,
                              rf_passed *passed, rf_extent *run, recsort_error *error);
/* Begins a run of at most `size` bytes. The files take turns; a file whose folder has no room for
 * the run is passed over. */
recsort_status rf_store_begin(rf_store *store, rf_writer *writer, uint64_t size,
                              recsort_error *error);
/* Fills in the error of a writer that failed. */
recsort_status rf_store_fail(const rf_writer *writer, recsort_error *error);
/* Ends it: *run says where it is, once the writer has written all. */
recsort_status rf_store_end(rf_store *store, rf_writer *writer, rf_extent *run,
                            recsort_error *error);
/* Waits for the writer: all runs that ended can be read. */
recsort_status rf_store_wait(rf_writer *writer, recsort_error *error);

#endif
