/* records.c - see records.h. A thread makes a key, looks at an index, or moves one unit of a
 * record: neighbouring threads write neighbouring units. */
#include "cuda/records.h"

#include "cuda/device.h"
#include "cuda/plan.h"

#include "common/key_interpreter.h"

enum { RECORDS_BLOCK = 256 };

DEVICE_INLINE uint64_t records_thread(void)
{
  return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

DEVICE_INLINE uint64_t records_index(const void *order, uint32_t bits, uint64_t i)
{
  return bits == 32 ? ((const uint32_t *)order)[i] : ((const uint64_t *)order)[i];
}

device_status records_begin(records_facts *facts, void *stream)
{
  return device_clear(facts, sizeof *facts, stream);
}

device_status records_end(const records_facts *facts, records_facts *found, void *stream)
{
  return device_read(found, facts, sizeof *found, stream);
}

/* ---- Keys ---- */

typedef struct encode_args {
  records_program program;
  const unsigned char *records;
  void *keys;
  records_facts *facts;
  uint64_t count;
} encode_args;

DEVICE_KERNEL(encode_keys, RECORDS_BLOCK, encode_args, args)
{
  const uint64_t i = records_thread();
  uint64_t words[3] = {0, 0, 0}; /* key_place looks at the word behind, too */
  bool valid = true;
  if (i >= args.count) return;
  const unsigned char *const record = args.records + i * args.program.record_size;
  for (uint32_t s = 0; s < args.program.step_count; s++)
    key_place(words, &args.program.steps[s], key_step(&args.program.steps[s], record, &valid));
  if (!TWIN(RECORDS_VALID, true, valid)) args.facts->invalid = 1;
  if (args.program.key_width == 32) {
    ((uint32_t *)args.keys)[i] = (uint32_t)words[0];
  } else if (args.program.key_width == 64) {
    ((uint64_t *)args.keys)[i] = words[0];
  } else {
    ((uint64_t *)args.keys)[2 * i] = words[0];
    ((uint64_t *)args.keys)[2 * i + 1] = words[1];
  }
}

device_status records_encode(const records_program *program, const void *records, uint64_t count,
                             void *keys, records_facts *facts, void *stream)
{
  encode_args args = {*program, (const unsigned char *)records, keys, facts, count};
  return DEVICE_LAUNCH(encode_keys, plan_blocks(count, RECORDS_BLOCK), RECORDS_BLOCK, 0, stream,
                       args);
}

/* ---- The proof ---- */

typedef struct check_args {
  const void *order;
  uint32_t *seen;
  records_facts *facts;
  uint64_t count;
  uint32_t index_bits;
} check_args;

/* As many indices as there are records, all in range and no two alike, leave none out. */
DEVICE_KERNEL(check_order, RECORDS_BLOCK, check_args, args)
{
  const uint64_t i = records_thread();
  if (i >= args.count) return;
  const uint64_t at = records_index(args.order, args.index_bits, i);
  if (TWIN(RECORDS_RANGE, at > args.count, at >= args.count)) {
    args.facts->broken = 1;
    return;
  }
  const uint32_t bit = 1u << at % 32;
  const uint32_t before = device_or32(&args.seen[at / 32], bit);
  if (TWIN(RECORDS_TWICE, false, before & bit)) args.facts->broken = 1;
}

device_status records_check(const void *order, uint32_t index_bits, uint64_t count, uint32_t *seen,
                            records_facts *facts, void *stream)
{
  check_args args = {order, seen, facts, count, index_bits};
  const device_status status = device_clear(seen, records_seen_bytes(count), stream);
  if (status) return status;
  return DEVICE_LAUNCH(check_order, plan_blocks(count, RECORDS_BLOCK), RECORDS_BLOCK, 0, stream,
                       args);
}

/* ---- Moving ---- */

typedef struct records_unit16 {
  uint64_t half[2];
} records_unit16;

typedef struct gather_args {
  const void *records;
  const void *order;
  void *to;
  uint64_t count;
  uint32_t each; /* units of a record */
  uint32_t unit; /* bytes */
  uint32_t index_bits;
  uint32_t next_record, next_unit; /* so far it is from a thread's unit to its next one */
} gather_args;

/* Of `bytes`, a constant. */
DEVICE_INLINE void move_unit(void *to, uint64_t i, const void *from, uint64_t at, uint32_t bytes)
{
  if (bytes == 16)
    ((records_unit16 *)to)[i] = ((const records_unit16 *)from)[at];
  else if (bytes == 8)
    ((uint64_t *)to)[i] = ((const uint64_t *)from)[at];
  else if (bytes == 4)
    ((uint32_t *)to)[i] = ((const uint32_t *)from)[at];
  else if (bytes == 2)
    ((uint16_t *)to)[i] = ((const uint16_t *)from)[at];
  else
    ((unsigned char *)to)[i] = ((const unsigned char *)from)[at];
}

/* The block's records, `count` of them, whose places are known: so that loads need not wait for
 * each other. */
DEVICE_INLINE void move_units(const gather_args *args, const uint64_t *places, uint32_t count,
                              uint32_t bytes)
{
  const uint64_t first = (uint64_t)blockIdx.x * blockDim.x * args->each;
  uint32_t record = threadIdx.x / args->each, unit = threadIdx.x % args->each;
  DEVICE_UNROLL_BY_4
  for (uint32_t i = threadIdx.x; i < count * args->each; i += blockDim.x) {
    move_unit(args->to, first + i, args->records,
              places[record] * args->each + TWIN(RECORDS_UNIT, 0, unit), bytes);
    record += args->next_record;
    unit += args->next_unit;
    if (unit >= args->each) {
      unit -= args->each;
      record++;
    }
  }
}

DEVICE_KERNEL(gather_records, RECORDS_BLOCK, gather_args, args)
{
  DEVICE_SHARED_ARRAY(uint64_t, places, RECORDS_BLOCK);
  const uint64_t i = records_thread(), first = i - threadIdx.x;
  const uint32_t count = (uint32_t)plan_min(args.count - first, blockDim.x);
  if (i < args.count) places[threadIdx.x] = records_index(args.order, args.index_bits, i);
  __syncthreads();
  if (args.unit == 16)
    move_units(&args, places, count, 16);
  else if (args.unit == 8)
    move_units(&args, places, count, 8);
  else if (args.unit == 4)
    move_units(&args, places, count, 4);
  else if (args.unit == 2)
    move_units(&args, places, count, 2);
  else
    move_units(&args, places, count, 1);
}

device_status records_gather(const void *records, uint64_t record_size, const void *order,
                             uint32_t index_bits, uint64_t count, void *to, void *stream)
{
  uint32_t unit = 16;
  while (record_size % unit != 0)
    unit /= 2;
  const uint32_t each = (uint32_t)(record_size / unit);
  gather_args args = {records,
                      order,
                      to,
                      count,
                      each,
                      unit,
                      index_bits,
                      RECORDS_BLOCK / each,
                      RECORDS_BLOCK % each};
  return DEVICE_LAUNCH(gather_records, plan_blocks(count, RECORDS_BLOCK), RECORDS_BLOCK, 0, stream,
                       args);
}
