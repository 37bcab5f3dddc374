/* recsort.h - stable sorting of arrays of fixed-size records by the keys of a schema.
 *
 *   recsort_schema_load_memory   what a record looks like and which fields order it, as YAML text;
 *                                or recsort_schema_create, as structs of C
 *   recsort_sorter_create        a plan for that schema, and a plugin to carry it out
 *   recsort_sort                 as often as wanted; the sorter keeps its memory between calls
 *   recsort_sorter_destroy, recsort_schema_destroy
 *
 * The simple calls come first. Jobs say all that these cannot.
 */
#ifndef RECSORT_RECSORT_H
#define RECSORT_RECSORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recsort/job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What stands before each function. */
#ifndef RECSORT_API
#if defined(_WIN32)
#ifdef RECSORT_BUILDS /* defined when the library itself is compiled */
#define RECSORT_API __declspec(dllexport)
#else
#define RECSORT_API
#endif
#elif defined(__GNUC__)
#define RECSORT_API __attribute__((visibility("default")))
#else
#define RECSORT_API
#endif
#endif

/* ---- Simple calls -------------------------------------------------------------------------- */

typedef struct recsort_schema recsort_schema;
typedef struct recsort_sorter recsort_sorter;
struct recsort_allocator; /* see "Memory", */
struct recsort_options;   /* "Options", */
struct recsort_stats;     /* and "What the sorter does and did" */

/* Reads a schema from YAML text, which `name` stands for in messages. You own the schema. Any
 * thread. See also recsort_schema_load_file, which has the same errors. */
RECSORT_API recsort_status recsort_schema_load_memory(const void *text, size_t size,
                                                      const char *name,
                                                      const struct recsort_allocator *allocator,
                                                      recsort_schema **schema,
                                                      recsort_error *error);
/* Makes a sorter for records of a schema; `options` may be NULL. You own the sorter. No memory for
 * records is allocated before the first sort. Any thread. Errors: INVALID_KEY (also if there are no
 * keys at all), PLUGIN_ERROR, OUT_OF_MEMORY, INVALID_ARGUMENT. */
RECSORT_API recsort_status recsort_sorter_create(const recsort_schema *schema,
                                                 const struct recsort_options *options,
                                                 recsort_sorter **sorter, recsort_error *error);
/* Sorts `count` records in place, stably. On failure `records` is as it was. */
RECSORT_API recsort_status recsort_sort(recsort_sorter *sorter, void *records, size_t count,
                                        recsort_error *error);
/* Writes the sorted records to another array, which must not overlap `records`. `records` is not
 * changed. On failure, `sorted` may have been written to. */
RECSORT_API recsort_status recsort_sort_to(recsort_sorter *sorter, const void *records,
                                           size_t count, void *sorted, recsort_error *error);
/* Writes only the stable permutation: record index[i] of the input is record i of the output.
 * `index` has `count` elements of 32 (`count` at most 2^32) or 64 bits, is aligned to them and does
 * not overlap `records`. */
RECSORT_API recsort_status recsort_argsort(recsort_sorter *sorter, const void *records,
                                           size_t count, void *index, unsigned index_bits,
                                           recsort_error *error);
/* Finds the first record whose key is less than that of the record before it. `*disorder` becomes
 * its index, or `count` if the records are sorted. */
RECSORT_API recsort_status recsort_check(recsort_sorter *sorter, const void *records, size_t count,
                                         size_t *disorder, recsort_error *error);
/* Says how the sorter sorts and has sorted: fills in `stats`, of `size` bytes. */
RECSORT_API void recsort_sorter_get_stats(const recsort_sorter *sorter, struct recsort_stats *stats,
                                          size_t size);
/* Frees a sorter and its memory; NULL is allowed. No other thread may be using it. */
RECSORT_API void recsort_sorter_destroy(recsort_sorter *sorter);
/* Frees a schema; NULL is allowed. Sorters made from it do not need it any more. */
RECSORT_API void recsort_schema_destroy(recsort_schema *schema);

/* ---- Conventions of every function ---------------------------------------------------------
 *
 *  - Sizes and offsets are in bytes, counts in records or elements; only what has "bits" in its
 *    name is in bits.
 *  - A function that can fail returns a recsort_status and takes a recsort_error as its last
 *    argument, which may be NULL. On failure it has changed nothing else that the caller passed,
 *    unless its own comment says so.
 *  - Errors of every sorting call: OUT_OF_MEMORY, INVALID_RECORD (the value of an enum is less or
 *    greater than all that have names), PLUGIN_ERROR (the plugin cannot sort so many records, or by
 *    such keys), DEVICE_ERROR, DEVICE_LOST, CORRUPT_RESULT, INVALID_ARGUMENT. On the host every
 *    move is checked to be a permutation.
 *  - Such a function refuses NULL, arrays that overlap and stale permutations with
 *    RECSORT_INVALID_ARGUMENT. A function that cannot fail returns 0, NULL or a struct of zeros if
 *    its schema or sorter is NULL or a number is out of range; a destroy function then does
 *    nothing. recsort_gather and recsort_key_compare are for inner loops and check nothing.
 *  - A schema is read-only once created and may be shared by threads. One thread at a time may use
 *    a sorter; several sorters may work at once. The only thing that sorters share is a pool of
 *    threads (see "Threads" below).
 *  - The library, and the plugins that come with it, call nothing that prints, exits or installs a
 *    signal handler. (A build with RECSORT_ASSERTIONS has assertions, which do.)
 *  - 0 and NULL mean "not given". A struct with a struct_size begins as its RECSORT_..._INIT, any
 *    other one as zeros; then set the members you need.
 *  - struct_size says which header your program was compiled with: a struct of any other size is
 *    refused with RECSORT_INVALID_ARGUMENT. A function that fills in a struct takes its sizeof, and
 *    with any other size fills that many bytes with zeros.
 *  - "order" means a direction, ascending or descending; what says which record goes where is a
 *    permutation. */

