/* merge.c - sorted runs into one.
 *
 * The plugin for the CPU does it, whichever plugin sorts: a GPU would spend most of the time on
 * transfers. It checks the runs as well, but what is wrong with them is found out here, and only
 * once a merge has failed.
 */
#include <string.h>

#include "base/checked.h"
#include "base/platform/clock.h"
#include "base/struct_size.h"
#include "key/encode.h"
#include "sorter.h"

/* What a call wants. */
typedef struct merge_request {
  const size_t *offsets;
  const recsort_plugin_run *runs; /* owned */
  size_t run_count;
  size_t count; /* of records */
  size_t bytes; /* of records */
  void *result;
  size_t result_bytes;
  unsigned index_bits; /* 0: records */
  bool in_place;
} merge_request;

/* ---- Arguments ---- */

static recsort_status check_offsets(const size_t *offsets, size_t run_count, recsort_error *error)
{
  if (run_count > RECSORT_MOST_RUNS)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%zu runs are more than %d", run_count,
                   RECSORT_MOST_RUNS);
  if (!offsets || offsets[0] != 0)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "offsets must not be NULL, and the first one is 0");
  for (size_t r = 0; r < run_count; r++)
    if (offsets[r + 1] < offsets[r])
      return rs_fail(error, RECSORT_INVALID_ARGUMENT, "run %zu: its offsets descend", r);
  return RECSORT_OK;
}

static recsort_plugin_run run_of(const recsort_runs *runs, size_t r, size_t record_size)
{
  const size_t count = runs->offsets[r + 1] - runs->offsets[r];
  const void *const records = runs->arrays ? runs->arrays[r]
                              : count ? (const char *)runs->records + runs->offsets[r] * record_size
                                      : NULL;
  return (recsort_plugin_run){records, count};
}

/* What the caller says of the runs, once it is known to be in order. Allocates request->runs. */
static recsort_status read_runs(const recsort_sorter *sorter, const recsort_runs *runs,
                                merge_request *request, recsort_error *error)
{
  if (!sorter || !runs)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter and runs must not be NULL");
  recsort_status status = rs_check_size(runs, recsort_runs, RECSORT_RUNS_INIT, error);
  if (status == RECSORT_OK) status = check_offsets(runs->offsets, runs->count, error);
  if (status == RECSORT_OK) status = rs_plan_check_parameters(&sorter->plan, error);
  if (status == RECSORT_OK) status = rs_sorter_wants_all(sorter, "a merge", error);
  if (status) return status;
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  request->run_count = runs->count;
  request->offsets = runs->offsets;
  request->count = runs->offsets[runs->count];
  if (!rs_multiply(request->count, record_size, &request->bytes))
    return rs_fail_memory(error, SIZE_MAX);
  if (request->count == 0) return RECSORT_OK;
  if (!runs->arrays && !runs->records)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "records of the runs must not be NULL");
  recsort_plugin_run *const own =
      rs_allocate(&sorter->allocator, runs->count * sizeof(recsort_plugin_run));
  if (!own) return rs_fail_memory(error, runs->count * sizeof *own);
  request->runs = own;
  for (size_t r = 0; r < runs->count && !status; r++) {
    own[r] = run_of(runs, r, record_size);
    if (own[r].count && !own[r].records)
      status = rs_fail(error, RECSORT_INVALID_ARGUMENT, "run %zu: its array is NULL", r);
  }
  return status;
}

static void release_runs(const recsort_sorter *sorter, merge_request *request)
{
  if (request->runs)
    rs_release(&sorter->allocator, (void *)request->runs,
               request->run_count * sizeof *request->runs);
}

static recsort_status check_result(const recsort_sorter *sorter, const merge_request *request,
                                   recsort_error *error)
{
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  if (request->in_place || request->count == 0) return RECSORT_OK;
  if (!request->result)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "merged, or index, must not be NULL");
  for (size_t r = 0; r < request->run_count; r++)
    if (rs_overlap(request->runs[r].records, (size_t)request->runs[r].count * record_size,
                   request->result, request->result_bytes))
      return rs_fail(error, RECSORT_INVALID_ARGUMENT, "run %zu and the result overlap", r);
  return RECSORT_OK;
}

