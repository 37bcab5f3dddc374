/* plugin.h - the interface of plugins, which do the sorting for recsort.
 *
 * A plugin sorts keys: from `count` unsigned integers of a fixed width it computes the stable
 * permutation. It does not see the records unless it offers to move them (see "Whole records"
 * below). It is a shared library with one exported symbol,
 *
 *   RECSORT_PLUGIN_EXPORT const recsort_plugin *recsort_plugin_entry(uint32_t host_abi);
 *
 * which any thread may call, any number of times. It returns a table that lives as long as the
 * library stays loaded, or NULL if `host_abi` is not RECSORT_PLUGIN_ABI. Name the file
 * librecsort_NAME.so (on Windows .dll) after the plugin: then "--plugin NAME" loads no other. A
 * plugin needs only the installed headers; recsort/key_interpreter.h, record_hash.h and team.h may
 * be useful.
 *
 * Rules:
 *  - Host and plugin are compiled with the same RECSORT_PLUGIN_ABI. A struct that begins with its
 *    size in bytes, which its owner sets, has exactly that size. The host refuses a plugin whose
 *    table has another ABI or size, and ignores an extension whose table has another size.
 *  - A plugin must not exit, abort, print, or throw. It returns a status and writes a text.
 *  - [any thread] means that any thread may call the function at any time; [one thread] that it is
 *    called by one thread at a time for each instance, not always the same one.
 */
#ifndef RECSORT_PLUGIN_H
#define RECSORT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RECSORT_PLUGIN_ABI 1u
#define RECSORT_PLUGIN_ENTRY "recsort_plugin_entry"

/* Marks the one function that a plugin exports. */
#if defined(_WIN32)
#define RECSORT_PLUGIN_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define RECSORT_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define RECSORT_PLUGIN_EXPORT
#endif

typedef enum recsort_plugin_status {
  RECSORT_PLUGIN_OK = 0,
  RECSORT_PLUGIN_OUT_OF_MEMORY, /* another plugin may need less */
  RECSORT_PLUGIN_UNSUPPORTED,   /* this job is outside the plugin's limits */
  RECSORT_PLUGIN_FAILED,        /* this call failed; the next one may succeed */
  RECSORT_PLUGIN_LOST,          /* the device is gone for this process; do not call again */
  RECSORT_PLUGIN_CORRUPT        /* it found that its result is wrong; the next one may be right */
} recsort_plugin_status;

/* Owned by the host, zeroed before each call; the plugin writes one line without a newline. */
typedef struct recsort_plugin_error {
  uint32_t size;
  char text[244];
} recsort_plugin_error;

/* What the host offers. It lives until the call returns; the one that `open` got lives until
 * `close` returns. */
typedef struct recsort_host {
  uint32_t size;
  uint32_t abi;
  void *context;
  /* [any thread] The caller's allocator; recsort_allocator in recsort.h says which threads may call
   * it. `release` takes the size that was allocated. */
  void *(*allocate)(void *context, size_t size);
  void (*release)(void *context, void *memory, size_t size);
  /* [any thread] Calls task(argument, number) once for each number below `count` and returns when
   * all have returned. They run on any threads, in any order, perhaps one after the other, so none
   * may wait for another one. A plugin creates no threads of its own for sorting, and asks for at
   * most job.threads tasks at a time. */
  void (*run)(void *context, void (*task)(void *argument, size_t number), void *argument,
              size_t count);
  /* The caller's options for the plugin: each is "key=value" with a key of the plugin's table; if a
   * key comes twice, the last one counts. `score` and `open` refuse a wrong value; `score` says
   * why. */
  const char *const *options;
  size_t option_count;
} recsort_host;

/* An algorithm that the caller can choose. */
typedef struct recsort_plugin_algorithm {
  uint32_t size;
  uint32_t reserved;
  const char *name;        /* what --algorithm takes */
  const char *description; /* one line */
} recsort_plugin_algorithm;

/* An option that the caller can set. */
typedef struct recsort_plugin_option {
  uint32_t size;
  uint32_t reserved;
  const char *name;        /* the key */
  const char *description; /* one line: its values and the default */
} recsort_plugin_option;