/* ---- Jobs ------------------------------------------------------------------------------------
 *
 * recsort_job (job.h) says what there is and what is wanted: any mixture of a sort, a merge, an
 * argsort, segments and a head, of records or columns, in place or elsewhere. The calls above are
 * jobs, too. `job_count` is 1: several jobs are the shards of one array, and only on devices. */

/* Does the job. On failure what is in place on the host is as it was, and other results are
 * unspecified. The job and what it points to in the host's memory may go after the call.
 *  - Of a head, at least 16 times as many records are selected from in one pass, and the others are
 *    not sorted. The threads of the CPU do it, whatever the plugin: a device would have to be sent
 *    all records first. recsort_stats.algorithm is then "selection", and the memory depends on
 *    `head`, not on `count`. Otherwise, and with RECSORT_VERIFY_FULL, all records are sorted.
 *  - Runs are merged by the threads of the CPU, whatever the plugin. All runs have been checked
 *    before a merge in place changes anything.
 * Errors: those of every sorting call; of runs, UNSORTED_RUN and INVALID_RECORD, whose text begins
 * with "run R, record N: ", both from 0; of columns, INVALID_ARGUMENT also for a name that no field
 * has or that comes twice, a field without a column, and a stride that is less than the field's
 * size.
 *
 * Errors of a sorter with on_device:
 *  - PLUGIN_ERROR: the workspace is too small, and the text says what the job takes; or the keys
 *    are too wide with the numbers of segments.
 *  - DEVICE_ERROR: a launch failed, perhaps because of work enqueued earlier. What is wanted may be
 *    partly written.
 *  - DEVICE_LOST: the device does not respond any more. What is wanted may be partly written.
 *  - INVALID_ARGUMENT: the job is wrong. Nothing is written.
 *  - Several jobs: INVALID_RECORD, whose text has the number of the shard and that of the first
 *    invalid record in it, both from 0; OUT_OF_MEMORY of the host. After these the shards are as
 *    they were. So they are after a CORRUPT_RESULT, as in a job's `status`, or a DEVICE_ERROR, if
 *    it comes before records have begun to move between shards; otherwise they hold anything. */
RECSORT_API recsort_status recsort_run(recsort_sorter *sorter, const recsort_job *jobs,
                                       size_t job_count, recsort_error *error);

/* Says what a job takes: needs->host becomes the bytes of working memory that the sorter holds
 * after it, with what it holds already. It takes no memory and reads no array: of the job's
 * pointers it looks only at which are NULL or equal, and `records` may be NULL. It loads no plugin.
 * Not counted are up to 36 MiB of pinned memory of the CUDA plugin,
 * what it allocates if the device's free memory has shrunk, and what another plugin allocates if
 * "auto" tries it, or replaces one. A plugin that moves whole records may take less. `needs` has an
 * element for each job. One thread at a time, as for a sorting call. Errors: OUT_OF_MEMORY (the
 * size overflows), PLUGIN_ERROR (the plugin cannot sort so many), INVALID_ARGUMENT.
 *
 * On a device, needs->device becomes the least workspace_size. `workspace`, `workspace_size`,
 * `stream` and `status` may be 0. Of the other pointers the call looks at which are NULL or
 * equal, and at how they are aligned. PLUGIN_ERROR also says that the keys are too wide. */
RECSORT_API recsort_status recsort_plan(recsort_sorter *sorter, const recsort_job *jobs,
                                        size_t job_count, recsort_needs *needs,
                                        recsort_error *error);

/* Takes now the memory of such a job, and of jobs that differ from it only in fewer records, so
 * that none of them allocates. Without this call, the first job of a size allocates, and those
 * after it do not. Pointers are as for recsort_plan. If the memory grows, the permutation that the
 * sorter keeps ends, also if that fails; then the next call allocates. With "auto", the memory is
 * that of the plugins that are loaded; a job that loads and tries others may allocate. So may a
 * merge that fails, as it finds out which record of which run is wrong.
 *
 * Without a job (NULL), frees the sorter's working memory, which the next call allocates again. The
 * permutation that the sorter keeps ends.
 *
 * One thread at a time, as for a sorting call. Errors: as recsort_plan, and OUT_OF_MEMORY. */
RECSORT_API recsort_status recsort_sorter_reserve(recsort_sorter *sorter, const recsort_job *job,
                                                  recsort_error *error);

/* The permutation that the last job has left in the sorter, because it wanted nothing else: of
 * uint32_t or uint64_t, as `*index_bits` says, and `*count` of them (both may be NULL). NULL: there
 * is none, or it has no elements. It lives until the sorter's next sorting call, even one that
 * fails. */
RECSORT_API const void *recsort_sorter_permutation(const recsort_sorter *sorter,
                                                   unsigned *index_bits, size_t *count);

