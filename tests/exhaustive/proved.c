/* What proofs.py proves something about: functions of the library with plain arguments. It is
 * compiled to LLVM's intermediate code, which the proofs are about. */
#include "base/checked.h"
#include "base/co_rank.h"
#include "cuda/plan.h"
#include "exhaustive/codes.h"

uint64_t code(uint64_t raw, unsigned kind, unsigned flags)
{
  return code_of(raw, kind, flags);
}

uint64_t value(uint64_t code, unsigned kind, unsigned flags)
{
  return value_of(code, kind, flags);
}

size_t cut(size_t rank, const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count)
{
  return co_rank(rank, (run64){a, a_count}, (run64){b, b_count});
}

size_t first(uint64_t x, const uint64_t *at, size_t count)
{
  return rank_first(x, (run64){at, count});
}

uint64_t index_bits(uint64_t count)
{
  return index_bits_for(count);
}

uint64_t power_below(uint64_t value)
{
  return plan_power_below(value);
}

uint64_t tile(uint64_t shared_bytes, uint64_t pair_bytes)
{
  const device_job job = {.shared_bytes = (uint32_t)shared_bytes};
  return plan_tile(&job, pair_bytes);
}

uint64_t block(uint64_t wanted)
{
  const device_job job = {.block = (uint32_t)wanted};
  return plan_block(&job);
}

uint64_t middle(uint64_t at, uint64_t width, uint64_t count)
{
  return plan_pair_at(at, width, count).middle;
}

uint64_t begin(uint64_t at, uint64_t width, uint64_t count)
{
  return plan_pair_at(at, width, count).begin;
}

uint64_t end(uint64_t at, uint64_t width, uint64_t count)
{
  return plan_pair_at(at, width, count).end;
}

uint64_t output_begin(uint64_t block, uint64_t outputs, uint64_t width, uint64_t count)
{
  const output_range range = plan_output(block, outputs, width, count);
  return range.pair.begin + range.begin;
}

uint64_t output_end(uint64_t block, uint64_t outputs, uint64_t width, uint64_t count)
{
  const output_range range = plan_output(block, outputs, width, count);
  return range.pair.begin + range.end;
}

uint64_t output_pair(uint64_t block, uint64_t outputs, uint64_t width, uint64_t count)
{
  return plan_output(block, outputs, width, count).pair.begin;
}

size_t sum(size_t a, size_t b)
{
  return rs_sum(a, b);
}

size_t round_up(size_t a, size_t unit)
{
  return rs_round_up(a, unit);
}
