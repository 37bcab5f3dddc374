/* job.c - refuses wrong jobs, on the host and on devices. */
#include <stdio.h>

#include "base/assert.h"
#include "base/checked.h"
#include "base/struct_size.h"
#include "key/encode.h"
#include "sorter.h"

enum { MOST_ELEMENT = 8 << 20, MOST_JOBS = 256, WORKSPACE_ALIGNMENT = 256 };

/* True if there are records in the host's memory, at most one result, and nothing else to be read
 * with care. Most jobs there are like that, and this takes no time beside that of some records. */
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

/* ---- What is wrong whatever the addresses are ---- */

static recsort_status check_memory(const recsort_sorter *sorter, const recsort_job *job,
                                   recsort_error *error)
{
  if (!sorter->on_device && (job->device_count || job->stream || job->workspace ||
                             job->workspace_size || job->status || job->device))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "device_count, stream, workspace, status and device are only for sorters of "
                   "records on a device");
  if (sorter->on_device && (job->part_records || job->parts == RECSORT_RUNS))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "runs are merged in the host's memory only");
  if (sorter->on_device && job->device)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "device is for several jobs");
  return RECSORT_OK;
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

static recsort_status check_parts(const recsort_sorter *sorter, const recsort_job *job,
                                  recsort_error *error)
{
  if (job->parts < RECSORT_ONE_PART || job->parts > RECSORT_RUNS)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "parts is no recsort_parts");
  if (job->parts == RECSORT_ONE_PART && (job->offsets || job->part_count || job->part_records))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "there are offsets, so parts must be RECSORT_SEGMENTS or RECSORT_RUNS");
  if (job->parts != RECSORT_ONE_PART && job->device_count)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "with a device_count there are no parts");
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
  if (sorter->on_device && job->parts == RECSORT_SEGMENTS &&
      (job->part_count == 0 || job->part_count > UINT32_MAX))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "there are %zu segments, on a device not 1 to 2^32 - 1", job->part_count);
  return RECSORT_OK;
}

static recsort_status check_bits(const recsort_sorter *sorter, const recsort_job *job,
                                 recsort_error *error)
{
  const unsigned all = sorter->plan.key_bits;
  RS_ASSERT(all > 0);
  if (!job->first_bit && !job->bits) return RECSORT_OK;
  if (job->first_bit >= all || job->bits > all - job->first_bit)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "bits [%u, %u + %u) are not all in a key of %u",
                   job->first_bit, job->first_bit, job->bits, all);
  if (!sorter->on_device && sorter->plan.key_width > 64 && rs_job_bits(job, all) < all)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "of a key with %u bits, only on a device some can be compared", all);
  return RECSORT_OK;
}

static recsort_status check_array(const recsort_sorter *sorter, const recsort_job *job,
                                  size_t number, recsort_error *error)
{
  const recsort_array *const array = &job->arrays[number];
  RS_ASSERT(number < job->array_count);
  if (array->element_size == 0 || (job->count && (!array->from || !array->to)))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "arrays[%zu]: from and to must not be NULL, nor element_size 0", number);
  if (array->from == array->to && rs_job_wanted(job) < job->count)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "arrays[%zu]: in place, the elements behind the first %zu would be lost", number,
                   job->head);
  if (rs_product(job->count, array->element_size) == SIZE_MAX)
    return rs_fail_memory(error, SIZE_MAX);
  if (sorter->on_device && array->element_size > MOST_ELEMENT)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "arrays[%zu]: on a device elements have at most 8 MiB", number);
  return RECSORT_OK;
}

static recsort_status check_index(const recsort_job *job, recsort_error *error)
{
  const unsigned bits = rs_job_index_bits(job);
  if (bits != 32 && bits != 64)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "index_bits is %u, not 32 or 64", bits);
  if (bits == 32 && (uint64_t)job->count > UINT64_C(1) << 32 && job->permutation)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%zu records need an index of 64 bits",
                   job->count);
  return RECSORT_OK;
}

/* What is wanted. */
static recsort_status check_results(const recsort_sorter *sorter, const recsort_job *job,
                                    recsort_error *error)
{
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  const bool few = rs_job_wanted(job) < job->count;
  recsort_status status = check_index(job, error);
  if (status) return status;
  if (sorter->on_device && !job->sorted && !job->keys_out && !job->permutation && !job->array_count)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "nothing is wanted; on a device no permutation stays in the sorter");
  if (few && job->parts == RECSORT_SEGMENTS)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "head is %zu, but with segments all records are sorted", job->head);
  if (few && job->device_count)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "head is %zu, but with a device_count all records are sorted", job->head);
  if (few && job->sorted && job->sorted == job->records)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "in place, the records behind the first %zu would be lost", job->head);
  if (sorter->on_device && job->sorted && record_size > MOST_ELEMENT)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "records of %zu bytes are not moved on a device; at most 8 MiB are",
                   record_size);
  if (job->array_count && !job->arrays)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "array_count is %zu, arrays is NULL",
                   job->array_count);
  for (size_t a = 0; a < job->array_count && !status; a++)
    status = check_array(sorter, job, a, error);
  return status;
}

