/* encode.c - the loops over records.
 *
 * Most keys have one step. Its loop is compiled once for each kind and size, so that the compiler
 * knows everything that is the same for all records.
 */
#include "key/encode.h"

#include <stdatomic.h>

#include "recsort/key_interpreter.h"

#include "base/assert.h"

/* A function that is compiled into each call: what is constant there is folded. */
#define FOLDED __attribute__((always_inline))

/* The records and keys of an encoding loop. */
typedef struct key_range {
  const recsort_key_program *program;
  const unsigned char *records; /* number 0 of the loop; nothing if there are columns */
  size_t first;                 /* that record's number in columns */
  unsigned char *keys;
  size_t begin;
  size_t end;
} key_range;

/* Where the bytes of a step of record `begin` are, and how far it is to those of the next one. */
static inline recsort_key_column place_of(const key_range *range, const recsort_key_step *step)
{
  const recsort_key_program *const program = range->program;
  RS_ASSERT(step >= program->steps && step < program->steps + program->step_count);
  if (program->columns) {
    const recsort_key_column *const column = &program->columns[step - program->steps];
    if (!column->data) return *column; /* there are no records */
    return (recsort_key_column){key_at(column, range->first + range->begin), column->stride};
  }
  return (recsort_key_column){range->records + range->begin * program->record_size + step->offset,
                              program->record_size};
}

static inline void store_key(unsigned char *keys, size_t i, unsigned width, uint64_t code)
{
  if (width == 32) {
    const uint32_t half = (uint32_t)code;
    memcpy(keys + 4 * i, &half, sizeof half);
  } else {
    memcpy(keys + 8 * i, &code, sizeof code);
  }
}

/* Encodes a key of one step, whose kind, size, flags and width are constants in each call. False if
 * any record was invalid. */
FOLDED static inline bool encode_as(key_range range, recsort_key_step step, unsigned width)
{
  const recsort_key_column place = place_of(&range, range.program->steps);
  RS_ASSERT(range.begin <= range.end && (width == 32 || width == 64));
  bool valid = true;
  for (size_t i = range.begin; i < range.end; i++)
    store_key(range.keys, i, width, key_field_at(&step, key_at(&place, i - range.begin), &valid));
  return valid;
}

/* Some floats at a time. Compilers did not use vectors for a loop over them. */
typedef int32_t float_lanes __attribute__((vector_size(16)));

/* As key_float_code for floats of 32 bits whose NaNs go last. `flip`: all bits if descending. */
static inline float_lanes code_of_floats(float_lanes raw, int32_t flip)
{
  const int32_t infinity = 0x7f800000;
  const float_lanes magnitude = raw & INT32_MAX, number = raw & (magnitude != 0);
  const float_lanes code = number ^ (number >> 31 | INT32_MIN) ^ flip;
  return code | (magnitude > infinity);
}

enum { FLOAT_LANES = sizeof(float_lanes) / sizeof(int32_t) };

/* Encodes the floats of the next `count` records. `count` and `big` are constants where it should
 * be fast. */
FOLDED static inline void encode_floats(recsort_key_column place, size_t i, size_t count, bool big,
                                        int32_t flip, unsigned char *keys)
{
  RS_ASSERT(count <= FLOAT_LANES);
  float_lanes lanes = {0};
  for (size_t j = 0; j < count; j++)
    lanes[j] = (int32_t)key_load(key_at(&place, i + j), 4, big);
  lanes = code_of_floats(lanes, flip);
  memcpy(keys + 4 * i, &lanes, 4 * count);
}

/* `big` is a constant in each call. */
static inline bool encode_float32_as(key_range range, recsort_key_step step, bool big)
{
  const recsort_key_column place = place_of(&range, range.program->steps);
  const int32_t flip = step.flags & RECSORT_KEY_DESCENDING ? -1 : 0;
  const size_t count = range.end - range.begin, rest = count % FLOAT_LANES;
  RS_ASSERT(range.begin <= range.end && step.bytes == 4);
  unsigned char *const keys = range.keys + 4 * range.begin;
  for (size_t i = 0; i < count - rest; i += FLOAT_LANES)
    encode_floats(place, i, FLOAT_LANES, big, flip, keys);
  encode_floats(place, count - rest, rest, big, flip, keys);
  return true;
}

