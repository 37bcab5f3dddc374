/* records.c - see records.h.
 *
 * A value is chosen as a digit: a number below the field's base, in the order of the values. A
 * string has a digit for each byte.
 */
#include "recgen/records.h"
#include "recgen/places.h"

#include "support/random.h"
#include "support/text.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A key, with its values in ascending order if it is an enum. */
typedef struct generator_key {
  place place;
  recsort_enumerator *enumerators;
  bool bytes;     /* has a digit for each byte */
  uint64_t base;  /* 1: no choice, as other keys set its bits */
  uint64_t digit; /* of the current record */
} generator_key;

/* How values are made: integers of so many bits, floats, strings and bytes, or anything else. */
typedef enum making {
  MAKE_8,
  MAKE_16,
  MAKE_32,
  MAKE_64,
  MAKE_FLOAT32,
  MAKE_FLOAT64,
  MAKE_BYTES,
  MAKE_ANY,
} making;

/* The elements of a field in one struct, whose offset in the record is `base`. */
typedef struct maker {
  const recsort_field_desc *field;
  size_t base;
  making making;
} maker;

/* Records that are made together, a field after the other, each with its stream. */
enum { BLOCK = 64 };
typedef struct block {
  unsigned char *records;
  size_t record_size;
  size_t count;
  uint64_t streams[BLOCK];
} block;

struct generator {
  size_t record_size;
  size_t maker_count;
  size_t maker_capacity;
  maker *makers;
  bool special;
  uint64_t seed;
  ranks ranks;
  size_t key_count; /* 0: uniform */
  generator_key *keys;
};

/* ---- Digits and values -------------------------------------------------------------------- */

static uint64_t byte_base(const recsort_field_desc *field)
{
  return tool_is_text(field) ? '~' - ' ' + 1 : 256;
}

static unsigned char byte_value(const recsort_field_desc *field, uint64_t digit)
{
  return (unsigned char)(tool_is_text(field) ? ' ' + digit : digit);
}

/* The numbers from 0 up to the greatest one of a float of one byte. */
static uint64_t small_numbers(const recsort_type_info *type)
{
  const unsigned bits = type->exponent_bits + type->fraction_bits;
  const uint64_t all = UINT64_C(1) << bits;
  return type->nans == RECSORT_NANS_IEEE   ? all - (UINT64_C(1) << type->fraction_bits)
         : type->nans == RECSORT_NANS_ONES ? all - 1
                                           : all;
}

/* The base of a field's digit; 0 stands for 2^64. Floats: as many steps in [0, 1024) as the
 * significand has values, or all numbers that are not negative. Null values have no digit. */
static uint64_t digit_base(const recsort_field_desc *field)
{
  const recsort_type_info *const type = recsort_type_describe(field->type);
  unsigned bits = type->bits;
  switch (type->type_class) {
  case RECSORT_CLASS_BOOL:
    return 2;
  case RECSORT_CLASS_ENUM:
    return field->enumerator_count;
  case RECSORT_CLASS_FLOAT:
    if (type->size == 1) return small_numbers(type);
    bits = type->fraction_bits + 1;
    break;
  case RECSORT_CLASS_BITFIELD:
    bits = field->width;
    break;
  case RECSORT_CLASS_TIME:
    return UINT64_MAX; /* all but the one that is no time */
  case RECSORT_CLASS_SIGNED:
  case RECSORT_CLASS_UNSIGNED:
  case RECSORT_CLASS_WIDE: /* of its upper half */
  case RECSORT_CLASS_BYTES:
  case RECSORT_CLASS_STRUCT:
  case RECSORT_CLASS_NONE:
    break;
  }
  const uint64_t base = (bits < 64 ? UINT64_C(1) << bits : 0) - field->null_count;
  return field->null_count && !base ? 1 : base; /* if all values are null */
}

static bool is_signed(recsort_type type)
{
  return recsort_type_describe(type)->type_class == RECSORT_CLASS_SIGNED;
}

static recsort_value integer_value(recsort_type type, uint64_t bits)
{
  if (!is_signed(type)) return (recsort_value){.kind = RECSORT_VALUE_UNSIGNED, .as.u = bits};
  return (recsort_value){.kind = RECSORT_VALUE_SIGNED, .as.i = (int64_t)bits};
}

