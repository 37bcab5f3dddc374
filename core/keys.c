/* keys.c - encoded keys, for callers that search or merge. */
#include "base/checked.h"
#include "key/encode.h"
#include "sorter.h"

size_t recsort_key_size(const recsort_sorter *sorter)
{
  return sorter ? rs_key_size(&sorter->plan) : 0;
}

recsort_status recsort_encode(recsort_sorter *sorter, const void *records, size_t count, void *keys,
                              recsort_error *error)
{
  size_t bytes, key_bytes;
  const recsort_status status = rs_sorter_check(sorter, records, count, &bytes, error);
  if (status) return status;
  const size_t key_size = rs_key_size(&sorter->plan);
  if (count && (!keys || (uintptr_t)keys % (key_size < 8 ? key_size : 8)))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "keys must not be NULL, and aligned to 8 bytes, or 4 if they have 4");
  if (!rs_multiply(count, key_size, &key_bytes)) return rs_fail_memory(error, SIZE_MAX);
  if (rs_overlap(records, bytes, keys, key_bytes))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "records and keys overlap");
  return rs_key_encode(&sorter->plan, records, count, keys, sorter->team, 0, error);
}

int recsort_key_compare(const recsort_sorter *sorter, const void *a, const void *b)
{
  return rs_key_compare(&sorter->plan, a, b);
}
