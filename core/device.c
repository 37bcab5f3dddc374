/* device.c - jobs in the memory of devices: checks them, and has the plugin do them (see
 * recsort_plugin_device). */
#include <stdio.h>

#include "base/checked.h"
#include "base/struct_size.h"
#include "key/encode.h"
#include "sorter.h"

enum { MOST_ELEMENT = 8 << 20, MOST_JOBS = 256, WORKSPACE_ALIGNMENT = 256 };

static unsigned width_or(unsigned bits, unsigned otherwise)
{
  return bits ? bits : otherwise;
}

static unsigned index_bits_of(const recsort_job *job)
{
  return width_or(job->index_bits, (uint64_t)job->count > UINT64_C(1) << 32 ? 64 : 32);
}

/* The records of a result that is not in place. */
static size_t wanted_of(const recsort_job *job)
{
  return job->head && job->head < job->count ? job->head : job->count;
}

/* ---- What is wrong whatever the addresses are ---- */

static recsort_status check_input(const recsort_job *job, recsort_error *error)
{
  const bool columns = job->columns || job->column_count;
  if (job->column_count && !job->columns)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "column_count is %zu, columns is NULL",
                   job->column_count);
  if (columns && (job->records || job->sorted))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "with columns, records and sorted must be NULL; arrays are moved");
  if (job->part_records || job->parts == RECSORT_RUNS)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "runs are merged in the host's memory only");
  if (job->parts != RECSORT_ONE_PART && job->parts != RECSORT_SEGMENTS)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "parts is no recsort_parts");
  if (job->parts == RECSORT_ONE_PART && (job->offsets || job->part_count || job->longest_part))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "there are offsets or a longest_part, so parts must be RECSORT_SEGMENTS");
  if (job->parts == RECSORT_SEGMENTS &&
      (!job->offsets || job->part_count == 0 || job->part_count > UINT32_MAX))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "there are %zu segments, not 1 to 2^32 - 1, or offsets is NULL",
                   job->part_count);
  if (job->device_count && job->parts != RECSORT_ONE_PART)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "with a device_count there are no parts");
  return RECSORT_OK;
}

static recsort_status check_widths(const recsort_sorter *sorter, const recsort_job *job,
                                   recsort_error *error)
{
  const unsigned all = sorter->plan.program.key_bits, index = index_bits_of(job);
  if (job->offset_bits != 0 && job->offset_bits != 32 && job->offset_bits != 64)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "offset_bits is %u, not 32 or 64",
                   job->offset_bits);
  if (index != 32 && index != 64)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "index_bits is %u, not 32 or 64", index);
  if (index == 32 && (uint64_t)job->count > UINT64_C(1) << 32)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%zu records need an index of 64 bits",
                   job->count);
  if ((job->first_bit || job->bits) && (job->first_bit >= all || job->bits > all - job->first_bit))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "bits [%u, %u + %u) are not all in a key of %u",
                   job->first_bit, job->first_bit, job->bits, all);
  return RECSORT_OK;
}

static recsort_status check_array(const recsort_job *job, size_t number, recsort_error *error)
{
  const recsort_array *const array = &job->arrays[number];
  if (array->element_size == 0 || array->element_size > MOST_ELEMENT ||
      (job->count && (!array->from || !array->to)))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "arrays[%zu]: from and to must not be NULL, and elements have 1 byte to 8 MiB",
                   number);
  if (array->from == array->to && wanted_of(job) < job->count)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "arrays[%zu]: in place, the elements behind the first %zu would be lost", number,
                   job->head);
  return RECSORT_OK;
}