/* Shortens a permutation that a job has made to the first record of each run of equal keys, and
 * sets `*count` to the number of its elements: job->permutation, with as many elements as the job
 * wrote; or, if that is NULL, the sorter's own. `job` is the job that made it, and its records are
 * as they were then: not sorted in place. Keys are equal if all that the job compares of them is
 * equal; records of different segments never are, and neither are records outside all segments.
 * Takes memory as recsort_check does. On failure nothing has changed, but INVALID_RECORD ends the
 * life of the permutation. Errors: OUT_OF_MEMORY, INVALID_RECORD (the records have changed),
 * INVALID_ARGUMENT (also: an index is not below job->count, or the sorter's own permutation is one
 * of other records, columns or segments). */
RECSORT_API recsort_status recsort_unique(recsort_sorter *sorter, const recsort_job *job,
                                          size_t *count, recsort_error *error);

/* Moves an array as a permutation says: element i of `to` becomes element index[i] of `from`. The
 * arrays do not overlap; elements have any size. The sorter's threads do it, or its executor. It
 * checks nothing: all indices lie in `from`. Any thread, also while another one uses the sorter. */
RECSORT_API void recsort_gather(const recsort_sorter *sorter, const void *index,
                                unsigned index_bits, size_t count, const void *from,
                                size_t element_size, void *to);

/* Memory of a sort, which the sorter keeps for the next one, as recsort_plan says: in place a copy
 * of the records and at most 9 bytes a record, or what the plugin works in if that is more. The
 * CPU's takes 7 bytes a record and twice the key, which counts as at least 4 bytes. If it moves
 * records in place, it takes a copy of them and 4 bytes a record, or with one thread the key and 20
 * bytes a record if that is more. A thread takes, for up to 2^27 records, at most 200,000 times the
 * key and 20 bytes, or the record and 4 bytes. recsort_check takes at most about 1 MiB (more with
 * keys of more than 1 MiB). Of up to 512 runs, a merge takes at most 1.5 MiB for each thread, and
 * in place a copy of the records; of more runs, a copy or two of the records or of their keys. With
 * keys of more than 1 KiB a thread takes more, and with those of more than 8 KiB fewer runs than
 * 512 are many. Not counted: 16 bytes for each run, during the call. */

/* ---- Errors ------------------------------------------------------------------------------- */

/* A short fixed name for a status, such as "invalid schema". Never NULL. Any thread. */
RECSORT_API const char *recsort_status_text(recsort_status status);

/* ---- Memory ------------------------------------------------------------------------------- */

/* Where the library gets its memory. NULL in place of an allocator means the C library's malloc and
 * free. `allocate` returns memory aligned for any type, or NULL; `release` gets what `allocate`
 * returned, and the same size. Threads: the library and the plugins that come with it call both
 * from the thread that called them, so several threads may call them at once if several sort; a
 * plugin from elsewhere may call them from any thread, at any time. (libyaml, which reads schemas,
 * calls malloc itself.) */
typedef struct recsort_allocator {
  void *context;
  void *(*allocate)(void *context, size_t size);
  void (*release)(void *context, void *memory, size_t size);
} recsort_allocator;

/* ---- Threads ------------------------------------------------------------------------------
 *
 * Large sorts are cut into tasks. By default a pool of threads runs them, one pool for the process
 * whatever the number of sorters:
 *  - Its threads are created when they are first needed: at most one fewer than the largest number
 *    that a sort may use, or, for tasks of yours, than there are processors. If the system refuses
 *    a thread, the sort does without it; the calling thread alone can finish any sort.
 *  - An idle thread polls for a millisecond, yielding to other work, and then sleeps.
 *  - They block all signals, so handlers run only on your threads.
 *  - fork: the child starts without the pool's threads and makes its own when it first needs them.
 *    New sorters work there, and so does a sorter that no thread was using at the time. A sorter
 *    that another thread was using is lost, and so is any that sorts on a device, as devices do not
 *    survive a fork.
 *  - dlclose: destroy what you created, then unload; the pool ends first. No call may be running.
 *    On Windows the library stays loaded once the pool has threads.
 *  - Cancellation: do not cancel (pthread_cancel) a thread that is inside a call.
 * Do not call the library from a signal handler. */

/* Runs the tasks of sorts in place of the pool: the job system of an engine, for example.
 *
 * `run` calls task(argument, number) once for each number below `count`, and returns when all these
 * calls have returned. They may run on any threads, in any order, at once or one after the other:
 * none waits for another one. Each takes at most 64 KiB of stack. The thread that called the
 * library calls `run`; if several threads sort at once, several call it at once. It must not fail:
 * it runs the tasks itself that it cannot give to another thread. With an executor a sorter creates
 * no threads, and gives `run` no more tasks than `threads`, even if recsort_options.threads is
 * more. */
typedef struct recsort_executor {
  size_t struct_size; /* RECSORT_EXECUTOR_INIT sets it */
  void *context;
  void (*run)(void *context, void (*task)(void *argument, size_t number), void *argument,
              size_t count);
  unsigned threads; /* tasks that can run at once; 0: one for each processor that the process may
                     * run on, as recsort_options.threads says */
} recsort_executor;

/* The library's own pool, which may run other work of yours too. Its `threads` are the processors
 * that recsort_options.threads would count at the first call. Give it as many tasks as you like: at
 * most so many run at once. Never NULL; lives as long as the library. Any thread. */
RECSORT_API const recsort_executor *recsort_executor_default(void);

/* ---- Schema ------------------------------------------------------------------------------- */

