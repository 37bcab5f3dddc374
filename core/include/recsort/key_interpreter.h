/* key_interpreter.h - runs a key program on one record, on the host or a device.
 *
 *   key_load      loads the bytes of a step as an integer
 *   key_code      turns the integer into an order-preserving code of step->width bits
 *   key_place     puts the code into the words of the key
 *   key_field     loads the bytes of one field and makes their code
 *   key_nullable  makes the code of an integer with null values
 *   key_after     replaces a string's code by NULs if the string ended in the step before
 *   key_step      makes the code of any step, also one with operands
 *   key_step_in   does the same for a record whose fields are in several arrays
 *
 * key_take, key_value and key_store are the inverses, but not for computed keys. Values with the
 * same code decode to one of them: -0 to +0, every NaN to the canonical NaN, every null value to
 * the least one, every true to 1. No function here checks its arguments.
 */
#ifndef RECSORT_KEY_INTERPRETER_H
#define RECSORT_KEY_INTERPRETER_H

#include <stdbool.h>
#include <string.h>

#include "recsort/computed_key.h"
#include "recsort/plugin_keys.h"

RECSORT_HD static inline bool key_host_is_big_endian(void)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return true;
#else
  return false;
#endif
}

/* Loads an unaligned integer. On the host the sizes that integers have take one load, which gcc
 * does not make of the loops; on a GPU they do if they are aligned. */
RECSORT_HD static inline uint64_t key_load(const unsigned char *at, unsigned bytes, bool big)
{
  uint64_t value = 0;
#ifdef __CUDA_ARCH__
  if (bytes == 4 && !big && (uintptr_t)at % 4 == 0) return *(const uint32_t *)at;
  if (bytes == 8 && !big && (uintptr_t)at % 8 == 0) return *(const uint64_t *)at;
#else
  const bool turned = big != key_host_is_big_endian();
  if (bytes == 4) {
    uint32_t whole;
    memcpy(&whole, at, sizeof whole);
    return turned ? __builtin_bswap32(whole) : whole;
  }
  if (bytes == 8) {
    memcpy(&value, at, sizeof value);
    return turned ? __builtin_bswap64(value) : value;
  }
#endif
  if (big)
    for (unsigned i = 0; i < bytes; i++)
      value = value << 8 | at[i];
  else
    for (unsigned i = bytes; i-- > 0;)
      value = value << 8 | at[i];
  return value;
}

/* Stores the low `bytes` bytes of an integer, unaligned. */
RECSORT_HD static inline void key_store(unsigned char *at, unsigned bytes, bool big, uint64_t value)
{
  for (unsigned i = 0; i < bytes; i++)
    at[big ? bytes - 1 - i : i] = (unsigned char)(value >> 8 * i);
}

/* Maps a float's bits to an unsigned integer in the order of IEEE 754 totalOrder: inverts negative
 * numbers and moves positive ones above them. */
RECSORT_HD static inline uint64_t key_float_order(uint64_t raw, uint64_t sign)
{
  return raw & sign ? ~raw & (sign | (sign - 1)) : raw | sign;
}

/* The code of a float of `width` bits, whose greatest magnitude that is not a NaN is `limit`. */
RECSORT_HD static inline uint64_t key_float_code(uint64_t raw, unsigned width, unsigned flags,
                                                 uint64_t limit)
{
  const uint64_t sign = UINT64_C(1) << (width - 1);
  const uint64_t all = key_mask(width);
  const bool descending = flags & RECSORT_KEY_DESCENDING;
  if (!(flags & RECSORT_KEY_NAN_TOTAL)) {
    if ((raw & ~sign) > limit) return flags & RECSORT_KEY_NAN_FIRST ? 0 : all;
    if ((raw & ~sign) == 0) raw = 0;
  }
  const uint64_t code = key_float_order(raw, sign);
  return descending ? all ^ code : code;
}

/* The float of a step, as sign and magnitude. A NaN that is -0 becomes the greatest magnitude,
 * which is above the limit. */
RECSORT_HD static inline uint64_t key_float_raw(const recsort_key_step *step, uint64_t raw)
{
  const uint64_t all = key_mask(step->width);
  raw = raw << step->bit & all;
  return step->flags & RECSORT_KEY_MINUS_0_NAN && raw == (all >> 1) + 1 ? all : raw;
}

/* The bytes of a string up to its first NUL, and NULs: the first byte is the most significant of
 * `bytes`. */
RECSORT_HD static inline uint64_t key_text(uint64_t word, unsigned bytes)
{
  const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f), unused = 64 - 8 * bytes;
  const uint64_t text = word << unused;
  uint64_t ended = ~(((text & low) + low) | text | low); /* the top bit of each byte that is NUL */
  ended |= ended >> 8;
  ended |= ended >> 16;
  ended |= ended >> 32;
  return (text & ~((ended >> 7) * 255)) >> unused;
}