typedef struct recsort_key_program recsort_key_program;

typedef struct recsort_plugin_limits {
  uint32_t size;
  uint32_t max_key_bits;   /* the widest keys; UINT32_MAX: any */
  uint32_t max_index_bits; /* 32 or 64 */
  uint32_t reserved;
  uint64_t max_count;   /* records */
  uint64_t least_count; /* with "auto", fewer records go to the next best plugin. (A host that has
                         * only had sorts of fewer than 12,288 records has not loaded this one.) */
} recsort_plugin_limits;

/* What to sort.
 * Keys are `key_width` bits wide: 32 (uint32_t), 64 (uint64_t), 128, or a larger multiple of 64. A
 * key of 128 bits or more is an array of uint64_t, least significant word first. All are in host
 * byte order. Only the low `key_bits` bits can be other than 0. */
typedef struct recsort_plugin_job {
  uint32_t size;
  uint32_t algorithm;  /* index into the plugin's list */
  uint64_t count;      /* 0 is allowed */
  uint32_t key_bits;   /* at least 1 */
  uint32_t key_width;  /* 32, 64, 128, 192 ... */
  uint32_t index_bits; /* 32 (count at most 2^32) or 64: the width of the result's elements */
  uint32_t threads;    /* CPU threads that the plugin may use, at least 1 */
  /* Only for recsort_plugin_records.sort of a plugin that has `work_size`; else NULL. The memory
   * that it asked for, aligned to 64 bytes, and the host's encoder, which any thread may call: it
   * writes the keys of `count` records, one after the other; `keys` is aligned to 8 bytes, or to 4
   * if a key has 32 bits. 0: a record holds an invalid value. */
  void *memory;
  uint32_t (*encode)(const recsort_key_program *program, const void *records, uint64_t count,
                     void *keys);
} recsort_plugin_job;

/* The block of host memory that a job works in: the caller owns it, aligned to 64 bytes. The host
 * writes the keys at `keys_offset`; on success the permutation (uint32_t or uint64_t) is at offset
 * 0. The plugin may overwrite all of it, the keys too. */
typedef struct recsort_plugin_work {
  uint32_t size;
  uint32_t reserved;
  uint64_t bytes;
  uint64_t keys_offset; /* a multiple of 64 */
} recsort_plugin_work;

typedef struct recsort_plugin {
  uint32_t size;
  uint32_t abi; /* RECSORT_PLUGIN_ABI of the header it was built with */
  const char *name;
  const char *version;
  const char *description;                           /* one line */
  const recsort_plugin_algorithm *const *algorithms; /* the default first */
  uint32_t algorithm_count;
  uint32_t reserved;

  /* [any thread] How well the plugin suits this machine. 0: it cannot run here, and `reason` says
   * why (one line, `reason_size` bytes with its NUL). Otherwise higher is better: the CPU plugin
   * that is linked in has 100. May block for a moment, to look for a driver. Must keep no
   * resources. */
  uint32_t (*score)(const recsort_host *host, char *reason, size_t reason_size);

  /* [any thread] Makes an instance, which `close` ends. May block and allocate. */
  recsort_plugin_status (*open)(const recsort_host *host, void **instance,
                                recsort_plugin_error *error);
  /* [one thread] Waits for work in progress and frees all that the instance owns. */
  void (*close)(void *instance);

  /* [any thread] Does not block. Fills in `limits`: the host has set its size, the rest is 0. */
  void (*limits)(const void *instance, recsort_plugin_limits *limits);

  /* [any thread] Computes how much host memory `job` needs. Does not block or allocate.
   * UNSUPPORTED: the job is outside the limits, or the size overflows. */
  recsort_plugin_status (*work_size)(const void *instance, const recsort_plugin_job *job,
                                     recsort_plugin_work *work, recsort_plugin_error *error);

  /* [one thread] Sorts. Blocks until done. `memory` is as `work_size` asked for the same job. On
   * failure its contents are lost, and nothing else has changed. */
  recsort_plugin_status (*sort)(void *instance, const recsort_plugin_job *job, void *memory,
                                recsort_plugin_error *error);

  /* [any thread] The table of functions of an extension, whose name is "vendor.extension/version";
   * NULL: not supported. The table begins with its size. The member itself may be NULL. */
  const void *(*extension)(const char *name);

  const recsort_plugin_option *const *options; /* NULL is allowed if there are none */
  uint32_t option_count;
  uint32_t reserved_too;
} recsort_plugin;