typedef enum recsort_type {
  RECSORT_BOOL = 1, /* one byte; any value but 0 is true */
  RECSORT_INT8,
  RECSORT_INT16,
  RECSORT_INT32,
  RECSORT_INT64,
  RECSORT_UINT8,
  RECSORT_UINT16,
  RECSORT_UINT32,
  RECSORT_UINT64,
  RECSORT_FLOAT16,
  RECSORT_BFLOAT16,
  RECSORT_FLOAT32,
  RECSORT_FLOAT64,
  RECSORT_CHAR,     /* a string of `count` bytes, NUL-padded, compared as bytes: all of them */
  RECSORT_BYTES,    /* `count` raw bytes, compared as bytes */
  RECSORT_STRUCT,   /* fields of its own */
  RECSORT_ENUM,     /* an integer of type `base` with names for its values */
  RECSORT_BITFIELD, /* bits [bit, bit + width) of an earlier integer field of the same struct, bit 0
                     * being the least significant; unsigned, and takes no bytes of its own */
  RECSORT_UUID,     /* 16 bytes in the order of their text (RFC 9562), compared as bytes */
  RECSORT_IPV4,     /* 4 bytes in network order, as struct in_addr, compared as bytes */
  RECSORT_IPV6,     /* 16 bytes in network order, as struct in6_addr, compared as bytes */
  RECSORT_MAC,      /* 6 bytes, compared as bytes */
  RECSORT_INT128,
  RECSORT_UINT128,
  RECSORT_DATETIME_D, /* an int64 of days since 1970-01-01; the least one is no time (NaT) */
  RECSORT_DATETIME_S, /* seconds since then, in UTC without leap seconds; and so on */
  RECSORT_DATETIME_MS,
  RECSORT_DATETIME_US,
  RECSORT_DATETIME_NS,
  RECSORT_CSTRING, /* a C string in `count` bytes, compared as strncmp does: what stands behind its
                    * NUL does not count */
  RECSORT_INT24,   /* integers of 3, 5, 6 and 7 bytes, aligned to 1 */
  RECSORT_INT40,
  RECSORT_INT48,
  RECSORT_INT56,
  RECSORT_UINT24,
  RECSORT_UINT40,
  RECSORT_UINT48,
  RECSORT_UINT56,
  RECSORT_INT1, /* the low bits of a byte; its other bits do not count. So are the types below,
                 * which are those of ml_dtypes */
  RECSORT_INT2,
  RECSORT_INT4,
  RECSORT_UINT1,
  RECSORT_UINT2,
  RECSORT_UINT4,
  RECSORT_FLOAT8_E3M4,
  RECSORT_FLOAT8_E4M3,
  RECSORT_FLOAT8_E4M3B11FNUZ,
  RECSORT_FLOAT8_E4M3FN,
  RECSORT_FLOAT8_E4M3FNUZ,
  RECSORT_FLOAT8_E5M2,
  RECSORT_FLOAT8_E5M2FNUZ,
  RECSORT_FLOAT8_E8M0FNU, /* a power of two without a sign */
  RECSORT_FLOAT6_E2M3FN,
  RECSORT_FLOAT6_E3M2FN,
  RECSORT_FLOAT4_E2M1FN
} recsort_type;

typedef enum recsort_endian {
  RECSORT_ENDIAN_DEFAULT = 0, /* that of the enclosing struct; for a record, little */
  RECSORT_LITTLE_ENDIAN,
  RECSORT_BIG_ENDIAN
} recsort_endian;

typedef enum recsort_layout {
  RECSORT_LAYOUT_C = 0,   /* natural alignment, as a C compiler lays out a struct on LP64 */
  RECSORT_LAYOUT_PACKED,  /* no padding */
  RECSORT_LAYOUT_EXPLICIT /* every field has an offset */
} recsort_layout;

typedef enum recsort_order { RECSORT_ASCENDING = 0, RECSORT_DESCENDING } recsort_order;

/* Where NaNs, NaTs (the least value of a time) and the null values of integers go. Except with
 * TOTAL, all of these are equal, and -0 equals +0. */
typedef enum recsort_nan {
  RECSORT_NAN_LAST = 0, /* after every number, in both orders */
  RECSORT_NAN_FIRST,    /* before every number, in both orders */
  RECSORT_NAN_TOTAL     /* IEEE 754 totalOrder: -NaN < -inf < -0 < +0 < inf < NaN; no time is the
                         * least one; null values are the numbers that they are */
} recsort_nan;

/* One name of an enum's value. For a uint64 base, `value` holds the same 64 bits. */
typedef struct recsort_enumerator {
  const char *name;
  int64_t value;
} recsort_enumerator;

enum { RECSORT_MOST_NULLS = 255 };

/* An offset that is not given, for layouts C and PACKED; 0 means the same there. */
#define RECSORT_NO_OFFSET SIZE_MAX

/* A field, as you declare it and as a schema describes it. The schema has filled in `endian`,
 * `offset`, `size` and the `base` of a bitfield, and sorted `nulls`. Members that do not apply to
 * the type stay 0. */