/* No array of so many records, keys, indices or offsets overflows. */
static recsort_status check_sizes(const recsort_sorter *sorter, const recsort_job *job,
                                  size_t count, recsort_error *error)
{
  const size_t record_size = (size_t)sorter->plan.program.record_size,
               key_size = sorter->plan.key_width / 8;
  size_t widest = sizeof(uint64_t);
  RS_ASSERT(sorter->plan.key_width % 32 == 0);
  if (record_size > widest) widest = record_size;
  if (key_size > widest) widest = key_size;
  if (rs_product(count, widest) < SIZE_MAX && job->part_count <= SIZE_MAX / sizeof(uint64_t) - 2)
    return RECSORT_OK;
  return rs_fail_memory(error, SIZE_MAX);
}

static recsort_status check_job(const recsort_sorter *sorter, const recsort_job *job,
                                recsort_error *error)
{
  recsort_status status = rs_check_size(job, recsort_job, RECSORT_JOB_INIT, error);
  if (!status && !is_plain(job)) {
    status = check_memory(sorter, job, error);
    if (!status) status = check_records(job, error);
    if (!status) status = check_parts(sorter, job, error);
    if (!status) status = check_bits(sorter, job, error);
  }
  if (!status) status = check_sizes(sorter, job, job->count, error);
  return status ? status : check_results(sorter, job, error);
}

/* ---- Arrays ---- */

/* To a power of two. */
static recsort_status check_aligned(const void *at, size_t alignment, const char *name,
                                    recsort_error *error)
{
  RS_ASSERT(alignment > 0 && (alignment & (alignment - 1)) == 0);
  if (((uintptr_t)at & (alignment - 1)) == 0) return RECSORT_OK;
  return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%s is not at a multiple of %zu bytes", name,
                 alignment);
}

/* Of `count` records before or after the sort. */
static recsort_status check_given(const recsort_sorter *sorter, const recsort_job *job,
                                  size_t count, recsort_error *error)
{
  if (count && !job->records && !job->columns && !job->part_records)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "records must not be NULL");
  if (sorter->on_device && (count || job->workspace_size) && !job->workspace)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "workspace must not be NULL; recsort_plan says how much a job takes");
  return check_aligned(job->workspace, WORKSPACE_ALIGNMENT, "workspace", error);
}

static recsort_status check_alignment(const recsort_sorter *sorter, const recsort_job *job,
                                      recsort_error *error)
{
  const size_t key = sorter->plan.key_width == 32 ? 4 : 8, offset = rs_job_offset_bits(job) / 8;
  RS_ASSERT(offset == 4 || offset == 8);
  recsort_status status =
      check_aligned(job->permutation, rs_job_index_bits(job) / 8, "permutation", error);
  if (!status) status = check_aligned(job->keys_out, key, "keys_out", error);
  if (!status) status = check_aligned(job->offsets, offset, "offsets", error);
  if (!status) status = check_aligned(job->device_count, 8, "device_count", error);
  return status ? status : check_aligned(job->status, 4, "status", error);
}

/* The offsets, and where runs are. Only on the host. */
static recsort_status check_offsets(const recsort_job *job, recsort_error *error)
{
  const unsigned bits = rs_job_offset_bits(job);
  RS_ASSERT(job->offsets && (bits == 32 || bits == 64));
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
    if (job->part_records && !job->part_records[p] && end > begin)
      return rs_fail(error, RECSORT_INVALID_ARGUMENT, "run %zu: its address is NULL", p);
  }
  if (job->parts == RECSORT_RUNS ? end == job->count : end <= job->count) return RECSORT_OK;
  return rs_fail(error, RECSORT_INVALID_ARGUMENT, "the last offset is %llu, of %zu records",
                 (unsigned long long)end, job->count);
}

/* An array that a job reads or writes. */
typedef struct region {
  const void *at;
  size_t size;
  const char *name;
  const char *member; /* of element `number` of an array of that name; NULL: it is no element */
  size_t number;
} region;

enum { INPUTS = 3, OUTPUTS = 5 }; /* behind them are the `from` and `to` of arrays */

static region input_of(const recsort_sorter *sorter, const recsort_job *job, size_t i)
{
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  RS_ASSERT(i < INPUTS + job->array_count);
  switch (i) {
  case 0:
    return (region){job->records, job->count * record_size, "records", NULL, 0};
  case 1:
    return (region){job->offsets, (job->part_count + 1) * (rs_job_offset_bits(job) / 8), "offsets",
                    NULL, 0};
  case 2:
    return (region){job->device_count, sizeof(uint64_t), "device_count", NULL, 0};
  default:
    return (region){job->arrays[i - INPUTS].from, job->count * job->arrays[i - INPUTS].element_size,
                    "arrays", ".from", i - INPUTS};
  }
}