typedef const recsort_plugin *(*recsort_plugin_entry_fn)(uint32_t host_abi);

/* ---- The key program ---------------------------------------------------------------------------
 * How to make the key of a record, as plain data, for plugins that take whole records. The host
 * compiles it, and one interpreter (recsort/key_interpreter.h) runs it on host and device. */

typedef enum recsort_key_kind {
  RECSORT_KEY_UNSIGNED = 1, /* bits [bit, bit + width) of the integer */
  RECSORT_KEY_SIGNED,       /* two's complement: the sign bit is inverted */
  RECSORT_KEY_BOOL,         /* 1 unless every bit is 0 */
  RECSORT_KEY_OFFSET,       /* integer - bias, modulo 2^(8 * bytes); above `limit`: invalid */
  RECSORT_KEY_FLOAT,        /* integer * 2^bit, modulo 2^width, as sign and magnitude; a magnitude
                             * above `limit` is a NaN. With MINUS_0_NAN so is -0 */
  RECSORT_KEY_TEXT,         /* bytes of a C string: those behind a NUL count as NUL. If `bit` is 1,
                             * all do where the step before it ends with one */
  /* Has `bit` operands, the steps that follow. */
  RECSORT_KEY_NULLABLE, /* the lowest bits of an integer, those of `bias` inverted. The operands'
                         * `bias` are such numbers, ascending: all have one code, the least or the
                         * greatest. The others have consecutive codes at the other end */
  /* Computed from them (recsort/computed_key.h). */
  RECSORT_KEY_DISTANCE, /* the squared distance from a point, as a FLOAT of `width` bits */
  RECSORT_KEY_MORTON,   /* the place of a cell on a Morton curve */
  RECSORT_KEY_HILBERT,  /* the same on a Hilbert curve */
  RECSORT_KEY_OPERAND   /* an operand, not part of the key (`width` is 0): a number of kind `bit`,
                         * which is UNSIGNED, SIGNED or FLOAT. FLOAT: `shift` is the number of
                         * fraction bits. Operands of DISTANCE: `bias` holds a double, the point's
                         * coordinate. Of MORTON and HILBERT: `bias` holds the least value, and
                         * `limit` the number of cells for each unit. Of NULLABLE: only `bias`
                         * counts; it reads no bytes */
} recsort_key_kind;

enum { RECSORT_KEY_MOST_OPERANDS = 8 }; /* of a computed key */

enum {
  RECSORT_KEY_BIG_ENDIAN = 1, /* the integer is big-endian in the record */
  RECSORT_KEY_DESCENDING = 2, /* the code is complemented, except for NaNs without NAN_TOTAL */
  RECSORT_KEY_NAN_FIRST =
      4, /* NaNs and null values become the least code; otherwise the greatest */
  RECSORT_KEY_NAN_TOTAL = 8, /* floats: every bit counts, as in IEEE 754 totalOrder */
  RECSORT_KEY_POINT_AT = 16, /* operands of DISTANCE: `bias` holds the address of the double, in
                              * memory of the device; only for recsort_plugin_device.sort */
  RECSORT_KEY_MINUS_0_NAN =
      32 /* floats: the bits of -0 are the NaN, the least value with NAN_TOTAL; `bit` is 1, which
            makes room for it above the numbers */
};

/* One field of the key, or up to 8 bytes of a longer one. Its code of `width` bits goes to bit
 * `shift` of the key; it may straddle two 64-bit words. */
