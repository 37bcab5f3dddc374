/* call.c - reads jobs on the host. */
#include "call.h"

#include "base/assert.h"

/* The bits that are compared, and the segments. */
static void read_scope(const recsort_sorter *sorter, const recsort_job *job, rs_scope *scope)
{
  const unsigned all = sorter->plan.key_bits, bits = rs_job_bits(job, all);
  RS_ASSERT(job->first_bit + bits <= all);
  scope->first_bit = job->first_bit;
  scope->bits = bits < all ? bits : 0;
  scope->offsets = job->parts == RECSORT_SEGMENTS ? job->offsets : NULL;
  scope->offset_bits = rs_job_offset_bits(job);
  scope->segment_count = job->part_count;
}

recsort_status rs_call_read(const recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                            rs_call *call, recsort_error *error)
{
  if (!sorter || !jobs)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter and job must not be NULL");
  if (sorter->on_device)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "the sorter is for records in a device's memory, which recsort_run sorts");
  const recsort_status status = rs_jobs_check(sorter, jobs, job_count, error);
  if (status) return status;
  const recsort_job *const job = jobs;
  RS_ASSERT(job_count == 1);
  call->job = job;
  call->count = job->count;
  call->bytes = job->count * (size_t)sorter->plan.program.record_size;
  call->wanted = rs_job_wanted(job);
  call->index_bits = rs_job_index_bits(job);
  RS_ASSERT(call->index_bits == 32 || call->index_bits == 64);
  RS_ASSERT(call->wanted <= call->count);
  call->in_place = job->sorted && job->sorted == job->records;
  read_scope(sorter, job, &call->scope);
  call->began = 0;
  call->moved = NULL;
  call->order = (rs_order){.index_bits = 32};
  call->merges = job->parts == RECSORT_RUNS && !job->columns && !call->scope.bits;
  call->only_records =
      job->sorted && call->wanted == call->count && !job->permutation && !job->array_count;
  return RECSORT_OK;
}

recsort_status rs_call_open(recsort_sorter *sorter, const rs_call *call, recsort_error *error)
{
  const recsort_job *const job = call->job;
  rs_plan *const plan = &sorter->plan;
  RS_ASSERT(!sorter->on_device);
  recsort_status status = rs_plan_check_parameters(plan, error);
  if (!status && job->columns)
    status = rs_plan_set_columns(plan, job->columns, job->column_count, call->count, error);
  if (!status) status = rs_jobs_check_arrays(sorter, job, 1, error);
  if (!status && (call->scope.offsets || call->scope.bits)) rs_plan_set_scope(plan, &call->scope);
  return status;
}

void rs_call_close(recsort_sorter *sorter)
{
  rs_plan_clear_scope(&sorter->plan);
  sorter->plan.program.columns = NULL;
}

const void *rs_call_record(const recsort_sorter *sorter, const rs_call *call, size_t index)
{
  const recsort_job *const job = call->job;
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  RS_ASSERT(index < call->count);
  if (job->records) return (const char *)job->records + index * record_size;
  if (!job->part_records) return NULL;
  size_t low = 0, high = job->part_count; /* the last run that does not begin behind the record */
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (rs_call_offset(call, middle) <= index)
      low = middle;
    else
      high = middle;
  }
  RS_ASSERT(rs_call_offset(call, low) <= index && index < rs_call_offset(call, low + 1));
  return (const char *)job->part_records[low] + (index - rs_call_offset(call, low)) * record_size;
}
