/* plugin.h of the first binary interface, without its comments. Programs were built with it: it does not change. */
#ifndef RECSORT_PLUGIN_H
#define RECSORT_PLUGIN_H 
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#define RECSORT_PLUGIN_ABI_MAJOR 1u
#define RECSORT_PLUGIN_ABI_MINOR 0u
#define RECSORT_PLUGIN_ABI ((RECSORT_PLUGIN_ABI_MAJOR << 16) | RECSORT_PLUGIN_ABI_MINOR)
#define RECSORT_PLUGIN_ENTRY "recsort_plugin_entry"
typedef enum recsort_plugin_status {
  RECSORT_PLUGIN_OK = 0,
  RECSORT_PLUGIN_OUT_OF_MEMORY,
  RECSORT_PLUGIN_UNSUPPORTED,
  RECSORT_PLUGIN_FAILED,
  RECSORT_PLUGIN_LOST
} recsort_plugin_status;
typedef struct recsort_plugin_error {
  uint32_t size;
  char text[244];
} recsort_plugin_error;
typedef struct recsort_host {
  uint32_t size;
  uint32_t abi;
  void *context;
  void *(*allocate)(void *context, size_t size);
  void (*release)(void *context, void *memory, size_t size);
} recsort_host;
typedef struct recsort_plugin_algorithm {
  uint32_t size;
  uint32_t reserved;
  const char *name;
  const char *description;
} recsort_plugin_algorithm;
typedef struct recsort_plugin_limits {
  uint32_t size;
  uint32_t max_key_bits;
  uint32_t max_index_bits;
  uint32_t reserved;
  uint64_t max_count;
  uint64_t least_count;
} recsort_plugin_limits;
typedef struct recsort_plugin_job {
  uint32_t size;
  uint32_t algorithm;
  uint64_t count;
  uint32_t key_bits;
  uint32_t key_width;
  uint32_t index_bits;
  uint32_t threads;
} recsort_plugin_job;
typedef struct recsort_plugin_work {
  uint32_t size;
  uint32_t reserved;
  uint64_t bytes;
  uint64_t keys_offset;
} recsort_plugin_work;
typedef struct recsort_plugin {
  uint32_t size;
  uint32_t abi;
  const char *name;
  const char *version;
  const char *description;
  const recsort_plugin_algorithm *const *algorithms;
  uint32_t algorithm_count;
  uint32_t reserved;
  uint32_t (*score)(const recsort_host *host, char *reason, size_t reason_size);
  recsort_plugin_status (*open)(const recsort_host *host, void **instance,
                                recsort_plugin_error *error);
  void (*close)(void *instance);
  void (*limits)(const void *instance, recsort_plugin_limits *limits);
  recsort_plugin_status (*work_size)(const void *instance, const recsort_plugin_job *job,
                                     recsort_plugin_work *work, recsort_plugin_error *error);
  recsort_plugin_status (*sort)(void *instance, const recsort_plugin_job *job, void *memory,
                                recsort_plugin_error *error);
  const void *(*extension)(const char *name);
} recsort_plugin;
typedef const recsort_plugin *(*recsort_plugin_entry_fn)(uint32_t host_abi);
typedef enum recsort_key_kind {
  RECSORT_KEY_UNSIGNED = 1,
  RECSORT_KEY_SIGNED,
  RECSORT_KEY_BOOL,
  RECSORT_KEY_OFFSET,
  RECSORT_KEY_FLOAT
} recsort_key_kind;
enum {
  RECSORT_KEY_BIG_ENDIAN = 1,
  RECSORT_KEY_DESCENDING = 2,
  RECSORT_KEY_NAN_FIRST = 4,
  RECSORT_KEY_NAN_TOTAL = 8
};
typedef struct recsort_key_step {
  uint64_t offset;
  uint64_t bias;
  uint64_t limit;
  uint16_t kind;
  uint16_t flags;
  uint8_t bytes;
  uint8_t bit;
  uint8_t width;
  uint8_t reserved;
  uint32_t shift;
  uint32_t key;
} recsort_key_step;
typedef struct recsort_key_program {
  uint32_t size;
  uint32_t step_count;
  const recsort_key_step *steps;
  uint64_t record_size;
  uint32_t key_bits;
  uint32_t key_width;
} recsort_key_program;
#define RECSORT_PLUGIN_RECORDS "recsort.host-records/1"
typedef struct recsort_plugin_times {
  uint32_t size;
  uint32_t reserved;
  double encode;
  double sort;
  double verify;
  double permute;
} recsort_plugin_times;
typedef enum recsort_plugin_suits {
  RECSORT_SUITS_NOT = 0,
  RECSORT_SUITS = 1,
  RECSORT_SUITS_MOSTLY = 2,
  RECSORT_SUITS_HARDLY = 3
} recsort_plugin_suits;
typedef struct recsort_plugin_records {
  uint32_t size;
  uint32_t reserved;
  uint32_t (*suits)(const void *instance, const recsort_key_program *program);
  const char *(*reason)(const void *instance, const recsort_key_program *program);
  recsort_plugin_status (*sort)(void *instance, const recsort_plugin_job *job,
                                const recsort_key_program *program, const void *records,
                                void *sorted, recsort_plugin_times *times,
                                recsort_plugin_error *error);
} recsort_plugin_records;
#ifdef __cplusplus
}
#endif
#endif
