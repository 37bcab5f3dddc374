/* records.cu - see records.h. Each thread makes a key, checks an index or a pair, or moves a unit
 * of a record; adjacent threads write adjacent units. */
#include "gpu/records.h"

#include "cuda/device.h"
#include "cuda/plan.h"
#include "cuda/records/record_key.h"
#include "cuda/records/record_units.h"
#include "cuda/segments/segments.h"
#include "recsort/plugin.h"

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

/* ---- Sums ---- */

enum { RECORDS_WARP = 32, RECORDS_WARPS = RECORDS_BLOCK / RECORDS_WARP };

/* The bytes that are loaded at once: they divide the address and size of each record. */
static uint32_t load_unit(uint64_t record_size)
{
  return record_size % 8 == 0 ? 8 : record_size % 4 == 0 ? 4 : 1;
}

DEVICE_INLINE uint64_t hash_record(const unsigned char *record, uint64_t size, uint32_t unit)
{
  if (unit == 8) return record_hash(record, size, 8);
  if (unit == 4) return record_hash(record, size, 4);
  return record_hash(record, size, 1);
}

/* The sum of 32-bit numbers over a warp. Sums their halves separately, so that nothing
 * overflows. */
DEVICE_INLINE uint64_t sum_warp(uint32_t number)
{
  const uint64_t low = device_warp_sum(number & 0xffff), high = device_warp_sum(number >> 16);
  return low + (high << 16);
}

/* Adds the hashes of all threads of the block to `sums`. By all threads; one barrier. */
DEVICE_INLINE void add_hashes(record_sums *sums, uint64_t hash)
{
  DEVICE_SHARED_ARRAY(record_sums, parts, RECORDS_WARPS);
  const uint64_t low = sum_warp((uint32_t)hash), high = sum_warp((uint32_t)(hash >> 32));
  if (threadIdx.x % RECORDS_WARP == 0) {
    parts[threadIdx.x / RECORDS_WARP].low = low;
    parts[threadIdx.x / RECORDS_WARP].high = high;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  record_sums all = parts[0];
  for (uint32_t w = 1; w < RECORDS_WARPS; w++) {
    all.low += parts[w].low;
    all.high += parts[w].high;
  }
  (void)device_add64(&sums->low, all.low);
  (void)device_add64(&sums->high, all.high);
}

/* ---- Keys ---- */

struct encode_args {
  static constexpr uint32_t max_threads = RECORDS_BLOCK;
  records_program program;
  const unsigned char *records;
  void *keys;
  records_facts *facts;
  uint64_t count;
  uint32_t unit; /* of sums */
  uint32_t each; /* records of a thread */
};

DEVICE_INLINE void store_key(const encode_args *args, uint64_t i, records_key key)
{
  if (args->program.key_width == 32) {
    ((uint32_t *)args->keys)[i] = (uint32_t)key.words[0];
  } else if (args->program.key_width == 64) {
    ((uint64_t *)args->keys)[i] = key.words[0];
  } else {
    ((uint64_t *)args->keys)[2 * i] = key.words[0];
    ((uint64_t *)args->keys)[2 * i + 1] = key.words[1];
  }
}

/* Records of a thread that encodes fields, so that their loads overlap. Few records are better
 * spread over many threads. */
#ifndef ENCODED_LEAST
#define ENCODED_LEAST (1 << 18)
#endif
enum { ENCODED = 4 };

/* Makes the keys of `each` records, at most ENCODED, at the distance of a block. */
DEVICE_INLINE void encode(const encode_args *args, bool computed, uint32_t each)
{
  const uint64_t first = (uint64_t)blockIdx.x * blockDim.x * each + threadIdx.x;
  records_key keys[ENCODED];
  bool valid = true;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < ENCODED; t++) {
    const uint64_t i = first + t * blockDim.x;
    if (t < each && i < args->count) keys[t] = make_key(&args->program, computed, i, &valid);
  }
  DEVICE_UNROLL
  for (uint32_t t = 0; t < ENCODED; t++) {
    const uint64_t i = first + t * blockDim.x;
    if (t < each && i < args->count) store_key(args, i, keys[t]);
  }
  if (!valid) args->facts->invalid = 1;
}

static __global__ void __launch_bounds__(RECORDS_BLOCK)
    encode_fields(const __grid_constant__ encode_args args)
{
  device_await_before();
  encode(&args, false, args.each);
}

static __global__ void __launch_bounds__(RECORDS_BLOCK)
    encode_keys(const __grid_constant__ encode_args args)
{
  device_await_before();
  encode(&args, true, 1);
}