typedef struct recsort_key_step {
  uint64_t offset; /* bytes from the start of the record, unaligned */
  uint64_t bias;   /* OFFSET, NULLABLE, OPERAND */
  uint64_t limit;  /* OFFSET: the greatest valid code; FLOAT: the greatest magnitude that is not a
                      NaN, shifted by `bit` */
  uint16_t kind;
  uint16_t flags;
  uint8_t bytes; /* 1 to 8, read as one integer; TEXT: as a big-endian one */
  uint8_t bit;   /* UNSIGNED, FLOAT, TEXT; the number of operands */
  uint8_t width; /* 0 to 64 */
  uint8_t reserved;
  uint32_t shift;
  uint32_t key; /* which of the schema's keys, for messages */
} recsort_key_step;

/* Where the bytes of a step are in an array: those of record i at `data` + i * `stride`, unaligned.
 */
typedef struct recsort_key_column {
  const void *data;
  uint64_t stride;
} recsort_key_column;

struct recsort_key_program {
  uint32_t size;
  uint32_t step_count;
  const recsort_key_step *steps; /* most significant first */
  uint64_t record_size;
  uint32_t key_bits;
  uint32_t key_width;
  /* Only for recsort_plugin_device.sort; else NULL. One for each step, if the fields are in several
   * arrays: then there is no array of records, and the offsets of steps have no meaning. A step of
   * a computed kind has none, but each of its operands does. */
  const recsort_key_column *columns;
};

/* ---- Whole records -----------------------------------------------------------------------------
 * An extension for plugins that can make the keys and move the records themselves. This is faster
 * if the device is far from the host's memory but has fast memory of its own. */

#define RECSORT_PLUGIN_RECORDS "recsort.host-records/1"

/* Seconds of the stages of a sort. */
typedef struct recsort_plugin_times {
  uint32_t size;
  uint32_t reserved;
  double encode;
  double sort;
  double verify;
  double permute;
} recsort_plugin_times;

typedef struct recsort_plugin_records {
  uint32_t size;
  uint32_t reserved;

  /* [any thread] 1: the plugin should get whole records of this program; 0: keys. Does not block.
   */
  uint32_t (*suits)(const void *instance, const recsort_key_program *program);

  /* [any thread] Describes that choice and its reason in a few words for users: text that is never
   * released. Does not block. */
  const char *(*reason)(const void *instance, const recsort_key_program *program);

  /* [one thread] Writes the sorted records to `sorted`, which does not overlap `records`; blocks
   * until done. It checks that it has a permutation before it moves any record. `job` is as for
   * recsort_plugin.sort; `suits` returned 1 for `program`. On failure the contents of
   * `sorted` are lost, and nothing else has changed. UNSUPPORTED: not these records, as there is
   * too little memory or one of them holds an invalid value; the host then makes the keys, which
   * finds the invalid record, and calls recsort_plugin.sort. */
  recsort_plugin_status (*sort)(void *instance, const recsort_plugin_job *job,
                                const recsort_key_program *program, const void *records,
                                void *sorted, recsort_plugin_times *times,
                                recsort_plugin_error *error);

  /* [any thread] Says how much host memory `sort` works in, in place or not; UNSUPPORTED: the host
   * is to pass keys. Does not block or allocate. A plugin with this function sorts in the host's
   * memory: it gets job->memory and job->encode, and in place `sorted` is `records`. If such a sort
   * fails, the records are as they were. May be NULL. */
  recsort_plugin_status (*work_size)(const void *instance, const recsort_plugin_job *job,
                                     const recsort_key_program *program, uint32_t in_place,
                                     uint64_t *bytes, recsort_plugin_error *error);
} recsort_plugin_records;

/* ---- Records on the device ---------------------------------------------------------------------
 * An extension for plugins that can sort records which are in a device's memory already. */

#define RECSORT_PLUGIN_DEVICE "recsort.device-records/1"

typedef struct recsort_plugin_device_limits {
  uint32_t size;
  uint32_t algorithm;       /* as in recsort_plugin_job */
  uint64_t most_records;    /* of a sort */
  uint64_t most_in_place;   /* bytes of the largest element that is moved in place; 0: none is */
  uint64_t most_segments;   /* of a sort; 0: none has segments */
  uint64_t most_in_segment; /* records of the longest segment; 0: not known */
  uint32_t index_bits;      /* of permutations: 32 (most_records at most 2^32) or 64 */
  uint32_t reserved;
} recsort_plugin_device_limits;

