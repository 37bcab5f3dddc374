/* plugin.h - for those who write a sorter for recsort.
 *
 * A plugin sorts keys: `count` unsigned integers of a fixed width, of which it returns the stable
 * permutation. It sees no record, unless it offers to (below, "Whole records"). It is a shared
 * library with one exported symbol,
 *
 *   const recsort_plugin *recsort_plugin_entry(uint32_t host_abi);
 *
 * which may be called by any thread, any number of times, and returns a table that lives as long
 * as the library stays loaded, or NULL if it cannot work with a host of that version. Call the file
 * librecsort_NAME.so after the plugin: then "--plugin NAME" loads no other. The headers that are
 * installed are all that a plugin is built with; recsort/key_interpreter.h, record_hash.h and
 * team.h may be of use.
 *
 * Rules:
 *  - Every struct but recsort_key_step, which does not grow, begins with its size in bytes, set by
 *    whoever owns it. The major version must match. With the minor one structs become longer, so
 *    host and plugin may be of different versions: read and write only the members that the size
 *    covers, and take the others as 0. The host refuses a table that ends before `sort`.
 *  - A plugin must not exit, abort, print, or throw. It reports a status and a text.
 *  - [any thread] may be called by any thread at any time; [one thread] by one thread at a time for
 *    each instance, not always the same one.
 */
#ifndef RECSORT_PLUGIN_H
#define RECSORT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RECSORT_PLUGIN_ABI_MAJOR 1u
#define RECSORT_PLUGIN_ABI_MINOR 1u
#define RECSORT_PLUGIN_ABI ((RECSORT_PLUGIN_ABI_MAJOR << 16) | RECSORT_PLUGIN_ABI_MINOR)
#define RECSORT_PLUGIN_ENTRY "recsort_plugin_entry"

typedef enum recsort_plugin_status {
  RECSORT_PLUGIN_OK = 0,
  RECSORT_PLUGIN_OUT_OF_MEMORY, /* another plugin may still manage */
  RECSORT_PLUGIN_UNSUPPORTED,   /* this job is outside the plugin's limits */
  RECSORT_PLUGIN_FAILED,        /* this call failed; the next may work */
  RECSORT_PLUGIN_LOST,          /* the device is gone for this process; do not call again */
  RECSORT_PLUGIN_CORRUPT        /* it has found its own result to be wrong; the next may be right */
} recsort_plugin_status;

/* Owned by the host, zeroed before each call; the plugin writes one line, no newline. */
typedef struct recsort_plugin_error {
  uint32_t size;
  char text[244];
} recsort_plugin_error;

/* What the host offers. Lives until the call returns, and what `open` got until `close` returns. */
typedef struct recsort_host {
  uint32_t size;
  uint32_t abi;
  void *context;
  /* [any thread] The caller's allocator (recsort_allocator in recsort.h says from where a plugin
   * may call it); the size is given back on release. */
  void *(*allocate)(void *context, size_t size);
  void (*release)(void *context, void *memory, size_t size);
  /* [any thread] Calls task(argument, number) once for each number below `count` and returns when
   * all have returned. They run on any threads, in any order, perhaps one after the other, so none
   * may wait for another one. A plugin takes its threads from here and asks for no more tasks at a
   * time than job.threads. Since 1.1; look at `size`. */
  void (*run)(void *context, void (*task)(void *argument, size_t number), void *argument,
              size_t count);
  /* What the caller says to the plugin: each "key=value", the key one of the plugin's table; of a
   * key that comes twice the last counts. A value that is wrong is refused by score, with a reason,
   * and by open. Since 1.1. */
  const char *const *options;
  size_t option_count;
} recsort_host;

/* One way of sorting. */
typedef struct recsort_plugin_algorithm {
  uint32_t size;
  uint32_t reserved;
  const char *name;        /* what --algorithm takes */
  const char *description; /* one line */
} recsort_plugin_algorithm;

