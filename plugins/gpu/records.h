/* records.h - kernels for records in device memory: make their keys, check an order, and gather
 * records.
 *
 * Each function starts work on a stream; only records_end waits. */
#ifndef RECSORT_GPU_RECORDS_H
#define RECSORT_GPU_RECORDS_H

#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "gpu/device_sort.h"
#include "recsort/record_hash.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RECORDS_MOST_STEPS = 16, RECORDS_MOST_KEY_BITS = 128 };

/* True if the device can make the keys. */
static inline bool records_encodable(const recsort_key_program *program)
{
  return program->key_width <= RECORDS_MOST_KEY_BITS && program->step_count <= RECORDS_MOST_STEPS;
}

/* A key program, passed to kernels by value. Keys have at most 128 bits. The functions here that
 * take a program and `records` read its columns if `records` is NULL; otherwise they set them in
 * their own copy. There they also set `word`. */
typedef struct records_program {
  uint64_t record_size;
  uint32_t key_width;
  uint32_t step_count;
  records_word word;
  recsort_key_step steps[RECORDS_MOST_STEPS];
  recsort_key_column columns[RECORDS_MOST_STEPS];
} records_program;

static inline records_program records_program_of(const recsort_key_program *program,
                                                 uint32_t key_width)
{
  RS_ASSERT(program->step_count <= RECORDS_MOST_STEPS);
  records_program own;
  memset(&own, 0, sizeof own);
  own.record_size = program->record_size;
  own.key_width = key_width;
  own.step_count = program->step_count;
  memcpy(own.steps, program->steps, program->step_count * sizeof *program->steps);
  if (program->columns)
    memcpy(own.columns, program->columns, program->step_count * sizeof *program->columns);
  return own;
}

/* Results, in memory that the device can write, 0 at first. */
typedef struct records_facts {
  uint32_t invalid;  /* some record holds a value that its schema rules out */
  uint32_t broken;   /* some order is not a permutation */
  uint32_t strayed;  /* some record does not have the sorted key of its place */
  uint32_t overlong; /* some segment is longer than was said */
  record_sums came;  /* sums of the records whose keys were made */
  record_sums left;  /* sums of the records that were confirmed on their way back */
} records_facts;

/* records_begin sets the results to 0; records_end reads them, and so waits for all work on the
 * stream. */
device_status records_begin(records_facts *facts, void *stream);
device_status records_end(const records_facts *facts, records_facts *found, void *stream);

/* Makes the keys of `count` records, as the host's encoder does. If `summed`, adds the records'
 * sums to facts->came; then the array is aligned to 8 bytes. */
device_status records_encode(const records_program *program, const void *records, uint64_t count,
                             void *keys, bool summed, records_facts *facts, void *stream);

/* The same, without sums. Adds the keys with their numbers to the balance of the certificate if
 * that says so by its index_bits. */
device_status records_encode_certified(const records_program *program, const void *records,
                                       uint64_t count, void *keys, records_facts *facts,
                                       const device_certificate *certificate, void *stream);

/* Says in *words how a sort or a merge makes the keys itself; false if they are not words. */
bool records_words(const records_program *program, const void *records, device_words *words);

/* Sets facts->strayed unless the records have these keys. Adds their sums to facts->left. */
device_status records_confirm(const records_program *program, const void *records, uint64_t count,
                              const void *keys, records_facts *facts, void *stream);

/* Indices of 32 or 64 bits, and the keys that they belong to. */
typedef struct records_order {
  const void *indices;
  uint64_t count;
  uint32_t index_bits;
  uint32_t key_width;
  const void *keys; /* NULL, if records are only gathered: of a sort that leaves none */
  device_certificate certificate;
} records_order;

/* Sets *disorder of the certificate, which is given, unless the pairs ascend: keys, and among equal
 * keys the indices. If it has a balance, adds to it what makes it 0 if they are those of the
 * input, or, if it does not have these, if the indices are a permutation. */
device_status records_ordered(const records_order *order, void *stream);

/* The bytes of `seen`. */
static inline uint64_t records_seen_bytes(uint64_t count)
{
  return (count + 31) / 32 * sizeof(uint32_t);
}

/* The bits for the number of a segment. */
static inline uint32_t records_segment_bits(uint64_t segments)
{
  uint32_t bits = 1;
  while ((segments + 1) >> bits)
    bits++;
  RS_ASSERT(bits <= 64);
  return bits;
}

/* Makes keys with a number above key_bits of each: how many offsets are at most the record's place.
 * Keys of records outside all segments are 0, so that a stable sort leaves these records where they
 * are. Adds to the balance as records_encode_certified does. */
device_status records_encode_segments(const records_program *program, const void *records,
                                      uint64_t count, const device_segments *segments,
                                      uint32_t key_bits, void *keys, records_facts *facts,
                                      const device_certificate *certificate, void *stream);

/* Sets facts->broken unless `order`, indices of 32 or 64 bits, is a permutation of [0, count).
 * Overwrites `seen`. */
device_status records_check(const void *order, uint32_t index_bits, uint64_t count, uint32_t *seen,
                            records_facts *facts, void *stream);

/* Writes a recsort_status: what the facts and the certificate say. If *unchanged is not 0, nothing
 * had to move, and the balance does not matter. */
device_status records_conclude(const records_facts *facts, const device_certificate *certificate,
                               const uint32_t *unchanged, uint32_t *status, void *stream);

/* Writes a recsort_status: whether the pairs of a sort of few ascend and are those of the records,
 * which are where they were. *tally is 0 before. */
device_status records_settle(const records_program *program, const void *records,
                             const records_order *order, uint64_t *tally, uint32_t *status,
                             void *stream);

/* Gathers records: record indices[i] becomes number i at `to`. A record has at most 2^23 bytes.
 * Does what records_ordered does on the way, if there is a certificate. */
device_status records_gather(const void *records, uint64_t record_size, const records_order *order,
                             void *to, void *stream);

#ifdef __cplusplus
}
#endif

#endif
