/* record_key.h - makes the key of a record on the device. */
#ifndef RECSORT_CUDA_RECORD_KEY_H
#define RECSORT_CUDA_RECORD_KEY_H

#include "cuda/device.h"
#include "gpu/records.h"
#include "recsort/key_interpreter.h"

typedef struct records_key {
  uint64_t words[3]; /* key_place may access the word behind the key */
} records_key;

/* Kernels for programs without computed keys are compiled apart, as those take more registers. */
static inline bool has_computed(const records_program *program)
{
  for (uint32_t s = 0; s < program->step_count; s++)
    if (program->steps[s].kind >= RECSORT_KEY_DISTANCE) return true;
  return false;
}

DEVICE_INLINE records_key make_key(const records_program *program, bool computed,
                                   const unsigned char *record, bool *valid)
{
  records_key key = {{0, 0, 0}};
  for (uint32_t s = 0; s < program->step_count; s++) {
    const recsort_key_step *const step = &program->steps[s];
    key_place(key.words, step,
              computed ? key_step(step, record, valid) : key_field(step, record, valid));
  }
  return key;
}

#endif
