/* resident_pairs.c - sorts a job in the device's memory whose records are numbers: the keys, of
 * which the first small array may be the values.
 *
 * Many keys are sorted by the device's carry sort, if at most one array moves with them, or their
 * permutation is wanted: keys and values move together, from the caller's arrays to the caller's,
 * and then the keys are checked. So are those of segments, if the longest is neither so short that
 * tiles suit nor too long; other segments are those of records. All others take these steps:
 *
 *   encode   codes of the keys, whose order is that of unsigned integers, of as few bits as are
 *            compared; unless the keys are such codes, and the sort can read them where they are
 *   sort     by the job's algorithm, which gets no mailbox and so does not wait. If the stream is
 *            being captured, the device may decide what is to be done. It numbers the keys itself,
 *            as equal ones differ by their numbers; so values do not move along
 *   copy     what is sorted in place and read by the next step
 *   finish   keys from their codes where these tell them; other keys, and values, by number.
 *            Many pairs are checked
 *   move     see resident_moves.c
 *
 * The last three are left out if all is in place and the device has found the keys in order. Few
 * pairs take one kernel or two in place of all steps, if nothing else moves. */
#include "base/assert.h"
#include "gpu/resident.h"

/* If only some bits of so many keys are compared, it is worth to look whether the others are the
 * same in all keys: then the codes tell the keys, and none is gathered. */
#ifndef PAIRS_LEAST_LOOK
#define PAIRS_LEAST_LOOK (1 << 18)
#endif

/* ---- Plan ---- */

/* True if the step's code is that of a number of the device at `offset`. */
static bool is_number(const recsort_key_step *step, uint64_t offset, uint32_t shift)
{
  enum { FLAGS = RECSORT_KEY_DESCENDING | RECSORT_KEY_NAN_FIRST | RECSORT_KEY_NAN_TOTAL };
  const bool kind = step->kind == RECSORT_KEY_UNSIGNED || step->kind == RECSORT_KEY_SIGNED ||
                    step->kind == RECSORT_KEY_FLOAT;
  return kind && step->offset == offset && step->shift == shift && step->width == 8 * step->bytes &&
         step->bit == 0 && (step->flags & ~FLAGS) == 0;
}

/* True if the record is one number of 4 or 8 bytes, or an integer of 16. */
static bool is_one_number(const recsort_key_program *program)
{
  const recsort_key_step *const steps = program->steps;
  const uint64_t size = program->record_size;
  if (program->step_count == 1)
    return (size == 4 || size == 8) && steps->bytes == size && is_number(steps, 0, 0);
  return program->step_count == 2 && size == 16 && is_number(&steps[0], 8, 64) &&
         is_number(&steps[1], 0, 0) && steps[0].bytes == 8 && steps[1].bytes == 8 &&
         steps[0].kind != RECSORT_KEY_FLOAT && steps[1].kind == RECSORT_KEY_UNSIGNED &&
         steps[0].flags == steps[1].flags;
}

static bool is_aligned(const recsort_array *array, uint64_t size)
{
  return ((uintptr_t)array->from | (uintptr_t)array->to) % size == 0;
}

/* The first array that can be values. */
static uint64_t find_values(const resident *r)
{
  for (uint64_t a = RESIDENT_ARRAYS; a < resident_arrays(r); a++) {
    const recsort_array array = resident_array(r, a);
    if ((array.element_size == 4 || array.element_size == 8) &&
        is_aligned(&array, array.element_size))
      return a;
  }
  return RESIDENT_NONE;
}

/* True if the record is a word of 4 or 8 bytes, of which a number is the key. */
static bool is_word(const recsort_key_program *program)
{
  const recsort_key_step *const step = program->steps;
  const uint64_t size = program->record_size;
  return program->step_count == 1 && (size == 4 || size == 8) && is_number(step, step->offset, 0) &&
         (step->kind != RECSORT_KEY_FLOAT || step->bytes == 4);
}

static void plan_words(resident *r)
{
  const recsort_job *const job = &r->job;
  const recsort_key_program *const whole = &r->whole;
  const recsort_array records = resident_array(r, RESIDENT_SORTED);
  r->are_words = job->sorted && !job->columns && !r->segments.count && !job->head &&
                 !job->device_count && !job->bits && !job->first_bit && is_word(whole) &&
                 is_aligned(&records, whole->record_size);
  if (!r->are_words) return;
  r->numbers = (device_pairs){.stream = job->stream,
                              .count = job->count,
                              .kind = whole->steps[0].kind,
                              .flags = whole->steps[0].flags,
                              .key_width = 8 * (uint32_t)whole->record_size,
                              .bits = whole->steps[0].width,
                              .number_bit = 8 * (uint32_t)whole->steps[0].offset,
                              .number_width = whole->steps[0].width,
                              .keys_in = job->records,
                              .keys_out = job->sorted};
}