/* The number of a float of one byte that has so many below it, from 0 up. */
static recsort_value small_value(const recsort_field_desc *field, uint64_t digit)
{
  const recsort_field_desc alone = {
      .type = field->type, .endian = RECSORT_LITTLE_ENDIAN, .size = 1};
  const unsigned char byte = (unsigned char)digit;
  recsort_value value;
  recsort_field_get(&alone, &byte, 0, &value, sizeof value);
  return value;
}

/* The integer that has so many below it, apart from null values. */
static recsort_value number_value(const recsort_field_desc *field, uint64_t digit)
{
  const uint64_t sign =
      is_signed(field->type) ? UINT64_MAX << (recsort_type_describe(field->type)->bits - 1) : 0;
  uint64_t number = digit; /* above the least one */
  for (size_t i = 0; i < field->null_count; i++)
    number += number >= (uint64_t)field->nulls[i] - sign;
  return integer_value(field->type, sign + number);
}

static recsort_value digit_value(const recsort_field_desc *field,
                                 const recsort_enumerator *enumerators, uint64_t digit)
{
  const recsort_type_info *const type = recsort_type_describe(field->type);
  if (type->type_class == RECSORT_CLASS_FLOAT && type->size == 1) return small_value(field, digit);
  if (type->type_class == RECSORT_CLASS_FLOAT) {
    /* exact, as a step is a power of two */
    const double real = (double)digit * (1024.0 / (double)(UINT64_C(2) << type->fraction_bits));
    return (recsort_value){.kind = RECSORT_VALUE_REAL, .as.real = real};
  }
  if (field->type == RECSORT_ENUM) {
    return integer_value(field->base, (uint64_t)enumerators[digit].value);
  }
  if (type->type_class == RECSORT_CLASS_TIME)
    return (recsort_value){.kind = RECSORT_VALUE_SIGNED,
                           .as.i = (int64_t)((uint64_t)INT64_MIN + 1 + digit)};
  return number_value(field, digit);
}

static bool is_wide(const recsort_field_desc *field)
{
  return recsort_type_describe(field->type)->type_class == RECSORT_CLASS_WIDE;
}

/* Writes a digit to the upper half of an integer of 128 bits, and 0 to the lower one. */
static void write_wide(const recsort_field_desc *field, unsigned char *base, size_t element,
                       uint64_t digit)
{
  recsort_field_desc half = *field;
  half.type = RECSORT_UINT64;
  half.size = 8;
  const bool big = field->endian == RECSORT_BIG_ENDIAN;
  const uint64_t sign = field->type == RECSORT_INT128 ? UINT64_C(1) << 63 : 0;
  recsort_value value = {.kind = RECSORT_VALUE_UNSIGNED, .as.u = digit ^ sign};
  recsort_field_set(&half, base, 2 * element + !big, &value, sizeof value);
  value.as.u = 0;
  recsort_field_set(&half, base, 2 * element + big, &value, sizeof value);
}

/* ---- Random values ------------------------------------------------------------------------ */

static void write_bytes(const recsort_field_desc *field, unsigned char *to, uint64_t *stream)
{
  enum { DRAWN_AT_ONCE = 8 };
  const uint64_t base = byte_base(field);
  uint64_t draw = 0;
  for (size_t i = 0; i < field->size; i++) {
    if (i % DRAWN_AT_ONCE == 0) draw = random_next(stream);
    to[i] = byte_value(field, random_below(&draw, base));
  }
  if (field->type != RECSORT_CSTRING) return;
  uint64_t end = random_next(stream); /* what is behind it stays */
  end = random_below(&end, field->size + 1);
  if (end < field->size) to[end] = '\0';
}

/* The low bits of `draw` choose; a float's digit comes from its high bits. */
static bool is_special(uint64_t draw, double *value)
{
  static const double specials[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0, -0.0, -1.0, -512.5};
  if (draw & 15) return false;
  *value = specials[draw >> 4 & 7];
  return true;
}

