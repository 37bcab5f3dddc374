/* file.h - sorts more records than memory holds, by way of temporary files: librecsort_file.
 *
 *   recsort_file_sort(sorter, inputs, input_count, output, NULL, &error);
 *
 * sorts files. Records that are being made, or wanted one after the other, are sorted by
 *
 *   recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
 *   options.memory = 1 << 30;
 *   recsort_file_open(sorter, &options, &file, &error);
 *   while (produce(records, &count))
 *     recsort_file_append(file, records, count, &error);
 *   recsort_file_finish(file, &error);
 *   while (recsort_file_next(file, &sorted, &count, &error) == RECSORT_OK && count > 0)
 *     consume(sorted, count);
 *   recsort_file_close(file);
 *
 * The result has the same bytes as that of recsort_sort, whatever the limit; so it is stable.
 *
 * Records that fit in the memory are sorted there, and no file is made. Otherwise each load of
 * memory is sorted and written as a run; at the end all runs are merged. So every record is written
 * and read once. Only if so many runs do not fit in the memory are groups of them merged first.
 * What is read of a run is compared with what was written, by checksums: a bit that the disk
 * changed is an error.
 *
 * The conventions of recsort.h hold here too. POSIX only. One thread at a time may use a
 * recsort_file, and its sorter belongs to it from open to close. Up to six threads of its own work
 * beside the caller, mostly waiting for the disk; they block all signals.
 */
#ifndef RECSORT_FILE_H
#define RECSORT_FILE_H

#include <recsort/recsort.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A sort of any number of records. */
typedef struct recsort_file recsort_file;

/* What the sort is doing. */
typedef enum recsort_file_phase {
  RECSORT_FILE_RUNS,   /* records are appended, sorted and written */
  RECSORT_FILE_GROUPS, /* groups of runs are merged, as there are too many */
  RECSORT_FILE_MERGE   /* the result is read */
} recsort_file_phase;

/* Told how many records a phase is done with. Called by your thread, in the calls that take the
 * time. Returns a status that is not RECSORT_OK, with `error`, to end the sort by this error. */
typedef recsort_status (*recsort_file_progress)(void *context, recsort_file_phase phase,
                                                uint64_t done, recsort_error *error);

typedef struct recsort_file_options {
  size_t struct_size;         /* RECSORT_FILE_OPTIONS_INIT sets it */
  uint64_t memory;            /* the most bytes that the sort takes, the sorter's included; 0: three
                               * quarters of the memory that is available. A sorter by "auto" may
                               * take more once it tries a GPU: make it for "cpu" */
  const char *const *folders; /* where temporary files go: one file in each, without a name and
                               * readable only by you. The runs alternate. None: the folder that
                               * TMPDIR names, or /var/tmp; for recsort_file_sort the output's */
  size_t folder_count;        /* at most RECSORT_FILE_MOST_FOLDERS */
  uint64_t head;              /* only the first so many records of the order are wanted; 0: all */
  size_t most_runs; /* that are read at once, at least 2; 0: as many as the memory allows. Others
                     * wait until the first ones have been merged */
  recsort_file_progress progress; /* may be NULL */
  void *context;
} recsort_file_options;

#define RECSORT_FILE_OPTIONS_INIT RECSORT_INIT(recsort_file_options)

enum { RECSORT_FILE_MOST_FOLDERS = 64 };

/* What a sort has done so far. */
typedef struct recsort_file_stats {
  uint64_t records;       /* appended, or read from runs of the caller */
  uint64_t memory;        /* bytes that it planned to take at most */
  uint64_t runs;          /* that were written, groups included; 0: all was in memory */
  uint64_t bytes_written; /* to temporary files */
  uint64_t bytes_read;    /* from them */
  double sort_seconds;    /* of the sorter, for runs */
  double write_seconds;   /* until runs were gathered and written */
  double merge_seconds;   /* of the sorter, for merges */
  double wait_seconds;    /* that merges waited for reads */
} recsort_file_stats;

