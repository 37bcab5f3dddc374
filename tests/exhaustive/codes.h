/* codes.h - the steps of keys of 64 bits, for proofs.py and for all_keys.c, which compares them
 * with those of the plan. */
#ifndef RS_TEST_CODES_H
#define RS_TEST_CODES_H

#include "recsort/key_interpreter.h"

static inline recsort_key_step step_of(unsigned kind, unsigned flags)
{
  return (recsort_key_step){.kind = (uint16_t)kind,
                            .flags = (uint16_t)flags,
                            .bytes = 8,
                            .width = 64,
                            .limit = kind == RECSORT_KEY_FLOAT ? UINT64_C(0x7ff) << 52 : 0};
}

static inline uint64_t code_of(uint64_t raw, unsigned kind, unsigned flags)
{
  const recsort_key_step step = step_of(kind, flags);
  bool valid = true;
  return key_code(&step, raw, &valid);
}

static inline uint64_t value_of(uint64_t code, unsigned kind, unsigned flags)
{
  const recsort_key_step step = step_of(kind, flags);
  if (step.kind == RECSORT_KEY_NULLABLE) return 0; /* it would have operands */
  return key_value(&step, code, 0);
}

#endif