static void write_scalar(const generator *g, const recsort_field_desc *field, unsigned char *base,
                         size_t element, uint64_t draw)
{
  recsort_value value = {.kind = RECSORT_VALUE_REAL};
  if (g->special && field->null_count && !(draw & 15)) {
    value = integer_value(field->type, (uint64_t)field->nulls[(draw >> 4) % field->null_count]);
  } else if (!g->special || !tool_is_float(field) || !is_special(draw, &value.as.real)) {
    value = digit_value(field, field->enumerators, random_below(&draw, digit_base(field)));
  }
  recsort_field_set(field, base, element, &value, sizeof value);
}

static making making_of(const recsort_field_desc *field, bool special)
{
  const recsort_type_info *const type = recsort_type_describe(field->type);
  switch (type->type_class) {
  case RECSORT_CLASS_SIGNED:
  case RECSORT_CLASS_UNSIGNED:
    return field->null_count  ? MAKE_ANY
           : type->bits == 8  ? MAKE_8
           : type->bits == 16 ? MAKE_16
           : type->bits == 32 ? MAKE_32
           : type->bits == 64 ? MAKE_64
                              : MAKE_ANY;
  case RECSORT_CLASS_FLOAT:
    return special || field->size <= 2 ? MAKE_ANY : field->size == 4 ? MAKE_FLOAT32 : MAKE_FLOAT64;
  case RECSORT_CLASS_BYTES:
  case RECSORT_CLASS_WIDE:
    return MAKE_BYTES;
  case RECSORT_CLASS_BOOL:
  case RECSORT_CLASS_ENUM:
  case RECSORT_CLASS_BITFIELD:
  case RECSORT_CLASS_TIME:
  case RECSORT_CLASS_STRUCT:
  case RECSORT_CLASS_NONE:
    break;
  }
  return MAKE_ANY;
}

static void store_16(bool big, uint64_t bits, unsigned char *to)
{
  const uint16_t word = big ? htobe16((uint16_t)bits) : htole16((uint16_t)bits);
  memcpy(to, &word, sizeof word);
}

static void store_32(bool big, uint64_t bits, unsigned char *to)
{
  const uint32_t word = big ? htobe32((uint32_t)bits) : htole32((uint32_t)bits);
  memcpy(to, &word, sizeof word);
}

static void store_64(bool big, uint64_t bits, unsigned char *to)
{
  const uint64_t word = big ? htobe64(bits) : htole64(bits);
  memcpy(to, &word, sizeof word);
}

/* The bits of a draw's float: a step is a power of two, so the product is exact. */
static uint32_t float32_bits(uint64_t draw)
{
  const float real = (float)(draw >> 40) * (1024.0f / (1 << 24));
  uint32_t bits;
  memcpy(&bits, &real, sizeof bits);
  return bits;
}

static uint64_t float64_bits(uint64_t draw)
{
  const double real = (double)(draw >> 11) * (1024.0 / (UINT64_C(1) << 53));
  uint64_t bits;
  memcpy(&bits, &real, sizeof bits);
  return bits;
}

/* Makes an element of each record: what write_scalar would make. `as` is a constant in each call.
 */
__attribute__((always_inline)) static inline void make_as(block *b, const recsort_field_desc *field,
                                                          unsigned char *to, making as)
{
  const bool big = field->endian == RECSORT_BIG_ENDIAN;
  const uint64_t sign = (uint64_t)is_signed(field->type) << 63;
  for (size_t i = 0; i < b->count; i++, to += b->record_size) {
    const uint64_t draw = random_next(&b->streams[i]);
    if (as == MAKE_8) *to = (unsigned char)((draw ^ sign) >> 56);
    if (as == MAKE_16) store_16(big, (draw ^ sign) >> 48, to);
    if (as == MAKE_32) store_32(big, (draw ^ sign) >> 32, to);
    if (as == MAKE_64) store_64(big, draw ^ sign, to);
    if (as == MAKE_FLOAT32) store_32(big, float32_bits(draw), to);
    if (as == MAKE_FLOAT64) store_64(big, float64_bits(draw), to);
  }
}