static region output_of(const recsort_sorter *sorter, const recsort_job *job, size_t i)
{
  const size_t wanted = rs_job_wanted(job);
  RS_ASSERT(i < OUTPUTS + job->array_count);
  switch (i) {
  case 0:
    return (region){job->sorted, wanted * (size_t)sorter->plan.program.record_size, "sorted", NULL,
                    0};
  case 1:
    return (region){job->keys_out, wanted * (sorter->plan.key_width / 8), "keys_out", NULL, 0};
  case 2:
    return (region){job->permutation, wanted * (rs_job_index_bits(job) / 8), "permutation", NULL,
                    0};
  case 3:
    return (region){job->workspace, job->workspace_size, "workspace", NULL, 0};
  case 4:
    return (region){job->status, sizeof(uint32_t), "status", NULL, 0};
  default:
    return (region){job->arrays[i - OUTPUTS].to, wanted * job->arrays[i - OUTPUTS].element_size,
                    "arrays", ".to", i - OUTPUTS};
  }
}

static bool overlap(const region *a, const region *b)
{
  return a->at && b->at && rs_overlap(a->at, a->size, b->at, b->size);
}

static recsort_status fail_overlap(const region *one, const region *other, recsort_error *error)
{
  char names[2][64];
  const region *const regions[2] = {one, other};
  for (size_t i = 0; i < 2; i++)
    if (regions[i]->member)
      (void)snprintf(names[i], sizeof names[i], "%s[%zu]%s", regions[i]->name, regions[i]->number,
                     regions[i]->member);
    else
      (void)snprintf(names[i], sizeof names[i], "%s", regions[i]->name);
  return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%s and %s overlap", names[0], names[1]);
}

/* Refuses output number `i` if it overlaps what is read, or an output before it. */
static recsort_status check_output(const recsort_sorter *sorter, const recsort_job *job, size_t i,
                                   recsort_error *error)
{
  const region written = output_of(sorter, job, i);
  const size_t own = i == 0 ? 0 : i < OUTPUTS ? SIZE_MAX : i - OUTPUTS + INPUTS;
  RS_ASSERT(own == SIZE_MAX || own < INPUTS + job->array_count);
  bool in_place = false;
  if (!written.at) return RECSORT_OK;
  for (size_t r = 0; r < INPUTS + job->array_count; r++) {
    const region read = input_of(sorter, job, r);
    const bool same = r == own && read.at == written.at;
    in_place = in_place || same;
    if (!same && overlap(&read, &written)) return fail_overlap(&read, &written, error);
  }
  for (size_t before = 0; before < i; before++) {
    const region other = output_of(sorter, job, before);
    if (overlap(&other, &written)) return fail_overlap(&other, &written, error);
  }
  for (size_t p = 0; job->part_records && p < job->part_count; p++) {
    const size_t records = (size_t)(rs_offset_at(job->offsets, rs_job_offset_bits(job), p + 1) -
                                    rs_offset_at(job->offsets, rs_job_offset_bits(job), p));
    const region run = {job->part_records[p], records * (size_t)sorter->plan.program.record_size,
                        "part_records", "", p};
    if (overlap(&run, &written)) return fail_overlap(&run, &written, error);
  }
  if (job->columns && !in_place &&
      rs_plan_reads(&sorter->plan, job->count, written.at, written.size))
    return fail_overlap(&(region){.name = "a column"}, &written, error);
  return RECSORT_OK;
}

/* True if the one result of a plain job is aligned, and apart from the records or in place. */
static bool is_right(const recsort_sorter *sorter, const recsort_job *job)
{
  const region read = input_of(sorter, job, 0),
               written = output_of(sorter, job, job->sorted ? 0 : 2);
  RS_ASSERT(is_plain(job) && !sorter->on_device);
  if (job->sorted) return read.at == written.at || !overlap(&read, &written);
  return (uintptr_t)written.at % 8 == 0 && !overlap(&read, &written);
}

static recsort_status check_arrays(const recsort_sorter *sorter, const recsort_job *job,
                                   recsort_error *error)
{
  recsort_status status = check_given(sorter, job, job->count, error);
  if (status || (is_plain(job) && is_right(sorter, job))) return status;
  status = check_alignment(sorter, job, error);
  if (!status && job->parts && !sorter->on_device) status = check_offsets(job, error);
  for (size_t i = 0; i < OUTPUTS + job->array_count && !status; i++)
    status = check_output(sorter, job, i, error);
  return status;
}

/* ---- Several jobs, which are shards ---- */

