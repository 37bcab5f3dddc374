/* computed_key.h - keys that are computed from several fields of a record, on the host or a device:
 * the squared distance from a point, the dot product with a vector, and the place of a cell on a
 * Morton or a Hilbert curve.
 *
 * A key program has such a key as a step of the kind DISTANCE, DOT, MORTON or HILBERT, and behind
 * it one OPERAND for each coordinate. All arithmetic is that of IEEE 754 doubles, each operation
 * rounded to nearest by itself, so that every machine computes the same keys. Compile with
 * -ffp-contract=off: a product and a sum must not become one fused operation.
 */
#ifndef RECSORT_COMPUTED_KEY_H
#define RECSORT_COMPUTED_KEY_H

#include <stdbool.h>
#include <string.h>

#include "recsort/plugin_keys.h"

#ifdef __CUDACC__
#define RECSORT_HD __host__ __device__
#define RECSORT_APART inline /* a call would take more registers */
#else
#define RECSORT_HD
#define RECSORT_APART __attribute__((noinline, unused))
#endif

/* The low `bits` bits set. */
RECSORT_HD static inline uint64_t key_mask(unsigned bits)
{
  return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

RECSORT_HD static inline double key_double(uint64_t bits)
{
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

RECSORT_HD static inline uint64_t key_double_bits(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

RECSORT_HD static inline uint64_t key_float_bits(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* A product that no compiler for devices fuses with a sum. */
RECSORT_HD static inline double key_product(double a, double b)
{
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

/* The value of a float of `bytes` bytes with `fraction` bits of fraction, which a double has
 * exactly. */
RECSORT_HD static inline double key_real(uint64_t raw, unsigned bytes, unsigned fraction)
{
  const unsigned exponent_bits = 8 * bytes - 1 - fraction;
  const uint64_t top = (UINT64_C(1) << exponent_bits) - 1, sign = raw >> (8 * bytes - 1);
  const uint64_t exponent = raw >> fraction & top;
  const uint64_t digits = raw & ((UINT64_C(1) << fraction) - 1);
  const uint64_t offset = 1023 - (top >> 1);
  if (bytes == 8) return key_double(raw);
  if (exponent == top)
    return key_double(sign << 63 | UINT64_C(0x7ff) << 52 | digits << (52 - fraction));
  if (exponent == 0) { /* subnormal: so many of the least unit, which is a power of two */
    const double least = key_double((offset + 1 - fraction) << 52);
    return key_product(sign ? -(double)digits : (double)digits, least);
  }
  return key_double(sign << 63 | (exponent + offset) << 52 | digits << (52 - fraction));
}

/* The value of an operand whose bytes are the integer `raw`. Integers of more than 53 bits are
 * rounded to nearest. */
RECSORT_HD static inline double key_number(const recsort_key_step *operand, uint64_t raw)
{
  const unsigned unused = 64 - 8u * operand->bytes;
  switch (operand->bit) {
  case RECSORT_KEY_FLOAT:
    return key_real(raw, operand->bytes, operand->shift);
  case RECSORT_KEY_SIGNED:
    return (double)((int64_t)(raw << unused) >> unused);
  default:
    return (double)raw;
  }
}

/* ---- Distances and dot products ---- */

/* The coordinate of the point or vector that belongs to an operand. */
RECSORT_HD static inline double key_point(const recsort_key_step *operand)
{
  if (operand->flags & RECSORT_KEY_POINT_AT) return *(const double *)(uintptr_t)operand->bias;
  return key_double(operand->bias);
}

/* What a coordinate adds to the sum: the square of its difference from the point's coordinate, or
 * its product with the vector's. */
RECSORT_HD static inline double key_term(const recsort_key_step *step, double number, double point)
{
  const double difference = number - point;
  return step->kind == RECSORT_KEY_DOT ? key_product(number, point)
                                       : key_product(difference, difference);
}

/* The bits of a sum, a float of `width` bits. */
RECSORT_HD static inline uint64_t key_sum_bits(const recsort_key_step *step, double sum)
{
  return step->width == 32 ? key_float_bits((float)sum) : key_double_bits(sum);
}

/* The bits of the squared distance or the dot product: the sum, in the order of the coordinates.
 * `numbers` are the operands' values. */
RECSORT_HD static inline uint64_t key_sum(const recsort_key_step *step, const double *numbers)
{
  double sum = 0;
  for (unsigned i = 0; i < step->bit; i++)
    sum = sum + key_term(step, numbers[i], key_point(&step[1 + i]));
  return key_sum_bits(step, sum);
}

RECSORT_HD static inline bool key_is_sum(const recsort_key_step *step)
{
  return step->kind == RECSORT_KEY_DISTANCE || step->kind == RECSORT_KEY_DOT;
}

/* ---- Curves ---- */

/* The number of the cell of a coordinate among 2^bits: cells of the same size, from the operand's
 * origin up. What lies outside is in the first or the last cell. */
RECSORT_HD static inline uint64_t key_cell(const recsort_key_step *operand, double number,
                                           unsigned bits)
{
  const double place = key_product(number - key_double(operand->bias), key_double(operand->limit));
  const uint64_t last = (UINT64_C(1) << bits) - 1;
  if (!(place >= 1)) return 0;
  return place < (double)last ? (uint64_t)(int64_t)place : last;
}

/* Moves bit i of a number of up to 32 bits to bit 2 i, or of up to 21 bits to bit 3 i. */
RECSORT_HD static inline uint64_t key_spread_by_2(uint64_t bits)
{
  bits = (bits | bits << 16) & UINT64_C(0x0000ffff0000ffff);
  bits = (bits | bits << 8) & UINT64_C(0x00ff00ff00ff00ff);
  bits = (bits | bits << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  bits = (bits | bits << 2) & UINT64_C(0x3333333333333333);
  return (bits | bits << 1) & UINT64_C(0x5555555555555555);
}

RECSORT_HD static inline uint64_t key_spread_by_3(uint64_t bits)
{
  bits = (bits | bits << 32) & UINT64_C(0x001f00000000ffff);
  bits = (bits | bits << 16) & UINT64_C(0x001f0000ff0000ff);
  bits = (bits | bits << 8) & UINT64_C(0x100f00f00f00f00f);
  bits = (bits | bits << 4) & UINT64_C(0x10c30c30c30c30c3);
  return (bits | bits << 2) & UINT64_C(0x1249249249249249);
}

/* Interleaves the bits of `count` numbers, `lanes` apart; the first one's bit is the most
 * significant of each group. */
RECSORT_HD static inline uint64_t key_interleave(const uint64_t *cells, unsigned count,
                                                 unsigned bits, unsigned lanes)
{
  uint64_t code = 0;
  if (count == 2) return key_spread_by_2(cells[0]) << 1 | key_spread_by_2(cells[lanes]);
  if (count == 3)
    return key_spread_by_3(cells[0]) << 2 | key_spread_by_3(cells[lanes]) << 1 |
           key_spread_by_3(cells[2 * lanes]);
  for (unsigned bit = bits; bit-- > 0;)
    for (unsigned i = 0; i < count; i++)
      code = code << 1 | (cells[i * lanes] >> bit & 1);
  return code;
}

/* Turns the numbers of cells' coordinates into those whose interleaved bits are the cells' places
 * on the Hilbert curve (Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707,
 * 2004, AxestoTranspose), without branches. `lanes` cells at once: coordinate c of cell j is
 * cells[c * lanes + j]. */
RECSORT_HD static inline void key_hilbert(uint64_t *cells, unsigned count, unsigned bits,
                                          unsigned lanes)
{
  uint64_t *const last = cells + (count - 1) * lanes;
  for (unsigned place = bits - 1; place > 0; place--) {
    const uint64_t below = (UINT64_C(1) << place) - 1;
    for (unsigned c = 0; c < count; c++) {
      uint64_t *const each = cells + c * lanes;
      for (unsigned j = 0; j < lanes; j++) {
        const uint64_t inverted = (0 - (each[j] >> place & 1)) & below;
        const uint64_t exchanged = (cells[j] ^ each[j]) & below & ~inverted;
        cells[j] ^= inverted | exchanged;
        each[j] ^= exchanged; /* nothing if c is 0 */
      }
    }
  }
  for (unsigned i = lanes; i < count * lanes; i++)
    cells[i] ^= cells[i - lanes];
  for (unsigned j = 0; j < lanes; j++) {
    uint64_t flips = 0;
    for (unsigned place = bits - 1; place > 0; place--)
      flips ^= (0 - (last[j] >> place & 1)) & ((UINT64_C(1) << place) - 1);
    for (unsigned c = 0; c < count; c++)
      cells[c * lanes + j] ^= flips;
  }
}

/* The code of the cell that begins with `cells[0]`, the coordinates `lanes` apart. */
RECSORT_HD static inline uint64_t key_curve_code(const recsort_key_step *step,
                                                 const uint64_t *cells, unsigned lanes)
{
  const unsigned count = step->bit, bits = step->width / count;
  const uint64_t code = key_interleave(cells, count, bits, lanes);
  return step->flags & RECSORT_KEY_DESCENDING ? key_mask(step->width) ^ code : code;
}

/* The code of a cell that has a NaN for a coordinate: the last, or the first with NAN_FIRST. */
RECSORT_HD static inline uint64_t key_nan_code(const recsort_key_step *step)
{
  return step->flags & RECSORT_KEY_NAN_FIRST ? 0 : key_mask(step->width);
}

/* The place on a curve of the cell that the numbers lie in. */
RECSORT_HD static inline uint64_t key_place_on_curve(const recsort_key_step *step,
                                                     const double *numbers)
{
  const unsigned count = step->bit, bits = step->width / count;
  uint64_t cells[RECSORT_KEY_MOST_OPERANDS];
  for (unsigned i = 0; i < count; i++) {
    if (numbers[i] != numbers[i]) return key_nan_code(step);
    cells[i] = key_cell(&step[1 + i], numbers[i], bits);
  }
  if (step->kind == RECSORT_KEY_HILBERT) key_hilbert(cells, count, bits, 1);
  return key_curve_code(step, cells, 1);
}

#endif
