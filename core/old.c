/* old.c - the calls that jobs replace, by way of jobs. This file goes with them. */
#include <string.h>

#include "base/checked.h"
#include "base/struct_size.h"
#include "call.h"

recsort_status recsort_sorter_set_head(recsort_sorter *sorter, size_t head, recsort_error *error)
{
  if (!sorter) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter must not be NULL");
  sorter->head = head;
  return RECSORT_OK;
}

static recsort_status refuse_head(const recsort_sorter *sorter, recsort_error *error)
{
  if (!sorter) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter must not be NULL");
  if (!sorter->head) return RECSORT_OK;
  return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                 "the call takes all records, but the sorter's head is %zu", sorter->head);
}

static recsort_status host_bytes(recsort_sorter *sorter, const recsort_job *job, size_t *bytes,
                                 recsort_error *error)
{
  recsort_needs needs = {.struct_size = sizeof needs};
  if (!bytes) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "bytes must not be NULL");
  const recsort_status status = recsort_plan(sorter, job, 1, &needs, error);
  if (status == RECSORT_OK) *bytes = needs.host;
  return status;
}

recsort_status recsort_memory_needed(recsort_sorter *sorter, size_t count, bool in_place,
                                     size_t *bytes, recsort_error *error)
{
  char records, sorted;
  const recsort_job job = {.struct_size = sizeof job,
                           .count = count,
                           .records = &records,
                           .sorted = in_place ? &records : &sorted,
                           .head = sorter ? sorter->head : 0};
  const recsort_status status = in_place ? refuse_head(sorter, error) : RECSORT_OK;
  return status ? status : host_bytes(sorter, &job, bytes, error);
}

recsort_status recsort_merge_memory_needed(recsort_sorter *sorter, size_t count, size_t run_count,
                                           bool in_place, size_t *bytes, recsort_error *error)
{
  char records, sorted;
  const uint64_t offset = 0;
  const recsort_job job = {.struct_size = sizeof job,
                           .count = count,
                           .records = &records,
                           .sorted = in_place ? &records : &sorted,
                           .parts = RECSORT_RUNS,
                           .offsets = &offset,
                           .part_count = run_count};
  recsort_job order = job;
  size_t of_order = 0;
  order.sorted = NULL;
  order.permutation = &sorted;
  order.index_bits = 64;
  recsort_status status = host_bytes(sorter, &job, bytes, error);
  if (status || in_place) return status;
  status = host_bytes(sorter, &order, &of_order, error);
  if (status == RECSORT_OK && of_order > *bytes) *bytes = of_order;
  return status;
}

static recsort_status find(recsort_sorter *sorter, recsort_job job,
                           recsort_permutation *permutation, recsort_error *error)
{
  if (!sorter || !permutation)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter and permutation must not be NULL");
  recsort_status status =
      rs_check_size(permutation, recsort_permutation, RECSORT_PERMUTATION_INIT, error);
  job.struct_size = sizeof job;
  job.head = sorter->head;
  if (status == RECSORT_OK) status = recsort_run(sorter, &job, 1, error);
  if (status) return status;
  const recsort_permutation found = {.index = sorter->kept.index,
                                     .index_bits =
                                         sorter->kept.index ? sorter->kept.index_bits : 32,
                                     .struct_size = sizeof found,
                                     .count = sorter->kept.count,
                                     .sorting = sorter->sortings};
  *permutation = found;
  return RECSORT_OK;
}

recsort_status recsort_find_permutation(recsort_sorter *sorter, const void *records, size_t count,
                                        recsort_permutation *permutation, recsort_error *error)
{
  return find(sorter, (recsort_job){.count = count, .records = records}, permutation, error);
}

recsort_status recsort_find_permutation_columns(recsort_sorter *sorter,
                                                const recsort_column *columns, size_t column_count,
                                                size_t count, recsort_permutation *permutation,
                                                recsort_error *error)
{
  const recsort_job job = {.count = count, .columns = columns, .column_count = column_count};
  return find(sorter, job, permutation, error);
}

recsort_status recsort_argsort_columns(recsort_sorter *sorter, const recsort_column *columns,
                                       size_t column_count, size_t count, void *index,
                                       unsigned index_bits, recsort_error *error)
{
  const recsort_job job = {.struct_size = sizeof job,
                           .count = count,
                           .columns = columns,
                           .column_count = column_count,
                           .permutation = index,
                           .index_bits = index_bits,
                           .head = sorter ? sorter->head : 0};
  if ((count && !index) || (index_bits != 32 && index_bits != 64))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "index must not be NULL, of 32 or 64 bits");
  return recsort_run(sorter, &job, 1, error);
}

