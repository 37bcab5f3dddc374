/* record_key.h - makes the key of a record on the device. */
#ifndef RECSORT_CUDA_RECORD_KEY_H
#define RECSORT_CUDA_RECORD_KEY_H

#include "cuda/device.h"
#include "gpu/records.h"
#include "recsort/key_interpreter.h"

typedef struct records_key {
  uint64_t words[2];
} records_key;

/* key_place for keys of two words. It indexes them by constants, so that they are in registers. */
DEVICE_INLINE void place_code(records_key *key, uint32_t shift, uint64_t code)
{
  const uint32_t bit = shift % 64;
  const uint64_t here = code << bit, above = bit ? code >> (64 - bit) : 0;
  const bool low = shift < 64;
  key->words[0] |= low ? here : 0;
  key->words[1] |= low ? above : here;
}

/* Kernels for programs without computed keys are compiled apart, as those take more registers. */
static inline bool has_computed(const records_program *program)
{
  for (uint32_t s = 0; s < program->step_count; s++)
    if (program->steps[s].kind >= RECSORT_KEY_DISTANCE) return true;
  return false;
}

/* The program with columns, as kernels take it: if there is an array of records, parts of that. */
static inline records_program program_for(const records_program *program, const void *records)
{
  records_program own = *program;
  for (uint32_t s = 0; s < own.step_count && records; s++) {
    own.columns[s].data = (const unsigned char *)records + own.steps[s].offset;
    own.columns[s].stride = own.record_size;
  }
  return own;
}

/* The key of record `i`. */
DEVICE_INLINE records_key make_key(const records_program *program, bool computed, uint64_t i,
                                   bool *valid)
{
  records_key key = {{0, 0}};
  for (uint32_t s = 0; s < program->step_count; s++) {
    const recsort_key_step *const step = &program->steps[s];
    const recsort_key_column *const column = &program->columns[s];
    const uint64_t code = computed ? key_step_in(step, column, i, valid)
                                   : key_field_at(step, key_at(column, i), valid);
    if (step->width) place_code(&key, step->shift, code);
  }
  return key;
}

#endif