/* Also adds the records to a sum. */
DEVICE_INLINE void encode_summed(const encode_args *args, bool computed)
{
  const uint64_t i = records_thread(), size = args->program.record_size;
  const bool mine = i < args->count;
  encode(args, computed, 1);
  add_hashes(&args->facts->came,
             mine ? hash_record(args->records + i * size, size, args->unit) : 0);
}

static __global__ void __launch_bounds__(RECORDS_BLOCK)
    encode_summed_fields(const __grid_constant__ encode_args args)
{
  device_await_before();
  encode_summed(&args, false);
}

static __global__ void __launch_bounds__(RECORDS_BLOCK)
    encode_summed_keys(const __grid_constant__ encode_args args)
{
  device_await_before();
  encode_summed(&args, true);
}

device_status records_encode(const records_program *program, const void *records, uint64_t count,
                             void *keys, bool summed, records_facts *facts, void *stream)
{
  encode_args args = {program_at(program, records),
                      (const unsigned char *)records,
                      keys,
                      facts,
                      count,
                      load_unit(program->record_size),
                      1};
  const bool computed = has_computed(program);
  if (!summed && !computed && count >= ENCODED_LEAST) args.each = ENCODED;
  const uint64_t grid = plan_blocks(count, RECORDS_BLOCK * args.each);
  if (summed && computed)
    return device_launch(encode_summed_keys, grid, RECORDS_BLOCK, 0, stream, args);
  if (summed) return device_launch(encode_summed_fields, grid, RECORDS_BLOCK, 0, stream, args);
  if (computed) return device_launch(encode_keys, grid, RECORDS_BLOCK, 0, stream, args);
  return device_launch(encode_fields, grid, RECORDS_BLOCK, 0, stream, args);
}

bool records_words(const records_program *program, const void *records, device_words *words)
{
  const records_program own = program_at(program, records);
  words->data = own.columns[0].data;
  words->stride = own.columns[0].stride;
  words->code = own.word;
  return 8 * own.word.bytes == own.key_width;
}

/* ---- Segments ---- */

struct segments_args {
  static constexpr uint32_t max_threads = RECORDS_BLOCK;
  encode_args encode;
  device_segments segments;
  uint32_t key_bits;
};

/* Two warps find the segments of the block's first and last record; that leaves few for the others
 * to search. */
DEVICE_INLINE void encode_in_segment(const segments_args *args, bool computed)
{
  DEVICE_SHARED_ARRAY(uint64_t, ends, 2);
  const device_segments *const segments = &args->segments;
  const encode_args *const encode = &args->encode;
  const uint64_t i = records_thread(),
                 last = plan_min(i - threadIdx.x + blockDim.x, encode->count) - 1;
  const uint32_t warp = threadIdx.x / RECORDS_WARP;
  if (warp < 2) {
    const uint64_t found = warp_offsets_up_to(segments, warp ? last : i - threadIdx.x);
    if (threadIdx.x % RECORDS_WARP == 0) ends[warp] = found;
  }
  __syncthreads();
  if (i >= encode->count) return;
  const uint64_t number = offsets_up_to(segments, ends[0], ends[1], i);
  records_key key = {{0, 0}};
  if (number > 0 && number <= segments->count) {
    bool valid = true;
    key = make_key(&encode->program, computed, i, &valid);
    if (!valid) encode->facts->invalid = 1;
  }
  place_code(&key, args->key_bits, number);
  store_key(encode, i, key);
}

static __global__ void __launch_bounds__(RECORDS_BLOCK)
    encode_segment_fields(const __grid_constant__ segments_args args)
{
  device_await_before();
  encode_in_segment(&args, false);
}

static __global__ void __launch_bounds__(RECORDS_BLOCK)
    encode_segment_keys(const __grid_constant__ segments_args args)
{
  device_await_before();
  encode_in_segment(&args, true);
}

device_status records_encode_segments(const records_program *program, const void *records,
                                      uint64_t count, const device_segments *segments,
                                      uint32_t key_bits, void *keys, records_facts *facts,
                                      void *stream)
{
  segments_args args = {
      {program_at(program, records), NULL, keys, facts, count, 0, 1}, *segments, key_bits};
  const uint64_t grid = plan_blocks(count, RECORDS_BLOCK);
  return has_computed(program)
             ? device_launch(encode_segment_keys, grid, RECORDS_BLOCK, 0, stream, args)
             : device_launch(encode_segment_fields, grid, RECORDS_BLOCK, 0, stream, args);
}

/* ---- What was found ---- */

struct conclude_args {
  static constexpr uint32_t max_threads = 1;
  const records_facts *facts;
  const uint32_t *disorder;
  uint32_t *status;
};