/* The code of an integer with null values, whose bytes are at `at`. */
RECSORT_HD static inline uint64_t key_nullable(const recsort_key_step *step,
                                               const unsigned char *at)
{
  const uint64_t raw = key_load(at, step->bytes, step->flags & RECSORT_KEY_BIG_ENDIAN);
  const uint64_t all = key_mask(step->width), number = (raw ^ step->bias) & all;
  const bool first = step->flags & RECSORT_KEY_NAN_FIRST;
  const bool descending = step->flags & RECSORT_KEY_DESCENDING;
  uint64_t rank = number; /* among the numbers that are not null */
  for (unsigned i = 1; i <= step->bit; i++) {
    if (number == step[i].bias) return first ? 0 : all;
    rank -= number > step[i].bias;
  }
  return (descending ? all ^ rank : rank) + first - descending;
}

/* The inverse of key_nullable. */
RECSORT_HD static inline uint64_t key_nullable_value(const recsort_key_step *step, uint64_t code)
{
  const uint64_t all = key_mask(step->width);
  const bool first = step->flags & RECSORT_KEY_NAN_FIRST;
  const bool descending = step->flags & RECSORT_KEY_DESCENDING;
  if (code == (first ? 0 : all)) return step[1].bias ^ step->bias;
  code = code + descending - first;
  uint64_t number = descending ? all ^ code : code;
  for (unsigned i = 1; i <= step->bit; i++)
    number += number >= step[i].bias;
  return (number ^ step->bias) & all;
}

/* The order-preserving code of a value. Sets *valid to false if the schema rules the value out;
 * otherwise leaves it alone. */
RECSORT_HD static inline uint64_t key_code(const recsort_key_step *step, uint64_t raw, bool *valid)
{
  const uint64_t all = key_mask(step->width);
  uint64_t code = raw;
  switch (step->kind) {
  case RECSORT_KEY_FLOAT:
    return key_float_code(key_float_raw(step, raw), step->width, step->flags, step->limit);
  case RECSORT_KEY_TEXT:
    code = key_text(raw, step->bytes);
    break;
  case RECSORT_KEY_SIGNED:
    code = raw ^ UINT64_C(1) << (step->width - 1);
    break;
  case RECSORT_KEY_BOOL:
    code = raw != 0;
    break;
  case RECSORT_KEY_OFFSET:
    code = (raw - step->bias) & key_mask(8u * step->bytes);
    if (code > step->limit) *valid = false;
    break;
  default:
    code = raw >> step->bit & all;
  }
  return step->flags & RECSORT_KEY_DESCENDING ? all ^ (code & all) : code & all;
}

/* The inverse of the code of a float. */
RECSORT_HD static inline uint64_t key_float_value(const recsort_key_step *step, uint64_t code)
{
  const uint64_t all = key_mask(step->width), sign = (all >> 1) + 1, limit = step->limit;
  const bool total = step->flags & RECSORT_KEY_NAN_TOTAL;
  const bool minus_0 = step->flags & RECSORT_KEY_MINUS_0_NAN;
  if (!total && code == (step->flags & RECSORT_KEY_NAN_FIRST ? 0 : all))
    return minus_0 ? sign >> step->bit
                   : (limit | (limit & ~(limit << 1)) >> 1) >> step->bit; /* with its quiet bit */
  if (step->flags & RECSORT_KEY_DESCENDING) code ^= all;
  const uint64_t raw = code & sign ? code ^ sign : ~code & all;
  return (minus_0 && raw == all ? sign : raw) >> step->bit;
}

/* The inverse of key_code; `raw` is the integer's old bits, of which a bitfield replaces some. */
RECSORT_HD static inline uint64_t key_value(const recsort_key_step *step, uint64_t code,
                                            uint64_t raw)
{
  const uint64_t all = key_mask(step->width);
  const uint64_t sign = step->width ? UINT64_C(1) << (step->width - 1) : 0;
  if (step->kind == RECSORT_KEY_FLOAT) return key_float_value(step, code);
  if (step->kind == RECSORT_KEY_NULLABLE) return key_nullable_value(step, code);
  if (step->flags & RECSORT_KEY_DESCENDING) code ^= all;
  switch (step->kind) {
  case RECSORT_KEY_SIGNED:
    return code ^ sign;
  case RECSORT_KEY_BOOL:
  case RECSORT_KEY_TEXT:
    return code;
  case RECSORT_KEY_OFFSET:
    return (code + step->bias) & key_mask(8u * step->bytes);
  default:
    return (raw & ~(all << step->bit)) | code << step->bit;
  }
}

