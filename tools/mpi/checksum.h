/* checksum.h - whether records are still what they were, after networks and disks have had them. A
 * bit that is another one always shows; more than that shows but for one in 2^64. This is no
 * protection against what somebody wants to look right. */
#ifndef RECSORT_MPI_CHECKSUM_H
#define RECSORT_MPI_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The finalizer of splitmix64. */
static inline uint64_t checksum_mix(uint64_t x)
{
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* Of bytes in their order, about as fast as they are read: sums of words, and sums of these sums
 * (Fletcher, "An arithmetic checksum for serial transmissions", 1982), four words at a time. */
static inline uint64_t checksum_bytes(const void *bytes, size_t size)
{
  enum { WORDS = 4 };
  const unsigned char *at = bytes;
  uint64_t words[WORDS], first[WORDS] = {0}, second[WORDS] = {0}, sum = size;
  for (; size >= sizeof words; at += sizeof words, size -= sizeof words) {
    memcpy(words, at, sizeof words);
    for (int i = 0; i < WORDS; i++) {
      first[i] += words[i];
      second[i] += first[i];
    }
  }
  for (int i = 0; i < WORDS; i++)
    sum = checksum_mix(checksum_mix(sum ^ first[i]) + second[i]);
  for (; size > 0; size--)
    sum = checksum_mix(sum ^ *at++);
  return sum;
}

/* Of records in any order: the sum of a hash of each. */
static inline uint64_t checksum_records(const void *records, size_t count, size_t record_size)
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
    sum += checksum_mix(hash + word * (factor + step));
  }
  return sum;
}

#endif
