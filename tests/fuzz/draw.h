/* draw.h - choices by the bytes of a fuzzer's input. */
#ifndef RS_FUZZ_DRAW_H
#define RS_FUZZ_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes that are left, and the state of a generator. */
typedef struct drawing {
  const uint8_t *at, *end;
  uint64_t random;
} drawing;

static inline uint64_t generate(drawing *d)
{
  d->random ^= d->random << 13;
  d->random ^= d->random >> 7;
  d->random ^= d->random << 17;
  return d->random;
}

/* A number below `below`: by bytes of the input, or once these are used up, by what a hash of them
 * generates. So each input, even a short one, says everything. */
static inline size_t draw(drawing *d, size_t below)
{
  size_t value = 0;
  for (size_t most = below - 1; most; most >>= 8)
    value = value << 8 | (d->at < d->end ? *d->at++ : generate(d) >> 32 & 0xff);
  return value % below;
}

static inline bool one_in(drawing *d, size_t n)
{
  return draw(d, n) == 0;
}

/* FNV-1a. */
static inline drawing begin_drawing(const uint8_t *data, size_t size)
{
  drawing d = {data, data + size, UINT64_C(0xcbf29ce484222325)};
  for (size_t i = 0; i < size; i++)
    d.random = (d.random ^ data[i]) * UINT64_C(0x100000001b3);
  d.random |= 1; /* 0 would generate nothing else */
  return d;
}

/* Bytes that make special values of numbers likely, such as NaNs, and ties. */
static inline void generate_bytes(drawing *d, uint8_t *to, size_t size)
{
  static const uint8_t special[] = {0, 0, 0, 1, 0x7f, 0x80, 0xfe, 0xff};
  for (size_t i = 0; i < size; i++) {
    const uint64_t random = generate(d);
    to[i] = random & 1 << 20 ? special[random >> 24 & 7] : (uint8_t)(random >> 32);
  }
}

#endif
