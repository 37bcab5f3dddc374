/* key.cuh - makes the key of a record on the device. */
#ifndef RECSORT_CUDA_RECORDS_KEY_CUH
#define RECSORT_CUDA_RECORDS_KEY_CUH

#include <type_traits>

#include "cuda/balance.cuh"
#include "cuda/key_words.h"
#include "gpu/records.h"
#include "recsort/key_interpreter.h"

namespace records
{

struct record_key {
  uint64_t words[2]; /* the least significant first */
};

/* key_place for keys of two words. It indexes them by constants, so that they are in registers. */
DEVICE_INLINE void place_code(record_key *key, uint32_t shift, uint64_t code)
{
  const uint32_t bit = shift % 64;
  const uint64_t here = code << bit, above = bit ? code >> (64 - bit) : 0;
  const bool low = shift < 64;
  key->words[0] |= low ? here : 0;
  key->words[1] |= low ? above : here;
}

/* Whether a program has operands. Kernels for those take more registers, so they are others. */
static inline bool has_computed(const records_program *program)
{
  for (uint32_t s = 0; s < program->step_count; s++)
    if (program->steps[s].kind >= RECSORT_KEY_NULLABLE) return true;
  return false;
}

/* Calls work(computed) with a constant: has_computed of the program. */
template <class Work>
static inline auto with_computed(const records_program *program, const Work &work)
{
  if (has_computed(program)) return work(std::true_type());
  return work(std::false_type());
}

/* How to make the key, if it is an aligned word of one column. */
static inline records_word word_of(const records_program *program)
{
  const recsort_key_step *const step = &program->steps[0];
  const recsort_key_column *const column = &program->columns[0];
  const uint64_t all = key_mask(step->width), sign = (all >> 1) + 1;
  const uint64_t turn = step->flags & RECSORT_KEY_DESCENDING ? all : 0;
  const uint64_t aligned = (uintptr_t)column->data | column->stride;
  const bool native = !(step->flags & RECSORT_KEY_BIG_ENDIAN) == !key_host_is_big_endian();
  const bool is_float = step->kind == RECSORT_KEY_FLOAT;
  const bool is_number =
      is_float || step->kind == RECSORT_KEY_SIGNED || step->kind == RECSORT_KEY_UNSIGNED;
  records_word word;
  memset(&word, 0, sizeof word);
  if (program->step_count != 1 || !is_number || !native || (step->bytes != 4 && step->bytes != 8) ||
      step->width != 8 * step->bytes || aligned % step->bytes != 0)
    return word;
  word.bytes = step->bytes;
  word.negative = is_float ? sign : 0;
  word.if_set = all ^ turn;
  word.if_clear = (step->kind == RECSORT_KEY_UNSIGNED ? 0 : sign) ^ turn;
  if (is_float && !(step->flags & RECSORT_KEY_NAN_TOTAL)) {
    word.magnitude = all ^ sign;
    word.infinity = step->limit;
    word.nan_code = step->flags & RECSORT_KEY_NAN_FIRST ? 0 : all;
  }
  return word;
}

/* The program as kernels take it: with columns, which are parts of the array of records if there is
 * one, and with `word`. */
static inline records_program program_at(const records_program *program, const void *records)
{
  records_program own = *program;
  for (uint32_t s = 0; s < own.step_count && records; s++) {
    own.columns[s].data = (const unsigned char *)records + own.steps[s].offset;
    own.columns[s].stride = own.record_size;
  }
  own.word = word_of(&own);
  return own;
}

/* What a sort or a merge makes keys of, if they are words; else false. */
static inline bool words_of(const records_program *program, const void *records,
                            device_words *words)
{
  const records_program own = program_at(program, records);
  words->data = own.columns[0].data;
  words->stride = own.columns[0].stride;
  words->code = own.word;
  return 8 * own.word.bytes == own.key_width;
}

/* The key of record `i`. Sets *valid to false if the record holds an invalid value. */
template <bool Computed>
DEVICE_INLINE record_key make_key(const records_program *program, uint64_t i, bool *valid)
{
  record_key key = {{0, 0}};
  uint64_t code = 0;
  const unsigned char *const word = key_at(&program->columns[0], i);
  if (program->word.bytes == 4) {
    key.words[0] = word_code_32(&program->word, *(const uint32_t *)(const void *)word);
    return key;
  }
  if (program->word.bytes == 8) {
    key.words[0] = word_code_64(&program->word, *(const uint64_t *)(const void *)word);
    return key;
  }
  for (uint32_t s = 0; s < program->step_count; s++) {
    const recsort_key_step *const step = &program->steps[s];
    const recsort_key_column *const column = &program->columns[s];
    code = Computed ? key_step_in(step, column, i, code, valid)
                    : key_after(step, key_field_at(step, key_at(column, i), valid), code);
    if (step->width) place_code(&key, step->shift, code);
  }
  return key;
}

/* Writes key `i` of an array of keys of so many bits. */
DEVICE_INLINE void store_key(void *keys, uint32_t key_width, uint64_t i, record_key key)
{
  if (key_width == 32) {
    ((uint32_t *)keys)[i] = (uint32_t)key.words[0];
  } else if (key_width == 64) {
    ((uint64_t *)keys)[i] = key.words[0];
  } else {
    ((uint64_t *)keys)[2 * i] = key.words[0];
    ((uint64_t *)keys)[2 * i + 1] = key.words[1];
  }
}

/* Key `i` of such an array. */
DEVICE_INLINE record_key load_key(const void *keys, uint32_t key_width, uint64_t i)
{
  const uint64_t *const words = (const uint64_t *)keys;
  if (key_width == 32) return {{((const uint32_t *)keys)[i], 0}};
  if (key_width == 64) return {{words[i], 0}};
  return {{words[2 * i], words[2 * i + 1]}};
}

DEVICE_INLINE bool is_key(const record_key &key, const record_key &other)
{
  return key.words[0] == other.words[0] && key.words[1] == other.words[1];
}

/* The hash of a key of so many bits, and its number. */
DEVICE_INLINE uint64_t hash_numbered(const record_key &key, uint32_t key_width, uint64_t number,
                                     uint32_t index_bits)
{
  const uint32_t narrow = (uint32_t)key.words[0], index = (uint32_t)number;
  if (index_bits == 32)
    return key_width == 32   ? hash_both(narrow, index)
           : key_width == 64 ? hash_both(key.words[0], index)
                             : hash_both(key, index);
  return key_width == 32   ? hash_both(narrow, number)
         : key_width == 64 ? hash_both(key.words[0], number)
                           : hash_both(key, number);
}

} // namespace records

#endif