static __global__ void __launch_bounds__(conclude_args::max_threads)
    conclude(const __grid_constant__ conclude_args args)
{
  device_await_before();
  *args.status = *args.disorder         ? RECSORT_CORRUPT_RESULT
                 : args.facts->overlong ? RECSORT_INVALID_ARGUMENT
                 : args.facts->invalid  ? RECSORT_INVALID_RECORD
                                        : RECSORT_OK;
}

device_status records_conclude(const records_facts *facts, const uint32_t *disorder,
                               uint32_t *status, void *stream)
{
  const conclude_args args = {facts, disorder, status};
  return device_launch(conclude, 1, conclude_args::max_threads, 0, stream, args);
}

/* ---- Records on their way back ---- */

struct confirm_args {
  static constexpr uint32_t max_threads = RECORDS_BLOCK;
  records_program program;
  const unsigned char *records;
  const void *keys;
  records_facts *facts;
  uint64_t count;
  uint32_t unit;
};

DEVICE_INLINE bool has_key(const confirm_args *args, bool computed, uint64_t i)
{
  bool valid = true;
  const records_key key = make_key(&args->program, computed, i, &valid);
  const uint64_t *const words = (const uint64_t *)args->keys;
  if (args->program.key_width == 32)
    return ((const uint32_t *)args->keys)[i] == (uint32_t)key.words[0];
  if (args->program.key_width == 64) return words[i] == key.words[0];
  return words[2 * i] == key.words[0] && words[2 * i + 1] == key.words[1];
}

DEVICE_INLINE void confirm(const confirm_args *args, bool computed)
{
  const uint64_t i = records_thread();
  const unsigned char *const record = args->records + i * args->program.record_size;
  uint64_t hash = 0;
  if (i < args->count) {
    if (!has_key(args, computed, i)) args->facts->strayed = 1;
    hash = hash_record(record, args->program.record_size, args->unit);
  }
  add_hashes(&args->facts->left, hash);
}

static __global__ void __launch_bounds__(RECORDS_BLOCK)
    confirm_fields(const __grid_constant__ confirm_args args)
{
  device_await_before();
  confirm(&args, false);
}

static __global__ void __launch_bounds__(RECORDS_BLOCK)
    confirm_keys(const __grid_constant__ confirm_args args)
{
  device_await_before();
  confirm(&args, true);
}

device_status records_confirm(const records_program *program, const void *records, uint64_t count,
                              const void *keys, records_facts *facts, void *stream)
{
  confirm_args args = {
      program_at(program, records),   (const unsigned char *)records, keys, facts, count,
      load_unit(program->record_size)};
  const uint64_t grid = plan_blocks(count, RECORDS_BLOCK);
  return has_computed(program)
             ? device_launch(confirm_keys, grid, RECORDS_BLOCK, 0, stream, args)
             : device_launch(confirm_fields, grid, RECORDS_BLOCK, 0, stream, args);
}

/* ---- Checks ---- */

struct check_args {
  static constexpr uint32_t max_threads = RECORDS_BLOCK;
  const void *order;
  uint32_t *seen;
  records_facts *facts;
  uint64_t count;
  uint32_t index_bits;
};

/* If n indices below n all differ, they are a permutation. */
static __global__ void __launch_bounds__(RECORDS_BLOCK)
    check_order(const __grid_constant__ check_args args)
{
  device_await_before();
  const uint64_t i = records_thread();
  if (i >= args.count) return;
  const uint64_t at = records_index(args.order, args.index_bits, i);
  if (at >= args.count) {
    args.facts->broken = 1;
    return;
  }
  const uint32_t bit = 1u << at % 32;
  const uint32_t before = device_or32(&args.seen[at / 32], bit);
  if (before & bit) args.facts->broken = 1;
}

device_status records_check(const void *order, uint32_t index_bits, uint64_t count, uint32_t *seen,
                            records_facts *facts, void *stream)
{
  check_args args = {order, seen, facts, count, index_bits};
  const device_status status = device_clear(seen, records_seen_bytes(count), stream);
  if (status) return status;
  return device_launch(check_order, plan_blocks(count, RECORDS_BLOCK), RECORDS_BLOCK, 0, stream,
                       args);
}

struct ordered_args {
  static constexpr uint32_t max_threads = RECORDS_BLOCK;
  records_order order;
};

