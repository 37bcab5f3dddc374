/* random.h - random numbers by position, the same on every machine.
 *
 * SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014):
 * number n of a stream is a mix of seed + n * gamma, so every record has its own stream and can be
 * made without those before it.
 */
#ifndef TOOL_RANDOM_H
#define TOOL_RANDOM_H

#include <stdint.h>

__extension__ typedef unsigned __int128 uint128;

static inline uint64_t random_mix(uint64_t x)
{
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* Stream `number` of `seed`: the initial state of random_next. */
static inline uint64_t random_stream(uint64_t seed, uint64_t number)
{
  return random_mix(random_mix(seed) + number * 0xd1342543de82ef95u);
}

static inline uint64_t random_next(uint64_t *stream)
{
  return random_mix(*stream += 0x9e3779b97f4a7c15u);
}

/* Takes a number below `base` (0: 2^64) from the high end of `draw`, and leaves the rest in it. */
static inline uint64_t random_below(uint64_t *draw, uint64_t base)
{
  if (!base) return *draw;
  const uint128 product = (uint128)*draw * base;
  *draw = (uint64_t)product;
  return (uint64_t)(product >> 64);
}

#endif