static recsort_status check_results(const recsort_job *job, size_t record_size,
                                    recsort_error *error)
{
  recsort_status status = RECSORT_OK;
  if (!job->sorted && !job->keys_out && !job->permutation && !job->array_count)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "nothing is wanted; on a device no permutation stays in the sorter");
  if (wanted_of(job) < job->count && (job->parts != RECSORT_ONE_PART || job->device_count))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "head is %zu, but with segments or a device_count all records are sorted",
                   job->head);
  if (wanted_of(job) < job->count && job->sorted && job->sorted == job->records)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "in place, the records behind the first %zu would be lost", job->head);
  if (job->sorted && record_size > MOST_ELEMENT)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "records of %zu bytes are not moved on a device; at most 8 MiB are",
                   record_size);
  if (job->array_count && !job->arrays)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "array_count is %zu, arrays is NULL",
                   job->array_count);
  for (size_t a = 0; a < job->array_count && !status; a++)
    status = check_array(job, a, error);
  return status;
}

/* One of several jobs. */
static recsort_status check_shard(const recsort_job *job, size_t number, recsort_error *error)
{
  const bool more = job->device_count || job->columns || job->column_count || job->parts ||
                    job->offsets || job->part_count || job->part_records || job->longest_part ||
                    job->first_bit || job->bits || job->keys_out || job->permutation ||
                    job->arrays || job->array_count || job->status;
  if (more || job->sorted != job->records)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "jobs[%zu]: of several jobs, each sorts records in place, and nothing else",
                   number);
  if (job->device < 0)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "jobs[%zu]: the number of the device is %d",
                   number, job->device);
  return RECSORT_OK;
}

/* No size of an array overflows. */
static recsort_status check_sizes(const recsort_sorter *sorter, const recsort_job *job,
                                  recsort_error *error)
{
  const size_t most = job->head > job->count ? job->head : job->count;
  size_t widest = (size_t)sorter->plan.program.record_size, bytes;
  if (widest < sizeof(uint64_t) * 2) widest = sizeof(uint64_t) * 2;
  for (size_t a = 0; job->arrays && a < job->array_count; a++)
    if (job->arrays[a].element_size > widest) widest = job->arrays[a].element_size;
  if (!rs_multiply(most, widest, &bytes) || job->part_count > SIZE_MAX / sizeof(uint64_t) - 1)
    return rs_fail_memory(error, SIZE_MAX);
  return RECSORT_OK;
}

/* The records of a shard after the sort. */
static size_t shard_wants(const recsort_job *jobs, size_t job_count, size_t number)
{
  for (size_t j = 0; j < job_count; j++)
    if (jobs[j].head) return jobs[number].head;
  return jobs[number].count;
}

static recsort_status check_shards(const recsort_job *jobs, size_t job_count, recsort_error *error)
{
  size_t before = 0, after = 0;
  recsort_status status = RECSORT_OK;
  for (size_t j = 0; j < job_count && !status; j++) {
    status = check_shard(&jobs[j], j, error);
    if (!rs_add(before, jobs[j].count, &before) ||
        !rs_add(after, shard_wants(jobs, job_count, j), &after))
      return rs_fail_memory(error, SIZE_MAX);
  }
  if (!status && before != after)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "the jobs have %zu records in all, but by their heads %zu after the sort",
                   before, after);
  return status;
}

static recsort_status check_jobs(const recsort_sorter *sorter, const recsort_job *jobs,
                                 size_t job_count, recsort_error *error)
{
  recsort_status status = rs_plan_check_parameters(&sorter->plan, error);
  if (!status && (job_count == 0 || job_count > MOST_JOBS))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "there are %zu jobs, not 1 to %d", job_count,
                   MOST_JOBS);
  for (size_t j = 0; j < job_count && !status; j++) {
    status = rs_check_size(jobs + j, recsort_job, RECSORT_JOB_INIT, error);
    if (!status) status = check_sizes(sorter, jobs + j, error);
  }
  if (status) return status;
  if (job_count > 1) return check_shards(jobs, job_count, error);
  if (jobs->device) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "device is for several jobs");
  status = check_input(jobs, error);
  if (!status) status = check_widths(sorter, jobs, error);
  return status ? status : check_results(jobs, (size_t)sorter->plan.program.record_size, error);
}

