/* merge_runs.c - merges sorted runs of records (the extension RECSORT_PLUGIN_MERGE). The records of
 * all runs are sent to the device, which makes their keys, checks each run and merges the keys;
 * then the permutation comes down, or the records do. Nothing is merged before all runs were
 * checked.
 *
 * In place, the records come down to memory of their own first, so that a failure changes nothing:
 *
 *   memory      | bounds of runs | merged records, in place |
 */
#include <stdio.h>
#include <string.h>

#include "gpu/device_records.h"
#include "gpu/gpu_plugin.h"

enum { HOST_ALIGNMENT = 64, MOST_RECORD = 1024, MOST_COUNT_BITS = 40 };

/* The runs, one after the other. */
typedef struct run_list {
  const recsort_plugin_run *runs;
  uint64_t *bounds;
  uint32_t count;
  size_t record_size;
} run_list;

static uint64_t bounds_bytes(const recsort_plugin_merge_job *job)
{
  const uint64_t bytes = ((uint64_t)job->run_count + 1) * sizeof(uint64_t);
  return (bytes + HOST_ALIGNMENT - 1) / HOST_ALIGNMENT * HOST_ALIGNMENT;
}

/* The keys of such a merge, as those of a sort. */
static recsort_plugin_job pairs_job_of(const recsort_plugin_merge_job *job)
{
  const uint32_t enough = job->count <= UINT64_C(1) << 32 ? 32 : 64;
  return (recsort_plugin_job){.size = sizeof(recsort_plugin_job),
                              .count = job->count,
                              .key_bits = job->program->key_bits,
                              .key_width = job->program->key_width,
                              .index_bits = job->index_bits ? job->index_bits : enough,
                              .threads = job->threads};
}

static device_records plan_records(gpu_instance *self, const recsort_plugin_merge_job *job,
                                   const recsort_plugin_job *pairs)
{
  return device_records_plan(self, pairs, job->program, gpu_plan_merge(self->device, pairs),
                             (uint64_t)job->run_count + 1);
}

static uint32_t suits(const void *instance, const recsort_plugin_merge_job *job)
{
  gpu_instance *const self = (void *)(uintptr_t)instance;
  if (!self->merges || !device_records_encodable(job->program) ||
      job->program->record_size > MOST_RECORD || job->count > UINT64_C(1) << MOST_COUNT_BITS)
    return 0;
  const recsort_plugin_job pairs = pairs_job_of(job);
  return plan_records(self, job, &pairs).bytes <= self->device->first_room;
}

static recsort_plugin_status work_size(const void *instance, const recsort_plugin_merge_job *job,
                                       uint64_t *bytes, recsort_plugin_error *error)
{
  const uint64_t size = job->program->record_size;
  (void)instance;
  if (job->in_place && size && job->count > (UINT64_MAX >> 1) / size) {
    (void)snprintf(error->text, sizeof error->text, "%llu records are more than memory can hold",
                   (unsigned long long)job->count);
    return RECSORT_PLUGIN_UNSUPPORTED;
  }
  *bytes = bounds_bytes(job) + (job->in_place ? job->count * size : 0);
  return RECSORT_PLUGIN_OK;
}

/* ---- Runs ---- */

static run_list list_runs(const recsort_plugin_merge_job *job, void *memory)
{
  const run_list list = {job->runs, memory, job->run_count, (size_t)job->program->record_size};
  list.bounds[0] = 0;
  for (uint32_t r = 0; r < list.count; r++)
    list.bounds[r + 1] = list.bounds[r] + job->runs[r].count;
  return list;
}