/* ---- What is wrong ---- */

/* `found` in the words of a merge. */
static recsort_status name_run(size_t run, recsort_status status, const recsort_error *found,
                               recsort_error *error)
{
  if (status != RECSORT_INVALID_RECORD) {
    if (error) *error = *found;
    return status;
  }
  return rs_fail(error, status, "run %zu, %.400s", run, found->text);
}

/* The error of the first run that cannot be merged; OK if there is none. */
static recsort_status find_fault(recsort_sorter *sorter, const merge_request *request,
                                 recsort_error *error)
{
  for (size_t r = 0; r < request->run_count; r++) {
    const size_t count = (size_t)request->runs[r].count;
    recsort_error found;
    size_t disorder;
    const recsort_status status =
        recsort_check(sorter, request->runs[r].records, count, &disorder, &found);
    if (status) return name_run(r, status, &found, error);
    if (disorder < count)
      return rs_fail(error, RECSORT_UNSORTED_RUN,
                     "run %zu, record %zu: its key is less than that of the record before it", r,
                     disorder);
  }
  return RECSORT_OK;
}

/* ---- The merge ---- */

static uint32_t encode(const recsort_key_program *program, const void *records, uint64_t count,
                       void *keys)
{
  return rs_key_encode_some(program, records, 0, (size_t)count, keys);
}

static recsort_plugin_merge_job job_of(const recsort_sorter *sorter, const merge_request *request)
{
  return (recsort_plugin_merge_job){.run_count = (uint32_t)request->run_count,
                                    .runs = request->runs,
                                    .count = request->count,
                                    .program = &sorter->plan.program,
                                    .index_bits = request->index_bits,
                                    .threads = sorter->team.threads,
                                    .in_place = request->in_place,
                                    .encode = encode};
}

static recsort_status plan_memory(const rs_plugin_instance *merger,
                                  const recsort_plugin_merge_job *job, size_t *size,
                                  recsort_error *error)
{
  recsort_plugin_error reported = {.size = sizeof reported};
  uint64_t bytes = 0;
  const recsort_plugin_status status =
      merger->merge->work_size(merger->state, job, &bytes, &reported);
  if (status == RECSORT_PLUGIN_UNSUPPORTED || bytes > SIZE_MAX - RS_BLOCK_ALIGNMENT)
    return rs_fail_memory(error, SIZE_MAX);
  if (status) return rs_plugin_fail(merger, status, &reported, error);
  *size = (size_t)bytes;
  return RECSORT_OK;
}

static recsort_status merge_runs(recsort_sorter *sorter, const merge_request *request,
                                 recsort_error *error)
{
  const recsort_plugin_merge_job job = job_of(sorter, request);
  recsort_plugin_error reported = {.size = sizeof reported};
  rs_plugin_instance *merger;
  size_t size = 0;
  recsort_status status = rs_choice_merger(&sorter->choice, &merger, error);
  if (status == RECSORT_OK) status = plan_memory(merger, &job, &size, error);
  if (status == RECSORT_OK) status = rs_sorter_reserve(sorter, size, error);
  if (status) return status;
  const recsort_plugin_status merged =
      merger->merge->merge(merger->state, &job, sorter->block, request->result, &reported);
  if (merged == RECSORT_PLUGIN_UNSUPPORTED) {
    status = find_fault(sorter, request, error);
    if (status) return status;
  }
  return merged ? rs_plugin_fail(merger, merged, &reported, error) : RECSORT_OK;
}

