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
 *  - A plugin must not exit, abort, print, or throw.
 *  - A function that can fail returns a recsort_status and gets a recsort_error of the host's, full
 *    of zeros. On failure the plugin writes error->text, one line without a newline. The host sets
 *    the other members and puts the plugin's name before the text. These statuses are allowed:
 *      RECSORT_OUT_OF_MEMORY   another plugin may need less
 *      RECSORT_PLUGIN_ERROR    this job is outside the plugin's limits; another plugin may do it
 *      RECSORT_DEVICE_ERROR    this call failed; the next one may succeed
 *      RECSORT_DEVICE_LOST     the device is gone for this process: the host only calls `close`
 *      RECSORT_CORRUPT_RESULT  the plugin found that its result is wrong; the next may be right
 *      RECSORT_INVALID_RECORD  a record on a device holds an invalid value
 *    The host takes any other number for RECSORT_DEVICE_ERROR.
 *  - [any thread] means that any thread may call the function at any time; [one thread] that it is
 *    called by one thread at a time for each instance, not always the same one.
 */
#ifndef RECSORT_PLUGIN_H
#define RECSORT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "recsort/job.h"
#include "recsort/plugin_keys.h"

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
  uint32_t verify; /* a recsort_verify: how the plugin checks its results */
  uint32_t reserved;
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

typedef struct recsort_plugin_limits {
  uint32_t size;
  uint32_t max_key_bits;   /* the widest keys; UINT32_MAX: any */
  uint32_t max_index_bits; /* 32 or 64 */
  uint32_t reserved;
  uint64_t max_count;   /* records */
  uint64_t least_count; /* with "auto", fewer records go to the next best plugin */
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

  /* [any thread] Makes an instance, which `close` ends. May block and allocate. Errors:
   * OUT_OF_MEMORY, PLUGIN_ERROR (it cannot run here after all), DEVICE_ERROR, DEVICE_LOST. */
  recsort_status (*open)(const recsort_host *host, void **instance, recsort_error *error);
  /* [one thread] Waits for work in progress and frees all that the instance owns. */
  void (*close)(void *instance);

  /* [any thread] Does not block. Fills in `limits`: the host has set its size, the rest is 0. */
  void (*limits)(const void *instance, recsort_plugin_limits *limits);

  /* [any thread] Computes how much host memory `job` needs. Does not block or allocate. Errors:
   * PLUGIN_ERROR (the job is outside the limits, or the size overflows), DEVICE_ERROR. */
  recsort_status (*work_size)(const void *instance, const recsort_plugin_job *job,
                              recsort_plugin_work *work, recsort_error *error);

  /* [one thread] Sorts. Blocks until done. `memory` is as `work_size` asked for the same job. On
   * failure its contents are lost, and nothing else has changed. Errors: OUT_OF_MEMORY,
   * PLUGIN_ERROR, DEVICE_ERROR, DEVICE_LOST, CORRUPT_RESULT. */
  recsort_status (*sort)(void *instance, const recsort_plugin_job *job, void *memory,
                         recsort_error *error);

  /* [any thread] The table of functions of an extension, whose name is "vendor.extension/version";
   * NULL: not supported. The table begins with its size. The member itself may be NULL. */
  const void *(*extension)(const char *name);

  const recsort_plugin_option *const *options; /* NULL is allowed if there are none */
  uint32_t option_count;
  uint32_t reserved_too;
} recsort_plugin;

typedef const recsort_plugin *(*recsort_plugin_entry_fn)(uint32_t host_abi);

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
   * `sorted` are lost, and nothing else has changed. Errors: as recsort_plugin.sort. PLUGIN_ERROR
   * means: not these records, as there is too little memory or one of them holds an invalid value.
   * The host then makes the keys, which finds the invalid record, and calls recsort_plugin.sort. */
  recsort_status (*sort)(void *instance, const recsort_plugin_job *job,
                         const recsort_key_program *program, const void *records, void *sorted,
                         recsort_plugin_times *times, recsort_error *error);

  /* [any thread] Says how much host memory `sort` works in, in place or not. After any error the
   * host passes keys. Does not block or allocate. A plugin with this function sorts in the host's
   * memory: it gets job->memory and job->encode, and in place `sorted` is `records`. If such a sort
   * fails, the records are as they were. May be NULL. */
  recsort_status (*work_size)(const void *instance, const recsort_plugin_job *job,
                              const recsort_key_program *program, uint32_t in_place,
                              uint64_t *bytes, recsort_error *error);
} recsort_plugin_records;

/* ---- Jobs on devices ---------------------------------------------------------------------------
 * An extension for plugins that do jobs whose arrays are in a device's memory. They get the
 * caller's own job, which the host has checked (job.h). Of its columns they use the program's, and
 * the device reads its offsets. */

#define RECSORT_PLUGIN_DEVICE "recsort.device/1"

typedef struct recsort_plugin_device {
  uint32_t size;
  uint32_t reserved;

  /* [any thread] Says what the jobs take: fills in needs->host and needs->device of each. Several
   * jobs are the shards of one array. Looks only at which pointers are NULL or equal, and how they
   * are aligned, and takes nothing. Errors: PLUGIN_ERROR (the program has keys that it cannot make,
   * or the device of a job cannot be used), DEVICE_ERROR, DEVICE_LOST. */
  recsort_status (*plan)(const void *instance, uint32_t algorithm,
                         const recsort_key_program *program, const recsort_job *jobs,
                         size_t job_count, recsort_needs *needs, recsort_error *error);

  /* [one thread] Starts a job on its stream, by the algorithm of that number. Neither waits nor
   * allocates, also while the stream is captured. Errors: PLUGIN_ERROR (the workspace is too
   * small), DEVICE_ERROR, DEVICE_LOST.
   *  Several jobs: sorts their records, and waits. Errors: any of the list above. INVALID_RECORD
   * comes with the number of the record in the text. On failure nothing has changed, unless a
   * device fails (DEVICE_ERROR, DEVICE_LOST) or a result is wrong (CORRUPT_RESULT) after records
   * have begun to move to their shards. */
  recsort_status (*run)(void *instance, uint32_t algorithm, const recsort_key_program *program,
                        const recsort_job *jobs, size_t job_count, recsort_error *error);
} recsort_plugin_device;

#ifdef __cplusplus
}
#endif

#endif
