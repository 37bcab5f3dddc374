/* random.h - the same pseudo-random numbers on every machine. */
#ifndef RS_TEST_RANDOM_H
#define RS_TEST_RANDOM_H

#include <stdint.h>
#include <string.h>

/* splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). */
static inline uint64_t mix(uint64_t x)
{
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static inline uint64_t next_random(uint64_t *state)
{
  return mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

static inline uint64_t random_below(uint64_t *state, uint64_t end)
{
  return next_random(state) % end;
}

/* Eight bytes at a time: tests fill hundreds of megabytes. */
static inline void fill_random(void *to, size_t size, uint64_t *state)
{
  unsigned char *const bytes = (unsigned char *)to;
  for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
    const uint64_t random = next_random(state);
    memcpy(bytes + i, &random, size - i < sizeof random ? size - i : sizeof random);
  }
}

#endif