/* ---- Arrays ---- */

/* An array that a job reads or writes. */
typedef struct area {
  const char *name;
  const void *at;
  size_t size;
  size_t alignment;
  bool written;
} area;

/* Behind these are `from` and `to` of each array. What is in place has the numbers n and n ^ 1. */
enum { RECORDS, SORTED, KEYS_OUT, PERMUTATION, OFFSETS, DEVICE_COUNT, WORKSPACE, STATUS, AREAS };

static area area_of(const recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                    size_t number, size_t n)
{
  const recsort_job *const job = &jobs[number];
  const size_t size = (size_t)sorter->plan.program.record_size, key = rs_key_size(&sorter->plan),
               index = index_bits_of(job) / 8, offset = width_or(job->offset_bits, 64) / 8,
               wanted = wanted_of(job),
               after = job_count > 1 ? shard_wants(jobs, job_count, number) : wanted;
  switch (n) {
  case RECORDS:
    return (area){"records", job->records, job->count * size, 1, false};
  case SORTED:
    return (area){"sorted", job->sorted, after * size, 1, true};
  case KEYS_OUT:
    return (area){"keys_out", job->keys_out, wanted * key, key < 8 ? key : 8, true};
  case PERMUTATION:
    return (area){"permutation", job->permutation, wanted * index, index, true};
  case OFFSETS:
    return (area){"offsets", job->offsets, (job->part_count + 1) * offset, offset, false};
  case DEVICE_COUNT:
    return (area){"device_count", job->device_count, 8, 8, false};
  case WORKSPACE:
    return (area){"workspace", job->workspace, job->workspace_size, WORKSPACE_ALIGNMENT, true};
  case STATUS:
    return (area){"status", job->status, sizeof(uint32_t), sizeof(uint32_t), true};
  default:
    break;
  }
  const recsort_array *const array = &job->arrays[(n - AREAS) / 2];
  return n % 2 ? (area){"to", array->to, wanted * array->element_size, 1, true}
               : (area){"from", array->from, job->count * array->element_size, 1, false};
}

/* Writes the name of an area. */
static void name_area(char *text, size_t text_size, size_t job_count, size_t number, size_t n,
                      const area *found)
{
  char job[32] = "";
  if (job_count > 1) (void)snprintf(job, sizeof job, "jobs[%zu].", number);
  if (n < AREAS)
    (void)snprintf(text, text_size, "%s%s", job, found->name);
  else
    (void)snprintf(text, text_size, "%sarrays[%zu].%s", job, (n - AREAS) / 2, found->name);
}

/* The areas of all jobs are counted through. */
typedef struct areas {
  const recsort_sorter *sorter;
  const recsort_job *jobs;
  size_t job_count;
  size_t of_job, count; /* of one, and all; several jobs have no arrays */
} areas;

static area find(const areas *all, size_t n)
{
  return area_of(all->sorter, all->jobs, all->job_count, n / all->of_job, n % all->of_job);
}

static recsort_status fail_overlap(const areas *all, size_t one, size_t other, recsort_error *error)
{
  char names[2][80];
  const area found[2] = {find(all, one), find(all, other)};
  name_area(names[0], sizeof names[0], all->job_count, one / all->of_job, one % all->of_job,
            &found[0]);
  name_area(names[1], sizeof names[1], all->job_count, other / all->of_job, other % all->of_job,
            &found[1]);
  return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%s and %s overlap", names[0], names[1]);
}

static bool in_place(size_t one, size_t other, const area *a, const area *b)
{
  return (one ^ 1) == other && (one < KEYS_OUT || one >= AREAS) && a->at == b->at;
}