static bool any_head(const recsort_job *jobs, size_t job_count)
{
  bool any = false;
  for (size_t j = 0; j < job_count; j++)
    any = any || jobs[j].head;
  return any;
}

/* The most records of a shard, before or after the sort. */
static size_t most_of(const recsort_job *job)
{
  return job->head > job->count ? job->head : job->count;
}

static recsort_status check_shard(const recsort_sorter *sorter, const recsort_job *job,
                                  recsort_error *error)
{
  const bool more = job->device_count || job->columns || job->column_count || job->parts ||
                    job->offsets || job->part_count || job->part_records || job->longest_part ||
                    job->first_bit || job->bits || job->keys_out || job->permutation ||
                    job->arrays || job->array_count || job->status;
  const recsort_status status = rs_check_size(job, recsort_job, RECSORT_JOB_INIT, error);
  if (status) return status;
  if (more || job->sorted != job->records)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "of several jobs, each sorts records in place, and nothing else");
  if (job->device < 0)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "the number of the device is %d", job->device);
  return check_sizes(sorter, job, most_of(job), error);
}

/* Says which of several jobs it is. */
static recsort_status in_job(size_t number, recsort_status status, recsort_error *error)
{
  if (!status || !error) return status;
  const recsort_error cause = *error;
  return rs_fail(error, status, "jobs[%zu]: %s", number, cause.text);
}

static recsort_status check_shards(const recsort_sorter *sorter, const recsort_job *jobs,
                                   size_t job_count, recsort_error *error)
{
  const bool has_heads = any_head(jobs, job_count);
  RS_ASSERT(job_count > 1 && job_count <= MOST_JOBS);
  size_t before = 0, after = 0;
  for (size_t j = 0; j < job_count; j++) {
    const recsort_status status = check_shard(sorter, &jobs[j], error);
    if (status) return in_job(j, status, error);
    before = rs_sum(before, jobs[j].count);
    after = rs_sum(after, has_heads ? jobs[j].head : jobs[j].count);
  }
  if (before == SIZE_MAX) return rs_fail_memory(error, SIZE_MAX);
  if (before == after) return RECSORT_OK;
  return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                 "the jobs have %zu records in all, but by their heads %zu after the sort", before,
                 after);
}

/* The records, in place and with their room, or the workspace. */
static region shard_region(const recsort_job *job, size_t record_size, bool workspace)
{
  return workspace ? (region){job->workspace, job->workspace_size, "workspace", NULL, 0}
                   : (region){job->records, most_of(job) * record_size, "records", NULL, 0};
}

/* Refuses shard `number` if it overlaps one before it. */
static recsort_status check_shard_apart(const recsort_sorter *sorter, const recsort_job *jobs,
                                        size_t number, recsort_error *error)
{
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  RS_ASSERT(number < MOST_JOBS);
  for (size_t n = 0; n < 2; n++) {
    const region own = shard_region(&jobs[number], record_size, n);
    for (size_t before = 0; before < 2 * number + n; before++) {
      const region other = shard_region(&jobs[before / 2], record_size, before % 2);
      if (overlap(&other, &own))
        return rs_fail(error, RECSORT_INVALID_ARGUMENT, "jobs[%zu].%s and jobs[%zu].%s overlap",
                       before / 2, other.name, number, own.name);
    }
  }
  return RECSORT_OK;
}

static recsort_status check_arrays_of_shards(const recsort_sorter *sorter, const recsort_job *jobs,
                                             size_t job_count, recsort_error *error)
{
  for (size_t j = 0; j < job_count; j++) {
    const recsort_status status = check_given(sorter, &jobs[j], most_of(&jobs[j]), error);
    if (status) return in_job(j, status, error);
  }
  recsort_status status = RECSORT_OK;
  for (size_t j = 0; j < job_count && !status; j++)
    status = check_shard_apart(sorter, jobs, j, error);
  return status;
}

/* ---- A call ---- */

recsort_status rs_jobs_check(const recsort_sorter *sorter, const recsort_job *jobs,
                             size_t job_count, recsort_error *error)
{
  if (!sorter->on_device && job_count != 1)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "there are %zu jobs; several are shards, which are on devices", job_count);
  if (job_count == 0 || job_count > MOST_JOBS)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "there are %zu jobs, not 1 to %d", job_count,
                   MOST_JOBS);
  return job_count == 1 ? check_job(sorter, jobs, error)
                        : check_shards(sorter, jobs, job_count, error);
}

recsort_status rs_jobs_check_arrays(const recsort_sorter *sorter, const recsort_job *jobs,
                                    size_t job_count, recsort_error *error)
{
  RS_ASSERT(job_count > 0 && job_count <= MOST_JOBS);
  return job_count == 1 ? check_arrays(sorter, jobs, error)
                        : check_arrays_of_shards(sorter, jobs, job_count, error);
}
