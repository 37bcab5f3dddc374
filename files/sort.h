/* sort.h - a sort of any number of records, and what its two phases share.
 *
 *   whole.c   the call for whole files, by the others
 *   file.c    the other calls
 *   load.c    the first phase: records are loaded, sorted, and written as runs
 *   merge.c   the second phase: runs are merged
 *   store.c   temporary files
 *   input.c   files of the caller
 */
#ifndef FILES_SORT_H
#define FILES_SORT_H

#include "store.h"

typedef struct rf_merge rf_merge;

/* A sorted run, in the order in which runs of equal records come. */
typedef struct rf_source {
  recsort_file_read read; /* a run of the caller; NULL: a run in the store */
  void *context;
  size_t number; /* of the caller's run */
  rf_extent extent;
} rf_source;

/* Records in memory. First there is one buffer: if all records fit, they are gathered from it by
 * their order. If not, there are three: one is sorted to another one, while the third one is
 * written, and filled again behind the writing. Where one buffer and a writer would take fewer
 * records than two buffers, or few are wanted, there are two first: one is sorted to the other. */
typedef struct rf_load {
  unsigned char *memory;
  size_t size; /* bytes of it */
  size_t room; /* records of a buffer */
  unsigned buffers;
  bool keeps_head;        /* the wanted records stay in memory, so that there are no runs */
  unsigned char *records; /* the buffer that is filled, */
  size_t count;           /* the records in it, */
  uint64_t before;        /* and the number of records appended before */
  unsigned char *sorted;  /* the buffer that records are sorted to */
  rf_task sorting;        /* sorts: */
  unsigned char *source;
  size_t source_count; /* 0: nothing is sorted */
  uint64_t source_before;
  recsort_status sort_status;
  recsort_error sort_error;
  rf_task writing; /* writes what was in `records`: */
  size_t written_count;
  recsort_status write_status;
  recsort_error write_error;
  rf_passed passed; /* how far that is */
} rf_load;

struct recsort_file {
  recsort_sorter *sorter;
  size_t record_size;
  size_t key_size;
  uint64_t memory;
  uint64_t head; /* UINT64_MAX: all */
  size_t most_runs;
  recsort_file_progress progress;
  void *context;
  rf_store store;
  rf_writer writer;
  rf_load load;
  rf_source *sources;
  size_t source_count, source_room;
  size_t caller_runs;
  atomic_uint_least64_t caller_records; /* read from these */
  rf_merge *merge;
  bool finished;
  uint64_t given; /* records of the result */
  recsort_file_stats stats;
  recsort_status failed;
  recsort_error error;
};

/* ---- load.c ---- */

/* Calls the function that the caller has for it. */
recsort_status rf_tell(recsort_file *file, recsort_file_phase phase, uint64_t done,
                       recsort_error *error);

/* Appends a run. */
recsort_status rf_add_source(recsort_file *file, const rf_source *source, recsort_error *error);

/* OUT_OF_MEMORY: `least` bytes are enough. */
recsort_status rf_fail_least(const recsort_file *file, uint64_t least, recsort_error *error);
/* The least memory that sorts records. */
recsort_status rf_load_least(recsort_file *file, uint64_t *memory, recsort_error *error);
recsort_status rf_load_append(recsort_file *file, const unsigned char *records, size_t count,
                              recsort_error *error);
/* Waits until all loads are written as runs, the last one too. */
recsort_status rf_load_flush(recsort_file *file, recsort_error *error);
/* Sorts what is loaded; all of it is in memory. */
recsort_status rf_load_sort(recsort_file *file, recsort_error *error);
/* The next of these records. */
void rf_load_next(recsort_file *file, const void **records, size_t *count);
void rf_load_close(recsort_file *file);

/* ---- merge.c ---- */

/* The least memory that merges two runs. */
recsort_status rf_merge_least(recsort_file *file, uint64_t *memory, recsort_error *error);
/* The most runs that one merge takes; at least 2. */
size_t rf_merge_most(recsort_file *file);
/* Merges sources [first, first + count) up to `head` records. */
recsort_status rf_merge_open(recsort_file *file, size_t first, size_t count, uint64_t head,
                             recsort_error *error);
/* The bytes of its runs in the store that are still to be read. */
uint64_t rf_merge_size(const recsort_file *file);
recsort_status rf_merge_next(recsort_file *file, const void **records, size_t *count,
                             recsort_error *error);
/* Compares what was read so far, and ends the result. */
recsort_status rf_merge_compare(recsort_file *file, recsort_error *error);
/* Waits for the round. */
void rf_merge_wait(recsort_file *file);
void rf_merge_close(recsort_file *file);

#endif