/* Less than, equal to or greater than 0 if key a is less than, equal to or greater than key b. */
DEVICE_INLINE int compare_keys(const void *keys, uint32_t key_width, uint64_t a, uint64_t b)
{
  if (key_width == 32) {
    const uint32_t x = ((const uint32_t *)keys)[a], y = ((const uint32_t *)keys)[b];
    return (x > y) - (x < y);
  }
  const uint64_t *const words = (const uint64_t *)keys;
  const uint32_t each = key_width / 64;
  for (uint32_t w = each; w-- > 0;) {
    const uint64_t x = words[a * each + w], y = words[b * each + w];
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

/* True if index `i` does not come after the one before it. */
DEVICE_INLINE bool is_turned(const records_order *order, uint64_t i)
{
  return records_index(order->indices, order->index_bits, i - 1) >=
         records_index(order->indices, order->index_bits, i);
}

/* True if pair `i` does not come after the one before it. */
DEVICE_INLINE bool is_disordered(const records_order *order, uint64_t i)
{
  const int compared = compare_keys(order->keys, order->key_width, i - 1, i);
  return compared > 0 || (compared == 0 && is_turned(order, i));
}

enum { CHECKED = 8 }; /* pairs of a thread, whose loads overlap */

/* The place of the thread's pair number `t`. Beyond the end it is that of the last pair. */
DEVICE_INLINE uint64_t checked_place(const records_order *order, uint64_t first, uint32_t t)
{
  return plan_min(first + t * blockDim.x, order->count - 1);
}

/* Compares each of the thread's pairs with the one before it. Reads the indices of equal keys only.
 * `key_width` is a compile-time constant. */
DEVICE_INLINE bool are_disordered(const records_order *order, uint64_t first, uint32_t key_width)
{
  int compared[CHECKED];
  bool wrong = false;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CHECKED; t++) {
    const uint64_t i = checked_place(order, first, t);
    compared[t] = compare_keys(order->keys, key_width, i - 1, i);
  }
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CHECKED; t++) {
    const bool tie = compared[t] == 0;
    wrong |= compared[t] > 0 || (tie && is_turned(order, checked_place(order, first, t)));
  }
  return wrong;
}

static __global__ void __launch_bounds__(RECORDS_BLOCK)
    check_pairs(const __grid_constant__ ordered_args args)
{
  device_await_before();
  const uint64_t first = (uint64_t)blockIdx.x * blockDim.x * CHECKED + threadIdx.x + 1;
  const records_order *const order = &args.order;
  if (order->count < 2) return;
  const bool wrong = order->key_width == 32   ? are_disordered(order, first, 32)
                     : order->key_width == 64 ? are_disordered(order, first, 64)
                                              : are_disordered(order, first, 128);
  if (wrong) device_poke32(order->disorder, 1);
}

device_status records_ordered(const records_order *order, void *stream)
{
  ordered_args args = {*order};
  return device_launch(check_pairs, plan_blocks(order->count, RECORDS_BLOCK * CHECKED),
                       RECORDS_BLOCK, 0, stream, args);
}

/* ---- Gather ---- */

struct copy_args {
  static constexpr uint32_t max_threads = RECORDS_BLOCK;
  unit_copy copy;
};

static __global__ void __launch_bounds__(RECORDS_BLOCK)
    copy_memory(const __grid_constant__ copy_args args)
{
  device_await_before();
  const uint64_t begin = (uint64_t)blockIdx.x * RECORDS_BLOCK * COPIED;
  copy_range(&args.copy, begin, begin + RECORDS_BLOCK * COPIED);
}

enum { GATHERED = 2 }; /* units of a thread, whose loads overlap */

struct gather_args {
  static constexpr uint32_t max_threads = RECORDS_BLOCK;
  record_units units;
  records_order order;
};

static __global__ void __launch_bounds__(RECORDS_BLOCK)
    gather_records(const __grid_constant__ gather_args args)
{
  device_await_before();
  DEVICE_SHARED_ARRAY(uint64_t, places, RECORDS_BLOCK);
  const records_order *const order = &args.order;
  const uint64_t i = records_thread(), first = i - threadIdx.x;
  const uint32_t count = (uint32_t)plan_min(order->count - first, blockDim.x);
  if (i < order->count) places[threadIdx.x] = records_index(order->indices, order->index_bits, i);
  __syncthreads();
  if (order->disorder && i > 0 && i < order->count && is_disordered(order, i))
    device_poke32(order->disorder, 1);
  move_records<GATHERED>(&args.units, first, places, count);
}

device_status records_gather(const void *records, uint64_t record_size, const records_order *order,
                             void *to, void *stream)
{
  gather_args args = {record_units_of(records, to, record_size, RECORDS_BLOCK), *order};
  return device_launch(gather_records, plan_blocks(order->count, RECORDS_BLOCK), RECORDS_BLOCK, 0,
                       stream, args);
}

