/* device.c - records in a device's memory: a sorter whose plugin sorts them there (see
 * recsort_plugin_device). The host's part is the key program and the checks of what it is given. */
#include "recsort/device.h"

#include <string.h>

#include "base/checked.h"
#include "base/struct_size.h"
#include "sorter.h"

enum { MOST_ELEMENT = 8 << 20 };

/* Versions of plugins. */

struct recsort_device_sorter {
  recsort_sorter *own; /* its plan and its plugin; it has no records */
  recsort_device_limits limits;
  uint64_t memory;
};

static rs_plugin_instance *instance_of(const recsort_device_sorter *sorter)
{
  return &sorter->own->choice.in_use->instance;
}

/* ---- Creation ---- */

static recsort_status read_limits(const recsort_device_limits *given, recsort_device_limits *limits,
                                  recsort_error *error)
{
  const recsort_status status =
      rs_check_size(given, recsort_device_limits, RECSORT_DEVICE_LIMITS_INIT, error);
  if (status) return status;
  size_t bytes;
  *limits = *given;
  if (limits->index_bits == 0) limits->index_bits = 32;
  if (limits->index_bits != 32 && limits->index_bits != 64)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "index_bits is %u, not 32 or 64",
                   limits->index_bits);
  if (limits->most_records == 0)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "most_records of the limits is 0");
  if (limits->index_bits == 32 && limits->most_records > (uint64_t)UINT32_MAX + 1)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "%zu records need a permutation of 64 bits, not 32", limits->most_records);
  if (limits->most_segments > UINT32_MAX)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "most_segments of the limits is %zu",
                   limits->most_segments);
  if (limits->most_in_place > MOST_ELEMENT ||
      !rs_multiply(limits->most_records, limits->most_in_place, &bytes))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "most_in_place of the limits is %zu",
                   limits->most_in_place);
  return RECSORT_OK;
}

static recsort_status reserve(recsort_device_sorter *sorter, recsort_error *error)
{
  rs_plugin_instance *const instance = instance_of(sorter);
  const recsort_plugin_device_limits limits = {.size = sizeof limits,
                                               .algorithm = instance->algorithm,
                                               .most_records = sorter->limits.most_records,
                                               .most_in_place = sorter->limits.most_in_place,
                                               .most_segments = sorter->limits.most_segments,
                                               .most_in_segment = sorter->limits.most_in_segment,
                                               .index_bits = sorter->limits.index_bits};
  recsort_plugin_error reported = {.size = sizeof reported};
  const recsort_plugin_status status = instance->device->reserve(
      instance->state, &sorter->own->plan.program, &limits, &sorter->memory, &reported);
  return status ? rs_plugin_fail(instance, status, &reported, error) : RECSORT_OK;
}

recsort_status recsort_device_sorter_create(const recsort_schema *schema,
                                            const recsort_options *options,
                                            const recsort_device_limits *limits,
                                            recsort_device_sorter **sorter, recsort_error *error)
{
  recsort_device_limits own = {0};
  recsort_sorter *made = NULL;
  if (!limits || !sorter)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "limits and sorter must not be NULL");
  recsort_status status = read_limits(limits, &own, error);
  if (!status) status = recsort_sorter_create(schema, options, &made, error);
  if (status) return status;
  if (made->head) {
    recsort_sorter_destroy(made);
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "head of the options is for sorts on the host; a device sort has it in its job");
  }
  recsort_device_sorter *const device = rs_allocate(&made->allocator, sizeof *device);
  if (!device) {
    recsort_sorter_destroy(made);
    return rs_fail_memory(error, sizeof *device);
  }
  *device = (recsort_device_sorter){.own = made, .limits = own};
  status = rs_choice_for_device(&made->choice, RS_RESIDENT_RECORDS, error);
  if (!status) status = reserve(device, error);
  if (status)
    recsort_device_sorter_destroy(device);
  else
    *sorter = device;
  return status;
}

void recsort_device_sorter_destroy(recsort_device_sorter *sorter)
{
  if (!sorter) return;
  recsort_sorter *const own = sorter->own;
  rs_release(&own->allocator, sorter, sizeof *sorter);
  recsort_sorter_destroy(own);
}

size_t recsort_device_sorter_memory(const recsort_device_sorter *sorter)
{
  return sorter ? (size_t)sorter->memory : 0;
}

/* ---- Sorts ---- */

/* The records that are wanted, if not all are; otherwise 0. */
static size_t head_of(const recsort_device_job *job)
{
  return job->head < job->count ? job->head : 0;
}

static recsort_status check_array(const recsort_device_sorter *sorter,
                                  const recsort_device_job *job, const recsort_device_array *array,
                                  const char *name, size_t number, recsort_error *error)
{
  const size_t size = array->element_size, head = head_of(job);
  if (!array->from || !array->to || size == 0 || size > MOST_ELEMENT)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "%s %zu: from and to must not be NULL, and elements have 1 byte to 8 MiB", name,
                   number);
  if (array->from == array->to && size > sorter->limits.most_in_place)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "%s %zu: elements of %zu bytes are moved in place; most_in_place is %zu", name,
                   number, size, sorter->limits.most_in_place);
  if (array->from == array->to && head)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "%s %zu: only the first %zu records are wanted; they cannot be moved in place",
                   name, number, head);
  if (array->from != array->to &&
      rs_overlap(array->from, job->count * size, array->to, (head ? head : job->count) * size))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%s %zu: from and to overlap", name, number);
  return RECSORT_OK;
}

