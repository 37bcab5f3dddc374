/* checksum.c - see checksum.h. */
#include "reccat/checksum.h"

#include <xxhash.h>

void checksum_add(checksum *sum, const void *records, size_t count, size_t record_size)
{
  const unsigned char *record = records;
  for (size_t i = 0; i < count; i++, record += record_size) {
    const XXH128_hash_t hash = XXH3_128bits(record, record_size);
    sum->low += hash.low64;
    sum->high += hash.high64 + (sum->low < hash.low64);
  }
}
