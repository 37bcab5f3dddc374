/* recsort.h of the first binary interface, without its comments. Programs were built with it: it does not change. */
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
RECSORT_API const char *recsort_version(void);
typedef enum recsort_status {
  RECSORT_OK = 0,
  RECSORT_INVALID_ARGUMENT,
  RECSORT_OUT_OF_MEMORY,
  RECSORT_IO_ERROR,
  RECSORT_INVALID_SCHEMA,
  RECSORT_INVALID_KEY,
  RECSORT_INVALID_RECORD,
  RECSORT_PLUGIN_ERROR,
  RECSORT_DEVICE_ERROR,
  RECSORT_CORRUPT_RESULT
} recsort_status;
typedef struct recsort_error {
  recsort_status status;
  uint32_t line;
  uint32_t column;
  char text[500];
} recsort_error;
RECSORT_API const char *recsort_status_text(recsort_status status);
typedef struct recsort_allocator {
  void *context;
  void *(*allocate)(void *context, size_t size);
  void (*release)(void *context, void *memory, size_t size);
} recsort_allocator;
typedef enum recsort_type {
  RECSORT_BOOL = 1,
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
  RECSORT_CHAR,
  RECSORT_BYTES,
  RECSORT_STRUCT,
  RECSORT_ENUM,
  RECSORT_BITFIELD
} recsort_type;
typedef enum recsort_endian {
  RECSORT_ENDIAN_DEFAULT = 0,
  RECSORT_LITTLE_ENDIAN,
  RECSORT_BIG_ENDIAN
} recsort_endian;
typedef enum recsort_layout {
  RECSORT_LAYOUT_C = 0,
  RECSORT_LAYOUT_PACKED,
  RECSORT_LAYOUT_EXPLICIT
} recsort_layout;
typedef enum recsort_order {
  RECSORT_ASCENDING = 0,
  RECSORT_DESCENDING
} recsort_order;
typedef enum recsort_nan {
  RECSORT_NAN_LAST = 0,
  RECSORT_NAN_FIRST,
  RECSORT_NAN_TOTAL
} recsort_nan;
typedef struct recsort_enumerator {
  const char *name;
  int64_t value;
} recsort_enumerator;
#define RECSORT_NO_OFFSET UINT64_MAX
typedef struct recsort_field_desc {
  const char *name;
  recsort_type type;
  recsort_type base;
  recsort_endian endian;
  uint64_t offset;
  uint64_t count;
  const char *bit_base;
  uint32_t bit;
  uint32_t width;
  const recsort_enumerator *enumerators;
  size_t enumerator_count;
  const struct recsort_field_desc *fields;
  size_t field_count;
  uint32_t line;
  uint32_t column;
} recsort_field_desc;
typedef struct recsort_key_desc {
  const char *path;
  recsort_order order;
  recsort_nan nan;
  uint32_t line;
  uint32_t column;
} recsort_key_desc;
typedef struct recsort_schema_desc {
  size_t struct_size;
  const char *record;
  const char *source;
  recsort_endian endian;
  recsort_layout layout;
  uint64_t size;
  uint64_t skip;
  uint64_t trailer;
  const recsort_field_desc *fields;
  size_t field_count;
  const recsort_key_desc *keys;
  size_t key_count;
  uint32_t line;
  uint32_t column;
} recsort_schema_desc;
typedef struct recsort_field {
  const char *name;
  recsort_type type;
  recsort_type base;
  recsort_endian endian;
  size_t offset;
  size_t size;
  size_t count;
  uint32_t bit;
  uint32_t width;
  const recsort_enumerator *enumerators;
  size_t enumerator_count;
  const struct recsort_field *fields;
  size_t field_count;
} recsort_field;
typedef struct recsort_schema recsort_schema;
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
RECSORT_API void recsort_schema_destroy(recsort_schema *schema);
RECSORT_API const char *recsort_schema_record_name(const recsort_schema *schema);
RECSORT_API size_t recsort_schema_record_size(const recsort_schema *schema);
RECSORT_API uint64_t recsort_schema_skip(const recsort_schema *schema);
RECSORT_API uint64_t recsort_schema_trailer(const recsort_schema *schema);
RECSORT_API const recsort_field *recsort_schema_fields(const recsort_schema *schema, size_t *count);
RECSORT_API const recsort_key_desc *recsort_schema_keys(const recsort_schema *schema,
                                                        size_t *count);
