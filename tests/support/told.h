/* told.h - returns what the library fills in, as values. */
#ifndef RS_TESTS_TOLD_H
#define RS_TESTS_TOLD_H

#include "recsort/tools.h"

static inline recsort_stats stats_of(const recsort_sorter *sorter)
{
  recsort_stats stats;
  recsort_sorter_get_stats(sorter, &stats, sizeof stats);
  return stats;
}

static inline recsort_key_info key_of(const recsort_sorter *sorter, size_t key)
{
  recsort_key_info info;
  recsort_sorter_get_key(sorter, key, &info, sizeof info);
  return info;
}

static inline recsort_plugin_info plugin_at(const recsort_plugin_info *list, size_t index)
{
  static const recsort_plugin_info none;
  for (; list && index > 0; index--)
    list = list->next;
  return list ? *list : none;
}

static inline recsort_value read_value(const recsort_field_desc *field, const void *base,
                                       size_t element)
{
  recsort_value value;
  recsort_field_get(field, base, element, &value, sizeof value);
  return value;
}

static inline void write_value(const recsort_field_desc *field, void *base, size_t element,
                               recsort_value value)
{
  recsort_field_set(field, base, element, &value, sizeof value);
}

#endif