typedef struct recsort_field_desc {
  const char *name;
  recsort_type type;
  recsort_type base;     /* enum: its integer type; bitfield: filled in with that of `bit_base` */
  recsort_endian endian; /* DEFAULT: that of the enclosing struct */
  size_t offset; /* from the start of the enclosing struct. Layout EXPLICIT: required, 0 for the
                  * first byte. Layouts C and PACKED compute it: an offset that is given (not 0) is
                  * checked */
  size_t size;   /* of one element. char, cstring, bytes: the length; 0: 1. Of other types it is
                  * filled in, and checked if you give it (not 0) */
  size_t count;  /* elements of an array; 0: not an array. char, cstring, bytes: 0 */
  const char *bit_base; /* bitfield: the name of the field that holds the bits */
  uint32_t bit;
  uint32_t width;
  const char *scale; /* integers of at most 64 bits: what 1 stands for, a decimal such as "0.01"
                      * or "1e-7": greater than 0, at most 18 digits, and an exponent from -18 to
                      * 18. NULL: 1. A sort compares the integers, which is the same order */
  const recsort_enumerator *enumerators;
  size_t enumerator_count;
  const struct recsort_field_desc *fields; /* struct; of an array: of its first element */
  size_t field_count;
  const int64_t *nulls; /* integers of at most 64 bits: at most RECSORT_MOST_NULLS values, as they
                         * are stored, which stand for no number: recsort_nan says where they go.
                         * For uint64, the same 64 bits. NULL: none */
  size_t null_count;
  uint32_t line; /* the place of the declaration in `source`, for messages; 0: none */
  uint32_t column;
} recsort_field_desc;

/* A key. `path` names a field: "price", "pos[2]", "stats.hp", "items[3].id"; a whole array, which
 * is compared element by element: "pos"; or it is the name of a computed value. */
typedef struct recsort_key_desc {
  const char *path;
  recsort_order order;
  recsort_nan nan; /* floats, times, integers with null values, and computed values; TOTAL not for
                    * the latter */
  uint32_t line;
  uint32_t column;
} recsort_key_desc;

/* What is computed from the coordinates of a record. All arithmetic is in float64, and the result
 * is the same on every machine. */
typedef enum recsort_compute {
  RECSORT_DISTANCE = 1, /* the squared distance from a point: a float32 if all coordinates are
                         * float32 or shorter floats, otherwise a float64. Infinity if it is too
                         * large, a NaN if a coordinate is one */
  RECSORT_MORTON,  /* the place on a Morton curve of the cell of a grid that the coordinates are
                    * in. Coordinates outside the grid count as its edge; if one is a NaN, the
                    * place is the last one, or the first with NAN_FIRST */
  RECSORT_HILBERT, /* the same on a Hilbert curve */
  RECSORT_DOT      /* the dot product with a vector, such as the depth along an axis: of the type
                    * that a distance has, and summed in the order of the coordinates. An infinite
                    * coordinate times 0 is a NaN, and so is the sum of both infinities */
} recsort_compute;

enum { RECSORT_MOST_COORDINATES = 8 };

/* A value computed from a record, to sort by. Members that do not apply stay 0. */
typedef struct recsort_computed_desc {
  const char *name; /* for the path of a key; no field has it */
  recsort_compute compute;
  uint32_t bits;                  /* MORTON, HILBERT: a grid has 2^bits cells along each coordinate;
                                   * at most 64 bits for all coordinates together */
  const char *const *coordinates; /* paths of integers or floats */
  size_t coordinate_count; /* at most RECSORT_MOST_COORDINATES; MORTON, HILBERT: at least 2 */
  const char *parameter;   /* DISTANCE, DOT: the name of the point or vector, which is set by
                            * recsort_sorter_set_parameter; NULL: it is `origin` */
  const double *origin;    /* DISTANCE, DOT: the point or vector, if it has no name. MORTON,
                            * HILBERT: the least coordinates of the grid */
  const double *limit;     /* MORTON, HILBERT: the greatest ones */
  uint32_t line;
  uint32_t column;
} recsort_computed_desc;

/* A whole schema, as you declare it and as recsort_schema_describe returns it. */
typedef struct recsort_schema_desc {
  size_t struct_size; /* RECSORT_SCHEMA_DESC_INIT sets it */
  const char *record; /* the record's name */
  const char *source; /* the name of the text in messages; NULL: none */
  recsort_endian endian;
  recsort_layout layout;
  size_t size;      /* of a record; 0: as laid out. A larger size adds trailing padding */
  uint64_t skip;    /* bytes before the first record of a file */
  uint64_t trailer; /* bytes after the last one; UINT64_MAX (RECSORT_ANY_TRAILER): any number */
  const recsort_field_desc *fields;
  size_t field_count;
  const recsort_key_desc *keys; /* most significant first; may be none */
  size_t key_count;
  uint32_t line; /* of `size`, for messages */
  uint32_t column;
  const recsort_computed_desc *computed;
  size_t computed_count;
  uint64_t count;                          /* records of a file; 0: as many as its size allows */
  const struct recsort_place_desc *places; /* what a file says itself: see tools.h */
  size_t place_count;
  uint32_t pad_to;  /* padding follows the records, up to a multiple of so many bytes of the file;
                     * 0: none */
  uint8_t pad_with; /* the byte that it is made of */
  bool zero_all;    /* a count or length of 0 means all records that a file has */
  bool repeat; /* a file repeats header and records up to its end; each header has the number of its
                * records. There is no trailer */
} recsort_schema_desc;

/* The byte order of this machine. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define RECSORT_NATIVE_ENDIAN RECSORT_BIG_ENDIAN
#else
#define RECSORT_NATIVE_ENDIAN RECSORT_LITTLE_ENDIAN
#endif

/* A struct of C, described by the compiler; C++ has recsort.hpp. Name the members that keys need:
 *
 *   static const recsort_field_desc fields[] = {RECSORT_FIELD(struct Entity, distance)};
 *   static const recsort_key_desc keys[] = {{.path = "distance", .order = RECSORT_DESCENDING}};
 *   const recsort_schema_desc desc = RECSORT_STRUCT(struct Entity, fields, keys);
 *
 * A member is a number, a bool, an enum, a char, a CSTRING (an array of char) or BYTES (an array of
 * unsigned char); another one does not compile. `fields` and `keys` are arrays. */
