/* call.c - reads jobs, and refuses wrong ones. */
#include "call.h"

#include <stdio.h>

#include "base/checked.h"
#include "base/struct_size.h"
#include "key/encode.h"

/* ---- What can be said without a look at any array ---- */

/* True if there are records, at most one result, and nothing else to be read with care. Most jobs
 * are like that, and this takes no time beside that of some records. */
static bool is_plain(const recsort_job *job)
{
  const uintptr_t others = (uintptr_t)job->device_count | (uintptr_t)job->columns |
                           job->column_count | job->parts | (uintptr_t)job->offsets |
                           job->part_count | job->offset_bits | (uintptr_t)job->part_records |
                           job->longest_part | job->first_bit | job->bits |
                           (uintptr_t)job->keys_out | (uintptr_t)job->arrays | job->array_count |
                           (uintptr_t)job->stream | (uintptr_t)job->workspace |
                           job->workspace_size | (uintptr_t)job->status | (unsigned)job->device;
  return others == 0 && (!job->sorted || !job->permutation);
}

static recsort_status check_device_members(const recsort_job *job, recsort_error *error)
{
  if (!job->device_count && !job->stream && !job->workspace && !job->workspace_size &&
      !job->status && !job->device)
    return RECSORT_OK;
  return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                 "device_count, stream, workspace, status and device are only for sorters of "
                 "records on a device");
}

/* One of three says where the records are. */
static recsort_status check_records(const recsort_job *job, recsort_error *error)
{
  const bool columns = job->columns || job->column_count;
  if (!!job->records + columns + !!job->part_records > 1)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "only one of records, columns and part_records can be given");
  if (columns && job->sorted)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "with columns, sorted must be NULL; arrays are moved");
  if (job->column_count && !job->columns)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "column_count is %zu, columns is NULL",
                   job->column_count);
  return RECSORT_OK;
}

static recsort_status check_parts(const recsort_job *job, recsort_error *error)
{
  if (job->parts < RECSORT_ONE_PART || job->parts > RECSORT_RUNS)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "parts is no recsort_parts");
  if (job->parts == RECSORT_ONE_PART && (job->offsets || job->part_count || job->part_records))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "there are offsets, so parts must be RECSORT_SEGMENTS or RECSORT_RUNS");
  if (job->parts != RECSORT_ONE_PART && !job->offsets)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "offsets must not be NULL");
  if (job->part_records && job->parts != RECSORT_RUNS)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "part_records is for runs");
  if (job->longest_part && job->parts != RECSORT_SEGMENTS)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "longest_part is for segments");
  if (job->parts == RECSORT_RUNS && job->part_count > RECSORT_MOST_RUNS)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%zu runs are more than %d", job->part_count,
                   RECSORT_MOST_RUNS);
  if (job->offset_bits != 0 && job->offset_bits != 32 && job->offset_bits != 64)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "offset_bits is %u, not 32 or 64",
                   job->offset_bits);
  if (job->part_count > SIZE_MAX / sizeof(uint64_t) - 2) return rs_fail_memory(error, SIZE_MAX);
  return RECSORT_OK;
}

/* The bits that are compared, for the scope. */
static recsort_status read_bits(const recsort_sorter *sorter, const recsort_job *job,
                                rs_scope *scope, recsort_error *error)
{
  const unsigned all = sorter->plan.key_bits;
  if (!job->first_bit && !job->bits) return RECSORT_OK;
  if (job->first_bit >= all || job->bits > all - job->first_bit)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "bits [%u, %u + %u) are not all in a key of %u",
                   job->first_bit, job->first_bit, job->bits, all);
  const unsigned bits = job->bits ? job->bits : all - job->first_bit;
  if (bits == all) return RECSORT_OK;
  if (sorter->plan.key_width > 64)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "of a key with %u bits, only on a device some can be compared", all);
  scope->first_bit = job->first_bit;
  scope->bits = bits;
  return RECSORT_OK;
}