device_status records_copy(void *to, const void *from, uint64_t bytes, void *stream)
{
  copy_args args = {unit_copy_of(from, to, bytes)};
  return device_launch(copy_memory, plan_blocks(args.copy.count, RECORDS_BLOCK * COPIED),
                       RECORDS_BLOCK, 0, stream, args);
}

/* ---- Pieces ---- */

/* Blocks that follow one another take parts that are far apart: some go to this device and some to
 * each of the others. Otherwise all would go over the same wire, then none. */
enum { PARTS = 16, LINE = 128 };

struct pieces_args {
  static constexpr uint32_t max_threads = RECORDS_BLOCK;
  record_units units; /* without a target */
  records_order order;
  uint64_t part; /* blocks */
  uint32_t piece_count;
  uint32_t skips[RECORDS_MOST_PIECES]; /* records that the first block of a piece has not */
  records_piece pieces[RECORDS_MOST_PIECES];
};

/* How many blocks gather a piece. */
DEVICE_INLINE uint64_t piece_blocks(const pieces_args *args, uint32_t p)
{
  return plan_blocks(args->pieces[p].count + args->skips[p], RECORDS_BLOCK);
}

/* Writes key `i` of the order to place `at`. */
DEVICE_INLINE void copy_key(const records_order *order, uint64_t i, void *to, uint64_t at)
{
  if (order->key_width == 32)
    ((uint32_t *)to)[at] = ((const uint32_t *)order->keys)[i];
  else if (order->key_width == 64)
    ((uint64_t *)to)[at] = ((const uint64_t *)order->keys)[i];
  else
    ((records_unit16 *)to)[at] = ((const records_unit16 *)order->keys)[i];
}

static __global__ void __launch_bounds__(RECORDS_BLOCK)
    gather_pieces(const __grid_constant__ pieces_args args)
{
  device_await_before();
  DEVICE_SHARED_ARRAY(uint64_t, places, RECORDS_BLOCK);
  const records_order *const order = &args.order;
  record_units units = args.units;
  uint64_t block = blockIdx.x % PARTS * args.part + blockIdx.x / PARTS;
  uint32_t p = 0;
  while (p < args.piece_count && block >= piece_blocks(&args, p))
    block -= piece_blocks(&args, p++);
  if (p == args.piece_count) return;
  const records_piece *const piece = &args.pieces[p];
  const uint64_t first = block ? block * RECORDS_BLOCK - args.skips[p] : 0;
  const uint64_t end = plan_min((block + 1) * RECORDS_BLOCK - args.skips[p], piece->count);
  const uint64_t i = piece->first + first + threadIdx.x;
  const uint32_t count = (uint32_t)(end - first);
  if (threadIdx.x < count)
    places[threadIdx.x] = records_index(order->indices, order->index_bits, i);
  __syncthreads();
  if (order->disorder && i > 0 && threadIdx.x < count && is_disordered(order, i))
    device_poke32(order->disorder, 1);
  if (piece->keys_to && threadIdx.x < count)
    copy_key(order, i, piece->keys_to, first + threadIdx.x);
  units.to = piece->to;
  move_records<GATHERED>(&units, first, places, count);
}

/* So many fewer records in the first block, that the others begin where a line of memory does, if
 * records allow it: each warp then writes whole lines to another device. */
static uint32_t skip_of(const records_piece *piece, uint64_t record_size)
{
  uint32_t skip = 0;
  while (skip + 1 < RECORDS_BLOCK &&
         ((uintptr_t)piece->to + (RECORDS_BLOCK - skip) * record_size) % LINE != 0)
    skip++;
  return skip;
}

device_status records_gather_pieces(const void *records, uint64_t record_size,
                                    const records_order *order, const records_piece *pieces,
                                    uint32_t piece_count, void *stream)
{
  pieces_args args = {{}, *order, 0, piece_count, {}, {}};
  uintptr_t targets = 0;
  uint64_t blocks = 0;
  for (uint32_t p = 0; p < piece_count; p++) {
    args.pieces[p] = pieces[p];
    args.skips[p] = skip_of(&pieces[p], record_size);
    targets |= (uintptr_t)pieces[p].to;
    blocks += plan_blocks(pieces[p].count + args.skips[p], RECORDS_BLOCK);
  }
  args.units = record_units_of(records, (void *)targets, record_size, RECORDS_BLOCK);
  args.part = plan_blocks(blocks, PARTS);
  return blocks ? device_launch(gather_pieces, args.part * PARTS, RECORDS_BLOCK, 0, stream, args)
                : 0;
}