static void make(const generator *g, block *b, const maker *m, size_t element)
{
  const recsort_field_desc *const field = m->field;
  unsigned char *const to = b->records + m->base + field->offset + element * field->size;
  switch (m->making) {
  case MAKE_8:
    make_as(b, field, to, MAKE_8);
    break;
  case MAKE_16:
    make_as(b, field, to, MAKE_16);
    break;
  case MAKE_32:
    make_as(b, field, to, MAKE_32);
    break;
  case MAKE_64:
    make_as(b, field, to, MAKE_64);
    break;
  case MAKE_FLOAT32:
    make_as(b, field, to, MAKE_FLOAT32);
    break;
  case MAKE_FLOAT64:
    make_as(b, field, to, MAKE_FLOAT64);
    break;
  case MAKE_BYTES:
    for (size_t i = 0; i < b->count; i++)
      write_bytes(field, to + i * b->record_size, &b->streams[i]);
    break;
  case MAKE_ANY:
    for (size_t i = 0; i < b->count; i++)
      write_scalar(g, field, b->records + i * b->record_size + m->base, element,
                   random_next(&b->streams[i]));
  }
}

/* ---- Ranks as keys ------------------------------------------------------------------------ */

/* The rest of a rank: number `rank` of `range`. */
typedef struct rank_rest {
  uint64_t rank;
  uint64_t range;
} rank_rest;

/* Takes off the most significant digit: cuts the range into `base` parts, as even as possible, and
 * keeps the part that holds the rank. */
static uint64_t take_digit(rank_rest *rest, uint64_t base)
{
  if (rest->range == 1) return 0;
  const uint128 parts = base ? base : (uint128)1 << 64;
  const uint64_t digit = (uint64_t)(rest->rank * parts / rest->range);
  if (parts >= rest->range) {
    *rest = (rank_rest){0, 1};
    return digit;
  }
  const uint64_t first = (uint64_t)(((uint128)digit * rest->range + parts - 1) / parts);
  const uint64_t next = (uint64_t)((((uint128)digit + 1) * rest->range + parts - 1) / parts);
  *rest = (rank_rest){rest->rank - first, next - first};
  return digit;
}

static uint64_t take_key_digit(rank_rest *rest, uint64_t base, bool descending)
{
  const uint64_t digit = take_digit(rest, base);
  return descending ? base - 1 - digit : digit;
}

/* Finds the digits, from the most significant key to the least. Writes strings at once, as they
 * share no bits with other fields. */
static void take_digits(generator *g, rank_rest rest, unsigned char *record)
{
  for (generator_key *key = g->keys; key < g->keys + g->key_count; key++) {
    const recsort_field_desc *const field = key->place.field;
    if (key->bytes) {
      unsigned char *const to =
          record + key->place.base + field->offset + key->place.element * field->size;
      for (size_t i = 0; i < field->size; i++) {
        if (field->type == RECSORT_CSTRING && rest.range == 1) {
          to[i] = '\0'; /* nothing tells records of this rank apart; what is behind it stays */
          break;
        }
        to[i] = byte_value(field, take_key_digit(&rest, key->base, key->place.descending));
      }
    } else {
      key->digit = take_key_digit(&rest, key->base, key->place.descending);
    }
  }
}

/* Writes from the least significant key to the most, so that the latter determines shared bits. */
static void write_digits(const generator *g, unsigned char *record)
{
  for (size_t i = g->key_count; i-- > 0;) {
    const generator_key *const key = &g->keys[i];
    const place *const at = &key->place;
    if (key->bytes) continue;
    if (is_wide(at->field)) {
      write_wide(at->field, record + at->base, at->element, key->digit);
      continue;
    }
    const recsort_value value = digit_value(at->field, key->enumerators, key->digit);
    recsort_field_set(at->field, record + at->base, at->element, &value, sizeof value);
  }
}

static void write_block(generator *g, uint64_t first, block *b)
{
  for (size_t i = 0; i < b->count; i++)
    b->streams[i] = random_stream(g->seed, first + i);
  for (const maker *m = g->makers; m < g->makers + g->maker_count; m++)
    for (size_t element = 0; element < (m->field->count ? m->field->count : 1); element++)
      make(g, b, m, element);
  for (size_t i = 0; g->key_count && i < b->count; i++) {
    unsigned char *const record = b->records + i * b->record_size;
    take_digits(g, (rank_rest){rank_of(&g->ranks, first + i), g->ranks.range}, record);
    write_digits(g, record);
  }
}