static recsort_status read_width(const recsort_job *job, unsigned *index_bits, recsort_error *error)
{
  const bool many = (uint64_t)job->count > UINT64_C(1) << 32;
  *index_bits = job->index_bits ? job->index_bits : many ? 64 : 32;
  if (*index_bits != 32 && *index_bits != 64)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "index_bits is %u, not 32 or 64", *index_bits);
  if (many && *index_bits == 32 && job->permutation)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%zu records need an index of 64 bits",
                   job->count);
  return RECSORT_OK;
}

static recsort_status read_array(const recsort_array *array, size_t number, const rs_call *call,
                                 recsort_error *error)
{
  size_t bytes;
  if (array->element_size == 0 || (call->count && (!array->from || !array->to)))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "arrays[%zu]: from and to must not be NULL, nor element_size 0", number);
  if (array->from == array->to && call->wanted < call->count)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "arrays[%zu]: in place, the elements behind the first %zu would be lost", number,
                   call->wanted);
  if (!rs_multiply(call->count, array->element_size, &bytes))
    return rs_fail_memory(error, SIZE_MAX);
  return RECSORT_OK;
}

/* What is wanted. */
static recsort_status read_results(const recsort_sorter *sorter, rs_call *call,
                                   recsort_error *error)
{
  const recsort_job *const job = call->job;
  size_t bytes;
  if (call->wanted < call->count && job->parts == RECSORT_SEGMENTS)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "head is %zu, but with segments all records are sorted", job->head);
  if (call->wanted < call->count && call->in_place)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "in place, the records behind the first %zu would be lost", job->head);
  if (job->array_count && !job->arrays)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "array_count is %zu, arrays is NULL",
                   job->array_count);
  if (!rs_multiply(call->count, sizeof(uint64_t), &bytes) ||
      !rs_multiply(call->count, sorter->plan.key_width / 8, &bytes) ||
      !rs_multiply(call->count, (size_t)sorter->plan.program.record_size, &call->bytes))
    return rs_fail_memory(error, SIZE_MAX);
  recsort_status status = read_width(job, &call->index_bits, error);
  for (size_t a = 0; a < job->array_count && !status; a++)
    status = read_array(&job->arrays[a], a, call, error);
  return status;
}

recsort_status rs_call_read(const recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                            rs_call *call, recsort_error *error)
{
  if (!sorter || !jobs)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter and job must not be NULL");
  if (sorter->on_device)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "the sorter is for records in a device's memory, which recsort_run sorts");
  if (job_count != 1)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "there are %zu jobs; several are shards, which are on devices", job_count);
  const recsort_status sized = rs_check_size(jobs, recsort_job, RECSORT_JOB_INIT, error);
  if (sized) return sized;
  const recsort_job *const job = jobs;
  call->job = job;
  call->count = job->count;
  call->bytes = 0;
  call->scope.bits = call->scope.first_bit = 0;
  call->scope.offsets = NULL;
  call->moved = NULL;
  call->order.index = NULL;
  call->order.index_bits = 32;
  call->order.count = 0;
  call->wanted = job->head && job->head < job->count ? job->head : job->count;
  call->in_place = job->sorted && job->sorted == job->records;
  call->plain = is_plain(job);
  recsort_status status = RECSORT_OK;
  if (!call->plain) status = check_device_members(job, error);
  if (!call->plain && status == RECSORT_OK) status = check_records(job, error);
  if (!call->plain && status == RECSORT_OK) status = check_parts(job, error);
  if (!call->plain && status == RECSORT_OK) status = read_bits(sorter, job, &call->scope, error);
  if (status == RECSORT_OK) status = read_results(sorter, call, error);
  if (status) return status;
  if (job->parts == RECSORT_SEGMENTS) {
    call->scope.offsets = job->offsets;
    call->scope.offset_bits = job->offset_bits == 32 ? 32 : 64;
    call->scope.segment_count = job->part_count;
  }
  call->merges = job->parts == RECSORT_RUNS && !job->columns && !call->scope.bits;
  call->only_records =
      job->sorted && call->wanted == call->count && !job->permutation && !job->array_count;
  return RECSORT_OK;
}

