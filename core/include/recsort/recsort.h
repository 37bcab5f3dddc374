/* recsort.h - stable sorting of arrays of fixed-size records by the keys of a schema.
 *
 * The calls come in this order:
 *
 *   recsort_schema_load_file   what a record looks like and which fields order it
 *   recsort_sorter_create      a plan for that schema, and a plugin to carry it out
 *   recsort_sort               as often as wanted; the sorter keeps its memory between calls
 *   recsort_sorter_destroy, recsort_schema_destroy
 *
 * Conventions that hold for every function here:
 *  - Sizes, offsets and counts are in bytes or records as their names say, never in bits unless
 *    the name ends in _bits.
 *  - A function that can fail returns a recsort_status and takes a recsort_error as its last
 *    argument, which may be NULL. On failure nothing else that the caller passed has changed, but
 *    for what recsort_sort_to, recsort_permutation_unique and recsort_encode say.
 *  - Such a function refuses NULL, arrays that overlap and permutations that are stale with
 *    RECSORT_INVALID_ARGUMENT. One that cannot fail and is given NULL in place of its schema,
 *    sorter or list, or a number that is too great, returns 0, NULL or a struct of zeros; a destroy
 *    function does nothing then. recsort_field_get, recsort_field_set, recsort_gather,
 *    recsort_permutation_at and recsort_key_compare stand in inner loops and check nothing.
 *  - A schema is read-only once created and may be shared by threads. A sorter is used by one
 * thread at a time; several sorters may work at once. The one thing that sorters share is a pool of
 *    threads ("Threads" below).
 *  - The library, and the plugins that come with it, call nothing that prints, exits or installs a
 *    signal handler. (A build without NDEBUG has assertions, which do.)
 *  - 0 and NULL mean "not given": zero a struct, then fill in what you want to say.
 *
 * How the interface grows: structs get members at their end, and programs and libraries of
 * different versions work together.
 *  - A struct that you fill in has a struct_size; set it to its sizeof. The library reads what both
 *    of you know. What an older program does not know is not given; what an older library does not
 *    know is ignored. A struct_size less than that of the first version is refused.
 *  - A function that fills in a struct takes its sizeof, and writes no more than that. What an
 * older library does not know is 0.
 *  - Arrays of structs that you hand over have a stride: the sizeof of an element; 0 means that of
 *    the first version.
 *  - recsort_error, recsort_allocator, recsort_field, recsort_enumerator and recsort_key_desc as
 *    recsort_schema_keys gives it do not grow. What there is to add comes by further functions.
 *  - "order" is a direction, ascending or descending; which record goes where is a permutation.
 */
#ifndef RECSORT_RECSORT_H
#define RECSORT_RECSORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RECSORT_API __attribute__((visibility("default")))
#else
#define RECSORT_API
#endif

/* The version of this header; the library that a program runs with may be older or newer. */
#define RECSORT_VERSION_MAJOR 0
#define RECSORT_VERSION_MINOR 1
#define RECSORT_VERSION_PATCH 0
#define RECSORT_VERSION_NUMBER                                                                     \
  (RECSORT_VERSION_MAJOR * 10000 + RECSORT_VERSION_MINOR * 100 + RECSORT_VERSION_PATCH)

/* The version of the library that is linked, as "major.minor.patch". */
RECSORT_API const char *recsort_version(void);

/* ---- Errors ------------------------------------------------------------------------------- */

typedef enum recsort_status {
  RECSORT_OK = 0,
  RECSORT_INVALID_ARGUMENT, /* a call that no data could make right */
  RECSORT_OUT_OF_MEMORY,
  RECSORT_IO_ERROR,       /* a file could not be read */
  RECSORT_INVALID_SCHEMA, /* the schema says something that is refused */
  RECSORT_INVALID_KEY,    /* a key names nothing, or nothing that can be ordered */
  RECSORT_INVALID_RECORD, /* a record holds a value that its schema rules out; the error's text
                           * begins with "record N: ", N from 0 in the records of the call */
  RECSORT_PLUGIN_ERROR,   /* a plugin could not be found, loaded or used */
  RECSORT_DEVICE_ERROR,   /* a plugin failed while it worked */
  RECSORT_CORRUPT_RESULT  /* a plugin's result is wrong; `records` is intact */
} recsort_status;