static bool holds(const recsort_sorter *sorter, const recsort_permutation *order)
{
  return order->sorting && order->sorting == sorter->sortings && sorter->keeps &&
         order->index == sorter->kept.index && order->count == sorter->kept.count &&
         (!order->count || order->index_bits == sorter->kept.index_bits);
}

recsort_status recsort_permutation_unique(recsort_sorter *sorter, const void *records,
                                          recsort_permutation *permutation, recsort_error *error)
{
  recsort_permutation own;
  if (!sorter || !permutation || (!records && permutation->count))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "sorter, records and permutation must not be NULL");
  recsort_status status =
      rs_check_size(permutation, recsort_permutation, RECSORT_PERMUTATION_INIT, error);
  if (status) return status;
  own = *permutation;
  if (!holds(sorter, &own))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "this is not the permutation that recsort_find_permutation last gave");
  const recsort_job job = {
      .struct_size = sizeof job, .count = sorter->made.count, .records = records};
  return recsort_unique(sorter, &job, &permutation->count, error);
}

recsort_status recsort_permutation_apply(recsort_sorter *sorter,
                                         const recsort_permutation *permutation, void *array,
                                         size_t element_size, recsort_error *error)
{
  recsort_permutation own;
  size_t bytes;
  if (!sorter || !permutation || element_size == 0 || (!array && permutation->count))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "sorter, permutation and array must not be NULL, nor element_size 0");
  recsort_status status =
      rs_check_size(permutation, recsort_permutation, RECSORT_PERMUTATION_INIT, error);
  if (status) return status;
  own = *permutation;
  if (own.count && (!own.index || (own.index_bits != 32 && own.index_bits != 64)))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "a permutation's index must not be NULL, of 32 or 64 bits");
  if (!rs_multiply(own.count, element_size, &bytes)) return rs_fail_memory(error, SIZE_MAX);
  if (bytes == 0) return RECSORT_OK;
  if (rs_overlap(array, bytes, own.index, own.count * (own.index_bits / 8)))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "the permutation and array overlap");
  void *const copy = rs_sorter_spare(sorter, bytes);
  const rs_order order = {own.index, own.index_bits, own.count};
  if (!copy) return rs_fail_memory(error, bytes);
  if (own.sorting && !holds(sorter, &own))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "the permutation is not what the sorter's last call gave");
  if (!own.sorting && rs_order_verify(&order, copy, sorter->team, NULL))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "order is not a permutation of %zu elements",
                   own.count);
  rs_gather(&order, 0, own.count, array, element_size, copy, sorter->team);
  rs_copy(array, copy, bytes, sorter->team);
  return RECSORT_OK;
}

uint64_t recsort_permutation_at(const recsort_permutation *permutation, size_t place)
{
  const rs_order order = {permutation->index, permutation->index_bits, permutation->count};
  return rs_order_at(&order, place);
}

static recsort_status merge(recsort_sorter *sorter, const recsort_runs *given, recsort_job job,
                            recsort_error *error)
{
  recsort_runs runs;
  if (!given) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "runs must not be NULL");
  recsort_status status = rs_check_size(given, recsort_runs, RECSORT_RUNS_INIT, error);
  if (status == RECSORT_OK) status = refuse_head(sorter, error);
  if (status) return status;
  runs = *given;
  if (!runs.offsets) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "offsets must not be NULL");
  if (runs.count > RECSORT_MOST_RUNS)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%zu runs are too many", runs.count);
  job.struct_size = sizeof job;
  job.count = runs.offsets[runs.count];
  job.records = runs.arrays ? NULL : runs.records;
  job.part_records = runs.arrays;
  job.parts = RECSORT_RUNS;
  job.offsets = runs.offsets;
  job.part_count = runs.count;
  job.offset_bits = 8 * sizeof *runs.offsets;
  if (job.count && !job.sorted && !job.permutation)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "merged, or index, must not be NULL");
  return recsort_run(sorter, &job, 1, error);
}

recsort_status recsort_merge(recsort_sorter *sorter, void *records, const size_t *offsets,
                             size_t run_count, recsort_error *error)
{
  const recsort_runs runs = {
      .struct_size = sizeof runs, .count = run_count, .offsets = offsets, .records = records};
  return merge(sorter, &runs, (recsort_job){.sorted = records}, error);
}

recsort_status recsort_merge_to(recsort_sorter *sorter, const recsort_runs *runs, void *merged,
                                recsort_error *error)
{
  return merge(sorter, runs, (recsort_job){.sorted = merged}, error);
}

recsort_status recsort_argmerge(recsort_sorter *sorter, const recsort_runs *runs, void *index,
                                unsigned index_bits, recsort_error *error)
{
  if (index_bits != 32 && index_bits != 64)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "index must be of 32 or 64 bits");
  return merge(sorter, runs, (recsort_job){.permutation = index, .index_bits = index_bits}, error);
}
