/* ranks.c - see ranks.h. */
#include "recgen/ranks.h"

#include "support/random.h"

#include <stddef.h>
#include <string.h>

enum { FEW = 16, TEETH = 16 };

bool distribution_find(const char *name, distribution *found)
{
  static const char *const names[] = {"uniform", "sorted", "reverse", "nearly",    "few",
                                      "equal",   "zipf",   "saw",     "organ-pipe"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    *found = (distribution)i;
    return true;
  }
  return false;
}

static uint64_t tooth_length(uint64_t count)
{
  return count / TEETH + (count % TEETH != 0);
}

static uint64_t range_of(distribution shape, uint64_t count, unsigned bits)
{
  switch (shape) {
  case DISTRIBUTION_FEW:
    return FEW;
  case DISTRIBUTION_EQUAL:
    return 2; /* so that the only value is in the middle */
  case DISTRIBUTION_ZIPF:
    return UINT64_C(1) << bits;
  case DISTRIBUTION_SAW:
    return tooth_length(count) * TEETH;
  case DISTRIBUTION_UNIFORM:
  case DISTRIBUTION_SORTED:
  case DISTRIBUTION_REVERSE:
  case DISTRIBUTION_NEARLY:
  case DISTRIBUTION_ORGAN_PIPE:
    break;
  }
  return count;
}

ranks ranks_of(distribution shape, uint64_t count, uint64_t seed)
{
  unsigned bits = 1;
  while (bits < 63 && count >> bits)
    bits++;
  const uint64_t range = range_of(shape, count, bits);
  return (ranks){shape, count, range ? range : 1, random_stream(seed, UINT64_MAX), bits};
}

/* ---- nearly ------------------------------------------------------------------------------- */

enum { ROUNDS = 3 };

/* An odd number and its inverse modulo 2^64. */
#define FACTOR 0xd1342543de82ef95u
#define INVERSE 0x572b5ee77a54e3bdu

/* A bijection on numbers of `bits` bits: each step of a round is invertible. */
static uint64_t shuffle_bits(const ranks *r, uint64_t x)
{
  const uint64_t mask = (UINT64_C(1) << r->bits) - 1;
  for (unsigned round = 0; round < ROUNDS; round++) {
    x = (x * FACTOR + (r->seed >> round)) & mask;
    x ^= x >> (r->bits + 1) / 2;
  }
  return x;
}

static uint64_t unshuffle_bits(const ranks *r, uint64_t x)
{
  const uint64_t mask = (UINT64_C(1) << r->bits) - 1;
  for (unsigned round = ROUNDS; round-- > 0;) {
    x ^= x >> (r->bits + 1) / 2;
    x = ((x - (r->seed >> round)) * INVERSE) & mask;
  }
  return x;
}

/* Shuffles the records; in the first 1% of the shuffled order, every two neighbours change places.
 * Repeats the shuffle until the result is below `count`. */
static uint64_t rank_nearly(const ranks *r, uint64_t record)
{
  const uint64_t displaced = r->count / 100 / 2 * 2;
  uint64_t place = record;
  do {
    place = shuffle_bits(r, place);
  } while (place >= r->count);
  if (place >= displaced) return record;
  place ^= 1;
  do {
    place = unshuffle_bits(r, place);
  } while (place >= r->count);
  return place;
}

/* ---- the others --------------------------------------------------------------------------- */

/* Draws an octave [2^e, 2^(e+1)), all of which are equally likely, and a number k in it, which it
 * accepts with probability 2^e / k. So every k has a probability proportional to 1/k. */
static uint64_t rank_zipf(const ranks *r, uint64_t record)
{
  uint64_t stream = random_stream(r->seed, record);
  for (;;) {
    uint64_t draw = random_next(&stream);
    const uint64_t octave = UINT64_C(1) << random_below(&draw, r->bits);
    draw = random_next(&stream);
    const uint64_t k = octave + random_below(&draw, octave);
    draw = random_next(&stream);
    if (random_below(&draw, k) < octave) return (k * FACTOR) & (r->range - 1);
  }
}

static uint64_t rank_few(const ranks *r, uint64_t record)
{
  uint64_t draw = random_stream(r->seed, record);
  return random_below(&draw, r->range);
}

static uint64_t rank_saw(const ranks *r, uint64_t record)
{
  const uint64_t length = tooth_length(r->count);
  return record % length * TEETH + record / length;
}

static uint64_t rank_organ_pipe(const ranks *r, uint64_t record)
{
  const uint64_t rest = r->count - 1 - record;
  return record <= rest ? 2 * record : 2 * rest + 1;
}

uint64_t rank_of(const ranks *r, uint64_t record)
{
  switch (r->shape) {
  case DISTRIBUTION_SORTED:
    return record;
  case DISTRIBUTION_REVERSE:
    return r->count - 1 - record;
  case DISTRIBUTION_NEARLY:
    return rank_nearly(r, record);
  case DISTRIBUTION_EQUAL:
    return 1;
  case DISTRIBUTION_ZIPF:
    return rank_zipf(r, record);
  case DISTRIBUTION_SAW:
    return rank_saw(r, record);
  case DISTRIBUTION_ORGAN_PIPE:
    return rank_organ_pipe(r, record);
  case DISTRIBUTION_UNIFORM:
  case DISTRIBUTION_FEW:
    break;
  }
  return rank_few(r, record);
}
