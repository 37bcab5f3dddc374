/* checksum.h - whether records are still what they were, after networks and disks have had them. A
 * single flipped bit is always detected; larger changes are missed with a probability of 2^-64. It
 * does not protect from changes that somebody makes on purpose. */
#ifndef FILES_CHECKSUM_H
#define FILES_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The finalizer of splitmix64. */
static inline uint64_t rf_mix(uint64_t x)
{
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

enum { RF_LANES = 4, RF_STEP = RF_LANES * sizeof(uint64_t) };

/* Of bytes in their order, about as fast as they are read: sums of words, and sums of these sums
 * (Fletcher, "An arithmetic checksum for serial transmissions", 1982), four words at a time. Begins
 * with zeros. */
typedef struct rf_checksum {
  uint64_t size, first[RF_LANES], second[RF_LANES];
  unsigned char rest[RF_STEP]; /* the last size % RF_STEP bytes */
} rf_checksum;

/* Processors add pairs of words at once, which compilers do not find out themselves. */
typedef uint64_t rf_pair __attribute__((vector_size(2 * sizeof(uint64_t))));

static inline void rf_checksum_add_steps(rf_checksum *sum, const unsigned char *at, size_t steps)
{
  rf_pair words[RF_LANES / 2], first[RF_LANES / 2], second[RF_LANES / 2];
  memcpy(first, sum->first, sizeof first);
  memcpy(second, sum->second, sizeof second);
  for (; steps > 0; at += sizeof words, steps--) {
    memcpy(words, at, sizeof words);
    for (int i = 0; i < RF_LANES / 2; i++) {
      first[i] += words[i];
      second[i] += first[i];
    }
  }
  memcpy(sum->first, first, sizeof first);
  memcpy(sum->second, second, sizeof second);
}

static inline void rf_checksum_add(rf_checksum *sum, const void *bytes, size_t size)
{
  const unsigned char *at = bytes;
  const size_t held = (size_t)(sum->size % RF_STEP);
  sum->size += size;
  if (held > 0) {
    const size_t part = size < RF_STEP - held ? size : RF_STEP - held;
    memcpy(sum->rest + held, at, part);
    if (held + part < RF_STEP) return;
    rf_checksum_add_steps(sum, sum->rest, 1);
    at += part;
    size -= part;
  }
  rf_checksum_add_steps(sum, at, size / RF_STEP);
  if (size % RF_STEP > 0) memcpy(sum->rest, at + size / RF_STEP * RF_STEP, size % RF_STEP);
}

static inline uint64_t rf_checksum_of(const rf_checksum *sum)
{
  uint64_t value = sum->size;
  for (int i = 0; i < RF_LANES; i++)
    value = rf_mix(rf_mix(value ^ sum->first[i]) + sum->second[i]);
  for (size_t i = 0; i < sum->size % RF_STEP; i++)
    value = rf_mix(value ^ sum->rest[i]);
  return value;
}

static inline uint64_t rf_checksum_bytes(const void *bytes, size_t size)
{
  rf_checksum sum = {0};
  rf_checksum_add(&sum, bytes, size);
  return rf_checksum_of(&sum);
}

/* Of records in any order: the sum of a hash of each. */
static inline uint64_t rf_checksum_records(const void *records, size_t count, size_t record_size)
{
  const uint64_t step = UINT64_C(0x9e3779b97f4a7c16); /* even: all factors are odd */
  const unsigned char *at = records;
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t hash = 0, word = 0, factor = 1;
    size_t left = record_size;
    for (; left >= sizeof word; at += sizeof word, left -= sizeof word) {
      memcpy(&word, at, sizeof word);
      hash += word * (factor += step);
    }
    for (word = 0; left > 0; left--)
      word = word << 8 | *at++;
    sum += rf_mix(hash + word * (factor + step));
  }
  return sum;
}

#endif
