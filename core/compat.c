/* compat.c - functions of the first binary interface that recsort.h has replaced, for programs that
 * were built with it. They returned structs by value, or took a permutation without a size. Such
 * structs can never grow, so their first versions are kept here. tests/abi runs such programs. */
#include "sorter.h"

/* The structs of the first version; each is a prefix of today's. */
typedef struct first_plugin_info {
  const char *name, *path, *version, *description;
  unsigned score;
  const char *reason;
  const char *const *algorithms, *const *algorithm_texts;
  size_t algorithm_count;
} first_plugin_info;

typedef struct first_permutation {
  const void *index;
  unsigned index_bits;
  size_t count;
} first_permutation;

/* These have not grown since. If one grows, keep its old version here. */
typedef recsort_stats first_stats;
typedef recsort_key_info first_key_info;
typedef recsort_value first_value;

RECSORT_API first_stats recsort_sorter_stats(const recsort_sorter *sorter);
RECSORT_API first_key_info recsort_sorter_key(const recsort_sorter *sorter, size_t key);
RECSORT_API first_plugin_info recsort_plugin_list_at(const recsort_plugin_list *list, size_t index);
RECSORT_API first_value recsort_field_read(const recsort_field *field, const void *base,
                                           size_t element);
RECSORT_API void recsort_field_write(const recsort_field *field, void *base, size_t element,
                                     first_value value);
RECSORT_API recsort_status recsort_find_order(recsort_sorter *sorter, const void *records,
                                              size_t count, first_permutation *order,
                                              recsort_error *error);
RECSORT_API recsort_status recsort_unique(recsort_sorter *sorter, const void *records,
                                          first_permutation *order, recsort_error *error);
RECSORT_API recsort_status recsort_permute(recsort_sorter *sorter, const first_permutation *order,
                                           void *array, size_t element_size, recsort_error *error);

first_stats recsort_sorter_stats(const recsort_sorter *sorter)
{
  first_stats stats;
  recsort_sorter_get_stats(sorter, (recsort_stats *)&stats, sizeof stats);
  return stats;
}

first_key_info recsort_sorter_key(const recsort_sorter *sorter, size_t key)
{
  first_key_info info;
  recsort_sorter_get_key(sorter, key, (recsort_key_info *)&info, sizeof info);
  return info;
}

first_plugin_info recsort_plugin_list_at(const recsort_plugin_list *list, size_t index)
{
  first_plugin_info info;
  recsort_plugin_list_get(list, index, (recsort_plugin_info *)&info, sizeof info);
  return info;
}

first_value recsort_field_read(const recsort_field *field, const void *base, size_t element)
{
  first_value value;
  recsort_field_get(field, base, element, (recsort_value *)&value, sizeof value);
  return value;
}

void recsort_field_write(const recsort_field *field, void *base, size_t element, first_value value)
{
  recsort_field_set(field, base, element, (const recsort_value *)&value, sizeof value);
}

/* A first_permutation does not say which call made it. If it points to the sorter's own
 * permutation, it is taken to be that. */
static recsort_permutation today(const recsort_sorter *sorter, const first_permutation *order)
{
  const bool own = sorter && order->index == sorter->order.index;
  return (recsort_permutation){.index = order->index,
                               .index_bits = order->index_bits,
                               .struct_size = sizeof(recsort_permutation),
                               .count = order->count,
                               .sorting = own ? sorter->order.sorting : 0};
}

recsort_status recsort_find_order(recsort_sorter *sorter, const void *records, size_t count,
                                  first_permutation *order, recsort_error *error)
{
  recsort_permutation found = {.struct_size = sizeof found};
  const recsort_status status =
      recsort_find_permutation(sorter, records, count, order ? &found : NULL, error);
  if (!status) *order = (first_permutation){found.index, found.index_bits, found.count};
  return status;
}

recsort_status recsort_unique(recsort_sorter *sorter, const void *records, first_permutation *order,
                              recsort_error *error)
{
  if (!order) return recsort_permutation_unique(sorter, records, NULL, error);
  recsort_permutation own = today(sorter, order);
  const recsort_status status = recsort_permutation_unique(sorter, records, &own, error);
  if (!status) order->count = own.count;
  return status;
}

recsort_status recsort_permute(recsort_sorter *sorter, const first_permutation *order, void *array,
                               size_t element_size, recsort_error *error)
{
  if (!order) return recsort_permutation_apply(sorter, NULL, array, element_size, error);
  const recsort_permutation own = today(sorter, order);
  return recsort_permutation_apply(sorter, &own, array, element_size, error);
}
