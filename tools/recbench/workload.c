/* workload.c - every record is a function of its position and its rank in the sorted order. The
 * bytes outside the key encode the position, so an unstable sort gives different bytes. */
#include "workload.h"

#include "support/message.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

/* The random number of a position. */
static uint64_t mix(uint64_t place)
{
  return random_next(&place);
}

static void fill_entity(void *record, uint64_t rank, uint64_t place)
{
  const uint32_t near = 0xffffff - (uint32_t)(rank >> 40);
  const entity filled = {.x = (float)(place & 0xffffff),
                         .y = (float)(place >> 24),
                         .angle = (float)(place % 360),
                         .sprite = (int16_t)(place & 0x7fff),
                         .distance = (float)near * (1000.0f / 0x1p24f)};
  memcpy(record, &filled, sizeof filled);
}

static void fill_key64(void *record, uint64_t rank, uint64_t place)
{
  const key64 filled = {rank, place};
  memcpy(record, &filled, sizeof filled);
}

static void fill_key128(void *record, uint64_t rank, uint64_t place)
{
  const key128 filled = {rank, mix(rank), {place, ~place}};
  memcpy(record, &filled, sizeof filled);
}

static void fill_gensort(void *record, uint64_t rank, uint64_t place)
{
  gensort filled;
  for (unsigned i = 0; i < 8; i++)
    filled.key[i] = (unsigned char)(rank >> (56 - 8 * i));
  memset(filled.key + 8, (int)(mix(rank) & 0xff), 2);
  memset(filled.value, (int)(place & 0xff), sizeof filled.value);
  memcpy(filled.value, &place, sizeof place);
  memcpy(record, &filled, sizeof filled);
}

/* A rank of 48 bits, as many of the place. */
static void fill_word(void *record, uint64_t rank, uint64_t place)
{
  const packed_word filled = {(rank & ~(uint64_t)0xffff) | (place & 0xffff)};
  memcpy(record, &filled, sizeof filled);
}

typedef struct record_definition {
  const char *name;
  size_t size;
  const char *schema;
  void (*fill)(void *record, uint64_t rank, uint64_t place);
} record_definition;

static const record_definition definitions[RECORD_COUNT] = {
    [RECORD_ENTITY] = {"entity", sizeof(entity),
                       "record: Entity\n"
                       "size: 20\n"
                       "fields:\n"
                       "  - {name: x, type: float32}\n"
                       "  - {name: y, type: float32}\n"
                       "  - {name: angle, type: float32}\n"
                       "  - {name: spriteIndex, type: int16}\n"
                       "  - {name: distanceFromPlayer, type: float32}\n"
                       "keys:\n"
                       "  - {field: distanceFromPlayer, order: desc}\n",
                       fill_entity},
    [RECORD_KEY64] = {"key64", sizeof(key64),
                      "record: Key64\n"
                      "size: 16\n"
                      "fields:\n"
                      "  - {name: key, type: uint64}\n"
                      "  - {name: value, type: uint64}\n"
                      "keys:\n"
                      "  - {field: key}\n",
                      fill_key64},
    [RECORD_KEY128] = {"key128", sizeof(key128),
                       "record: Key128\n"
                       "size: 32\n"
                       "fields:\n"
                       "  - {name: high, type: uint64}\n"
                       "  - {name: low, type: uint64}\n"
                       "  - {name: value, type: uint64, count: 2}\n"
                       "keys:\n"
                       "  - {field: high}\n"
                       "  - {field: low}\n",
                       fill_key128},
    [RECORD_GENSORT] = {"gensort", sizeof(gensort),
                        "record: Gensort\n"
                        "size: 100\n"
                        "fields:\n"
                        "  - {name: key, type: bytes, count: 10}\n"
                        "  - {name: value, type: bytes, count: 90}\n"
                        "keys:\n"
                        "  - {field: key}\n",
                        fill_gensort},
    [RECORD_WORD] = {"word", sizeof(packed_word),
                     "record: Word\n"
                     "size: 8\n"
                     "fields:\n"
                     "  - {name: key, type: uint64}\n"
                     "keys:\n"
                     "  - {field: key}\n",
                     fill_word},
};

static const char *const distributions[DISTRIBUTION_COUNT] = {"random", "sorted", "reverse",
                                                              "nearly", "few",    "equal"};

const char *record_name(record_id record)
{
  return definitions[record].name;
}

size_t record_size(record_id record)
{
  return definitions[record].size;
}

const char *record_schema(record_id record)
{
  return definitions[record].schema;
}

const char *distribution_name(bench_distribution distribution)
{
  return distributions[distribution];
}

static uint64_t rank_at(bench_distribution distribution, size_t place, size_t count)
{
  const uint64_t step = UINT64_MAX / count;
  const uint64_t random = mix(place);
  switch (distribution) {
  case DISTRIBUTION_SORTED:
    return place * step;
  case DISTRIBUTION_REVERSE:
    return (count - 1 - place) * step;
  case DISTRIBUTION_NEARLY:
    return random % 100 == 0 ? mix(random) : place * step;
  case DISTRIBUTION_FEW:
    return random & 0xf000000000000000u;
  case DISTRIBUTION_EQUAL:
    return UINT64_MAX / 2;
  case DISTRIBUTION_RANDOM:
  case DISTRIBUTION_COUNT:
    break;
  }
  return random;
}

static void *take(size_t size)
{
  void *memory = malloc(size);
  if (memory == NULL) tool_error("out of memory: %zu bytes", size);
  return memory;
}

bool workload_make(bench_workload *input, record_id record, bench_distribution distribution,
                   size_t count)
{
  const size_t each = definitions[record].size;
  *input = (bench_workload){.record = record, .distribution = distribution, .count = count};
  if (__builtin_mul_overflow(count, each, &input->size)) {
    tool_error("%zu records are too many", count);
    return false;
  }
  input->records = take(input->size);
  if (input->records == NULL) return false;
  for (size_t i = 0; i < count; i++) {
    definitions[record].fill(input->records + i * each, rank_at(distribution, i, count), i);
  }
  return true;
}

void workload_free(bench_workload *input)
{
  free(input->records);
  free(input->sorted);
  input->records = NULL;
  input->sorted = NULL;
}

bool workload_verify(bench_workload *input, const void *result, const char *method)
{
  if (input->sorted == NULL) {
    input->sorted = take(input->size);
    if (input->sorted == NULL) return false;
    memcpy(input->sorted, result, input->size);
    return true;
  }
  if (memcmp(input->sorted, result, input->size) == 0) return true;
  tool_error("wrong result: %s differs from what came first on %s %s records", method,
             distributions[input->distribution], definitions[input->record].name);
  return false;
}