/* ORs `code` into bits [shift, shift + width) of the key. */
RECSORT_HD static inline void key_place(uint64_t *words, const recsort_key_step *step,
                                        uint64_t code)
{
  const unsigned word = step->shift / 64, bit = step->shift % 64;
  if (step->width == 0) return;
  words[word] |= code << bit;
  if (bit + step->width > 64) words[word + 1] |= code >> (64 - bit);
}

/* The bits [shift, shift + width) of the key. */
RECSORT_HD static inline uint64_t key_take(const uint64_t *words, const recsort_key_step *step)
{
  const unsigned word = step->shift / 64, bit = step->shift % 64;
  if (step->width == 0) return 0;
  uint64_t code = words[word] >> bit;
  if (bit + step->width > 64) code |= words[word + 1] << (64 - bit);
  return code & key_mask(step->width);
}

/* The code of a field whose bytes are at `at`; `valid` as for key_code. */
RECSORT_HD static inline uint64_t key_field_at(const recsort_key_step *step,
                                               const unsigned char *at, bool *valid)
{
  const bool big = step->flags & RECSORT_KEY_BIG_ENDIAN;
  return key_code(step, key_load(at, step->bytes, big), valid);
}

/* The same for one record. */
RECSORT_HD static inline uint64_t key_field(const recsort_key_step *step,
                                            const unsigned char *record, bool *valid)
{
  return key_field_at(step, record + step->offset, valid);
}

/* The value of an operand whose bytes are at `at`. */
RECSORT_HD static inline double key_operand(const recsort_key_step *operand,
                                            const unsigned char *at)
{
  const bool big = operand->flags & RECSORT_KEY_BIG_ENDIAN;
  return key_number(operand, key_load(at, operand->bytes, big));
}

/* The code of a step, of its bytes alone, where the step before it has the code `before`. */
RECSORT_HD static inline uint64_t key_after(const recsort_key_step *step, uint64_t code,
                                            uint64_t before)
{
  const uint64_t turn = step->flags & RECSORT_KEY_DESCENDING ? UINT64_MAX : 0;
  const bool ended = step->kind == RECSORT_KEY_TEXT && step->bit && ((before ^ turn) & 255) == 0;
  return ended ? turn & key_mask(step->width) : code;
}

/* The code of a computed key whose operands have these values. */
RECSORT_HD static inline uint64_t key_of_numbers(const recsort_key_step *step,
                                                 const double *numbers)
{
  if (!key_is_sum(step)) return key_place_on_curve(step, numbers);
  return key_float_code(key_sum(step, numbers), step->width, step->flags, step->limit);
}

/* The code of a computed key. Not inlined: most programs have none. */
RECSORT_HD static RECSORT_APART uint64_t key_computed(const recsort_key_step *step,
                                                      const unsigned char *record)
{
  double numbers[RECSORT_KEY_MOST_OPERANDS];
  for (unsigned i = 0; i < step->bit; i++)
    numbers[i] = key_operand(&step[1 + i], record + step[1 + i].offset);
  return key_of_numbers(step, numbers);
}

/* The code of one step for one record, where the step before it has the code `before`; `valid` as
 * for key_code. The code of an operand is 0. */
RECSORT_HD static inline uint64_t
key_step(const recsort_key_step *step, const unsigned char *record, uint64_t before, bool *valid)
{
  if (step->kind == RECSORT_KEY_OPERAND) return 0;
  if (step->kind >= RECSORT_KEY_DISTANCE) return key_computed(step, record);
  if (step->kind == RECSORT_KEY_NULLABLE) return key_nullable(step, record + step->offset);
  return key_after(step, key_field(step, record, valid), before);
}

/* ---- Columns ---- */

/* The bytes of a step of record `i`. */
RECSORT_HD static inline const unsigned char *key_at(const recsort_key_column *column, uint64_t i)
{
  return (const unsigned char *)column->data + i * column->stride;
}

/* As key_computed for record `i` of columns, those of the step and of its operands. */
RECSORT_HD static RECSORT_APART uint64_t key_computed_in(const recsort_key_step *step,
                                                         const recsort_key_column *columns,
                                                         uint64_t i)
{
  double numbers[RECSORT_KEY_MOST_OPERANDS];
  for (unsigned c = 1; c <= step->bit; c++)
    numbers[c - 1] = key_operand(&step[c], key_at(&columns[c], i));
  return key_of_numbers(step, numbers);
}

/* As key_step. */
RECSORT_HD static inline uint64_t key_step_in(const recsort_key_step *step,
                                              const recsort_key_column *columns, uint64_t i,
                                              uint64_t before, bool *valid)
{
  if (step->kind == RECSORT_KEY_OPERAND) return 0;
  if (step->kind >= RECSORT_KEY_DISTANCE) return key_computed_in(step, columns, i);
  if (step->kind == RECSORT_KEY_NULLABLE) return key_nullable(step, key_at(columns, i));
  return key_after(step, key_field_at(step, key_at(columns, i), valid), before);
}

#endif
