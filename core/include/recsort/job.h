/* job.h - one struct for every sort, merge, argsort and top-k: what there is, and what is wanted.
 *
 * recsort.h has the calls that take a job: recsort_plan says how much memory the job takes, and
 * recsort_run does it. Plugins that work in a device's memory get the same struct (plugin.h).
 *
 *   recsort_job job = RECSORT_JOB_INIT;
 *   job.count = n;
 *   job.records = entities;        what there is
 *   job.sorted = entities;         what is wanted: the records, in place
 *   recsort_run(sorter, &job, 1, &error);
 *
 * A member that is 0 is not given, not wanted, or the default. All pointers are to memory of the
 * sorter's kind: the host's, or with recsort_options.on_device the device's. Only the arrays
 * `columns`, `arrays` and `part_records` themselves are always in the host's memory.
 *
 *   to get                             set
 *   records in order, in place         records, sorted = records
 *   records in order, elsewhere        records, sorted
 *   pairs by their keys                a schema of one number: records = keys, sorted; the values
 *                                      are in one of arrays, array_count
 *   a permutation (argsort)            records or columns, permutation, index_bits
 *   a permutation in the sorter        records or columns alone, on the host
 *   several arrays moved alike         arrays, array_count
 *   the first k of the order           head = k
 *   many small sorts in one            parts = RECSORT_SEGMENTS, offsets, part_count, offset_bits
 *   a merge of sorted runs             parts = RECSORT_RUNS and the same; on the host
 *   as many records as a device finds  device_count
 *   one array on several devices       a job for each shard: see "Several jobs" below
 */
#ifndef RECSORT_JOB_H
#define RECSORT_JOB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a call, or of a job that a device has done. */
typedef enum recsort_status {
  RECSORT_OK = 0,
  RECSORT_INVALID_ARGUMENT, /* the call is wrong for any data */
  RECSORT_OUT_OF_MEMORY,
  RECSORT_IO_ERROR,       /* a file could not be read */
  RECSORT_INVALID_SCHEMA, /* the schema is refused */
  RECSORT_INVALID_KEY,    /* a key names no field, or one that has no order */
  RECSORT_INVALID_RECORD, /* a record holds a value that its schema rules out; the error's text
                           * begins with "record N: ", N from 0 */
  RECSORT_PLUGIN_ERROR,   /* a plugin could not be found, loaded or used */
  RECSORT_DEVICE_ERROR,   /* a plugin failed while it was sorting; the next call may succeed */
  RECSORT_DEVICE_LOST,    /* a plugin's device cannot be used any more in this process. Destroy the
                           * sorter; another plugin still sorts, or another process */
  RECSORT_CORRUPT_RESULT, /* a plugin's result is wrong. On the host `records` is
                           * intact, unless memory changed in a sort in place */
  RECSORT_UNSORTED_RUN    /* a run to be merged is not sorted; the error's text begins with
                           * "run R, record N: ", both from 0 */
} recsort_status;

/* How results are checked. A wrong one is RECSORT_CORRUPT_RESULT: only a defect of a machine or of
 * a plugin makes one.
 *  - DEFAULT: the CPU checks that each element has one place, and that the keys of the result
 *    ascend; of a head or a merge it checks neither. A GPU checks that keys ascend; that ties are in input order, where it has sorted
 *    positions; and by sums of hashes that no key is lost, doubled or separated from its position
 *    or value, and that records of the host that it has moved are the input's. The bytes of records
 *    in a device's memory are not checked, nor whether a merge of shards has lost one. A job there
 *    is checked if it has a `status`.
 *  - FULL: whichever plugin has sorted, the host reads all keys again, in the order that was found,
 *    before it moves records: they ascend, and ties are in input order. If the plugin has moved the
 *    records itself, the host looks at their keys and checksums, which cannot tell whether ties are
 *    in input order. That is slow. Merges have no such check.
 *  - OFF: as DEFAULT on the CPU. A GPU only checks that an order of the host's records is a
 *    permutation. */
typedef enum recsort_verify {
  RECSORT_VERIFY_DEFAULT = 0,
  RECSORT_VERIFY_OFF,
  RECSORT_VERIFY_FULL
} recsort_verify;

/* What went wrong and where, owned by the caller. `line` and `column` count from 1; they are 0 if
 * there is no text to point at. `text` is one whole line without a newline. It already begins with
 * "file:line:column: " if these are known. */
typedef struct recsort_error {
  recsort_status status;
  uint32_t line;
  uint32_t column;
  char text[500];
} recsort_error;

/* A field whose values are in an array of their own: the value of record i is at
 * `data` + i * `stride`. */
typedef struct recsort_column {
  const char *name; /* a field of the record itself, not of a struct in it. A column may be a whole
                     * struct or array; the column of a bitfield is the field that holds its bits */
  const void *data; /* of any alignment */
  size_t stride;    /* bytes from a value to the next one; 0: the field's size */
} recsort_column;

/* An array with an element for each record. Its elements move as the records do. */
typedef struct recsort_array {
  const void *from;
  void *to;            /* `from`, in place; or memory that does not overlap it */
  size_t element_size; /* on a device at most 8 MiB */
} recsort_array;

/* What the records of a job are. */
typedef enum recsort_parts {
  RECSORT_ONE_PART = 0, /* one array in any order */
  RECSORT_SEGMENTS,     /* segments, each of which is sorted by itself */
  RECSORT_RUNS /* runs, which are sorted already and are merged. Equal records of an earlier
                * run come first. Every run is checked. Only on the host */
} recsort_parts;

