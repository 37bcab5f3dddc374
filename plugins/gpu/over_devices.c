/* over_devices.c - sends records of the host's to several devices, if one has no room for them: an
 * equal share to each. Sorts them there as shards (shards.c), and brings the shards back, one after
 * the other.
 *
 * Each device has a ring of pinned memory; they are sent one after the other, by all host threads,
 * which keep one way busy. If results are checked, so are the sums of all records' hashes. */
#define _POSIX_C_SOURCE 200809L
#include "gpu/over_devices.h"

#include <stdio.h>
#include <time.h>

#include "gpu/shards.h"

typedef struct spread_sort {
  gpu_instance *self;
  const recsort_plugin_job *job;
  const recsort_key_program *program;
  const char *records;
  char *sorted;
  bool verified;
  record_sums came, left;
  recsort_plugin_shard shards[GPU_MOST_DEVICES];
} spread_sort;

static double seconds_now(void)
{
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The bytes of the records before shard s. */
static uint64_t bytes_before(const spread_sort *o, uint32_t s)
{
  uint64_t count = 0;
  for (uint32_t before = 0; before < s; before++)
    count += o->shards[before].count;
  return count * o->program->record_size;
}

/* Adds the sums of a lane's records. The keys that are made on the way are not needed: they go
 * where the sort does not have its own yet, or any more. */
static recsort_plugin_status add_sums(const spread_sort *o, const gpu_lane *lane, uint64_t count,
                                      record_sums *sums, recsort_plugin_error *error)
{
  void *const stream = lane->own.device->stream;
  const records_program own = records_program_of(o->program, gpu_pair_width(o->program->key_bits));
  records_facts facts = {0};
  device_status status = records_begin(lane->sums, stream);
  if (!status)
    status =
        records_encode(&own, lane->data, count, lane->own.device->memory, true, lane->sums, stream);
  if (!status) status = records_end(lane->sums, &facts, stream);
  sums->low += facts.came.low;
  sums->high += facts.came.high;
  return runtime_judge(status, "adding up records", error);
}

static recsort_plugin_status send(gpu_shards *shards, uint32_t s, void *context,
                                  recsort_plugin_error *error)
{
  spread_sort *const o = context;
  gpu_lane *const lane = &shards->lanes[s];
  const staging_copy up = {.from = o->records + bytes_before(o, s),
                           .to = lane->data,
                           .count = o->shards[s].count,
                           .element = o->program->record_size};
  if (up.count == 0) return RECSORT_PLUGIN_OK;
  recsort_plugin_status status =
      staging_reserve(&lane->own.ring, staging_lanes(up.count, up.element, o->job->threads), error);
  if (!status) status = staging_up(&lane->own.ring, &up, gpu_team(o->self, o->job), error);
  return status || !o->verified ? status : add_sums(o, lane, up.count, &o->came, error);
}

static recsort_plugin_status receive(gpu_shards *shards, uint32_t s, void *context,
                                     recsort_plugin_error *error)
{
  spread_sort *const o = context;
  gpu_lane *const lane = &shards->lanes[s];
  const staging_copy down = {.from = lane->data,
                             .to = o->sorted + bytes_before(o, s),
                             .count = o->shards[s].count,
                             .element = o->program->record_size};
  if (down.count == 0) return RECSORT_PLUGIN_OK;
  const recsort_plugin_status status =
      o->verified ? add_sums(o, lane, down.count, &o->left, error) : RECSORT_PLUGIN_OK;
  return status ? status : staging_down(&lane->own.ring, &down, gpu_team(o->self, o->job), error);
}

/* True if the lanes that there are have memory for the job. */
static bool suffices(const gpu_shards *shards, const spread_sort *o, uint64_t share)
{
  return shards && shards->hosted && shards->algorithm == o->job->algorithm &&
         shards->key_width == gpu_pair_width(o->program->key_bits) &&
         shards->record_size == o->program->record_size && shards->lanes[0].most >= share;
}

static recsort_plugin_status reserve(const spread_sort *o, recsort_plugin_error *error)
{
  gpu_instance *const self = o->self;
  const uint64_t share = o->shards[0].count;
  uint64_t most[GPU_MOST_DEVICES], bytes[GPU_MOST_DEVICES];
  if (suffices(self->shards, o, share)) return RECSORT_PLUGIN_OK;
  for (uint32_t s = 0; s < self->device_count; s++)
    most[s] = share;
  const recsort_plugin_shards_limits limits = {.size = sizeof limits,
                                               .algorithm = o->job->algorithm,
                                               .devices = self->devices,
                                               .most_records = most,
                                               .shard_count = self->device_count};
  recsort_plugin_status status = runtime_enter(self->device, error);
  if (status) return status;
  status = runtime_release(self->device, error); /* for the lane that the same device has */
  runtime_leave(self->device);
  if (!status) status = gpu_reserve_shards(self, o->program, &limits, true, bytes, error);
  if (status) gpu_close_shards(self);
  return status == RECSORT_PLUGIN_OUT_OF_MEMORY ? RECSORT_PLUGIN_UNSUPPORTED : status;
}

/* The first ones get one record more if the shares do not come out even. */
static void divide(spread_sort *o)
{
  const uint64_t count = o->job->count, devices = o->self->device_count;
  for (uint32_t s = 0; s < devices; s++) {
    o->shards[s].count = count / devices + (s < count % devices);
    o->shards[s].wanted = o->shards[s].count;
  }
}

static recsort_plugin_status sort_shards(spread_sort *o, recsort_plugin_error *error)
{
  gpu_shards *const shards = o->self->shards;
  recsort_plugin_shards_job job = {
      .size = sizeof job, .shard_count = shards->count, .shards = o->shards};
  for (uint32_t s = 0; s < shards->count; s++) {
    o->shards[s].records = shards->lanes[s].data;
    o->shards[s].stream = shards->lanes[s].own.device->stream;
  }
  return gpu_shard_sorts.sort(o->self, o->program, &job, error);
}

static recsort_plugin_status compare_sums(const spread_sort *o, recsort_plugin_error *error)
{
  if (o->came.low == o->left.low && o->came.high == o->left.high) return RECSORT_PLUGIN_OK;
  (void)snprintf(error->text, sizeof error->text,
                 "the sorted records are not those that came: their checksums differ");
  return RECSORT_PLUGIN_CORRUPT;
}

recsort_plugin_status over_devices_sort(gpu_instance *self, const recsort_plugin_job *job,
                                        const recsort_key_program *program, const void *records,
                                        void *sorted, recsort_plugin_times *times,
                                        recsort_plugin_error *error)
{
  spread_sort o = {.self = self,
                   .job = job,
                   .program = program,
                   .records = records,
                   .sorted = sorted,
                   .verified = job->count >= self->device->verify_least};
  divide(&o);
  recsort_plugin_status status = reserve(&o, error);
  const double begin = seconds_now();
  if (!status) status = gpu_each_lane(self->shards, send, &o, error);
  const double sent = seconds_now();
  if (!status) status = sort_shards(&o, error);
  const double done = seconds_now();
  if (!status) status = gpu_each_lane(self->shards, receive, &o, error);
  if (!status) status = compare_sums(&o, error);
  times->encode = sent - begin;
  times->sort = done - sent;
  times->permute = seconds_now() - done;
  return status;
}