/* One thing that a caller may say. */
typedef struct recsort_plugin_option {
  uint32_t size;
  uint32_t reserved;
  const char *name;        /* the key */
  const char *description; /* one line: the values, and what counts if none is given */
} recsort_plugin_option;

typedef struct recsort_plugin_limits {
  uint32_t size;
  uint32_t max_key_bits;   /* widest key width; UINT32_MAX: any */
  uint32_t max_index_bits; /* 32 or 64 */
  uint32_t reserved;
  uint64_t max_count;   /* records */
  uint64_t least_count; /* with "auto", fewer records go to the next best plugin; a host that has
                         * had fewer than 12,288 at a time has not even loaded this one */
} recsort_plugin_limits;

/* What is to be sorted.
 *
 * Keys are `key_width` bits wide: 32 (uint32_t), 64 (uint64_t), 128, or a larger multiple of 64,
 * in which case a key is key_width / 64 words of 64 bits, least significant word first, all of
 * host byte order. Only the low `key_bits` can be other than 0. */
typedef struct recsort_plugin_job {
  uint32_t size;
  uint32_t algorithm;  /* index into the plugin's list */
  uint64_t count;      /* 0 is allowed */
  uint32_t key_bits;   /* at least 1 */
  uint32_t key_width;  /* 32, 64, 128, 192 ... */
  uint32_t index_bits; /* 32 (count at most 2^32) or 64: the width of the result's elements */
  uint32_t threads;    /* host threads the plugin may use, at least 1 */
} recsort_plugin_job;

/* The one block of host memory that a job works in: the caller owns it, aligned to 64 bytes. The
 * host writes the keys at `keys_offset`; on success the permutation (uint32_t or uint64_t) stands
 * at offset 0. Anything in it may be overwritten in between, the keys too. */
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

  /* [any thread] 0: cannot run here, and why in `reason` (one line, `reason_size` bytes with its
   * NUL). Otherwise the higher the better: the linked-in CPU plugin has 100. May block for a
   * moment (a driver is looked for), must not keep anything. */
  uint32_t (*score)(const recsort_host *host, char *reason, size_t reason_size);

  /* [any thread] Makes an instance, closed by close. May block and allocate. */
  recsort_plugin_status (*open)(const recsort_host *host, void **instance,
                                recsort_plugin_error *error);
  /* [one thread] Waits for whatever is under way and frees all that the instance owns. */
  void (*close)(void *instance);

  /* [any thread] Does not block. `limits->size` is set by the host, the rest is 0. */
  void (*limits)(const void *instance, recsort_plugin_limits *limits);

  /* [any thread] Says how much host memory `job` needs. Does not block or allocate.
   * UNSUPPORTED: the job is outside the limits, or the size overflows. */
  recsort_plugin_status (*work_size)(const void *instance, const recsort_plugin_job *job,
                                     recsort_plugin_work *work, recsort_plugin_error *error);

  /* [one thread] Sorts. Blocks until done. `memory` is as work_size asked for the same job. On
   * failure its contents are lost, and nothing else has changed. */
  recsort_plugin_status (*sort)(void *instance, const recsort_plugin_job *job, void *memory,
                                recsort_plugin_error *error);

  /* [any thread] A table of further functions by the name "vendor.extension/version", or NULL; it
   * begins with its size. May be NULL itself. */
  const void *(*extension)(const char *name);

  const recsort_plugin_option *const *options; /* may be NULL if there are none */
  uint32_t option_count;
  uint32_t reserved_too;
} recsort_plugin;

typedef const recsort_plugin *(*recsort_plugin_entry_fn)(uint32_t host_abi);

/* ---- The key program ---------------------------------------------------------------------------
 * How a record's key is made, as plain data, for plugins that take records themselves. The host
 * makes it, and one interpreter (recsort/key_interpreter.h) runs it on host and device. */