static bool encode_float32(key_range range, recsort_key_step step)
{
  return step.flags & RECSORT_KEY_BIG_ENDIAN ? encode_float32_as(range, step, true)
                                             : encode_float32_as(range, step, false);
}

/* ---- Computed keys, some records at a time, so that the compiler can use vectors ---- */

enum { COMPUTED_BLOCK = 64 };

/* The numbers of a coordinate. */
static void read_numbers(const recsort_key_step *operand, recsort_key_column place, size_t count,
                         double *numbers)
{
  const bool big = operand->flags & RECSORT_KEY_BIG_ENDIAN;
  const bool real = operand->bit == RECSORT_KEY_FLOAT;
  const unsigned char *record = place.data;
  const size_t stride = (size_t)place.stride;
  RS_ASSERT(count <= COMPUTED_BLOCK && operand->kind == RECSORT_KEY_OPERAND);
  if (real && operand->bytes == sizeof(float)) {
    for (size_t j = 0; j < count; j++, record += stride) {
      const uint32_t raw = (uint32_t)key_load(record, sizeof raw, big);
      float number;
      memcpy(&number, &raw, sizeof number);
      numbers[j] = (double)number;
    }
    return;
  }
  for (size_t j = 0; j < count; j++, record += stride)
    numbers[j] = key_operand(operand, record);
}

typedef struct computed_block {
  double numbers[RECSORT_KEY_MOST_OPERANDS][COMPUTED_BLOCK];
  uint64_t codes[COMPUTED_BLOCK];
} computed_block;

/* As key_sum(), for `count` records. */
static void compute_sums(const recsort_key_step *step, computed_block *block, size_t count)
{
  RS_ASSERT(count <= COMPUTED_BLOCK && step->bit <= RECSORT_KEY_MOST_OPERANDS);
  double sums[COMPUTED_BLOCK] = {0};
  for (unsigned c = 0; c < step->bit; c++) {
    const double point = key_point(&step[1 + c]);
    for (size_t j = 0; j < COMPUTED_BLOCK; j++)
      sums[j] = sums[j] + key_term(step, block->numbers[c][j], point);
  }
  for (size_t j = 0; j < count; j++)
    block->codes[j] =
        key_float_code(key_sum_bits(step, sums[j]), step->width, step->flags, step->limit);
}

/* As key_place_on_curve(), for `count` records. */
static void compute_places(const recsort_key_step *step, computed_block *block, size_t count)
{
  const unsigned bits = step->width / step->bit;
  uint64_t cells[RECSORT_KEY_MOST_OPERANDS * COMPUTED_BLOCK];
  bool nan[COMPUTED_BLOCK] = {false};
  RS_ASSERT(count <= COMPUTED_BLOCK && step->bit <= RECSORT_KEY_MOST_OPERANDS);
  RS_ASSERT(bits > 0 && bits * step->bit <= 64);
  for (unsigned c = 0; c < step->bit; c++)
    for (size_t j = 0; j < COMPUTED_BLOCK; j++) {
      const double number = block->numbers[c][j];
      nan[j] |= number != number;
      cells[c * COMPUTED_BLOCK + j] = key_cell(&step[1 + c], number, bits);
    }
  if (step->kind == RECSORT_KEY_HILBERT) key_hilbert(cells, step->bit, bits, COMPUTED_BLOCK);
  for (size_t j = 0; j < count; j++)
    block->codes[j] = nan[j] ? key_nan_code(step) : key_curve_code(step, cells + j, COMPUTED_BLOCK);
}

/* A key that is one computed value. */
static bool encode_computed(key_range range)
{
  const recsort_key_program *const program = range.program;
  const recsort_key_step *const step = program->steps;
  computed_block block = {.codes = {0}};
  RS_ASSERT(program->step_count == 1u + step->bit);
  for (; range.begin < range.end; range.begin += COMPUTED_BLOCK) {
    const size_t left = range.end - range.begin;
    const size_t count = left < COMPUTED_BLOCK ? left : COMPUTED_BLOCK;
    for (unsigned c = 0; c < step->bit; c++)
      read_numbers(&step[1 + c], place_of(&range, &step[1 + c]), count, block.numbers[c]);
    if (key_is_sum(step))
      compute_sums(step, &block, count);
    else
      compute_places(step, &block, count);
    for (size_t j = 0; j < count; j++)
      store_key(range.keys, range.begin + j, program->key_width, block.codes[j]);
  }
  return true;
}