enum { RECSORT_MOST_RUNS = 1 << 16 };

/* Several jobs are the shards of one array that is in the memory of several devices, or in several
 * places of one. They are sorted in place, as one array would be: records move between shards, and
 * equal ones keep the order of the shards and that in each. Such jobs have `records`, the same as
 * `sorted`, with room for `count` and for `head` of them; `count`; `head` (the records after the
 * sort: if no job has a head, as many as before); `device`, and a workspace in its memory; and
 * `stream`, whose work comes before the sort. Nothing else is given. There are at most 256 jobs. */

/* What is written must not overlap anything else that the job names, unless it is in place. Columns
 * may overlap arrays that are moved in place. */
typedef struct recsort_job {
  size_t struct_size; /* RECSORT_JOB_INIT sets it */

  /* ---- What there is ---- */
  size_t count;             /* records; with `device_count` the most that there can be */
  const void *device_count; /* a uint64_t in the device's memory, at most `count`, which is read
                             * when the stream gets there. Records from there on stay where they
                             * are. NULL: `count` records. Only on a device, and with neither parts
                             * nor a head */
  const void *records;      /* of any alignment */
  const recsort_column *columns; /* in place of `records`: each field that a key reads has a column,
                                  * and columns of other fields are ignored. The offsets of fields
                                  * and the size of a record have no meaning then. `sorted` is NULL:
                                  * what is to be moved is in `arrays`, the columns too */
  size_t column_count;

  recsort_parts parts;
  const void *offsets;  /* part p is records [offsets[p], offsets[p + 1]): there are part_count + 1
                         * offsets, aligned to offset_bits, which never decrease. The
                         * first offset of runs is 0 and the last one is `count`. Records outside
                         * all segments stay where they are, and permutation[i] is i there */
  size_t part_count;    /* at most RECSORT_MOST_RUNS runs */
  unsigned offset_bits; /* 32 or 64; 0: 64 */
  unsigned index_bits;  /* of `permutation`: 32 or 64; 0: 32, or 64 for more than 2^32 records */
  const void *const *part_records; /* runs that are not in one array: run p is at part_records[p],
                                    * and `records` is NULL. The address of an empty run may be
                                    * NULL. Only on the host */
  size_t longest_part; /* the most records of a segment; 0: not known. A longer segment is an error
                        * on the host. A device sorts segments faster if you say so, and then
                        * reports a longer one by `status` if it could not sort it */
  unsigned first_bit;  /* compares only bits [first_bit, first_bit + bits) of the encoded key. Of a
                        * key with more than 64 bits, only on a device */
  unsigned bits;       /* 0: all bits from first_bit on */

  /* ---- What is wanted ---- */
  void *sorted;      /* the records in order: `records`, in place; or other memory */
  void *keys_out;    /* the keys of the result, in its order, as recsort_encode writes them and
                      * aligned as there */
  void *permutation; /* record permutation[i] of the input is record i of the result. Aligned to an
                      * index. Of runs, record n of run p has the number offsets[p] + n */
  const recsort_array *arrays;
  size_t array_count;
  size_t head; /* only the first `head` records of the result: so many elements of `sorted`,
                * `permutation`, `keys_out` and each array are written. 0, or `count` and more: all.
                * Less than `count`: not in place, and not with segments */

  /* ---- Only on a device; on the host all are 0 ---- */
  void *stream;          /* a cudaStream_t; NULL: the default stream */
  void *workspace;       /* `workspace_size` bytes at a multiple of 256 that overlap nothing else.
                          * Jobs that may run at the same time, replays of graphs too, have
                          * different ones */
  size_t workspace_size; /* at least what recsort_plan says */
  void *status;          /* a uint32_t in memory that the device can write, such as memory of
                          * cudaMallocHost. The job sets it last, each time that it runs: to
                          * RECSORT_OK; INVALID_RECORD (the value of an enum is less or greater than
                          * all that have names; where the record went is not specified);
                          * INVALID_ARGUMENT (a segment is longer than longest_part; it and the
                          * segments beside it may be left as they are); or CORRUPT_RESULT (the
                          * result is wrong; see recsort_verify). NULL: not wanted, and
                          * nothing is checked on the device, for which a job may do with a
                          * smaller workspace */
  int device;            /* several jobs: the number of the device that has this shard */
} recsort_job;

/* What a job takes. */
typedef struct recsort_needs {
  size_t struct_size;
  size_t host;   /* bytes of host memory that the sorter holds at most after the job */
  size_t device; /* bytes of device memory: the least `workspace_size`, also for jobs that differ
                  * only in having fewer records. Records that are one number take less if they are
                  * aligned to its size */
} recsort_needs;

/* Structs whose struct_size is set and whose other members are 0: values to assign, or to begin a
 * local variable with. */
#ifdef __cplusplus
#define RECSORT_INIT(type)                                                                         \
  ([] {                                                                                            \
    type recsort_made{};                                                                           \
    recsort_made.struct_size = sizeof(type);                                                       \
    return recsort_made;                                                                           \
  }())
#else
#define RECSORT_INIT(type) ((type){.struct_size = sizeof(type)})
#endif
#define RECSORT_JOB_INIT RECSORT_INIT(recsort_job)
#define RECSORT_NEEDS_INIT RECSORT_INIT(recsort_needs)

#ifdef __cplusplus
}
#endif

#endif