/* What went wrong and where, owned by the caller. `line` and `column` count from 1 and are 0 where
 * there is no text to point at. `text` is one whole line without a newline, and already begins
 * with "file:line:column: " where those are known. The struct has 512 bytes in every version. */
typedef struct recsort_error {
  recsort_status status;
  uint32_t line;
  uint32_t column;
  char text[500];
} recsort_error;

/* A short fixed name for a status, such as "invalid schema". Never NULL. */
RECSORT_API const char *recsort_status_text(recsort_status status);

/* ---- Memory ------------------------------------------------------------------------------- */

/* Where the library takes its memory from. Pass NULL in place of one for the C library's.
 * `allocate` returns memory aligned for any type, or NULL; `release` gets what allocate returned
 * and the same size.
 * Who calls: the library and the plugins that come with it call both from the thread that called
 * them, so several may at once if several threads sort; a plugin from elsewhere may call them from
 * any thread, at any time. (libyaml, which reads schemas, uses malloc by itself.) */
typedef struct recsort_allocator {
  void *context;
  void *(*allocate)(void *context, size_t size);
  void (*release)(void *context, void *memory, size_t size);
} recsort_allocator;

/* ---- Threads ------------------------------------------------------------------------------
 *
 * Large sorts are cut into tasks. By default a pool of threads runs them, one pool for the process
 * whatever the number of sorters:
 *  - Its threads are created when a sort first wants them, at most one fewer than the largest
 * number that a sort may use. A thread that the system refuses is done without; the calling thread
 * alone can finish any sort.
 *  - An idle thread polls for a millisecond, yielding to other work, and then sleeps.
 *  - They block all signals, so handlers run on your threads alone.
 *  - fork: the child starts without the pool's threads and makes its own when it first needs them.
 *    New sorters work there, and so does a sorter that no thread was using at the time; one that
 *    was in use is lost, like everything else of the other threads, and so is any that a plugin for
 * a device works for, as devices do not survive a fork.
 *  - dlclose: destroy what you created, then unload; the pool ends first. No call may be running.
 *  - Cancellation: do not cancel (pthread_cancel) a thread that is inside a call.
 * No call may be made from a signal handler. */

/* What runs the tasks of sorts in place of the pool: the job system of an engine, say.
 *
 * `run` calls task(argument, number) once for each number below `count`, and returns when all these
 * calls have returned. They may run on any threads, in any order, at once or one after the other:
 * none waits for another one. Each takes at most 64 KiB of stack. `run` itself is called by the
 * thread that called the library, and by several at once if they sort at once. It must not fail:
 * what it cannot give to another thread it runs itself. With an executor a sorter creates no thread
 * and gives `run` no more tasks than it may use threads. */
typedef struct recsort_executor {
  size_t struct_size;
  void *context;
  void (*run)(void *context, void (*task)(void *argument, size_t number), void *argument,
              size_t count);
  unsigned threads; /* tasks that can run at once; 0: as many as there are processors */
} recsort_executor;

/* The library's own pool, for other work that is done beside sorting. Never NULL. Any thread. */
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
  RECSORT_CHAR,     /* a string of `count` bytes, NUL-padded, compared as bytes */
  RECSORT_BYTES,    /* `count` raw bytes, compared as bytes */
  RECSORT_STRUCT,   /* fields of its own */
  RECSORT_ENUM,     /* an integer of type `base` with names for its values */
  RECSORT_BITFIELD, /* bits [bit, bit + width) of an earlier integer field of the same struct,
                       bit 0 the least significant; unsigned, and takes no room of its own */
  RECSORT_UUID      /* 16 bytes in the order of their text (RFC 9562), compared as bytes */
} recsort_type;