RECSORT_API const char *recsort_type_name(recsort_type type);
typedef enum recsort_value_kind {
  RECSORT_VALUE_SIGNED,
  RECSORT_VALUE_UNSIGNED,
  RECSORT_VALUE_REAL,
  RECSORT_VALUE_BYTES
} recsort_value_kind;
typedef struct recsort_value {
  recsort_value_kind kind;
  union {
    int64_t i;
    uint64_t u;
    double real;
    const unsigned char *bytes;
  } as;
  size_t size;
} recsort_value;
RECSORT_API recsort_value recsort_field_read(const recsort_field *field, const void *base,
                                             size_t element);
RECSORT_API void recsort_field_write(const recsort_field *field, void *base, size_t element,
                                     recsort_value value);
typedef struct recsort_options {
  size_t struct_size;
  const recsort_key_desc *keys;
  size_t key_count;
  bool reverse;
  const char *plugin;
  const char *algorithm;
  unsigned threads;
  const recsort_allocator *allocator;
} recsort_options;
typedef struct recsort_sorter recsort_sorter;
RECSORT_API recsort_status recsort_sorter_create(const recsort_schema *schema,
                                                 const recsort_options *options,
                                                 recsort_sorter **sorter, recsort_error *error);
RECSORT_API void recsort_sorter_destroy(recsort_sorter *sorter);
RECSORT_API recsort_status recsort_sort(recsort_sorter *sorter, void *records, size_t count,
                                        recsort_error *error);
RECSORT_API recsort_status recsort_sort_to(recsort_sorter *sorter, const void *records,
                                           size_t count, void *sorted, recsort_error *error);
RECSORT_API recsort_status recsort_argsort(recsort_sorter *sorter, const void *records,
                                           size_t count, void *index, unsigned index_bits,
                                           recsort_error *error);
typedef struct recsort_permutation {
  const void *index;
  unsigned index_bits;
  size_t count;
} recsort_permutation;
RECSORT_API recsort_status recsort_find_order(recsort_sorter *sorter, const void *records,
                                              size_t count, recsort_permutation *order,
                                              recsort_error *error);
RECSORT_API recsort_status recsort_unique(recsort_sorter *sorter, const void *records,
                                          recsort_permutation *order, recsort_error *error);
RECSORT_API void recsort_gather(const recsort_permutation *order, size_t first, size_t count,
                                const void *from, size_t element_size, void *to, unsigned threads);
RECSORT_API uint64_t recsort_permutation_at(const recsort_permutation *order, size_t place);
RECSORT_API recsort_status recsort_permute(recsort_sorter *sorter, const recsort_permutation *order,
                                           void *array, size_t element_size, recsort_error *error);
RECSORT_API recsort_status recsort_check(recsort_sorter *sorter, const void *records, size_t count,
                                         size_t *disorder, recsort_error *error);
RECSORT_API size_t recsort_key_size(const recsort_sorter *sorter);
RECSORT_API recsort_status recsort_encode(recsort_sorter *sorter, const void *records, size_t count,
                                          void *keys, recsort_error *error);
RECSORT_API int recsort_key_compare(const recsort_sorter *sorter, const void *a, const void *b);
typedef struct recsort_key_info {
  const char *path;
  const recsort_field *field;
  recsort_order order;
  recsort_nan nan;
  unsigned bits;
  unsigned shift;
} recsort_key_info;
RECSORT_API size_t recsort_sorter_key_count(const recsort_sorter *sorter);
RECSORT_API recsort_key_info recsort_sorter_key(const recsort_sorter *sorter, size_t key);
typedef struct recsort_stats {
  size_t records;
  size_t record_size;
  unsigned key_bits;
  unsigned key_width;
  unsigned index_bits;
  unsigned threads;
  const char *plugin;
  const char *algorithm;
  const char *choice;
  const char *transfer;
  const char *fallback;
  size_t memory;
  bool whole_records;
  double encode_seconds;
  double sort_seconds;
  double verify_seconds;
  double permute_seconds;
} recsort_stats;
RECSORT_API recsort_stats recsort_sorter_stats(const recsort_sorter *sorter);
typedef struct recsort_plugin_info {
  const char *name;
  const char *path;
  const char *version;
  const char *description;
  unsigned score;
  const char *reason;
  const char *const *algorithms;
  const char *const *algorithm_texts;
  size_t algorithm_count;
} recsort_plugin_info;
typedef struct recsort_plugin_list recsort_plugin_list;
RECSORT_API recsort_status recsort_plugin_list_create(const recsort_allocator *allocator,
                                                      recsort_plugin_list **list,
                                                      recsort_error *error);
RECSORT_API void recsort_plugin_list_destroy(recsort_plugin_list *list);
RECSORT_API size_t recsort_plugin_list_count(const recsort_plugin_list *list);
RECSORT_API recsort_plugin_info recsort_plugin_list_at(const recsort_plugin_list *list,
                                                       size_t index);
#ifdef __cplusplus
}
#endif
#endif