#ifndef __cplusplus
#define RECSORT_FIELD(record, member)                                                              \
  {                                                                                                \
    .name = #member, .type = RECSORT_TYPE_OF(((record *)0)->member),                               \
    .offset = offsetof(record, member), .size = sizeof(((record *)0)->member)                      \
  }
#define RECSORT_STRUCT(record_, fields_, keys_)                                                    \
  {                                                                                                \
    .struct_size = sizeof(recsort_schema_desc), .record = #record_,                                \
    .endian = RECSORT_NATIVE_ENDIAN, .layout = RECSORT_LAYOUT_EXPLICIT, .size = sizeof(record_),   \
    .fields = fields_, .field_count = sizeof(fields_) / sizeof *(fields_), .keys = keys_,          \
    .key_count = sizeof(keys_) / sizeof *(keys_)                                                   \
  }
#define RECSORT_TYPE_OF(m)                                                                         \
  _Generic(&(m), bool *: RECSORT_BOOL, char *: RECSORT_CHAR, signed char *: RECSORT_INT8,          \
           unsigned char *: RECSORT_UINT8, short *: RECSORT_INT16,                                 \
           unsigned short *: RECSORT_UINT16, int *: RECSORT_INT32, unsigned *: RECSORT_UINT32,     \
           long *: sizeof(long) == 8 ? RECSORT_INT64 : RECSORT_INT32,                              \
           unsigned long *: sizeof(long) == 8 ? RECSORT_UINT64 : RECSORT_UINT32,                   \
           long long *: RECSORT_INT64, unsigned long long *: RECSORT_UINT64,                       \
           float *: RECSORT_FLOAT32, double *: RECSORT_FLOAT64,                                    \
           char(*)[sizeof(m)]: RECSORT_CSTRING, unsigned char(*)[sizeof(m)]: RECSORT_BYTES)
#endif

/* Reads a schema from a YAML file, or makes it from a description in C, and lays it out, as
 * recsort_schema_load_memory does with a text. The schema keeps no pointer to the text or the
 * description. You own it: destroy it with recsort_schema_destroy. `allocator` may be NULL and is
 * copied. A schema takes at most 32 MiB, and so does the plan of a sorter's keys; a schema or plan
 * that would take more is refused. Any thread. Errors: IO_ERROR, INVALID_SCHEMA, INVALID_KEY,
 * OUT_OF_MEMORY, INVALID_ARGUMENT. On Windows `path` is UTF-8. */
RECSORT_API recsort_status recsort_schema_load_file(const char *path,
                                                    const recsort_allocator *allocator,
                                                    recsort_schema **schema, recsort_error *error);
RECSORT_API recsort_status recsort_schema_create(const recsort_schema_desc *desc,
                                                 const recsort_allocator *allocator,
                                                 recsort_schema **schema, recsort_error *error);

/* Makes the schema of a record that is one number in the byte order of this machine; its only field
 * and key is "key". For jobs that sort keys alone, or keys (records) with values (arrays). `type`
 * is a bool, an integer, a float or a time. Errors: INVALID_ARGUMENT, INVALID_KEY (`order` or `nan`
 * is wrong), OUT_OF_MEMORY. */
RECSORT_API recsort_status recsort_schema_create_number(recsort_type type, recsort_order order,
                                                        recsort_nan nan,
                                                        const recsort_allocator *allocator,
                                                        recsort_schema **schema,
                                                        recsort_error *error);

/* The schema as a description, with what recsort_field_desc says is filled in, and the same for
 * `endian`, `size` and the members of places and conditions; recsort_schema_create makes the same
 * schema of it. Owned by the schema. Any thread. */
RECSORT_API const recsort_schema_desc *recsort_schema_describe(const recsort_schema *schema);

/* ---- Options -------------------------------------------------------------------------------
 *
 * Plugins sort. A sorter of yours chooses one:
 *  - A plugin that you name is opened by recsort_sorter_create. No other one is loaded, and it is
 *    never replaced.
 *  - With "auto", the plugin "cpu" sorts, and then the fastest one for arrays of about that size.
 *    Starting a GPU, and finding out that it is slower, costs about a twentieth of the sorting
 *    time. So "cpu" sorts until calls with 12,288 records or more have taken 7 seconds. Then the
 *    other plugins are loaded and opened, which takes some 0.3 s once, and each sorts a few arrays
 *    of each size. They stay open as long as the sorter. Calls with fewer records do not count.
 *    Name the plugin if a frame must not wait for that, or if memory is short: another plugin may
 *    take more of it. If `algorithm` or an option is one that "cpu" does not have,
 *    recsort_sorter_create() loads the others, and the best that works here sorts. A plugin that
 *    fails in use is replaced by the next best one, and recsort_stats.fallback says so. The sorter
 *    does not use it again, even if the cause has passed, such as a brief shortage of memory; a
 *    new sorter does.
 *  - recsort_plugins_find (tools.h) lists the options of a plugin. An option that the plugin does
 * not have, or a wrong value, is an error if you named the plugin; with "auto" the plugin is not
 *    used, and recsort_stats.fallback says so.
 *  - The CUDA plugin sorts on the device that is current in the thread that opens it, or on the one
 *    whose number the option `device` gives. If the current context is one of that device, it is
 *    used, and must outlive the sorter; otherwise the primary one is. The plugin may then be called
 *    from any thread, and changes no thread's current device. It allocates device memory on demand,
 *    up to all that is free or to the option `memory`: bytes, or a number with a suffix K, M, G or
 *    T for multiples of 2^10, 2^20, 2^30 or 2^40. The environment variable RECSORT_CUDA_MEMORY sets
 *    the same limit if the option does not. */