typedef enum recsort_endian {
  RECSORT_ENDIAN_DEFAULT = 0, /* that of what surrounds it; little for a whole record */
  RECSORT_LITTLE_ENDIAN,
  RECSORT_BIG_ENDIAN
} recsort_endian;

typedef enum recsort_layout {
  RECSORT_LAYOUT_C = 0,   /* natural alignment, as a C compiler lays out a struct on LP64 */
  RECSORT_LAYOUT_PACKED,  /* no padding */
  RECSORT_LAYOUT_EXPLICIT /* every field has an offset */
} recsort_layout;

typedef enum recsort_order { RECSORT_ASCENDING = 0, RECSORT_DESCENDING } recsort_order;

/* Where a NaN goes. But for TOTAL, all NaNs are equal and -0 equals +0. */
typedef enum recsort_nan {
  RECSORT_NAN_LAST = 0, /* after every number, in both orders */
  RECSORT_NAN_FIRST,    /* before every number, in both orders */
  RECSORT_NAN_TOTAL     /* IEEE 754 totalOrder: -NaN < -inf < -0 < +0 < inf < NaN */
} recsort_nan;

/* One name of an enum's value. For a uint64 base, `value` holds the same 64 bits. */
typedef struct recsort_enumerator {
  const char *name;
  int64_t value;
} recsort_enumerator;

/* With layout C and PACKED the same as an offset of 0: not given. */
#define RECSORT_NO_OFFSET UINT64_MAX

/* A field as it is declared. `line` and `column` say where in `source`, for messages; 0 if
 * nowhere. What does not apply to the type stays 0. */
typedef struct recsort_field_desc {
  const char *name;
  recsort_type type;
  recsort_type base;     /* enum: its integer type */
  recsort_endian endian; /* DEFAULT: that of the struct around it */
  uint64_t offset;       /* from the start of the enclosing struct. Layout EXPLICIT: where the field
                            is, 0 for the first byte. Layout C and PACKED put it there themselves:
                            an offset that is given (not 0) is checked */
  uint64_t count;        /* elements of an array; 0: no array. char, bytes: the length; 0: 1 */
  const char *bit_base;  /* bitfield: the field that holds the bits */
  uint32_t bit;
  uint32_t width;
  const recsort_enumerator *enumerators;
  size_t enumerator_count;
  const struct recsort_field_desc *fields; /* struct */
  size_t field_count;
  uint32_t line;
  uint32_t column;
} recsort_field_desc;

/* A key. `path` names a field: "price", "pos[2]", "stats.hp", "items[3].id". */
typedef struct recsort_key_desc {
  const char *path;
  recsort_order order;
  recsort_nan nan; /* floats only */
  uint32_t line;
  uint32_t column;
} recsort_key_desc;

/* A whole schema as it is declared. The strides hold for structs within structs, too. */
typedef struct recsort_schema_desc {
  size_t struct_size;
  const char *record; /* the record's name */
  const char *source; /* what to call the text in messages; NULL: nothing */
  recsort_endian endian;
  recsort_layout layout;
  uint64_t size;    /* of a record; 0: as laid out. Larger than that: trailing padding */
  uint64_t skip;    /* bytes before the first record of a file */
  uint64_t trailer; /* bytes after the last one */
  const recsort_field_desc *fields;
  size_t field_count;
  const recsort_key_desc *keys; /* most significant first; may be none */
  size_t key_count;
  uint32_t line; /* of `size`, for messages */
  uint32_t column;
  size_t field_stride; /* sizeof(recsort_field_desc), and so on */
  size_t enumerator_stride;
  size_t key_stride;
} recsort_schema_desc;

/* A field as it was laid out; read-only, owned by its schema. The fields of a struct in an array
 * are given once, for its first element. */