/* An array with an element for each record, which move as the records do. `from` and `to` are equal
 * or do not overlap. */
typedef struct recsort_plugin_device_array {
  const void *from;
  void *to;
  uint64_t element_size;
} recsort_plugin_device_array;

/* All pointers are to memory of the device. */
typedef struct recsort_plugin_device_job {
  uint32_t size;
  uint32_t array_count;
  void *stream;
  uint64_t count;      /* 0 is allowed */
  const void *records; /* the keys are made of these; unaligned. NULL: of the program's columns */
  void *permutation;   /* NULL: not wanted */
  const recsort_plugin_device_array *arrays;
  const void *offsets; /* NULL: all records are sorted. Otherwise segment s, records [offset s,
                        * offset s + 1), is sorted by itself, and records outside all segments stay;
                        * the segment_count + 1 offsets ascend */
  uint64_t segment_count;
  uint32_t offset_bits; /* 32 or 64 */
  uint32_t reserved;
  uint64_t head; /* only the first `head` records of the order are wanted: so many elements of the
                  * permutation and of each `to` are written. 0: all. Less than `count`, not with
                  * offsets, and no array is moved in place */
} recsort_plugin_device_job;

typedef struct recsort_plugin_device {
  uint32_t size;
  uint32_t reserved;

  /* [one thread] Allocates all that sorts within the limits take, and sets `bytes` to the device
   * memory among it. The instance is for such sorts from then on. UNSUPPORTED: the program has keys
   * that it cannot make, or not with segments. */
  recsort_plugin_status (*reserve)(void *instance, const recsort_key_program *program,
                                   const recsort_plugin_device_limits *limits, uint64_t *bytes,
                                   recsort_plugin_error *error);

  /* [one thread] Starts a sort on a stream of the caller's: keys of job->records, then the
   * permutation, then the arrays, in their order. `program` may differ from the one of `reserve` in
   * the values of its steps. Neither waits nor allocates, also while the stream is captured. */
  recsort_plugin_status (*sort)(void *instance, const recsort_key_program *program,
                                const recsort_plugin_device_job *job, recsort_plugin_error *error);

  /* [one thread] Reports what finished sorts have found since the last call: UNSUPPORTED: a record
   * holds an invalid value. CORRUPT: the keys were not in order. Does not wait. */
  recsort_plugin_status (*judge)(void *instance, recsort_plugin_error *error);
} recsort_plugin_device;

/* ---- Shards on several devices -----------------------------------------------------------------
 * An extension for plugins that can sort records which are in the memory of several devices, or in
 * several places of one. */

#define RECSORT_PLUGIN_SHARDS "recsort.device-shards/1"

typedef struct recsort_plugin_shards_limits {
  uint32_t size;
  uint32_t algorithm;           /* as in recsort_plugin_job */
  const int32_t *devices;       /* the number of each shard's device, as the plugin counts them */
  const uint64_t *most_records; /* of each shard, before a sort and after it */
  uint32_t shard_count;
  uint32_t reserved;
} recsort_plugin_shards_limits;

/* Records in the memory of a device. */
typedef struct recsort_plugin_shard {
  void *records; /* unaligned; NULL is allowed if there are none, before and after */
  uint64_t count;
  uint64_t wanted; /* records after the sort: of all shards, as many as `count` */
  void *stream;    /* work on it comes before the sort; NULL: the device's default stream */
} recsort_plugin_shard;

typedef struct recsort_plugin_shards_job {
  uint32_t size;
  uint32_t shard_count; /* as in the limits */
  const recsort_plugin_shard *shards;
  void *invalid;           /* host memory for a record: gets the first one with an invalid value, */
  uint64_t invalid_shard;  /* of this shard, */
  uint64_t invalid_record; /* where it has this number; `sort` sets the three */
  uint32_t found_invalid; /* 1 if there is one; 0 before. With `invalid` of NULL only this is set */
  uint32_t reserved;
} recsort_plugin_shards_job;