/* Structs whose struct_size is set and whose other members are 0. */
#define RECSORT_EXECUTOR_INIT RECSORT_INIT(recsort_executor)
#define RECSORT_SCHEMA_DESC_INIT RECSORT_INIT(recsort_schema_desc)
#define RECSORT_OPTIONS_INIT RECSORT_INIT(recsort_options)

/* How to sort. */
typedef struct recsort_options {
  size_t struct_size;           /* RECSORT_OPTIONS_INIT sets it */
  const recsort_key_desc *keys; /* instead of the schema's own */
  size_t key_count;
  bool reverse;          /* reverse the order of every key; ties stay in input order */
  const char *plugin;    /* a plugin's name; NULL or "auto": the fastest one here */
  const char *algorithm; /* one of the plugin's; NULL: its default */
  unsigned threads;      /* CPU threads; 0: as many as the executor has, or one for each processor
                          * that the process may run on, but on Linux no more than the CPU quotas of
                          * its control groups allow, rounded up. The library reads these when you
                          * create the sorter, and in recsort_sorter_reserve. At most 1024 threads
                          * are used, and at most as many as the executor has */
  const recsort_allocator *allocator; /* copied; NULL: the C library's */
  const recsort_executor *executor;   /* copied; NULL: the library's own pool of threads */
  const char *const *plugin_options;  /* for the plugin, each "key=value", such as "memory=8G";
                                       * copied. If a key comes twice, the last one counts */
  size_t plugin_option_count;
  size_t record_size;    /* sizeof your record; refused if the schema's record has another size */
  recsort_verify verify; /* job.h */
  bool on_device;        /* the arrays of jobs are in a device's memory: see "Devices" below */
} recsort_options;

/* ---- What the sorter does and did ------------------------------------------------------------ */

/* Sets the point or vector named `name`, that of all keys which are computed with it, for the calls
 * that follow: `count` finite values, one for each coordinate. Before that, a call that makes such
 * keys is refused. The permutation that the sorter keeps stays as it is. Errors: INVALID_ARGUMENT
 * (also: no key has such a name, or one has another number of coordinates; then nothing has
 * changed). */
RECSORT_API recsort_status recsort_sorter_set_parameter(recsort_sorter *sorter, const char *name,
                                                        const double *values, size_t count,
                                                        recsort_error *error);

/* The same for a sorter with on_device, but `values` is device memory, aligned to 8 bytes, which
 * each job from now on reads when its stream gets there. So a graph can be replayed with another
 * point or vector. The values should be finite: with an infinity or a NaN among them, the keys are
 * infinite or NaNs, and those are equal. */
RECSORT_API recsort_status recsort_sorter_bind_parameter(recsort_sorter *sorter, const char *name,
                                                         const double *values, size_t count,
                                                         recsort_error *error);

/* Figures of the last sorting call, and the choices for the next one. The strings live as long as
 * the sorter. Seconds are wall-clock time. */
typedef struct recsort_stats {
  size_t records;
  size_t record_size;
  unsigned key_bits;  /* bits that carry information */
  unsigned key_width; /* bits of the integer that holds them: 32, 64, 128, 192 ... */
  unsigned index_bits;
  unsigned threads;
  const char *plugin; /* with "auto", before the first sort: the one that sorts first */
  const char *algorithm;
  const char *choice;   /* why this plugin; with "auto" also which one cannot be used here */
  const char *transfer; /* whether the plugin gets whole records or only keys, and why; NULL: it
                         * works in the host's memory, or always gets keys */
  const char *fallback; /* with "auto": which plugin failed and why, or why the one that the options
                         * are for is not used; else NULL */
  size_t memory;        /* bytes the sorter holds */
  bool whole_records;   /* the plugin got and moved the records, not only keys */
  /* 0 for fewer than 256 whole records, as to time them takes too long. Steps that are not timed
   * apart, such as those of one bucket of whole records on the CPU, are all in sort_seconds. */
  double encode_seconds;
  double sort_seconds;
  double verify_seconds;
  double permute_seconds;
} recsort_stats;

