#include "gpu/wide_keys.h"

#include <stdbool.h>
#include <string.h>

enum { PART_WORDS = 2, PART_BYTES = 16, ALIGNMENT = 64 };

/* A permutation with elements of 32 or 64 bits. */
typedef struct order_view {
  void *at;
  uint32_t bits;
} order_view;

static uint64_t get(order_view order, uint64_t i)
{
  return order.bits == 32 ? ((const uint32_t *)order.at)[i] : ((const uint64_t *)order.at)[i];
}

static void set(order_view order, uint64_t i, uint64_t value)
{
  if (order.bits == 32)
    ((uint32_t *)order.at)[i] = (uint32_t)value;
  else
    ((uint64_t *)order.at)[i] = value;
}

static uint64_t align(uint64_t bytes)
{
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The job that sorts by words [word, word + PART_WORDS) of each key. */
static recsort_plugin_job part_at(const recsort_plugin_job *job, uint32_t word)
{
  const uint32_t bits = job->key_bits - 64 * word;
  recsort_plugin_job part = *job;
  part.key_bits = bits < 64 * PART_WORDS ? bits : 64 * PART_WORDS;
  part.key_width = 64 * PART_WORDS;
  return part;
}

/* All parts but the last need the same memory. */
recsort_plugin_work wide_keys_work(const wide_keys_parts *parts, const void *instance,
                                   const recsort_plugin_job *job)
{
  const uint32_t last_word = (job->key_bits - 1) / (64 * PART_WORDS) * PART_WORDS;
  const recsort_plugin_job first = part_at(job, 0), last = part_at(job, last_word);
  const uint64_t a = parts->work(instance, &first).bytes, b = parts->work(instance, &last).bytes;
  const uint64_t offset = align(job->count * (job->index_bits / 8)) + align(a > b ? a : b);
  return (recsort_plugin_work){.keys_offset = offset,
                               .bytes = offset + align(job->count * (job->key_width / 8))};
}

/* Gathers words [word, word + PART_WORDS) of each key in the order so far; words beyond the last
 * are 0. */
static void gather_part(const recsort_plugin_job *job, const uint64_t *keys, order_view order,
                        uint32_t word, uint64_t *part)
{
  const uint32_t words = job->key_width / 64;
  for (uint64_t i = 0; i < job->count; i++) {
    const uint64_t *const key = keys + (word ? get(order, i) : i) * words;
    for (uint32_t w = 0; w < PART_WORDS; w++)
      part[PART_WORDS * i + w] = word + w < words ? key[word + w] : 0;
  }
}

/* Composes the permutations: `order`, then `next`; the result is in `order`. */
static void compose(uint64_t count, order_view order, order_view next, order_view composed)
{
  for (uint64_t i = 0; i < count; i++)
    set(composed, i, get(order, get(next, i)));
  memcpy(order.at, composed.at, count * (order.bits / 8));
}

/* The keys of a part take at least as many bytes as two indices, so there is space for two
 * orders. */
recsort_plugin_status wide_keys_sort(const wide_keys_parts *parts, void *instance,
                                     const recsort_plugin_job *job, void *memory,
                                     recsort_plugin_error *error)
{
  const uint64_t order_bytes = job->count * (job->index_bits / 8);
  char *const room = (char *)memory + align(order_bytes);
  const uint64_t offset = wide_keys_work(parts, instance, job).keys_offset;
  const uint64_t *const keys = (const uint64_t *)(void *)((char *)memory + offset);
  const order_view order = {memory, job->index_bits}, next = {room, job->index_bits},
                   composed = {room + order_bytes, job->index_bits};
  for (uint32_t word = 0; 64 * word < job->key_bits; word += PART_WORDS) {
    const recsort_plugin_job part = part_at(job, word);
    const uint64_t part_offset = parts->work(instance, &part).keys_offset;
    gather_part(job, keys, order, word, (uint64_t *)(void *)(room + part_offset));
    const recsort_plugin_status status = parts->sort(instance, &part, room, error);
    if (status) return status;
    if (word)
      compose(job->count, order, next, composed);
    else
      memcpy(order.at, next.at, order_bytes);
  }
  return RECSORT_PLUGIN_OK;
}