typedef enum recsort_key_kind {
  RECSORT_KEY_UNSIGNED = 1, /* bits [bit, bit + width) of the integer */
  RECSORT_KEY_SIGNED,       /* two's complement: the sign bit turned over */
  RECSORT_KEY_BOOL,         /* 1 unless every bit is 0 */
  RECSORT_KEY_OFFSET,       /* integer - bias, modulo 2^(8 * bytes); above `limit`: invalid */
  RECSORT_KEY_FLOAT         /* sign and magnitude; a magnitude above `limit` is a NaN */
} recsort_key_kind;

enum {
  RECSORT_KEY_BIG_ENDIAN = 1, /* how the integer lies in the record */
  RECSORT_KEY_DESCENDING = 2, /* the code is complemented, NaNs excepted unless NAN_TOTAL */
  RECSORT_KEY_NAN_FIRST = 4,  /* floats: NaNs become the least code; otherwise the greatest */
  RECSORT_KEY_NAN_TOTAL = 8   /* floats: every bit counts, as in IEEE 754 totalOrder */
};

/* One field of the key, or up to 8 bytes of a longer one. The code, `width` bits, is placed at
 * bit `shift` of the key; it may straddle two 64-bit words. */
typedef struct recsort_key_step {
  uint64_t offset; /* bytes from the start of the record, unaligned */
  uint64_t bias;   /* OFFSET */
  uint64_t limit;  /* OFFSET: the greatest valid code; FLOAT: the magnitude of infinity */
  uint16_t kind;
  uint16_t flags;
  uint8_t bytes; /* 1 to 8, read as one integer */
  uint8_t bit;   /* UNSIGNED */
  uint8_t width; /* 0 to 64 */
  uint8_t reserved;
  uint32_t shift;
  uint32_t key; /* which of the schema's keys, for messages */
} recsort_key_step;

typedef struct recsort_key_program {
  uint32_t size;
  uint32_t step_count;
  const recsort_key_step *steps; /* most significant first */
  uint64_t record_size;
  uint32_t key_bits;
  uint32_t key_width;
} recsort_key_program;

/* ---- Whole records -----------------------------------------------------------------------------
 * An extension for plugins that can make the keys and move the records themselves, which is sooner
 * where what sorts is far from the host's memory but has a fast one of its own. */

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

/* Whether whole records are what such a plugin should get. Where it cannot know, a host that sorts
 * many records again and again tries both ways, and keeps to the sooner one. */
typedef enum recsort_plugin_suits {
  RECSORT_SUITS_NOT = 0,    /* keys alone */
  RECSORT_SUITS = 1,        /* whole records: it is sooner done with them */
  RECSORT_SUITS_MOSTLY = 2, /* so it is in most cases, but not in all */
  RECSORT_SUITS_HARDLY = 3  /* in most cases it is not */
} recsort_plugin_suits;

typedef struct recsort_plugin_records {
  uint32_t size;
  uint32_t reserved;

  /* [any thread] Whether it takes records of this program: one of recsort_plugin_suits. Does not
   * block. */
  uint32_t (*suits)(const void *instance, const recsort_key_program *program);

  /* [any thread] What it gets first for that reason and why, in some words for people: text that is
   * never released. Does not block. */
  const char *(*reason)(const void *instance, const recsort_key_program *program);

  /* [one thread] Writes the sorted records to `sorted`, which overlaps `records` nowhere; blocks
   * until done. Moves none before it has made sure that it has a permutation. The job is as
   * for recsort_plugin.sort, the program one that does suit. On failure what is at `sorted` is
   * lost, and nothing else has changed.
   * UNSUPPORTED: not these records, for want of memory or as one of them holds an invalid value;
   * the host then makes the keys, which says which, and calls recsort_plugin.sort. */
  recsort_plugin_status (*sort)(void *instance, const recsort_plugin_job *job,
                                const recsort_key_program *program, const void *records,
                                void *sorted, recsort_plugin_times *times,
                                recsort_plugin_error *error);
} recsort_plugin_records;

#ifdef __cplusplus
}
#endif

#endif