typedef struct recsort_field {
  const char *name;
  recsort_type type;
  recsort_type base;     /* enum, bitfield: the integer type that is read */
  recsort_endian endian; /* LITTLE or BIG, never DEFAULT */
  size_t offset;         /* from the start of the enclosing struct */
  size_t size;           /* of one element, in bytes; char and bytes: the whole string */
  size_t count;          /* elements; 0: no array. Always 0 for char and bytes */
  uint32_t bit;          /* bitfield */
  uint32_t width;        /* bitfield */
  const recsort_enumerator *enumerators;
  size_t enumerator_count;
  const struct recsort_field *fields;
  size_t field_count;
} recsort_field;

typedef struct recsort_schema recsort_schema;

/* Reads a schema from a YAML file, from YAML text in memory, or from a description in C, and lays
 * it out. `name` is what messages call the text. The schema keeps nothing of what it was made from
 * and is destroyed by its owner. `allocator` may be NULL and is copied. A schema takes at most
 * 32 MiB, the plan of a sorter's keys as much; what would take more is refused.
 * Errors: IO_ERROR, INVALID_SCHEMA, INVALID_KEY, OUT_OF_MEMORY, INVALID_ARGUMENT. */
RECSORT_API recsort_status recsort_schema_load_file(const char *path,
                                                    const recsort_allocator *allocator,
                                                    recsort_schema **schema, recsort_error *error);
RECSORT_API recsort_status recsort_schema_load_memory(const void *text, size_t size,
                                                      const char *name,
                                                      const recsort_allocator *allocator,
                                                      recsort_schema **schema,
                                                      recsort_error *error);
RECSORT_API recsort_status recsort_schema_create(const recsort_schema_desc *desc,
                                                 const recsort_allocator *allocator,
                                                 recsort_schema **schema, recsort_error *error);

/* Releases a schema; NULL is allowed. A sorter made from it does not need it any more. */
RECSORT_API void recsort_schema_destroy(recsort_schema *schema);

RECSORT_API const char *recsort_schema_record_name(const recsort_schema *schema);
RECSORT_API size_t recsort_schema_record_size(const recsort_schema *schema);
RECSORT_API uint64_t recsort_schema_skip(const recsort_schema *schema);
RECSORT_API uint64_t recsort_schema_trailer(const recsort_schema *schema);
/* The record's fields in the order they were declared; owned by the schema. `count` may be NULL. */
RECSORT_API const recsort_field *recsort_schema_fields(const recsort_schema *schema, size_t *count);
/* The schema's own keys, most significant first; owned by the schema. `count` may be NULL. */
RECSORT_API const recsort_key_desc *recsort_schema_keys(const recsort_schema *schema,
                                                        size_t *count);

/* What a type is. Switch on its class: what holds for a class holds for all of its types. */
typedef enum recsort_type_class {
  RECSORT_CLASS_NONE, /* no recsort_type */
  RECSORT_CLASS_BOOL,
  RECSORT_CLASS_SIGNED,
  RECSORT_CLASS_UNSIGNED,
  RECSORT_CLASS_FLOAT, /* a sign, an exponent and a fraction, as IEEE 754 lays them out */
  RECSORT_CLASS_BYTES, /* compared as bytes */
  RECSORT_CLASS_STRUCT,
  RECSORT_CLASS_ENUM,
  RECSORT_CLASS_BITFIELD
} recsort_type_class;

/* What the library knows of a type. Later versions may add members at the end. */
typedef struct recsort_type_info {
  const char *name; /* canonical, such as "float32" */
  recsort_type_class type_class;
  unsigned size;          /* bytes of a value; 0: its field says */
  unsigned alignment;     /* in layout C; 0: its field says */
  unsigned exponent_bits; /* floats; otherwise 0 */
  unsigned fraction_bits; /* floats; otherwise 0 */
} recsort_type_info;

