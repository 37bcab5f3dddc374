/* scope.c - what a call compares of each record: see rs_scope. */
#include "base/assert.h"
#include "base/bits.h"
#include "plan/plan.h"

void rs_plan_set_scope(rs_plan *plan, const rs_scope *scope)
{
  recsort_key_program *const program = &plan->program;
  const unsigned numbers = scope->offsets ? bits_of((uint64_t)scope->segment_count + 1) : 0;
  RS_ASSERT(scope->bits == 0 || scope->first_bit + scope->bits <= plan->key_bits);
  plan->scope = *scope;
  program->key_bits = (scope->bits ? scope->bits : plan->key_bits) + numbers;
  program->key_width = rs_width_for(program->key_bits);
  if (program->key_width < plan->key_width) program->key_width = plan->key_width;
  RS_ASSERT(program->key_bits <= program->key_width);
}

void rs_plan_clear_scope(rs_plan *plan)
{
  plan->scope.offsets = NULL;
  plan->scope.bits = 0;
  plan->program.key_bits = plan->key_bits;
  plan->program.key_width = plan->key_width;
}

size_t rs_scope_number(const rs_scope *scope, size_t record)
{
  RS_ASSERT(scope->offsets);
  size_t low = 0, high = scope->segment_count + 1;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (rs_offset_at(scope->offsets, scope->offset_bits, middle) <= record)
      low = middle + 1;
    else
      high = middle;
  }
  RS_ASSERT(low == 0 || rs_offset_at(scope->offsets, scope->offset_bits, low - 1) <= record);
  return low;
}

bool rs_scope_leaves(const rs_scope *scope, size_t record)
{
  if (!scope->offsets) return false;
  const size_t number = rs_scope_number(scope, record);
  return number == 0 || number > scope->segment_count;
}