/* ---- Keys that are one field ---- */

FOLDED static inline bool encode_integer(key_range range, recsort_key_step step, unsigned bytes)
{
  RS_ASSERT(step.bytes == bytes);
  const unsigned width = bytes == 8 ? 64 : 32;
  step.bytes = (uint8_t)bytes;
  step.width = (uint8_t)(8 * bytes);
  step.bit = 0;
  if (step.kind == RECSORT_KEY_SIGNED) {
    step.kind = RECSORT_KEY_SIGNED;
    return encode_as(range, step, width);
  }
  step.kind = RECSORT_KEY_UNSIGNED;
  return encode_as(range, step, width);
}

static bool encode_float64(key_range range, recsort_key_step step)
{
  RS_ASSERT(step.bytes == 8);
  step.kind = RECSORT_KEY_FLOAT;
  step.bytes = 8;
  step.width = 64;
  step.bit = 0;
  return encode_as(range, step, 64);
}

static bool encode_single(key_range range)
{
  const recsort_key_step *step = range.program->steps;
  RS_ASSERT(range.program->step_count == 1);
  const bool whole = step->bit == 0 && step->width == 8 * step->bytes &&
                     (step->kind == RECSORT_KEY_UNSIGNED || step->kind == RECSORT_KEY_SIGNED);
  const bool nan_last = !(step->flags & (RECSORT_KEY_NAN_TOTAL | RECSORT_KEY_NAN_FIRST));
  const bool narrow = range.program->key_width == 32; /* not widened by a scope */
  if (step->kind == RECSORT_KEY_FLOAT && step->bytes == 4 && nan_last && narrow)
    return encode_float32(range, *step);
  if (whole && step->bytes == 1 && narrow) return encode_integer(range, *step, 1);
  if (whole && step->bytes == 2 && narrow) return encode_integer(range, *step, 2);
  if (whole && step->bytes == 4 && narrow) return encode_integer(range, *step, 4);
  if (whole && step->bytes == 8) return encode_integer(range, *step, 8);
  if (step->kind == RECSORT_KEY_FLOAT && step->bytes == 8) return encode_float64(range, *step);
  return encode_as(range, *step, range.program->key_width);
}

/* ---- Keys of several steps: some records at a time, one step after the other ---- */

enum { STEP_BLOCK = 64 };

/* The codes of a field of `count` records. Kind, size and width are constants in most calls. */
FOLDED static inline bool field_codes(recsort_key_column place, recsort_key_step step, size_t count,
                                      uint64_t *codes)
{
  bool valid = true;
  for (size_t i = 0; i < count; i++)
    codes[i] = key_field_at(&step, key_at(&place, i), &valid);
  return valid;
}

FOLDED static inline bool number_codes(recsort_key_column place, recsort_key_step step,
                                       unsigned kind, unsigned bytes, size_t count, uint64_t *codes)
{
  step.kind = (uint8_t)kind;
  step.bytes = (uint8_t)bytes;
  step.width = (uint8_t)(8 * bytes);
  step.bit = 0;
  return field_codes(place, step, count, codes);
}

FOLDED static inline bool integer_codes(recsort_key_column place, recsort_key_step step,
                                        unsigned bytes, size_t count, uint64_t *codes)
{
  return step.kind == RECSORT_KEY_SIGNED
             ? number_codes(place, step, RECSORT_KEY_SIGNED, bytes, count, codes)
             : number_codes(place, step, RECSORT_KEY_UNSIGNED, bytes, count, codes);
}