/* Describes a type; what is no recsort_type has class NONE. Never NULL; lives as long as the
 * library. Any thread. */
RECSORT_API const recsort_type_info *recsort_type_describe(recsort_type type);
/* The canonical name of a type, such as "float32". Never NULL. */
RECSORT_API const char *recsort_type_name(recsort_type type);

/* One value of a record, as C sees it. `kind` says which member holds it. */
typedef enum recsort_value_kind {
  RECSORT_VALUE_SIGNED,
  RECSORT_VALUE_UNSIGNED, /* bool and bitfields too */
  RECSORT_VALUE_REAL,
  RECSORT_VALUE_BYTES /* char, bytes and uuid: points into the record */
} recsort_value_kind;

typedef struct recsort_value {
  recsort_value_kind kind;
  union {
    int64_t i;
    uint64_t u;
    double real;
    const unsigned char *bytes;
  } as;
  size_t size; /* of `bytes`; otherwise the bytes the value takes in the record */
} recsort_value;

/* Reads element `element` (0 where there is no array) of a field that is no struct. `base` is the
 * address of the struct that encloses the field: the record, or an element of a struct field at
 * field->offset + element * field->size. Nothing need be aligned. `size` is sizeof(recsort_value).
 */
RECSORT_API void recsort_field_get(const recsort_field *field, const void *base, size_t element,
                                   recsort_value *value, size_t size);
/* Writes such a value. A value of the wrong kind, or one that does not fit, is cut to the field's
 * bits; a real is rounded to nearest even; short bytes are padded with NUL. */
RECSORT_API void recsort_field_set(const recsort_field *field, void *base, size_t element,
                                   const recsort_value *value, size_t size);

/* ---- Sorter ------------------------------------------------------------------------------- */

/* What is looked at before a result is used. In any case, what a plugin gives is a permutation. */
typedef enum recsort_verify {
  RECSORT_VERIFY_DEFAULT = 0, /* what costs at most 3%: from 2^20 records on the CUDA plugin checks,
                                 on the device, all that FULL says, and ties as well; its option
                                 verify=on has it check fewer records, too */
  RECSORT_VERIFY_FULL         /* as well, on the host, and slowly: the keys ascend by the
                                 permutation, and ties are in input order; where a plugin moved the
                                 records itself, they are the input's (their checksums agree) and
                                 their keys ascend, but whether ties are in input order cannot be
                                 told from them */
} recsort_verify;

/* How to sort. */
typedef struct recsort_options {
  size_t struct_size;
  const recsort_key_desc *keys; /* in place of the schema's own */
  size_t key_count;
  bool reverse;          /* turn the order of every key round; ties stay in input order */
  const char *plugin;    /* a plugin's name; NULL or "auto": the best that works here, or for few
                          * records "cpu" */
  const char *algorithm; /* one of the plugin's; NULL: its default */
  unsigned threads;      /* CPU threads; 0: as many as there are processors to run on, or as the
                          * executor has. At most 1024 are used */
  const recsort_allocator *allocator; /* copied; NULL: the C library's */
  const recsort_executor *executor;   /* copied; NULL: the library's own pool of threads */
  const char *const *plugin_options;  /* copied; for the plugin, each "key=value", such as
                                       * "memory=8G". Of a key that comes twice the last counts */
  size_t plugin_option_count;
  size_t record_size; /* sizeof your record: refused where the schema's record has another */
  size_t key_stride;  /* sizeof(recsort_key_desc) */
  recsort_verify verify;
  uint32_t reserved;
} recsort_options;

typedef struct recsort_sorter recsort_sorter;

