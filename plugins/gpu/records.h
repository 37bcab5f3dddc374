/* records.h - records in device memory: their keys, the proof of an order, and records put in it.
 *
 * Each starts its work on a stream; only records_end waits. */
#ifndef RECSORT_GPU_RECORDS_H
#define RECSORT_GPU_RECORDS_H

#include <stdbool.h>

#include "gpu/device_sort.h"
#include "recsort/record_hash.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RECORDS_MOST_STEPS = 16 };

/* A key program as the device gets it, by value. Keys of at most 128 bits. */
typedef struct records_program {
  uint64_t record_size;
  uint32_t key_width;
  uint32_t step_count;
  recsort_key_step steps[RECORDS_MOST_STEPS];
} records_program;

/* Lies in device memory, 0 at first. */
typedef struct records_facts {
  uint32_t invalid; /* some record holds a value that its schema rules out */
  uint32_t broken;  /* some order was no permutation */
  uint32_t strayed; /* some record has not the key that was sorted for its place */
  uint32_t reserved;
  record_sums came; /* of the records whose keys were made */
  record_sums left; /* of those that were looked at on their way out */
} records_facts;

/* Sets them to 0; reads them, which waits for all that was started on the stream. */
device_status records_begin(records_facts *facts, void *stream);
device_status records_end(const records_facts *facts, records_facts *found, void *stream);

/* The keys of `count` records, as the host's encoder makes them; if `summed`, the records' sums are
 * added to facts->came. Records begin at a multiple of 8 bytes, as far as their size has it. */
device_status records_encode(const records_program *program, const void *records, uint64_t count,
                             void *keys, bool summed, records_facts *facts, void *stream);

/* Sets facts->strayed unless the records have these keys; adds their sums to facts->left. */
device_status records_confirm(const records_program *program, const void *records, uint64_t count,
                              const void *keys, records_facts *facts, void *stream);

/* Sets *disorder, which the device can write, unless the pairs of keys and `order` ascend: of equal
 * keys the lower index is first. */
device_status records_ordered(const void *keys, uint32_t key_width, const void *order,
                              uint32_t index_bits, uint64_t count, uint32_t *disorder,
                              void *stream);

/* Bytes of `seen`. */
static inline uint64_t records_seen_bytes(uint64_t count)
{
  return (count + 31) / 32 * sizeof(uint32_t);
}

/* Sets facts->broken unless each of `order`, indices of 32 or 64 bits, is below `count` and none
 * comes twice. What is in `seen` is lost. */
device_status records_check(const void *order, uint32_t index_bits, uint64_t count, uint32_t *seen,
                            records_facts *facts, void *stream);

/* Record order[i] becomes number i at `to`. A record has at most 2^23 bytes. */
device_status records_gather(const void *records, uint64_t record_size, const void *order,
                             uint32_t index_bits, uint64_t count, void *to, void *stream);

#ifdef __cplusplus
}
#endif

#endif