static recsort_status check_job(const recsort_device_sorter *sorter, const recsort_device_job *job,
                                recsort_error *error)
{
  const size_t record_size = (size_t)sorter->own->plan.program.record_size;
  recsort_status status = rs_plan_check_parameters(&sorter->own->plan, error);
  if (status || job->count == 0) return status;
  if (job->count > sorter->limits.most_records)
    return rs_fail(error, RECSORT_PLUGIN_ERROR, "%zu records; the sorter is for at most %zu",
                   job->count, sorter->limits.most_records);
  if (job->columns && (job->records || job->sorted))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "with columns, records and sorted must be NULL; arrays are moved");
  if ((!job->records && !job->columns) || (job->array_count && !job->arrays) ||
      job->array_count > UINT32_MAX - 1)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "records and arrays must not be NULL");
  if (job->offsets &&
      (job->segment_count == 0 || job->segment_count > sorter->limits.most_segments))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%zu segments; the sorter is for 1 to %zu",
                   job->segment_count, sorter->limits.most_segments);
  if (job->offsets && head_of(job))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "head is %zu, but with segments all records are sorted", job->head);
  if (job->offset_bits != 0 && job->offset_bits != 32 && job->offset_bits != 64)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "offset_bits is %u, not 32 or 64",
                   job->offset_bits);
  if (job->sorted) {
    const recsort_device_array moved = {job->records, job->sorted, record_size};
    status = check_array(sorter, job, &moved, "sorted", 0, error);
  }
  for (size_t a = 0; !status && a < job->array_count; a++)
    status = check_array(sorter, job, &job->arrays[a], "array", a, error);
  return status;
}

/* The arrays that move, first of all the records. They are few: the plugin reads them at once. */
static recsort_status sort_checked(recsort_device_sorter *sorter, const recsort_device_job *job,
                                   recsort_plugin_device_array *arrays, recsort_error *error)
{
  const rs_plugin_instance *const instance = instance_of(sorter);
  const recsort_key_program *const program = &sorter->own->plan.program;
  recsort_plugin_error reported = {.size = sizeof reported};
  uint32_t count = 0;
  if (job->sorted)
    arrays[count++] =
        (recsort_plugin_device_array){job->records, job->sorted, program->record_size};
  for (size_t a = 0; a < job->array_count; a++) {
    const recsort_device_array *const array = &job->arrays[a];
    arrays[count++] = (recsort_plugin_device_array){array->from, array->to, array->element_size};
  }
  const recsort_plugin_device_job own = {.size = sizeof own,
                                         .array_count = count,
                                         .stream = job->stream,
                                         .count = job->count,
                                         .records = job->records,
                                         .permutation = job->permutation,
                                         .arrays = arrays,
                                         .offsets = job->offsets,
                                         .segment_count = job->segment_count,
                                         .offset_bits = job->offset_bits ? job->offset_bits : 32,
                                         .head = head_of(job)};
  const recsort_plugin_status status =
      instance->device->sort(instance->state, program, &own, &reported);
  return status ? rs_plugin_fail(instance, status, &reported, error) : RECSORT_OK;
}

recsort_status recsort_device_sort(recsort_device_sorter *sorter, const recsort_device_job *job,
                                   recsort_error *error)
{
  enum { FEW = 16 };
  recsort_plugin_device_array few[FEW + 1], *arrays = few;
  size_t bytes = 0;
  if (!sorter || !job)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter and job must not be NULL");
  recsort_status status = rs_check_size(job, recsort_device_job, RECSORT_DEVICE_JOB_INIT, error);
  if (!status) status = check_job(sorter, job, error);
  if (status || job->count == 0) return status;
  if (job->array_count > FEW) {
    bytes = (job->array_count + 1) * sizeof *arrays;
    arrays = rs_allocate(&sorter->own->allocator, bytes);
    if (!arrays) return rs_fail_memory(error, bytes);
  }
  if (job->columns)
    status = rs_sorter_set_columns(sorter->own, job->columns, job->column_count, job->count, error);
  if (!status) status = sort_checked(sorter, job, arrays, error);
  sorter->own->plan.program.columns = NULL;
  if (arrays != few) rs_release(&sorter->own->allocator, arrays, bytes);
  return status;
}

recsort_status recsort_device_sorter_check(recsort_device_sorter *sorter, recsort_error *error)
{
  if (!sorter) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter must not be NULL");
  const rs_plugin_instance *const instance = instance_of(sorter);
  recsort_plugin_error reported = {.size = sizeof reported};
  const recsort_plugin_status status = instance->device->judge(instance->state, &reported);
  if (status == RECSORT_PLUGIN_UNSUPPORTED)
    return rs_fail(error, RECSORT_INVALID_RECORD, "a record holds an invalid value of an enum");
  return status ? rs_plugin_fail(instance, status, &reported, error) : RECSORT_OK;
}

recsort_status recsort_device_sorter_set_parameter(recsort_device_sorter *sorter, const char *name,
                                                   const double *values, size_t count,
                                                   recsort_error *error)
{
  return recsort_sorter_set_parameter(sorter ? sorter->own : NULL, name, values, count, error);
}

recsort_status recsort_device_sorter_bind_parameter(recsort_device_sorter *sorter, const char *name,
                                                    const double *values, size_t count,
                                                    recsort_error *error)
{
  if (!sorter || !name || !values)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter, name and values must not be NULL");
  return rs_plan_bind_parameter(&sorter->own->plan, name, values, count, error);
}
