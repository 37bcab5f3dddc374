/* merge.c - sorted runs into one.
 *
 * The plugin for the CPU does it, whichever plugin sorts: a GPU would spend most of the time on
 * transfers. It checks the runs as well, but what is wrong with them is found out here, and only
 * once a merge has failed.
 *
 * Runs of columns, and runs of which only some bits of the keys are compared, are not merged: they
 * are checked, and then sorted, which gives the same order.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/checked.h"
#include "base/platform/clock.h"
#include "call.h"
#include "key/encode.h"

/* The parts of the block: the permutation, if one has to be found and there is no other place for
 * it, the runs, and the plugin's work. Then a sort in place takes all but the permutation for a
 * copy of the records. */
typedef struct merge_plan {
  recsort_plugin_merge_job job;
  size_t runs; /* where they are */
  size_t work;
  size_t size;
} merge_plan;

/* ---- What is wrong ---- */

/* `found` in the words of a merge. Its record has number `first` + N, N from 0 in the run. */
static recsort_status name_run(size_t run, size_t first, recsort_status status,
                               const recsort_error *found, recsort_error *error)
{
  static const char record[] = "record ";
  if (status != RECSORT_INVALID_RECORD || strncmp(found->text, record, strlen(record)) != 0) {
    if (error) *error = *found;
    return status;
  }
  char *rest;
  const unsigned long long number = strtoull(found->text + strlen(record), &rest, 10);
  RS_ASSERT(number >= first);
  return rs_fail(error, status, "run %zu, record %llu%.400s", run, number - first, rest);
}

recsort_status rs_merge_check(recsort_sorter *sorter, const rs_call *call, recsort_error *error)
{
  for (size_t r = 0; r < call->job->part_count; r++) {
    const size_t first = rs_call_offset(call, r), count = rs_call_offset(call, r + 1) - first;
    RS_ASSERT(first <= call->count);
    const bool columns = call->job->columns;
    const void *const records = count ? rs_call_record(sorter, call, first) : NULL;
    recsort_error found;
    size_t disorder;
    const recsort_status status =
        rs_check_sorted(sorter, records, columns ? first : 0, count, &disorder, &found);
    if (status) return name_run(r, columns ? first : 0, status, &found, error);
    if (disorder < count)
      return rs_fail(error, RECSORT_UNSORTED_RUN,
                     "run %zu, record %zu: its key is less than that of the record before it", r,
                     disorder);
  }
  return RECSORT_OK;
}

/* ---- The plan ---- */

/* Where the permutation goes, if not to the block. */
static void *place_of_order(const rs_call *call)
{
  return call->wanted == call->count ? call->job->permutation : NULL;
}

static recsort_plugin_merge_job job_of(const recsort_sorter *sorter, const rs_call *call)
{
  const bool wide =
      place_of_order(call) ? call->index_bits == 64 : (uint64_t)call->count > UINT64_C(1) << 32;
  RS_ASSERT(call->merges && call->job->part_count <= RECSORT_MOST_RUNS);
  return (recsort_plugin_merge_job){.run_count = (uint32_t)call->job->part_count,
                                    .count = call->count,
                                    .program = &sorter->plan.program,
                                    .index_bits = call->only_records ? 0
                                                  : wide             ? 64
                                                                     : 32,
                                    .threads = sorter->team.threads,
                                    .in_place = call->only_records && call->in_place,
                                    .encode = rs_key_encode_for_plugin};
}

static recsort_status plan_merge(recsort_sorter *sorter, const rs_call *call, merge_plan *plan,
                                 rs_plugin_instance **merger, recsort_error *error)
{
  recsort_error reported = {0};
  uint64_t work = 0;
  const recsort_status status = rs_choice_merger(&sorter->choice, merger, error);
  if (status) return status;
  plan->job = job_of(sorter, call);
  const recsort_status planned =
      (*merger)->merge->work_size((*merger)->state, &plan->job, &work, &reported);
  if (planned) return rs_plugin_fail(*merger, planned, &reported, error);
  const size_t order = place_of_order(call) ? 0 : plan->job.index_bits / 8;
  const size_t runs = call->job->part_count * sizeof(recsort_plugin_run);
  plan->runs = rs_round_up(rs_product(call->count, order), RS_BLOCK_ALIGNMENT);
  plan->work = rs_round_up(rs_sum(plan->runs, runs), RS_BLOCK_ALIGNMENT);
  plan->size = rs_sum(plan->work, work < SIZE_MAX ? (size_t)work : SIZE_MAX);
  RS_ASSERT(plan->runs <= plan->work && plan->work <= plan->size);
  const size_t copy = rs_sum(rs_sum(plan->runs, call->bytes), RS_BLOCK_ALIGNMENT);
  if (call->in_place && !call->only_records && copy > plan->size) plan->size = copy;
  if (plan->size > SIZE_MAX - RS_BLOCK_ALIGNMENT) return rs_fail_memory(error, SIZE_MAX);
  return RECSORT_OK;
}

recsort_status rs_merge_memory(recsort_sorter *sorter, const rs_call *call, size_t *bytes,
                               recsort_error *error)
{
  merge_plan plan;
  rs_plugin_instance *merger;
  const recsort_status status = plan_merge(sorter, call, &plan, &merger, error);
  if (status == RECSORT_OK) *bytes = plan.size;
  return status;
}

/* ---- The merge ---- */

static void list_runs(const recsort_sorter *sorter, const rs_call *call, recsort_plugin_run *runs)
{
  const recsort_job *const job = call->job;
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  for (size_t r = 0; r < job->part_count; r++) {
    const size_t first = rs_call_offset(call, r), count = rs_call_offset(call, r + 1) - first;
    RS_ASSERT(first <= call->count && count <= call->count - first);
    runs[r].count = count;
    runs[r].records = job->part_records ? job->part_records[r]
                      : count           ? (const char *)job->records + first * record_size
                                        : NULL;
  }
}

recsort_status rs_merge(recsort_sorter *sorter, rs_call *call, recsort_error *error)
{
  const double begin = rs_clock_seconds();
  recsort_error reported = {0};
  merge_plan plan;
  rs_plugin_instance *merger;
  recsort_status status = plan_merge(sorter, call, &plan, &merger, error);
  if (status == RECSORT_OK) status = rs_sorter_reserve(sorter, plan.size, error);
  if (status) return status;
  char *const block = sorter->block;
  RS_ASSERT((uintptr_t)block % RS_BLOCK_ALIGNMENT == 0);
  plan.job.runs = (const recsort_plugin_run *)(void *)(block + plan.runs);
  list_runs(sorter, call, (recsort_plugin_run *)(void *)(block + plan.runs));
  void *const result = call->only_records     ? call->job->sorted
                       : place_of_order(call) ? place_of_order(call)
                                              : block;
  RS_ASSERT(result);
  const recsort_status merged =
      merger->merge->merge(merger->state, &plan.job, block + plan.work, result, &reported);
  if (merged == RECSORT_UNSORTED_RUN) status = rs_merge_check(sorter, call, error);
  if (merged) return status ? status : rs_plugin_fail(merger, merged, &reported, error);
  if (call->only_records)
    call->moved = result;
  else
    call->order = (rs_order){result, plan.job.index_bits, call->wanted};
  sorter->stats.sort_seconds = rs_clock_seconds() - begin;
  sorter->stats.index_bits = plan.job.index_bits;
  return RECSORT_OK;
}