/* Makes a sorter for records of `schema`; `options` may be NULL. No memory for records is taken
 * before the first sort.
 * A plugin asked for by name is opened here. No other one is loaded, and it is never replaced.
 * With "auto" the plugin "cpu" sorts until a call has 12,288 records or more. That call loads and
 * opens the others: the best that works here sorts from then on, and the next best sorts arrays
 * that are too small to be worth it. (Where `algorithm` or `plugin_options` hold what "cpu" does
 * not have, this is done here.) A plugin that fails in use is dropped for the next best one, and
 * recsort_stats.fallback says so.
 * The options of a plugin are listed by recsort_plugin_list_get. One that it does not have, or a
 * wrong value, is an error if the plugin was asked for by name; with "auto" the plugin is not used,
 * and recsort_stats.fallback says so. The CUDA plugin sorts on the device that is the calling
 * thread's current one in the call that opens it, or on number `device`, from any thread, and
 * changes no thread's current device. Of the device's memory it takes what it needs and is free, up
 * to `memory`: bytes, or with a suffix K, M, G or T as many times 2^10, 2^20, 2^30 or 2^40. Without
 * `memory` the environment variable RECSORT_CUDA_MEMORY says the same. Errors: INVALID_KEY (also:
 * no keys at all), PLUGIN_ERROR, OUT_OF_MEMORY, INVALID_ARGUMENT. */
RECSORT_API recsort_status recsort_sorter_create(const recsort_schema *schema,
                                                 const recsort_options *options,
                                                 recsort_sorter **sorter, recsort_error *error);
RECSORT_API void recsort_sorter_destroy(recsort_sorter *sorter);

/* Says how many bytes of working memory a sorter will hold once it has sorted `count` records: what
 * the plan of the key and the plugin in use ask for. `in_place` is for recsort_sort, whose working
 * memory includes a copy of the records; false is for recsort_sort_to, recsort_argsort and
 * recsort_find_permutation. Where a plugin moves whole records it may be less. Not counted: up to
 * 36 MiB of pinned memory of the CUDA plugin, what it takes when the device's free memory has
 * shrunk, what another plugin takes when "auto" drops one, and windows of about 1 MiB of
 * recsort_permutation_unique and recsort_check. Takes no such memory itself, but loads and opens
 * plugins as a sort of `count` records would; it is used by one thread at a time, as a sorting call
 * is. Errors: OUT_OF_MEMORY (no memory is so large), PLUGIN_ERROR (not so many), INVALID_ARGUMENT.
 */
RECSORT_API recsort_status recsort_memory_needed(recsort_sorter *sorter, size_t count,
                                                 bool in_place, size_t *bytes,
                                                 recsort_error *error);

/* Sorts `count` records in place, stably. Working memory, kept for the next call: what
 * recsort_memory_needed says, which is a copy of the records and at most 9 bytes a record, or what
 * the plugin works in, if that is more: about 16 bytes a record with short keys, and the key with
 * long ones. `records` changes only once the permutation has been verified and the sort can no
 * longer fail.
 * Errors of every sorting call: OUT_OF_MEMORY, INVALID_RECORD (the value of an enum is less or
 * greater than all that have names), PLUGIN_ERROR (not so many, or not by such keys), DEVICE_ERROR,
 * CORRUPT_RESULT, INVALID_ARGUMENT. */
RECSORT_API recsort_status recsort_sort(recsort_sorter *sorter, void *records, size_t count,
                                        recsort_error *error);

/* The same into another array. One that overlaps `records` is refused.
 * On failure `sorted` is as it was if plugins that take keys alone were at work, such as "cpu"; one
 * that moves whole records, such as "cuda", may have written there. `records` is intact. */
RECSORT_API recsort_status recsort_sort_to(recsort_sorter *sorter, const void *records,
                                           size_t count, void *sorted, recsort_error *error);

/* Gives the stable permutation only: record index[i] of the input is number i of the output.
 * `index_bits` is 32 (count at most 2^32) or 64; `index` is aligned to that and does not overlap
 * `records`. */
RECSORT_API recsort_status recsort_argsort(recsort_sorter *sorter, const void *records,
                                           size_t count, void *index, unsigned index_bits,
                                           recsort_error *error);

