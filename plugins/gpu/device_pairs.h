/* device_pairs.h - kernels for pairs of keys and values: they turn keys to codes, which a sort
 * orders, and write what was sorted. */
#ifndef RECSORT_GPU_DEVICE_PAIRS_H
#define RECSORT_GPU_DEVICE_PAIRS_H

#include "gpu/device_sort.h"
#include "recsort/plugin_keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Keys, which are sorted by their codes, and values. A code is an unsigned integer of as many bits:
 * that of a recsort_key_step with the same kind and flags. Arrays are aligned to their elements,
 * and equal (keys_in and keys_out, values_in and values_out) or do not overlap. */
typedef struct device_pairs {
  void *stream;
  uint64_t count;
  uint32_t kind;      /* RECSORT_KEY_UNSIGNED, SIGNED or FLOAT */
  uint32_t flags;     /* RECSORT_KEY_DESCENDING, NAN_FIRST, NAN_TOTAL */
  uint32_t key_width; /* 32 or 64; 128 for integers */
  uint32_t
      first_bit; /* only bits [first_bit, first_bit + bits) of a code are compared, at least 1 */
  uint32_t bits;
  uint32_t value_width; /* 0: no values; 32 or 64; 128 for device_pairs_carry */
  uint32_t
      number_bit; /* for device_pairs_carry: a key is a word, in which the number begins here */
  uint32_t number_width; /* 0: it is all of the key; of a float 32 */
  const void *keys_in;
  void *keys_out;               /* NULL: not wanted */
  const void *values_in;        /* NULL: a value is the position of its key, from 0 */
  void *values_out;             /* NULL: none */
  device_segments segments;     /* for device_pairs_carry: of keys and values; none: {0} */
  const uint64_t *device_count; /* of the device, for device_pairs_sort_few and device_pairs_carry
                                 * without segments: only so many of the first pairs are sorted, and
                                 * others stay. NULL: all */
} device_pairs;

/* Writes the bits of each key's code that are compared to `codes`, of `code_width`: 32, 64 or 128,
 * at least job->bits. Sets *differ, of the device, to whether keys differ in the others; NULL: not
 * wanted. */
device_status device_pairs_encode(const device_pairs *job, void *codes, uint32_t code_width,
                                  uint32_t *differ);

/* True if the keys are their own codes where they are, and aligned as device_buffers.input: nothing
 * is encoded. */
bool device_pairs_are_codes(const device_pairs *job);

/* True if device_pairs_finish may read job->keys_in: if a sorted code does not tell its key. */
bool device_pairs_reads_keys(const device_pairs *job);

/* Codes in their order, and where the key of each was. */
typedef struct device_pairs_sorted {
  const void *codes;
  const void *order;
  uint32_t code_width;
  uint32_t index_bits;
  const uint32_t *differ;         /* of device_pairs_encode, or NULL */
  device_certificate certificate; /* of codes and indices, as records_order has it */
} device_pairs_sorted;

/* Writes keys_out and values_out. What it reads of keys_in and values_in is not what it writes. */
device_status device_pairs_finish(const device_pairs *job, const device_pairs_sorted *sorted);

/* ---- Keys and values that are sorted together ---- */

/* The memory in which device_pairs_carry sorts so many pairs, of a device whose blocks have
 * `shared_bytes` of shared memory; 0: it does not. */
uint64_t device_pairs_carry_bytes(const device_pairs *job, uint64_t shared_bytes);

/* True if that is faster than a sort of codes. */
bool device_pairs_carry_is_fast(const device_pairs *job);

/* Sorts keys_in and values_in to keys_out and values_out, on the device of `on`, in `memory`.
 * Certifies its result if on->certificate is given. */
device_status device_pairs_carry(const device_pairs *job, const device_job *on, void *memory);

/* Does the whole of few pairs, which `sort` may do by device_skills.few: in `memory`, that of its
 * device_buffers. Nothing is encoded before; keys_out and values_out are written. The codes of all
 * bits have as many as the sort's keys. If `status` is not NULL, sort->tally, keys_out and
 * `hashes`, memory for a number for each pair, are given, and *status becomes a recsort_status:
 * whether the result is right. */
device_status device_pairs_sort_few(const device_pairs *job, const device_job *sort, void *memory,
                                    uint64_t *hashes, uint32_t *status);

#ifdef __cplusplus
}
#endif

#endif
