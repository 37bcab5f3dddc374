/* resident_moves.c - what follows the sort of a job in the device's memory: the permutation, then
 * the arrays that the sort has not moved. Those in place move by way of a copy, unless the device
 * has found them in order. */
#include "base/assert.h"
#include "gpu/resident.h"

device_status resident_copy(resident *r, const recsort_array *array, void *stream)
{
  RS_ASSERT(resident_in_place(array));
  return runtime_start_across(stream, r->memory + r->copy_at, array->from,
                              r->job.count * array->element_size);
}

/* True if the order is to be checked by a kernel of its own: the first array that moves takes the
 * check along, and a sort may certify its result. */
static bool is_unchecked(const resident *r)
{
  return r->order.certificate.disorder && !r->certified;
}

static device_status start_move(resident *r, const recsort_array *array, void *stream)
{
  const void *from = array->from;
  if (r->staged != RESIDENT_NONE) {
    from = r->memory + r->copy_at;
  } else if (resident_in_place(array)) {
    const device_status status = resident_copy(r, array, stream);
    if (status) return status;
    from = r->memory + r->copy_at;
  }
  const device_status started =
      records_gather(from, array->element_size, &r->order, array->to, stream);
  r->order.certificate = (device_certificate){0}; /* it is checked */
  return started;
}

/* True if the sort has moved the array; numbers and their values are moved as pairs. */
static bool has_moved(const resident *r, uint64_t number)
{
  if (r->is_numbers) return number == RESIDENT_SORTED || number == r->value;
  for (uint32_t m = 0; m < r->tiles.moved_count; m++)
    if (r->tiles_moved[m] == number) return true;
  return number == r->moved;
}

/* True if it is still to be moved. */
static bool is_left(const resident *r, uint64_t number, const recsort_array *array)
{
  return array->to && !has_moved(r, number);
}

/* Moves the arrays that are sorted in place, or the others. */
static device_status start_moves(resident *r, bool in_place, void *stream)
{
  device_status status = 0;
  if (r->is_numbers && resident_pairs_stay(r) == in_place)
    status = resident_finish_pairs(r, stream);
  for (uint64_t a = 0; !status && a < resident_arrays(r); a++) {
    const recsort_array array = resident_array(r, a);
    if (is_left(r, a, &array) && resident_in_place(&array) == in_place)
      status = start_move(r, &array, stream);
  }
  return status;
}

/* Starts what the device leaves out if the keys are in order, on a stream that may be a branch's.
 */
static device_status start_in_place(void *context, void *stream)
{
  resident *const r = context;
  const device_status status = start_moves(r, true, stream);
  return status || !is_unchecked(r) ? status : records_ordered(&r->order, stream);
}

/* True if something in place, or the check, is left. */
static bool has_rest(const resident *r)
{
  bool rest = is_unchecked(r) || (r->is_numbers && resident_pairs_stay(r));
  for (uint64_t a = 0; a < resident_arrays(r) && !rest; a++) {
    const recsort_array array = resident_array(r, a);
    rest = is_left(r, a, &array) && resident_in_place(&array);
  }
  return rest;
}

/* Indices of 32 bits become wide as the values of pairs do, of which they are also the codes. */
static device_status start_permutation(const resident *r)
{
  RS_ASSERT(r->order.indices);
  const recsort_job *const job = &r->job;
  const records_order *const order = &r->order;
  if (job->index_bits == order->index_bits)
    return runtime_start_across(job->stream, job->permutation, order->indices,
                                order->count * (order->index_bits / 8));
  const device_pairs wide = {.stream = job->stream,
                             .count = order->count,
                             .key_width = order->index_bits,
                             .value_width = job->index_bits,
                             .values_out = job->permutation};
  const device_pairs_sorted sorted = {.codes = order->indices,
                                      .order = order->indices,
                                      .code_width = order->index_bits,
                                      .index_bits = order->index_bits};
  return device_pairs_finish(&wide, &sorted);
}

/* True if the order goes elsewhere than to the values of numbers. */
static bool wants_permutation(const resident *r)
{
  return r->job.permutation && !(r->is_numbers && r->job.permutation == r->numbers.values_out);
}

bool resident_moves_only(const resident *r, uint64_t number)
{
  bool only = !wants_permutation(r);
  for (uint64_t a = 0; a < resident_arrays(r) && only; a++) {
    const recsort_array array = resident_array(r, a);
    only = a == number || !is_left(r, a, &array);
  }
  return only;
}

bool resident_moves_pairs_only(const resident *r)
{
  return resident_moves_only(r, RESIDENT_NONE);
}

device_status resident_move(resident *r)
{
  const recsort_job *const job = &r->job;
  device_status status = 0;
  if (wants_permutation(r)) status = start_permutation(r);
  if (!status) status = start_moves(r, false, job->stream);
  if (status || !has_rest(r)) return status;
  return r->unchanged.looks ? device_start_unless_unchanged(&r->pairs.job, start_in_place, r)
                            : start_in_place(r, job->stream);
}