/* The codes of a step of the next `count` records; `codes` are those of the step before it. */
static bool step_codes(const key_range *range, const recsort_key_step *step, size_t count,
                       uint64_t *codes)
{
  const recsort_key_program *const program = range->program;
  const recsort_key_column place = place_of(range, step);
  const bool whole = step->width == 8u * step->bytes; /* so from bit 0 on */
  bool valid = true;
  RS_ASSERT(count <= STEP_BLOCK);
  if (step->kind == RECSORT_KEY_NULLABLE) {
    for (size_t i = 0; i < count; i++)
      codes[i] = key_nullable(step, key_at(&place, i));
    return true;
  }
  if (step->kind == RECSORT_KEY_TEXT) {
    for (size_t i = 0; i < count; i++)
      codes[i] = key_after(step, key_field_at(step, key_at(&place, i), &valid), codes[i]);
    return true;
  }
  if (step->kind >= RECSORT_KEY_DISTANCE) { /* several fields */
    const recsort_key_column *const columns =
        program->columns ? program->columns + (step - program->steps) : NULL;
    for (size_t i = range->begin; i < range->begin + count; i++)
      codes[i - range->begin] =
          columns ? key_step_in(step, columns, range->first + i, 0, &valid)
                  : key_step(step, range->records + i * program->record_size, 0, &valid);
    return valid;
  }
  if (step->kind == RECSORT_KEY_FLOAT && step->bytes == 4)
    return number_codes(place, *step, RECSORT_KEY_FLOAT, 4, count, codes);
  if (step->kind == RECSORT_KEY_FLOAT && step->bytes == 8)
    return number_codes(place, *step, RECSORT_KEY_FLOAT, 8, count, codes);
  if (whole && (step->kind == RECSORT_KEY_UNSIGNED || step->kind == RECSORT_KEY_SIGNED))
    switch (step->bytes) {
    case 1:
      return integer_codes(place, *step, 1, count, codes);
    case 2:
      return integer_codes(place, *step, 2, count, codes);
    case 4:
      return integer_codes(place, *step, 4, count, codes);
    case 8:
      return integer_codes(place, *step, 8, count, codes);
    }
  return field_codes(place, *step, count, codes);
}

/* As key_place(), for `count` keys. */
static void place_codes(uint64_t *keys, size_t words, const recsort_key_step *step, size_t count,
                        const uint64_t *codes)
{
  const unsigned bit = step->shift % 64;
  RS_ASSERT(step->width <= 64);
  if (step->width == 0) return;
  RS_ASSERT((step->shift + step->width + 63) / 64 <= words);
  keys += step->shift / 64;
  for (size_t i = 0; i < count; i++)
    keys[i * words] |= codes[i] << bit;
  if (bit + step->width > 64)
    for (size_t i = 0; i < count; i++)
      keys[i * words + 1] |= codes[i] >> (64 - bit);
}

static bool encode_steps(key_range range)
{
  const recsort_key_program *const program = range.program;
  const bool is_narrow = program->key_width == 32;
  const size_t words = (program->key_width + 63) / 64;
  uint64_t codes[STEP_BLOCK] = {0}, narrow[STEP_BLOCK];
  bool valid = true;
  RS_ASSERT(words > 0 && program->step_count > 0);
  for (; range.begin < range.end; range.begin += STEP_BLOCK) {
    const size_t left = range.end - range.begin, count = left < STEP_BLOCK ? left : STEP_BLOCK;
    uint64_t *keys = narrow;
    if (!is_narrow) keys = (uint64_t *)(void *)range.keys + range.begin * words;
    memset(keys, 0, count * words * sizeof *keys);
    for (uint32_t s = 0; s < program->step_count; s++) {
      const recsort_key_step *const step = &program->steps[s];
      if (step->kind == RECSORT_KEY_OPERAND) continue;
      valid &= step_codes(&range, step, count, codes);
      place_codes(keys, words, step, count, codes);
    }
    if (is_narrow)
      for (size_t i = 0; i < count; i++)
        store_key(range.keys, range.begin + i, 32, narrow[i]);
  }
  return valid;
}

static bool encode_range(const key_range *range)
{
  const recsort_key_program *program = range->program;
  const recsort_key_step *const first = program->steps;
  RS_ASSERT(program->step_count > 0 && program->key_width % 32 == 0);
  if (program->key_width > 64) return encode_steps(*range);
  if (first->kind >= RECSORT_KEY_DISTANCE && program->step_count == 1u + first->bit)
    return encode_computed(*range);
  return program->step_count == 1 ? encode_single(*range) : encode_steps(*range);
}