static recsort_status merge(recsort_sorter *sorter, merge_request *request, recsort_error *error)
{
  recsort_status status = check_result(sorter, request, error);
  if (status) return status;
  const double begin = rs_clock_seconds();
  rs_sorter_begin(sorter, request->count);
  if (request->count) status = merge_runs(sorter, request, error);
  sorter->stats.sort_seconds = rs_clock_seconds() - begin;
  sorter->stats.index_bits = request->index_bits;
  return status;
}

recsort_status recsort_merge(recsort_sorter *sorter, void *records, const size_t *offsets,
                             size_t run_count, recsort_error *error)
{
  const recsort_runs runs = {
      .struct_size = sizeof runs, .count = run_count, .offsets = offsets, .records = records};
  merge_request request = {.result = records, .in_place = true};
  recsort_status status = read_runs(sorter, &runs, &request, error);
  if (status == RECSORT_OK) status = merge(sorter, &request, error);
  release_runs(sorter, &request);
  return status;
}

recsort_status recsort_merge_to(recsort_sorter *sorter, const recsort_runs *runs, void *merged,
                                recsort_error *error)
{
  merge_request request = {.result = merged};
  recsort_status status = read_runs(sorter, runs, &request, error);
  request.result_bytes = request.bytes;
  if (status == RECSORT_OK) status = merge(sorter, &request, error);
  release_runs(sorter, &request);
  return status;
}

static recsort_status check_index(merge_request *request, recsort_error *error)
{
  if (request->index_bits == 32 && (uint64_t)request->count > UINT64_C(1) << 32)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%zu records need an index of 64 bits",
                   request->count);
  if (!rs_multiply(request->count, request->index_bits / 8, &request->result_bytes))
    return rs_fail_memory(error, SIZE_MAX);
  if ((uintptr_t)request->result % (request->index_bits / 8))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "index is not aligned to its elements");
  return RECSORT_OK;
}

recsort_status recsort_argmerge(recsort_sorter *sorter, const recsort_runs *runs, void *index,
                                unsigned index_bits, recsort_error *error)
{
  merge_request request = {.result = index, .index_bits = index_bits};
  if (index_bits != 32 && index_bits != 64)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "index must be of 32 or 64 bits");
  recsort_status status = read_runs(sorter, runs, &request, error);
  if (status == RECSORT_OK) status = check_index(&request, error);
  if (status == RECSORT_OK) status = merge(sorter, &request, error);
  release_runs(sorter, &request);
  return status;
}

/* ---- Memory ---- */

/* The most that one of the calls needs. */
static recsort_status most_memory(recsort_sorter *sorter, merge_request request, size_t *most,
                                  recsort_error *error)
{
  const unsigned widths[] = {0, 64};
  for (size_t i = 0; i < (request.in_place ? 1 : 2); i++) {
    rs_plugin_instance *merger;
    size_t size = 0;
    request.index_bits = widths[i];
    const recsort_plugin_merge_job job = job_of(sorter, &request);
    recsort_status status = rs_choice_merger(&sorter->choice, &merger, error);
    if (status == RECSORT_OK) status = plan_memory(merger, &job, &size, error);
    if (status) return status;
    if (size > *most) *most = size;
  }
  return RECSORT_OK;
}

recsort_status recsort_merge_memory_needed(recsort_sorter *sorter, size_t count, size_t run_count,
                                           bool in_place, size_t *bytes, recsort_error *error)
{
  merge_request request = {.run_count = run_count, .count = count, .in_place = in_place};
  size_t most = 0;
  if (!sorter || !bytes)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter and bytes must not be NULL");
  if (run_count > RECSORT_MOST_RUNS)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%zu runs are more than %d", run_count,
                   RECSORT_MOST_RUNS);
  if (!rs_multiply(count, (size_t)sorter->plan.program.record_size, &request.bytes))
    return rs_fail_memory(error, SIZE_MAX);
  if (count) {
    const recsort_status status = most_memory(sorter, request, &most, error);
    if (status) return status;
  }
  most = rs_sorter_block_bytes(most);
  *bytes = most < sorter->allocation_size ? sorter->allocation_size : most;
  return RECSORT_OK;
}