typedef struct recsort_plugin_shards {
  uint32_t size;
  uint32_t reserved;

  /* [one thread] Opens the devices and allocates all that sorts within the limits take, and sets
   * bytes[s] to the device memory among it that shard s takes. The instance is for such sorts from
   * then on. UNSUPPORTED: the program has keys that it cannot make, or a device cannot be used. */
  recsort_plugin_status (*reserve)(void *instance, const recsort_key_program *program,
                                   const recsort_plugin_shards_limits *limits, uint64_t *bytes,
                                   recsort_plugin_error *error);

  /* [one thread] Sorts all records, stably, in the order of shards, and waits. Then the first
   * shard's `wanted` records are in its place, and so on. On failure nothing has changed, unless a
   * device fails (FAILED, LOST) or a result is wrong (CORRUPT) after records have begun to move to
   * their shards. UNSUPPORTED: a record holds an invalid value. */
  recsort_plugin_status (*sort)(void *instance, const recsort_key_program *program,
                                recsort_plugin_shards_job *job, recsort_plugin_error *error);
} recsort_plugin_shards;

/* ---- Pairs on the device -----------------------------------------------------------------------
 * An extension for plugins that can sort arrays of keys, each with a value or without, which are in
 * a device's memory already, in memory of the caller's. */

#define RECSORT_PLUGIN_DEVICE_PAIRS "recsort.device-pairs/1"

/* Keys are sorted by their code, an unsigned integer of as many bits: that of a recsort_key_step
 * with the same kind and flags. Pointers are to memory of the device and aligned to elements;
 * arrays are equal (keys_in and keys_out, values_in and values_out) or do not overlap. */
typedef struct recsort_plugin_device_pairs_job {
  uint32_t size;
  uint32_t algorithm; /* as in recsort_plugin_job */
  void *stream;
  uint64_t count;     /* 0 is allowed */
  uint32_t kind;      /* RECSORT_KEY_UNSIGNED, SIGNED or FLOAT */
  uint32_t flags;     /* RECSORT_KEY_DESCENDING, NAN_FIRST, NAN_TOTAL */
  uint32_t key_width; /* bits of a key, in the device's byte order: 32 or 64; 128 for integers */
  uint32_t
      first_bit; /* only bits [first_bit, first_bit + bits) of a code are compared, at least 1 */
  uint32_t bits;
  uint32_t value_width; /* 0: no values; 32 or 64 */
  const void *keys_in;
  void *keys_out;        /* NULL: not wanted */
  const void *values_in; /* NULL: a value is the position of its key, from 0 */
  void *values_out;      /* NULL: none */
} recsort_plugin_device_pairs_job;

typedef struct recsort_plugin_device_pairs {
  uint32_t size;
  uint32_t reserved;

  /* [one thread] Allocates what all sorts share. The instance is for such sorts from then on. */
  recsort_plugin_status (*begin)(void *instance, recsort_plugin_error *error);

  /* [any thread] The device memory that `sort` works in: enough for the job, and for jobs that
   * differ from it only in fewer pairs. Of the pointers, it only looks which ones are equal. */
  recsort_plugin_status (*work_size)(const void *instance,
                                     const recsort_plugin_device_pairs_job *job, uint64_t *bytes,
                                     recsort_plugin_error *error);

  /* [one thread] Starts a stable sort on the job's stream, in `bytes` of memory that begins at a
   * multiple of 256. Neither waits nor allocates, also while the stream is captured. UNSUPPORTED:
   * there is too little memory. */
  recsort_plugin_status (*sort)(void *instance, const recsort_plugin_device_pairs_job *job,
                                void *memory, uint64_t bytes, recsort_plugin_error *error);

  /* [one thread] As in recsort_plugin_device. */
  recsort_plugin_status (*judge)(void *instance, recsort_plugin_error *error);
} recsort_plugin_device_pairs;

#ifdef __cplusplus
}
#endif

#endif