/* ---- Scopes ---- */

/* Keeps the bits of the keys that count. */
static void cut_keys(const key_range *range, unsigned first_bit, unsigned bits)
{
  const uint64_t mask = key_mask(bits);
  const size_t words = range->program->key_width / 64;
  RS_ASSERT(bits > 0 && first_bit + bits <= 64);
  if (words == 0) {
    uint32_t *const keys = (uint32_t *)(void *)range->keys;
    for (size_t i = range->begin; i < range->end; i++)
      keys[i] = keys[i] >> first_bit & (uint32_t)mask;
  } else {
    uint64_t *const keys = (uint64_t *)(void *)range->keys;
    for (size_t i = range->begin; i < range->end; i++)
      keys[i * words] = keys[i * words] >> first_bit & mask;
  }
}

/* Puts the numbers of the segments above the keys. */
static void number_keys(const key_range *range, const rs_scope *scope, unsigned shift)
{
  const size_t words = range->program->key_width / 64;
  const recsort_key_step place = {.shift = shift,
                                  .width = (uint8_t)(range->program->key_bits - shift)};
  RS_ASSERT(shift < range->program->key_bits);
  size_t number = rs_scope_number(scope, range->first + range->begin);
  for (size_t i = range->begin; i < range->end; i++) {
    while (number <= scope->segment_count &&
           rs_offset_at(scope->offsets, scope->offset_bits, number) <= range->first + i)
      number++;
    if (words == 0)
      ((uint32_t *)(void *)range->keys)[i] |= (uint32_t)number << shift;
    else
      key_place((uint64_t *)(void *)range->keys + i * words, &place, number);
  }
}

/* Where record number `record` is in the range, or else the nearer end of it. */
static size_t place_in(const key_range *range, uint64_t record)
{
  RS_ASSERT(range->begin <= range->end);
  if (record < range->first + range->begin) return range->begin;
  return record < range->first + range->end ? (size_t)(record - range->first) : range->end;
}

/* The records of the range that are in segments; all of them if there are none. */
static key_range sorted_part(const rs_scope *scope, key_range range)
{
  if (!scope->offsets) return range;
  const size_t begin = place_in(&range, rs_offset_at(scope->offsets, scope->offset_bits, 0));
  range.end =
      place_in(&range, rs_offset_at(scope->offsets, scope->offset_bits, scope->segment_count));
  range.begin = begin < range.end ? begin : range.end;
  return range;
}

static bool encode_in_scope(const rs_plan *plan, key_range range)
{
  const rs_scope *const scope = &plan->scope;
  const key_range part = sorted_part(scope, range);
  const size_t size = rs_key_size(plan);
  RS_ASSERT(range.begin <= part.begin && part.begin <= part.end && part.end <= range.end);
  memset(range.keys + range.begin * size, 0, (part.begin - range.begin) * size);
  memset(range.keys + part.end * size, 0, (range.end - part.end) * size);
  const bool valid = encode_range(&part);
  if (scope->bits) cut_keys(&part, scope->first_bit, scope->bits);
  if (scope->offsets) number_keys(&range, scope, scope->bits ? scope->bits : plan->key_bits);
  return valid;
}

static inline bool encode_scope(const rs_plan *plan, const key_range *range)
{
  const bool whole = !plan->scope.offsets && !plan->scope.bits;
  return whole ? encode_range(range) : encode_in_scope(plan, *range);
}

bool rs_key_encode_part(const rs_plan *plan, const void *records, size_t first, size_t count,
                        void *keys)
{
  const key_range range = {&plan->program, records, first, keys, 0, count};
  RS_ASSERT(count == 0 || (uintptr_t)keys % (rs_key_size(plan) < 8 ? 4 : 8) == 0);
  return encode_scope(plan, &range);
}

bool rs_key_encode_some(const recsort_key_program *program, const void *records, size_t first,
                        size_t count, void *keys)
{
  const key_range range = {program, records, first, keys, 0, count};
  return encode_range(&range);
}

