/* record_reading.cuh - loads of keys that overlap. A key that is one aligned word is loaded before
 * it is looked at, so that a thread has several loads in flight; other keys are made one by one. */
#ifndef RECSORT_CUDA_RECORD_READING_CUH
#define RECSORT_CUDA_RECORD_READING_CUH

#include "cuda/record_key.h"

/* What keys are made of. */
struct record_source {
  records_program program;
  const unsigned char *records;
  records_facts *facts;
};

enum reading { WORDS_OF_4, WORDS_OF_8, FIELDS, COMPUTED };

static inline reading reading_of(const records_program &program, const void *records)
{
  const recsort_key_step &step = program.steps[0];
  const uint64_t aligned = (uintptr_t)records | program.record_size | step.offset;
  if (has_computed(&program)) return COMPUTED;
  if (program.step_count > 1 || aligned % step.bytes != 0) return FIELDS;
  return step.bytes == 4 ? WORDS_OF_4 : step.bytes == 8 ? WORDS_OF_8 : FIELDS;
}

/* What is loaded of a record before its key is made. */
template <reading How> DEVICE_INLINE uint64_t load_word(const record_source &source, uint64_t at)
{
  const recsort_key_step &step = source.program.steps[0];
  const unsigned char *const from = source.records + at * source.program.record_size + step.offset;
  if (How == WORDS_OF_4) return *(const uint32_t *)from;
  if (How == WORDS_OF_8) return *(const uint64_t *)from;
  return 0;
}

DEVICE_INLINE uint64_t turn_bytes(uint64_t word, uint32_t bytes)
{
  uint64_t turned = 0;
  for (uint32_t i = 0; i < bytes; i++, word >>= 8)
    turned = turned << 8 | (word & 0xff);
  return turned;
}

/* The key of record `at`, whose word has been loaded. A float of 32 bits takes few instructions if
 * the compiler knows its size. */
template <reading How>
DEVICE_INLINE records_key key_with(const record_source &source, uint64_t at, uint64_t word,
                                   bool *valid)
{
  const recsort_key_step &step = source.program.steps[0];
  if (How == WORDS_OF_4 || How == WORDS_OF_8) {
    const bool big = step.flags & RECSORT_KEY_BIG_ENDIAN;
    if (big != key_host_is_big_endian()) word = turn_bytes(word, How == WORDS_OF_4 ? 4 : 8);
    if (How == WORDS_OF_4 && step.kind == RECSORT_KEY_FLOAT)
      return {{key_float_code((uint32_t)word, 32, step.flags, 0x7f800000), 0}};
    return {{key_code(&step, word, valid), 0}};
  }
  return make_key(&source.program, How == COMPUTED,
                  source.records + at * source.program.record_size, valid);
}

#endif