void generator_write(generator *g, uint64_t first, size_t count, unsigned char *to)
{
  block b = {.records = to, .record_size = g->record_size};
  for (; count > 0; count -= b.count, first += b.count, b.records += b.count * b.record_size) {
    b.count = count < BLOCK ? count : BLOCK;
    write_block(g, first, &b);
  }
}

/* ---- Making one --------------------------------------------------------------------------- */

static int compare_signed(const void *a, const void *b)
{
  const int64_t x = ((const recsort_enumerator *)a)->value;
  const int64_t y = ((const recsort_enumerator *)b)->value;
  return (x > y) - (x < y);
}

static int compare_unsigned(const void *a, const void *b)
{
  const uint64_t x = (uint64_t)((const recsort_enumerator *)a)->value;
  const uint64_t y = (uint64_t)((const recsort_enumerator *)b)->value;
  return (x > y) - (x < y);
}

/* Sorts an enum's values, each once, into the key. */
static bool sort_enumerators(generator_key *key)
{
  const recsort_field_desc *const field = key->place.field;
  const size_t count = field->enumerator_count;
  key->enumerators = calloc(count, sizeof *key->enumerators);
  if (!key->enumerators) return false;
  for (size_t i = 0; i < count; i++)
    key->enumerators[i] = field->enumerators[i];
  qsort(key->enumerators, count, sizeof *key->enumerators,
        is_signed(field->base) ? compare_signed : compare_unsigned);
  key->base = 1;
  for (size_t i = 1; i < count; i++) {
    if (key->enumerators[i].value == key->enumerators[key->base - 1].value) continue;
    key->enumerators[key->base++] = key->enumerators[i];
  }
  return true;
}

static bool create_keys(generator *g, const recsort_schema *schema)
{
  size_t count;
  place *const places = places_of(schema, &count);
  if (!places) return false;
  g->keys = calloc(count, sizeof *g->keys);
  bool done = g->keys;
  for (size_t i = 0; done && i < count; i++) {
    generator_key *const key = &g->keys[g->key_count++];
    const recsort_field_desc *const field = places[i].field;
    key->place = places[i];
    key->bytes = tool_is_bytes(field);
    key->base = key->bytes ? byte_base(field) : digit_base(field);
    if (field->type == RECSORT_ENUM) done = sort_enumerators(key);
    if (places[i].bound) key->base = 1;
  }
  free(places);
  return done;
}

static bool append_maker(generator *g, const recsort_field_desc *field, size_t base)
{
  if (g->maker_count == g->maker_capacity) {
    const size_t capacity = g->maker_capacity ? 2 * g->maker_capacity : 16;
    maker *const makers = reallocarray(g->makers, capacity, sizeof *makers);
    if (!makers) return false;
    g->makers = makers;
    g->maker_capacity = capacity;
  }
  g->makers[g->maker_count++] = (maker){field, base, making_of(field, g->special)};
  return true;
}

static bool append_makers(generator *g, const recsort_field_desc *fields, size_t count, size_t base)
{
  for (const recsort_field_desc *field = fields; field < fields + count; field++) {
    const size_t structs = field->type != RECSORT_STRUCT ? 0 : field->count ? field->count : 1;
    if (!structs && !append_maker(g, field, base)) return false;
    for (size_t i = 0; i < structs; i++)
      if (!append_makers(g, field->fields, field->field_count,
                         base + field->offset + i * field->size))
        return false;
  }
  return true;
}

generator *generator_create(const recsort_schema *schema, const generator_options *options)
{
  generator *const g = calloc(1, sizeof *g);
  if (!g) return NULL;
  const recsort_schema_desc *const desc = recsort_schema_describe(schema);
  g->record_size = desc->size;
  g->special = options->special;
  g->seed = options->seed;
  g->ranks = ranks_of(options->distribution, options->count, options->seed);
  if (append_makers(g, desc->fields, desc->field_count, 0) &&
      (options->distribution == DISTRIBUTION_UNIFORM || create_keys(g, schema)))
    return g;
  generator_destroy(g);
  return NULL;
}

void generator_destroy(generator *g)
{
  if (!g) return;
  for (size_t i = 0; i < g->key_count; i++)
    free(g->keys[i].enumerators);
  free(g->keys);
  free(g->makers);
  free(g);
}