void resident_plan_pairs(resident *r)
{
  const recsort_job *const job = &r->job;
  const recsort_key_program *const whole = &r->whole;
  const recsort_array keys = resident_array(r, RESIDENT_SORTED);
  const bool numbers =
      !job->columns && !job->head && is_one_number(whole) && is_aligned(&keys, whole->record_size);
  r->is_numbers = numbers && !r->segments.count;
  r->in_segments = numbers && r->segments.count && !job->device_count;
  r->are_words = false;
  r->numbers = (device_pairs){0};
  if (!r->is_numbers && !r->in_segments) {
    plan_words(r);
    return;
  }
  r->numbers = (device_pairs){.stream = job->stream,
                              .count = job->count,
                              .kind = whole->steps[0].kind,
                              .flags = whole->steps[0].flags,
                              .key_width = whole->key_width,
                              .first_bit = job->first_bit,
                              .bits = job->bits ? job->bits : whole->key_bits - job->first_bit,
                              .keys_in = job->records,
                              .keys_out = job->sorted,
                              .segments = r->segments,
                              .device_count = job->device_count};
  const uint64_t values = find_values(r);
  if (job->permutation && values == RESIDENT_NONE) {
    r->numbers.value_width = job->index_bits;
    r->numbers.values_out = job->permutation;
  } else if (values != RESIDENT_NONE) {
    const recsort_array array = resident_array(r, values);
    r->value = values;
    r->numbers.value_width = 8 * (uint32_t)array.element_size;
    r->numbers.values_in = array.from;
    r->numbers.values_out = array.to;
  }
}

/* ---- Numbers and values that are sorted together ---- */

/* Sets the job of such a sort. False: more than one array moves, or another algorithm is asked for.
 */
static bool find_carried(const resident *r, device_pairs *carried)
{
  const recsort_job *const job = &r->job;
  *carried = r->numbers;
  if (!(r->is_numbers || r->in_segments || r->are_words) || r->sort.algorithm != 0 || r->encodes)
    return false;
  if (job->permutation && job->permutation != carried->values_out) return false;
  for (uint64_t a = RESIDENT_ARRAYS; a < resident_arrays(r); a++) {
    const recsort_array array = resident_array(r, a);
    if (!array.to || a == r->value) continue;
    if (carried->values_out || array.element_size != 16 || !is_aligned(&array, 16)) return false;
    carried->value_width = 128;
    carried->values_in = array.from;
    carried->values_out = array.to;
  }
  return true;
}

uint64_t resident_carry_bytes(const resident *r)
{
  device_pairs carried;
  return find_carried(r, &carried)
             ? device_pairs_carry_bytes(&carried, r->self->device->shared_bytes)
             : 0;
}

bool resident_carry_is_fast(const resident *r)
{
  const device_segment_sort tiles = {.key_bits = r->part.key_bits,
                                     .count = r->job.count,
                                     .segments = r->segments,
                                     .shared_bytes = r->self->device->shared_bytes};
  return device_pairs_carry_is_fast(&r->numbers) &&
         !(r->in_segments && device_segments_suit(&tiles));
}

/* The bytes of an element. */
static uint64_t carried_size(const device_pairs *carried)
{
  return (carried->key_width + (carried->values_out ? carried->value_width : 0)) / 8;
}

static uint64_t extra_of_carry(const void *context, uint64_t count)
{
  const resident *const r = context;
  device_pairs carried;
  (void)find_carried(r, &carried);
  carried.count = count;
  return device_pairs_carry_bytes(&carried, r->self->device->shared_bytes) -
         count * carried_size(&carried);
}

uint64_t resident_most_carry_bytes(const resident *r)
{
  device_pairs carried;
  (void)find_carried(r, &carried);
  return carried.count * carried_size(&carried) + gpu_most_extra(extra_of_carry, r, carried.count);
}

device_status resident_carry(const resident *r)
{
  RS_ASSERT(r->carries);
  device_pairs carried;
  (void)find_carried(r, &carried);
  device_job on = r->pairs.job;
  on.certificate = r->pairs.certificate;
  return device_pairs_carry(&carried, &on, r->memory);
}

/* ---- Memory ---- */

static bool keys_stay(const resident *r)
{
  return r->numbers.keys_in == r->numbers.keys_out;
}

static bool values_stay(const resident *r)
{
  return r->numbers.values_in == r->numbers.values_out;
}