/* ---- Arrays ---- */

static recsort_status check_offsets(const rs_call *call, recsort_error *error)
{
  const recsort_job *const job = call->job;
  const unsigned bits = job->offset_bits == 32 ? 32 : 64;
  if ((uintptr_t)job->offsets % (bits / 8))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "offsets are not aligned to their elements");
  uint64_t end = rs_offset_at(job->offsets, bits, 0);
  if (job->parts == RECSORT_RUNS && end != 0)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "the first offset of runs is 0, not %llu",
                   (unsigned long long)end);
  for (size_t p = 0; p < job->part_count; p++) {
    const uint64_t begin = end;
    end = rs_offset_at(job->offsets, bits, p + 1);
    if (end < begin)
      return rs_fail(error, RECSORT_INVALID_ARGUMENT, "part %zu: its offsets descend", p);
    if (job->longest_part && end - begin > job->longest_part)
      return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                     "part %zu has %llu records; longest_part is %zu", p,
                     (unsigned long long)(end - begin), job->longest_part);
  }
  if (job->parts == RECSORT_RUNS ? end == call->count : end <= call->count) return RECSORT_OK;
  return rs_fail(error, RECSORT_INVALID_ARGUMENT, "the last offset is %llu, of %zu records",
                 (unsigned long long)end, call->count);
}

static size_t part_size(const rs_call *call, size_t part)
{
  return rs_call_offset(call, part + 1) - rs_call_offset(call, part);
}

static recsort_status check_input(const recsort_sorter *sorter, const rs_call *call,
                                  recsort_error *error)
{
  const recsort_job *const job = call->job;
  const size_t alignment = sorter->plan.key_width == 32 ? 4 : 8;
  if (call->count && !job->records && !job->columns && !job->part_records)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "records must not be NULL");
  if ((uintptr_t)job->permutation % (call->index_bits / 8))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "permutation is not aligned to its elements");
  if ((uintptr_t)job->keys_out % alignment)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "keys_out is not aligned to %zu bytes",
                   alignment);
  if (job->parts) {
    const recsort_status status = check_offsets(call, error);
    if (status) return status;
  }
  for (size_t p = 0; job->part_records && p < job->part_count; p++)
    if (!job->part_records[p] && part_size(call, p))
      return rs_fail(error, RECSORT_INVALID_ARGUMENT, "run %zu: its address is NULL", p);
  return RECSORT_OK;
}

/* ---- Overlaps ---- */

/* An array that a job reads or writes. */
typedef struct region {
  const void *at;
  size_t size;
  const char *name;
  const char *member; /* of element `number` of an array of that name; NULL: it is no element */
  size_t number;
} region;

enum { OUTPUTS = 3, INPUTS = 2 }; /* behind them are the `to` and `from` of arrays */

static region output_of(const recsort_sorter *sorter, const rs_call *call, size_t i)
{
  const recsort_job *const job = call->job;
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  switch (i) {
  case 0:
    return (region){job->sorted, call->wanted * record_size, "sorted", NULL, 0};
  case 1:
    return (region){job->keys_out, call->wanted * (sorter->plan.key_width / 8), "keys_out", NULL,
                    0};
  case 2:
    return (region){job->permutation, call->wanted * (call->index_bits / 8), "permutation", NULL,
                    0};
  default:
    return (region){job->arrays[i - OUTPUTS].to,
                    call->wanted * job->arrays[i - OUTPUTS].element_size, "arrays", ".to",
                    i - OUTPUTS};
  }
}

static region input_of(const rs_call *call, size_t i)
{
  const recsort_job *const job = call->job;
  const size_t offset_size = job->offset_bits == 32 ? 4 : 8;
  switch (i) {
  case 0:
    return (region){job->records, job->records ? call->bytes : 0, "records", NULL, 0};
  case 1:
    return (region){job->offsets, job->offsets ? (job->part_count + 1) * offset_size : 0, "offsets",
                    NULL, 0};
  default:
    return (region){job->arrays[i - INPUTS].from,
                    call->count * job->arrays[i - INPUTS].element_size, "arrays", ".from",
                    i - INPUTS};
  }
}