/* The run of a record. */
static uint32_t find_run(const run_list *list, uint64_t record)
{
  uint32_t low = 0, high = list->count - 1;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (list->bounds[middle + 1] <= record)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void read_runs(const void *context, uint64_t first, uint64_t count, void *to)
{
  const run_list *const list = context;
  const uint64_t end = first + count;
  char *at = to;
  for (uint32_t r = find_run(list, first); first < end; r++) {
    const uint64_t stop = list->bounds[r + 1] < end ? list->bounds[r + 1] : end;
    const size_t bytes = (size_t)(stop - first) * list->record_size;
    const char *const records = list->runs[r].records;
    if (bytes) memcpy(at, records + (first - list->bounds[r]) * list->record_size, bytes);
    at += bytes;
    first = stop;
  }
}

static recsort_plugin_status send_bounds(const device_records *s, const run_list *list,
                                         recsort_plugin_error *error)
{
  const staging_copy up = {.from = list->bounds,
                           .to = s->bounds,
                           .count = s->bound_count,
                           .element = sizeof *list->bounds};
  return staging_up(&s->self->ring, &up, gpu_team(s->self, s->job), error);
}

/* Sends the records, and checks their values and the order of each run. */
static recsort_plugin_status send_runs(device_records *s, const run_list *list,
                                       recsort_plugin_error *error)
{
  recsort_plugin_status status = send_bounds(s, list, error);
  if (status == RECSORT_PLUGIN_OK) status = device_records_send(s, NULL, read_runs, list, error);
  if (status == RECSORT_PLUGIN_OK)
    status = runtime_judge(records_runs_ordered(s->buffers.keys[0], s->program.key_width,
                                                s->job->count, s->bounds, s->bound_count, s->facts,
                                                s->self->device->stream),
                           "a kernel's launch", error);
  return status ? status : device_records_judge(s, error);
}

/* ---- The merge ---- */

typedef struct host_copy {
  char *to;
  const char *from;
  size_t size, pieces;
} host_copy;

static void copy_piece(void *argument, size_t piece, unsigned slot)
{
  const host_copy *const copy = argument;
  const team_range part = team_cut(copy->size, piece, copy->pieces);
  (void)slot;
  memcpy(copy->to + part.begin, copy->from + part.begin, part.end - part.begin);
}

static recsort_plugin_status receive(device_records *s, const recsort_plugin_merge_job *job,
                                     char *room, void *result, recsort_plugin_error *error)
{
  const team t = gpu_team(s->self, s->job);
  if (job->index_bits)
    return gpu_bring_down(s->self, s->job, s->order, result, job->index_bits, error);
  const recsort_plugin_status status =
      device_records_receive(s, job->in_place ? room : result, error);
  if (status || !job->in_place) return status;
  host_copy copy = {result, room, (size_t)(job->count * s->program.record_size), team_pieces(t)};
  team_each(t, copy.pieces, copy_piece, &copy);
  return RECSORT_PLUGIN_OK;
}

static recsort_plugin_status merge_entered(gpu_instance *self, const recsort_plugin_merge_job *job,
                                           void *memory, void *result, recsort_plugin_error *error)
{
  const recsort_plugin_job pairs = pairs_job_of(job);
  const run_list list = list_runs(job, memory);
  const device_runs runs = {list.bounds, list.count};
  device_records s = plan_records(self, job, &pairs);
  unsigned side = 0;
  recsort_plugin_status status = device_records_reserve(&s, error);
  if (status == RECSORT_PLUGIN_OK) status = send_runs(&s, &list, error);
  if (status == RECSORT_PLUGIN_OK)
    status = gpu_merge_pairs(&s.pairs, &runs, &s.buffers, &side, error);
  if (status == RECSORT_PLUGIN_OK) status = device_records_check(&s, side, error);
  return status ? status : receive(&s, job, (char *)memory + bounds_bytes(job), result, error);
}

static recsort_plugin_status merge(void *instance, const recsort_plugin_merge_job *job,
                                   void *memory, void *result, recsort_plugin_error *error)
{
  gpu_instance *const self = instance;
  if (job->count == 0) return RECSORT_PLUGIN_OK;
  recsort_plugin_status status = runtime_enter(self->device, error);
  if (status) return status;
  status = merge_entered(self, job, memory, result, error);
  runtime_leave(self->device);
  return status;
}

const recsort_plugin_merge gpu_merge_runs = {
    .size = sizeof gpu_merge_runs, .suits = suits, .work_size = work_size, .merge = merge};