/* An area and those before it. */
static recsort_status check_area(const areas *all, size_t n, recsort_error *error)
{
  const area this = find(all, n);
  const size_t own = n % all->of_job, first = n - own;
  if (!this.at) return RECSORT_OK;
  if ((uintptr_t)this.at % this.alignment) {
    char name[80];
    name_area(name, sizeof name, all->job_count, n / all->of_job, own, &this);
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%s is not at a multiple of %zu bytes", name,
                   this.alignment);
  }
  bool inside = false;
  for (size_t before = 0; before < n; before++) {
    const area that = find(all, before);
    if (!that.at || (!this.written && !that.written)) continue;
    const bool same = before >= first && in_place(before - first, own, &that, &this);
    inside = inside || same;
    if (!same && rs_overlap(that.at, that.size, this.at, this.size))
      return fail_overlap(all, before, n, error);
  }
  if (this.written && all->jobs->columns && !inside &&
      rs_plan_reads(&all->sorter->plan, all->jobs->count, this.at, this.size)) {
    char name[80];
    name_area(name, sizeof name, 1, 0, own, &this);
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "a column and %s overlap", name);
  }
  return RECSORT_OK;
}

/* For a run, after check_jobs and with the columns in place. */
static recsort_status check_arrays(const recsort_sorter *sorter, const recsort_job *jobs,
                                   size_t job_count, recsort_error *error)
{
  const size_t of_job = AREAS + 2 * jobs->array_count;
  const areas all = {sorter, jobs, job_count, of_job, of_job * job_count};
  recsort_status status = RECSORT_OK;
  for (size_t j = 0; j < job_count; j++) {
    const recsort_job *const job = &jobs[j];
    const bool any = job->count || (job_count > 1 && job->head);
    if (any && !job->columns && !job->records)
      return rs_fail(error, RECSORT_INVALID_ARGUMENT, "records must not be NULL");
    if ((any || job->workspace_size) && !job->workspace)
      return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                     "workspace must not be NULL; recsort_plan says how much a job takes");
  }
  for (size_t n = 0; n < all.count && !status; n++)
    status = check_area(&all, n, error);
  return status;
}

/* ---- The plugin ---- */

recsort_status rs_device_ask(const recsort_sorter *sorter, const recsort_job *jobs,
                             size_t job_count, recsort_needs *needs, recsort_error *error)
{
  rs_plugin_instance *const instance = &sorter->choice.in_use->instance;
  recsort_error reported = {0};
  recsort_status status = rs_plugin_check_lost(instance, error);
  if (status) return status;
  status = instance->device->plan(instance->state, instance->algorithm, &sorter->plan.program, jobs,
                                  job_count, needs, &reported);
  return status ? rs_plugin_fail(instance, status, &reported, error) : RECSORT_OK;
}

recsort_status rs_device_plan(recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                              recsort_needs *needs, recsort_error *error)
{
  recsort_status status = check_jobs(sorter, jobs, job_count, error);
  for (size_t j = 0; j < job_count && !status; j++)
    status = rs_check_size(needs + j, recsort_needs, RECSORT_NEEDS_INIT, error);
  return status ? status : rs_device_ask(sorter, jobs, job_count, needs, error);
}

static recsort_status run(const recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                          recsort_error *error)
{
  rs_plugin_instance *const instance = &sorter->choice.in_use->instance;
  recsort_error reported = {0};
  recsort_status status = rs_plugin_check_lost(instance, error);
  if (status) return status;
  status = instance->device->run(instance->state, instance->algorithm, &sorter->plan.program, jobs,
                                 job_count, &reported);
  return status ? rs_plugin_fail(instance, status, &reported, error) : RECSORT_OK;
}

recsort_status rs_device_run(recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                             recsort_error *error)
{
  recsort_status status = check_jobs(sorter, jobs, job_count, error);
  if (!status && jobs->columns)
    status =
        rs_plan_set_columns(&sorter->plan, jobs->columns, jobs->column_count, jobs->count, error);
  if (!status) status = check_arrays(sorter, jobs, job_count, error);
  if (!status) status = run(sorter, jobs, job_count, error);
  sorter->plan.program.columns = NULL;
  return status;
}