static recsort_status fail_overlap(region one, region other, recsort_error *error)
{
  char names[2][64];
  const region regions[2] = {one, other};
  for (size_t i = 0; i < 2; i++)
    if (regions[i].member)
      (void)snprintf(names[i], sizeof names[i], "%s[%zu]%s", regions[i].name, regions[i].number,
                     regions[i].member);
    else
      (void)snprintf(names[i], sizeof names[i], "%s", regions[i].name);
  return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%s and %s overlap", names[0], names[1]);
}

static bool overlap(region a, region b)
{
  return a.at && b.at && rs_overlap(a.at, a.size, b.at, b.size);
}

/* Refuses output number `i` if it overlaps what is read, or an output before it. */
static recsort_status check_output(const recsort_sorter *sorter, const rs_call *call, size_t i,
                                   recsort_error *error)
{
  const recsort_job *const job = call->job;
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  const region written = output_of(sorter, call, i);
  const bool moves = i >= OUTPUTS;
  const size_t own = moves ? i - OUTPUTS + INPUTS : 0; /* the input of an output in place */
  const bool in_place =
      moves ? written.at == job->arrays[i - OUTPUTS].from : i == 0 && call->in_place;
  for (size_t r = 0; r < INPUTS + job->array_count; r++)
    if (overlap(input_of(call, r), written) && !(in_place && r == own))
      return fail_overlap(input_of(call, r), written, error);
  for (size_t before = 0; before < i; before++)
    if (overlap(output_of(sorter, call, before), written))
      return fail_overlap(output_of(sorter, call, before), written, error);
  for (size_t p = 0; job->part_records && p < job->part_count; p++) {
    const region run = {job->part_records[p], part_size(call, p) * record_size, "part_records", "",
                        p};
    if (overlap(run, written)) return fail_overlap(run, written, error);
  }
  if (job->columns && !(moves && in_place) &&
      rs_plan_reads(&sorter->plan, call->count, written.at, written.size))
    return fail_overlap((region){NULL, 0, "a column", NULL, 0}, written, error);
  return RECSORT_OK;
}

/* True if the one result of a plain job does not overlap the records. */
static bool is_apart(const recsort_sorter *sorter, const rs_call *call)
{
  const recsort_job *const job = call->job;
  const size_t size = job->sorted ? (size_t)sorter->plan.program.record_size : call->index_bits / 8;
  const void *const result = job->sorted ? job->sorted : job->permutation;
  return call->in_place || !result ||
         !rs_overlap(job->records, call->bytes, result, call->wanted * size);
}

/* ---- Opening ---- */

recsort_status rs_call_open(recsort_sorter *sorter, const rs_call *call, recsort_error *error)
{
  const recsort_job *const job = call->job;
  rs_plan *const plan = &sorter->plan;
  recsort_status status = rs_plan_check_parameters(plan, error);
  if (status == RECSORT_OK) status = check_input(sorter, call, error);
  if (status == RECSORT_OK && job->columns)
    status = rs_plan_set_columns(plan, job->columns, job->column_count, call->count, error);
  if (status || (call->plain && is_apart(sorter, call))) return status;
  if (job->sorted) status = check_output(sorter, call, 0, error);
  if (status == RECSORT_OK && job->keys_out) status = check_output(sorter, call, 1, error);
  if (status == RECSORT_OK && job->permutation) status = check_output(sorter, call, 2, error);
  for (size_t a = 0; status == RECSORT_OK && a < job->array_count; a++)
    status = check_output(sorter, call, OUTPUTS + a, error);
  if (status == RECSORT_OK && (call->scope.offsets || call->scope.bits))
    rs_plan_set_scope(plan, &call->scope);
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
  return (const char *)job->part_records[low] + (index - rs_call_offset(call, low)) * record_size;
}