/* A permutation that the sorter keeps: valid until its next sorting call, also one that fails. To
 * use one of your own, zero the struct and fill in the first four members. */
typedef struct recsort_permutation {
  const void *index;    /* uint32_t or uint64_t */
  unsigned index_bits;  /* 32 or 64 */
  unsigned struct_size; /* sizeof(recsort_permutation), also before a call that fills in the rest */
  size_t count;
  uint64_t sorting; /* which of the sorter's calls gave it; 0: none, you made it */
} recsort_permutation;

/* As recsort_argsort, without a copy of the result. */
RECSORT_API recsort_status recsort_find_permutation(recsort_sorter *sorter, const void *records,
                                                    size_t count, recsort_permutation *permutation,
                                                    recsort_error *error);

/* Shortens the sorter's own permutation of `records` to the first record of each run of equal
 * keys. `permutation` is what recsort_find_permutation last gave, for the same records; any other
 * is refused. Errors: OUT_OF_MEMORY, INVALID_ARGUMENT, and INVALID_RECORD if the records have
 * changed meanwhile, after which the permutation is of no use. */
RECSORT_API recsort_status recsort_permutation_unique(recsort_sorter *sorter, const void *records,
                                                      recsort_permutation *permutation,
                                                      recsort_error *error);

/* Permutes a further array in place, in the same way. Takes memory for one copy of the array from
 * the sorter's allocator. `permutation` is what this sorter last gave, and `array` has as many
 * elements as were sorted (after recsort_permutation_unique the first permutation->count of them
 * are those that it kept); or `permutation` is one of your own, which is checked. Errors:
 * OUT_OF_MEMORY, INVALID_ARGUMENT (also: a permutation that is stale, of another sorter or count,
 * or none). */
RECSORT_API recsort_status recsort_permutation_apply(recsort_sorter *sorter,
                                                     const recsort_permutation *permutation,
                                                     void *array, size_t element_size,
                                                     recsort_error *error);

/* Writes elements permutation[first .. first + count) of `from` to `to`, which must not overlap.
 * The elements are of any size: the records, or another array that runs beside them (a struct of
 * arrays is sorted by one call for each). `threads` 0: as many as there are processors; they are
 * the library's own. Nothing is checked: `permutation` must not be stale, first + count at most
 * permutation->count, and the index values must be within `from`, as those of a sorter are. */
RECSORT_API void recsort_gather(const recsort_permutation *permutation, size_t first, size_t count,
                                const void *from, size_t element_size, void *to, unsigned threads);

/* The index value at `place` of a permutation. */
RECSORT_API uint64_t recsort_permutation_at(const recsort_permutation *permutation, size_t place);

/* Finds the first record whose key is less than that of the record before it: `*disorder` is its
 * index, or `count` if the records are sorted. Errors: INVALID_RECORD, OUT_OF_MEMORY,
 * INVALID_ARGUMENT. */
RECSORT_API recsort_status recsort_check(recsort_sorter *sorter, const void *records, size_t count,
                                         size_t *disorder, recsort_error *error);

/* ---- Keys, for those who search or merge sorted records --------------------------------------
 * A record's keys are turned into one unsigned integer of recsort_key_size bytes whose numeric
 * order is the order of the records. */

RECSORT_API size_t recsort_key_size(const recsort_sorter *sorter);
/* Writes `count` keys of recsort_key_size bytes each to `keys`, which is aligned for uint64_t (for
 * uint32_t if a key has 4 bytes) and does not overlap `records`. Errors: INVALID_RECORD, after
 * which what is at `keys` is unspecified, and INVALID_ARGUMENT. */
RECSORT_API recsort_status recsort_encode(recsort_sorter *sorter, const void *records, size_t count,
                                          void *keys, recsort_error *error);
/* Less than, equal to or greater than 0, as key `a` is less than, equal to or greater than `b`. */
RECSORT_API int recsort_key_compare(const recsort_sorter *sorter, const void *a, const void *b);

