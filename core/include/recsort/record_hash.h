/* record_hash.h - sums of hashes that tell whether two arrays hold the same records, in any order.
 * For host and device.
 *
 * Each word is mixed by the finalizer of splitmix64 (Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators", 2014), so that every bit of a record changes every bit of its
 * hash. The two halves of the hashes are summed separately, so up to 2^32 records no sum overflows.
 * Different arrays have equal sums with a probability of 2^-64. This is no protection against
 * deliberate collisions.
 */
#ifndef RECSORT_RECORD_HASH_H
#define RECSORT_RECORD_HASH_H

#include "recsort/key_interpreter.h"

/* The sums of the low and the high halves of hashes. */
typedef struct record_sums {
  uint64_t low;
  uint64_t high;
} record_sums;

/* The finalizer of splitmix64. */
RECSORT_HD static inline uint64_t record_mix(uint64_t x)
{
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* Loads `bytes` bytes, at most 8, in units of `unit` bytes: 8, 4 or 1. It divides `at` and
 * `bytes`. */
RECSORT_HD static inline uint64_t record_word(const unsigned char *at, unsigned bytes,
                                              unsigned unit)
{
  if (unit == 8) return *(const uint64_t *)(const void *)at;
  if (unit == 1) return key_load(at, bytes, false);
  const uint64_t low = *(const uint32_t *)(const void *)at;
  return bytes == 4 ? low : low | (uint64_t)((const uint32_t *)(const void *)at)[1] << 32;
}

/* The hash of one record. `unit`, 8, 4 or 1, divides the record's address and size. */
RECSORT_HD static inline uint64_t record_hash(const unsigned char *record, uint64_t size,
                                              unsigned unit)
{
  const unsigned rest = (unsigned)(size % 8);
  uint64_t hash = size;
  for (uint64_t at = 0; at < size - rest; at += 8)
    hash = record_mix(hash ^ record_word(record + at, 8, unit)) + 1;
  return rest ? record_mix(hash ^ record_word(record + size - rest, rest, unit)) : hash;
}

/* Adds the hash of a record to the sums. */
RECSORT_HD static inline void record_add(record_sums *sums, uint64_t hash)
{
  sums->low += (uint32_t)hash;
  sums->high += hash >> 32;
}

#endif