uint32_t rs_key_encode_for_plugin(const recsort_key_program *program, const void *records,
                                  uint64_t count, void *keys)
{
  return rs_key_encode_some(program, records, 0, (size_t)count, keys);
}

bool rs_key_is_record(const rs_plan *plan)
{
  const recsort_key_program *const program = &plan->program;
  const recsort_key_step *const step = program->steps;
  const bool big = step->flags & RECSORT_KEY_BIG_ENDIAN;
  return program->step_count == 1 && !program->columns && step->kind == RECSORT_KEY_UNSIGNED &&
         8u * step->bytes == program->key_width && step->width == program->key_width &&
         program->record_size == step->bytes && !(step->flags & RECSORT_KEY_DESCENDING) &&
         !plan->scope.bits && !plan->scope.offsets && big == key_host_is_big_endian();
}

static recsort_status report_invalid(const rs_plan *plan, key_range range, recsort_error *error)
{
  const size_t first = range.first;
  for (; range.begin < range.end; range.begin++) {
    for (uint32_t s = 0; s < range.program->step_count; s++) {
      const recsort_key_step *step = &range.program->steps[s];
      const unsigned char *const at = place_of(&range, step).data;
      bool valid = true;
      (void)key_field_at(step, at, &valid);
      if (valid) continue;
      const bool big = step->flags & RECSORT_KEY_BIG_ENDIAN;
      return rs_fail(error, RECSORT_INVALID_RECORD,
                     "record %zu: field \"%s\" holds %#llx, which is outside the range of its enum",
                     first + range.begin, plan->keys[step->key].path,
                     (unsigned long long)key_load(at, step->bytes, big));
    }
  }
  return RECSORT_OK;
}

typedef struct encoding {
  const rs_plan *plan;
  key_range all; /* records from 0 on */
  atomic_bool valid;
} encoding;

enum { CHUNK = 1 << 14 };

static void encode_chunk(void *argument, size_t chunk, unsigned slot)
{
  encoding *const e = argument;
  key_range range = e->all;
  (void)slot;
  range.begin = chunk * CHUNK;
  RS_ASSERT(range.begin < range.end);
  if (range.end - range.begin > CHUNK) range.end = range.begin + CHUNK;
  if (!encode_scope(e->plan, &range)) e->valid = false;
}

recsort_status rs_key_encode(const rs_plan *plan, const void *records, size_t count, void *keys,
                             team t, size_t first, recsort_error *error)
{
  enum { CHUNKS_WORTH_A_THREAD = 4 };
  const size_t chunks = (count + CHUNK - 1) / CHUNK;
  RS_ASSERT(count == 0 || (uintptr_t)keys % (rs_key_size(plan) < 8 ? 4 : 8) == 0);
  encoding e = {plan, {&plan->program, records, first, keys, 0, count}, true};
  t = team_of_at_most(t, chunks / CHUNKS_WORTH_A_THREAD + 1);
  team_each(t, chunks, encode_chunk, &e);
  return e.valid ? RECSORT_OK : report_invalid(plan, sorted_part(&plan->scope, e.all), error);
}

void rs_key_decode(const rs_plan *plan, const void *key, void *record)
{
  const recsort_key_program *program = &plan->program;
  RS_ASSERT(!program->columns);
  uint64_t half = 0;
  if (program->key_width == 32) {
    uint32_t low;
    memcpy(&low, key, sizeof low);
    half = low;
  }
  const uint64_t *words = program->key_width == 32 ? &half : key;
  for (uint32_t s = 0; s < program->step_count; s++) {
    const recsort_key_step *step = &program->steps[s];
    const bool big = step->flags & RECSORT_KEY_BIG_ENDIAN;
    unsigned char *at = (unsigned char *)record + step->offset;
    const uint64_t raw = key_load(at, step->bytes, big);
    key_store(at, step->bytes, big, key_value(step, key_take(words, step), raw));
  }
}

int rs_key_compare(const rs_plan *plan, const void *a, const void *b)
{
  if (plan->program.key_width == 32) {
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
  }
  const uint64_t *x = a, *y = b;
  for (size_t w = plan->program.key_width / 64; w-- > 0;)
    if (x[w] != y[w]) return x[w] < y[w] ? -1 : 1;
  return 0;
}