/* ---- Devices ---------------------------------------------------------------------------------
 *
 * A sorter with recsort_options.on_device takes jobs (job.h) whose arrays are in a device's memory:
 * memory that kernels of the device can access, with CUDA that of cudaMalloc, cudaMallocAsync,
 * cudaMallocManaged and cudaMallocHost. Results have the same bytes as those of the host's sorts.
 *
 *   recsort_options options = {.struct_size = sizeof options, .on_device = true};
 *   recsort_sorter_create(schema, &options, &sorter, &error);
 *   recsort_job job = RECSORT_JOB_INIT;
 *   job.count = n;
 *   job.records = job.sorted = entities;
 *   job.stream = stream;
 *   recsort_needs needs = RECSORT_NEEDS_INIT;
 *   recsort_plan(sorter, &job, 1, &needs, &error);
 *   cudaMalloc(&job.workspace, job.workspace_size = needs.device);
 *   ...
 *   recsort_run(sorter, &job, 1, &error);      each frame: enqueues
 *
 *  - recsort_plan, recsort_run and the calls for parameters, keys of the plan and figures take
 *    such a sorter. Calls for records in the host's memory refuse it; recsort_gather must not get
 *    it.
 *  - recsort_sorter_create opens the plugin: "auto" is the best one that can work on a device.
 *    There is one, "cuda". The sorter holds no device memory, but some pinned memory and streams.
 *    The members `threads` and `executor` of recsort_options have no meaning, and `verify` says
 *    only whether results are checked. Keys have at most 128 bits in all, with the number of a
 *    segment, if there are any; `device_count` makes one segment.
 *  - The device is the one that is current in the thread that creates the sorter, or the one of the
 *    plugin's option `device`. If the current context is one of that device, it is used; otherwise
 *    the device's primary one is, as by the CUDA runtime. Streams and memory must be of that
 *    context, which must outlive the sorter. Later calls may come from threads with another device
 *    or context, or none; no call changes those of your thread.
 *  - recsort_run enqueues work on the job's stream and returns. It neither waits for the device nor
 *    allocates, so you may capture the stream in a graph, and replay it with other contents of the
 *    same arrays. The jobs must have finished before the sorter is destroyed, and graphs that have
 *    them must not run any more.
 *  - A graph keeps the values that parameters have when it is captured
 *    (recsort_sorter_set_parameter), or reads them where recsort_sorter_bind_parameter said.
 *  - If you capture the stream, the device detects whether 2^21 records or more are sorted,
 *    reversed or nearly sorted, and skips work that they do not need. This requires the default
 *    algorithm, a plugin built with CUDA 13, and fewer than about 2^29 to 2^30 records. Only a graph can
 *    skip work without asking the host. The device does not look at numbers, or at records of up to
 *    32 bytes whose key is one aligned number of 32 or 64 bits, if nothing else is wanted: their
 *    sort is faster than one that begins with a look.
 *  - "A plugin built with CUDA 13" says so in its description, which recsort_plugins_find and
 *    "recsort --list-plugins" show. Its jobs in your graphs look at the data in each replay, and
 *    skip what these need not: large sorted records take less time, and short segments too, without
 *    longest_part. A plugin built with CUDA 12 gives the same results, but always does all work.
 *  - Of 2^21 records or more a head of up to 2048, and of 2^19 or more one of up to 256, is
 *    selected without sorting the others: each record is read once, and a few of them again. A
 *    larger head is found by sorting all.
 *  - Segments are sorted faster if you give longest_part and it is at most 8192 (on an H200), or at
 *    most 16,384 and the average segment has at least half as many; if keys have more than 64 bits,
 *    half as many. If you do not give it, but capture the stream, have 2^15 records or more and the
 *    plugin was built with CUDA 13, the device finds it. Records that are one number, with at most
 *    one array, are also sorted faster if longest_part is at most about a million and the average
 *    segment has 4096. In all other sorts of segments the time depends on `count` alone.
 *  - Records that are one integer of 32, 64 or 128 bits or one float of 32 or 64 are sorted as
 *    keys, in place of cub::DeviceRadixSort, and faster than other records. The first array with
 *    elements of 4 or 8 bytes is moved in the same pass; docs/gpu-sort.md compares both. Up to a
 *    million, the fewer bits are compared (first_bit, bits), the faster is the sort.
 *
 * Several jobs (job.h) are sorted by all their devices together: each sorts its shard to its
 * workspace, then they exchange records, straight from device to device if there is peer access
 * between them, which is enabled and stays so; otherwise through the host. recsort_run waits then,
 * so it cannot be captured. Records, workspaces and streams are of the devices' primary contexts.
 * The first such call, and one for other devices than the one before, opens the devices. */

/* ---- Keys, to search or merge sorted records -------------------------------------------------
 *
 * The keys of a record are encoded as one unsigned integer of recsort_key_size bytes, whose numeric
 * order is the order of the records. */

/* Bytes of an encoded key: a multiple of 8, or 4. */
RECSORT_API size_t recsort_key_size(const recsort_sorter *sorter);
/* Writes the encoded keys of `count` records, recsort_key_size bytes each, to `keys`, which is
 * aligned for uint64_t (for uint32_t if a key has 4 bytes) and does not overlap `records`. Errors:
 * INVALID_RECORD, after which the contents of `keys` are unspecified, and INVALID_ARGUMENT. */
RECSORT_API recsort_status recsort_encode(recsort_sorter *sorter, const void *records, size_t count,
                                          void *keys, recsort_error *error);
/* Compares two encoded keys: returns less than, equal to or greater than 0 if `a` is less than,
 * equal to or greater than `b`. */
RECSORT_API int recsort_key_compare(const recsort_sorter *sorter, const void *a, const void *b);

/* ---- Version ------------------------------------------------------------------------------- */

/* The version of this header. The library that a program runs with may have another one. */
#define RECSORT_VERSION_MAJOR 1
#define RECSORT_VERSION_MINOR 0
#define RECSORT_VERSION_PATCH 0
#define RECSORT_VERSION_SUFFIX "-rc" /* "" in a release */
#define RECSORT_VERSION_NUMBER                                                                     \
  (RECSORT_VERSION_MAJOR * 10000 + RECSORT_VERSION_MINOR * 100 + RECSORT_VERSION_PATCH)

/* The version of the library that the program runs with, as "major.minor.patch" and the suffix.
 * Any thread; lives as long as the library. */
RECSORT_API const char *recsort_version(void);

#ifdef __cplusplus
}
#endif

#endif