/* Sorts the records of `inputs`, one file after the other, into the file `output`, which may be one
 * of them. Files hold records and nothing else; the command recsort sorts files with headers. The
 * output is replaced in one step, when the new file is on the disk: whatever fails, it is the old
 * one. It keeps the old one's mode, owner, access list and attributes, as far as that is allowed.
 * If it is a link, the file is replaced that the link leads to. The new file has no name before it
 * is complete; on file systems that cannot do this it is .OUTPUT.recsort-N, and if the process is
 * killed the next sort to this output removes it.
 * `options` may be NULL. Errors: those of a sort below; IO_ERROR, also if the size of
 * an input is not a multiple of the record size. */
RECSORT_API recsort_status recsort_file_sort(recsort_sorter *sorter, const char *const *inputs,
                                             size_t input_count, const char *output,
                                             const recsort_file_options *options,
                                             recsort_error *error);

/* Begins a sort. `folders` and the texts in it are copied. On success end with recsort_file_close.
 * The memory of the sorter is freed first. Errors: INVALID_ARGUMENT; OUT_OF_MEMORY, with the least
 * `memory` that sorts such records; less is enough to merge runs of the caller. */
RECSORT_API recsort_status recsort_file_open(recsort_sorter *sorter,
                                             const recsort_file_options *options,
                                             recsort_file **file, recsort_error *error);

/* Adds `count` records behind all that were added before. They are copied. Errors: those of a
 * sorting call, where "record N" counts all records that were appended, from 0; OUT_OF_MEMORY, with
 * the least `memory` that is enough; IO_ERROR: a temporary file could not be made or written, or
 * does not hold what was written to it. After an error only recsort_file_close is allowed, and
 * every other call returns that error again. */
RECSORT_API recsort_status recsort_file_append(recsort_file *file, const void *records,
                                               size_t count, recsort_error *error);

/* Reads the next records of a run of the caller, at most `capacity`, to `records`, and says how
 * many; 0: there are no more. Returns a status that is not RECSORT_OK, with `error`, to end the
 * sort by this error. A run is read by one thread at a time, several runs by several at once. */
typedef recsort_status (*recsort_file_read)(void *context, void *records, size_t capacity,
                                            size_t *count, recsort_error *error);

/* Adds a run that is sorted already, behind all that was added before. `read` is called until it
 * says 0; `context` must live until then or until close. Errors: as for append. A run that is not
 * sorted is found when it is merged: recsort_file_finish or recsort_file_next returns
 * UNSORTED_RUN with "run R, record N", where R counts the calls of this function, from 0. */
RECSORT_API recsort_status recsort_file_add_run(recsort_file *file, recsort_file_read read,
                                                void *context, recsort_error *error);

/* Ends the input: sorts what is in memory, and merges groups if there are too many runs. Errors: as
 * for append. */
RECSORT_API recsort_status recsort_file_finish(recsort_file *file, recsort_error *error);

/* Gives the next records of the result, in order: `*count` of them at `*records`, which are valid
 * until the next call for `file`. 0: there are no more. Errors: as for append. */
RECSORT_API recsort_status recsort_file_next(recsort_file *file, const void **records,
                                             size_t *count, recsort_error *error);

/* Compares what was read of temporary files so far. recsort_file_next compares before it gives the
 * last records; if you stop before that, call this last. Errors: those of recsort_file_next, also
 * of records that were read ahead. */
RECSORT_API recsort_status recsort_file_verify(recsort_file *file, recsort_error *error);

/* Waits for what goes on beside the caller. `size`: that of *stats. */
RECSORT_API void recsort_file_get_stats(recsort_file *file, recsort_file_stats *stats, size_t size);

/* Ends the sort at any time, and gives its temporary files back. The sorter may be used again. */
RECSORT_API void recsort_file_close(recsort_file *file);

#ifdef __cplusplus
}
#endif

#endif