bool resident_pairs_stay(const resident *r)
{
  return keys_stay(r) && values_stay(r);
}

/* The bytes of copies, 0 if there is none. */
static uint64_t copied_keys(const resident *r)
{
  const device_pairs *const numbers = &r->numbers;
  return keys_stay(r) && device_pairs_reads_keys(numbers)
             ? numbers->count * (numbers->key_width / 8)
             : 0;
}

static uint64_t copied_values(const resident *r)
{
  return values_stay(r) ? r->numbers.count * (r->numbers.value_width / 8) : 0;
}

static char *take_room(resident_room *room, uint64_t size)
{
  const uint64_t bytes = device_aligned(size);
  const bool fits = bytes <= room->side_bytes;
  char **const from = fits ? &room->side : &room->behind;
  char *const taken = *from;
  if (taken) *from += bytes;
  if (fits)
    room->side_bytes -= bytes;
  else
    room->behind_bytes += bytes;
  return taken;
}

/* Both sides have as many bytes. */
static uint64_t side_bytes(const resident *r)
{
  return device_aligned(r->sort.count * (r->sort.key_width / 8)) +
         device_aligned(r->sort.count * (r->sort.index_bits / 8));
}

/* True if the default sort would take few kernels for so many numbers. */
static bool are_few(const resident *r)
{
  const device_algorithm *const algorithm = r->pairs.algorithm;
  return r->is_numbers && r->sort.key_width == r->numbers.key_width && algorithm->skills &&
         algorithm->skills(&r->pairs.job).few;
}

uint64_t resident_room_bytes(const resident *r)
{
  resident_room room = {.side_bytes = side_bytes(r)};
  (void)take_room(&room, copied_values(r));
  (void)take_room(&room, copied_keys(r));
  const uint64_t hashes = are_few(r) ? r->job.count * sizeof(uint64_t) : 0;
  return hashes > room.behind_bytes ? hashes : room.behind_bytes;
}

/* ---- Sort ---- */

/* Copies an array whose elements are read after others have been written. */
static device_status start_copy(resident *r, const void **array, uint64_t bytes)
{
  const void *const from = *array;
  if (bytes == 0) return 0;
  char *const copy = take_room(&r->room, bytes);
  RS_ASSERT(copy);
  *array = copy;
  return runtime_start_across(r->numbers.stream, copy, from, bytes);
}

device_status resident_finish_pairs(resident *r, void *stream)
{
  device_pairs *const numbers = &r->numbers;
  const device_job *const codes = &r->pairs.job;
  const device_pairs_sorted sorted = {r->order.keys,     r->order.indices, codes->key_width,
                                      codes->index_bits, r->differ,        r->order.certificate};
  const uint64_t keys = copied_keys(r), values = copied_values(r);
  if (!numbers->keys_out && !numbers->values_out) return 0;
  numbers->stream = stream;
  r->order.certificate = (device_certificate){0}; /* it is checked */
  device_status status = start_copy(r, &numbers->values_in, values);
  if (!status) status = start_copy(r, &numbers->keys_in, keys);
  return status ? status : device_pairs_finish(numbers, &sorted);
}

bool resident_pairs_are_few(const resident *r)
{
  return are_few(r) && (r->numbers.keys_out || !resident_is_checked(r));
}

device_status resident_sort_few(resident *r)
{
  RS_ASSERT(r->settles == resident_is_checked(r));
  return device_pairs_sort_few(&r->numbers, &r->pairs.job, r->memory,
                               (uint64_t *)(void *)(r->memory + r->room_at),
                               r->settles ? r->job.status : NULL);
}

device_status resident_sort_pairs(resident *r)
{
  const device_pairs *const numbers = &r->numbers;
  RS_ASSERT(r->is_numbers);
  device_status started = 0;
  if (numbers->bits < numbers->key_width && numbers->count >= PAIRS_LEAST_LOOK)
    r->differ = &r->facts->differ;
  if (resident_pairs_stay(r)) r->pairs.job.unchanged = &r->unchanged;
  if (device_pairs_are_codes(numbers))
    r->buffers.input = numbers->keys_in;
  else
    started = device_pairs_encode(numbers, r->buffers.keys[0], r->pairs.job.key_width, r->differ);
  resident_certify(r);
  if (!started) started = r->pairs.algorithm->sort(&r->pairs.job, &r->buffers, &r->side);
  if (started) return started;
  r->order = gpu_order_of(&r->pairs, &r->buffers, r->side);
  r->room.side = r->side ? r->buffers.keys[0] : r->buffers.indices[1];
  r->room.side_bytes = side_bytes(r);
  return 0;
}
