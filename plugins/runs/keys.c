/* keys.c - the keys of records, in the forms that a merge meets. */
#include <string.h>

#include "base/assert.h"
#include "runs/runs.h"

static void read_plain(const run_format *format, const unsigned char *records, size_t count,
                       void *keys)
{
  RS_ASSERT(format->is_plain && (format->flip == 0 || format->record_size == sizeof(uint64_t)));
  if (format->flip == 0) {
    memcpy(keys, records, count * format->record_size);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    uint64_t record;
    memcpy(&record, records + i * sizeof record, sizeof record);
    ((uint64_t *)keys)[i] = record ^ format->flip;
  }
}

bool rs_run_read_keys(const run_format *format, const void *records, size_t count, void *keys)
{
  if (!format->is_plain) return format->encode(format->program, records, count, keys) != 0;
  read_plain(format, records, count, keys);
  return true;
}

/* Sums over blocks have the width of a key, so that the compiler compares several keys at once. */
bool rs_run_in_order(size_t key_size, const unsigned char *keys, size_t count)
{
  enum { BLOCK = 1024 };
  const uint32_t *const narrow = (const void *)keys;
  const uint64_t *const wide = (const void *)keys;
  RS_ASSERT(key_size == 4 || key_size % 8 == 0);
  if (key_size > 16) {
    for (size_t i = 1; i < count; i++)
      if (run_compare(key_size, keys + (i - 1) * key_size, keys + i * key_size) > 0) return false;
    return true;
  }
  for (size_t begin = 1, end; begin < count; begin = end) {
    uint32_t turned = 0;
    end = count - begin < BLOCK ? count : begin + BLOCK;
    if (key_size == 4)
      for (size_t i = begin; i < end; i++)
        turned += narrow[i - 1] > narrow[i];
    else if (key_size == 8)
      for (size_t i = begin; i < end; i++)
        turned += wide[i - 1] > wide[i];
    else
      for (size_t i = begin; i < end; i++)
        turned += run_key_of_16(keys + (i - 1) * 16) > run_key_of_16(keys + i * 16);
    if (turned) return false;
  }
  return true;
}