/* ---- What the sorter does and did ------------------------------------------------------------ */

/* One key of the plan. Its code takes `bits` bits of the key from bit `shift` up. */
typedef struct recsort_key_info {
  const char *path;
  const recsort_field *field;
  recsort_order order;
  recsort_nan nan;
  unsigned bits;
  unsigned shift;
} recsort_key_info;

RECSORT_API size_t recsort_sorter_key_count(const recsort_sorter *sorter);
/* Fills in `info`, of `size` bytes; the texts and the field live as long as the sorter. */
RECSORT_API void recsort_sorter_get_key(const recsort_sorter *sorter, size_t key,
                                        recsort_key_info *info, size_t size);

/* Figures of the last sorting call, and the choices that hold for the next. The texts live as long
 * as the sorter. Seconds are of wall-clock time. */
typedef struct recsort_stats {
  size_t records;
  size_t record_size;
  unsigned key_bits;  /* that carry information */
  unsigned key_width; /* of the integer they are kept in: 32, 64, 128, or more by 64 */
  unsigned index_bits;
  unsigned threads;
  const char *plugin; /* "auto", before the first sort: what sorts few records */
  const char *algorithm;
  const char *choice;   /* why this plugin; "auto": and which one cannot be used here */
  const char *transfer; /* whole records or keys alone go to it, and why; NULL: keys, always. Where
                         * only trying tells, sorts of 2^16 records and more try both ways twice */
  const char *fallback; /* "auto": which plugin failed and why, or why the one that the options are
                         * for is not used; else NULL */
  size_t memory;        /* bytes the sorter holds */
  bool whole_records;   /* the plugin got and moved the records, not keys alone */
  double encode_seconds;
  double sort_seconds;
  double verify_seconds;
  double permute_seconds;
} recsort_stats;

/* Fills in `stats`, of `size` bytes. */
RECSORT_API void recsort_sorter_get_stats(const recsort_sorter *sorter, recsort_stats *stats,
                                          size_t size);

/* ---- Plugins ------------------------------------------------------------------------------ */

/* One candidate that the search for plugins met, whether it can be used or not. */
typedef struct recsort_plugin_info {
  const char *name;              /* NAME of librecsort_NAME.so where it could not be loaded */
  const char *path;              /* NULL: linked in */
  const char *version;           /* NULL where it could not be loaded */
  const char *description;       /* likewise */
  unsigned score;                /* 0: refused */
  const char *reason;            /* why it was refused; NULL if it was not */
  const char *const *algorithms; /* names, the default first */
  const char *const *algorithm_texts;
  size_t algorithm_count;
  const char *const *options; /* names of what it can be told, for recsort_options.plugin_options */
  const char *const *option_texts;
  size_t option_count;
} recsort_plugin_info;

typedef struct recsort_plugin_list recsort_plugin_list;

/* Loads every plugin that can be found: those linked in, then those in the plugins' folder, then
 * those in the folders of the environment variable RECSORT_PLUGIN_PATH (absolute paths, separated
 * by colons; ignored in a process with raised privileges). Best score first.
 * The plugins' folder is "recsort" beside the file of the shared library that holds this code.
 * Where there is no such folder, or a program holds this code because it links the static library,
 * it is "recsort" in the folder of libraries that the build was configured to be installed to. */
RECSORT_API recsort_status recsort_plugin_list_create(const recsort_allocator *allocator,
                                                      recsort_plugin_list **list,
                                                      recsort_error *error);
RECSORT_API void recsort_plugin_list_destroy(recsort_plugin_list *list);
RECSORT_API size_t recsort_plugin_list_count(const recsort_plugin_list *list);
/* Fills in `info`, of `size` bytes; what it points to lives as long as the list. */
RECSORT_API void recsort_plugin_list_get(const recsort_plugin_list *list, size_t index,
                                         recsort_plugin_info *info, size_t size);

#ifdef __cplusplus
}
#endif

#endif
