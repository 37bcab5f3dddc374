/* cuda_plugin.c - the table of the plugin that sorts on a CUDA device.
 *
 *   sort        keys of up to 128 bits: up, through one of device_algorithms, the permutation down
 *               more of them than the device has memory for: in runs, merged here (in_runs.h)
 *               wider ones: 128 bits at a time, the least significant first (wide_keys.h)
 *   extension   whole records: up, sorted, down (whole_records.c)
 *
 * An instance keeps its memory, the device's and the ring's, for the next sort. */
#include <stdio.h>
#include <string.h>

#include "cuda/in_runs.h"
#include "cuda/records.h"
#include "cuda/wide_keys.h"

#ifndef CUDA_LEAST_COUNT
#define CUDA_LEAST_COUNT (12 << 10) /* where one thread of a Xeon and an H200 take as long */
#endif

enum { HOST_ALIGNMENT = 64, MAX_PAIR_WIDTH = 128, MAX_COUNT_BITS = 40 };

static wide_keys_part_work pair_work;
static wide_keys_part_sort pair_sort;
static const wide_keys_parts pair_sorter = {pair_work, pair_sort};

/* ---- The contract's small change ---- */

static uint32_t cuda_score(const recsort_host *host, char *reason, size_t reason_size)
{
  cuda_options options;
  return cuda_options_read(host, &options, reason, reason_size) &&
                 runtime_usable(&options, reason, reason_size)
             ? 200
             : 0;
}

static recsort_plugin_status cuda_open(const recsort_host *host, void **instance,
                                       recsort_plugin_error *error)
{
  cuda_instance *self = NULL;
  cuda_options options;
  runtime_device device;
  if (!cuda_options_read(host, &options, error->text, sizeof error->text))
    return RECSORT_PLUGIN_UNSUPPORTED;
  const recsort_plugin_status status = runtime_open(&options, &device, error);
  if (status) return status;
  self = host->allocate(host->context, sizeof *self);
  if (!self) {
    runtime_close(&device);
    (void)snprintf(error->text, sizeof error->text, "no memory for the plugin's instance");
    return RECSORT_PLUGIN_OUT_OF_MEMORY;
  }
  *self = (cuda_instance){.host = host, .device = device, .ring.device = &self->device};
  *instance = self;
  return RECSORT_PLUGIN_OK;
}

static void cuda_close(void *instance)
{
  cuda_instance *const self = instance;
  const recsort_host *const host = self->host;
  const recsort_plugin_status entered = runtime_enter(&self->device, NULL);
  staging_close(&self->ring);
  if (!entered) runtime_leave(&self->device);
  runtime_close(&self->device);
  host->release(host->context, self, sizeof *self);
}

static void cuda_limits(const void *instance, recsort_plugin_limits *limits)
{
  (void)instance;
  limits->max_key_bits = UINT32_MAX;
  limits->max_index_bits = 64;
  limits->max_count = UINT64_C(1) << MAX_COUNT_BITS; /* the host's memory ends before */
  limits->least_count = CUDA_LEAST_COUNT;
}

/* ---- Memory ---- */

static uint64_t round_up(uint64_t bytes, uint64_t alignment)
{
  return (bytes + alignment - 1) / alignment * alignment;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

/* Of keys of up to 128 bits. Unless they go in runs, the permutation takes their place. */
static recsort_plugin_work pair_work(const void *instance, const recsort_plugin_job *job)
{
  if (in_runs_wanted(instance, job)) return in_runs_work(job);
  const uint64_t keys = round_up(job->count * (job->key_width / 8), HOST_ALIGNMENT);
  const uint64_t order = round_up(job->count * (job->index_bits / 8), HOST_ALIGNMENT);
  return (recsort_plugin_work){.bytes = larger(keys, order)};
}

static recsort_plugin_status cuda_work_size(const void *instance, const recsort_plugin_job *job,
                                            recsort_plugin_work *work, recsort_plugin_error *error)
{
  enum { MAX_WIDTH = 1 << 20 }; /* no product of a count and a width can overflow */
  if (job->count > UINT64_C(1) << MAX_COUNT_BITS || job->key_width > MAX_WIDTH) {
    (void)snprintf(error->text, sizeof error->text, "%llu keys of %u bits are too many",
                   (unsigned long long)job->count, job->key_width);
    return RECSORT_PLUGIN_UNSUPPORTED;
  }
  const recsort_plugin_work needed = job->key_width > MAX_PAIR_WIDTH
                                         ? wide_keys_work(&pair_sorter, instance, job)
                                         : pair_work(instance, job);
  work->keys_offset = needed.keys_offset;
  work->bytes = needed.bytes;
  return RECSORT_PLUGIN_OK;
}

/* ---- Sorting ---- */

cuda_pairs cuda_plan_pairs(const runtime_device *device, const recsort_plugin_job *job)
{
  cuda_pairs pairs = {.algorithm = &device_algorithms[job->algorithm],
                      .disorder = job->count >= device->verify_least ? device->disorder : NULL,
                      .job = {.count = job->count,
                              .key_bits = job->key_bits,
                              .key_width = job->key_width,
                              .index_bits = job->index_bits,
                              .shared_bytes = device->shared_bytes,
                              .multiprocessors = device->multiprocessors,
                              .stream = device->stream,
                              .mailbox = device->mailbox}};
  if (pairs.algorithm->extra_bytes) pairs.extra_bytes = pairs.algorithm->extra_bytes(&pairs.job);
  pairs.bytes = device_bytes(&pairs.job, pairs.extra_bytes);
  return pairs;
}

recsort_plugin_status cuda_sort_pairs(const cuda_pairs *pairs, const device_buffers *buffers,
                                      unsigned *result, recsort_plugin_error *error)
{
  const device_job *const job = &pairs->job;
  uint32_t *const disorder = pairs->disorder;
  recsort_plugin_status status =
      runtime_judge(pairs->algorithm->sort(job, buffers, result), "a kernel's launch", error);
  if (disorder) *disorder = 0;
  if (!status && disorder)
    status = runtime_judge(records_ordered(buffers->keys[*result], job->key_width,
                                           buffers->indices[*result], job->index_bits, job->count,
                                           disorder, job->stream),
                           "a kernel's launch", error);
  if (!status) status = runtime_wait(job->stream, error);
  if (status || !disorder || !*disorder) return status;
  (void)snprintf(error->text, sizeof error->text, "the keys that it sorted are not in order");
  return RECSORT_PLUGIN_CORRUPT;
}

/* All that a job needs, before anything starts: on the device in one block. */
static recsort_plugin_status reserve(cuda_instance *self, const cuda_pairs *pairs,
                                     const recsort_plugin_job *job, recsort_plugin_error *error)
{
  const unsigned lanes = staging_lanes(job->count, job->key_width / 8, job->threads);
  const recsort_plugin_status status = runtime_reserve(&self->device, pairs->bytes, error);
  return status ? status : staging_reserve(&self->ring, lanes, error);
}

recsort_plugin_status cuda_sort_keys(cuda_instance *self, const recsort_plugin_job *job,
                                     const void *keys, cuda_sorted *sorted,
                                     recsort_plugin_error *error)
{
  const cuda_pairs pairs = cuda_plan_pairs(&self->device, job);
  unsigned result = 0;
  recsort_plugin_status status = reserve(self, &pairs, job, error);
  if (status) return status;
  const device_buffers buffers = device_divide(&pairs.job, self->device.memory, pairs.extra_bytes);
  const staging_copy up = {
      .from = keys, .to = buffers.keys[0], .count = job->count, .element = job->key_width / 8};
  status = staging_up(&self->ring, &up, cuda_team(self, job), error);
  if (status == RECSORT_PLUGIN_OK) status = cuda_sort_pairs(&pairs, &buffers, &result, error);
  *sorted = (cuda_sorted){buffers.keys[result], buffers.indices[result]};
  return status;
}

recsort_plugin_status cuda_bring_down(cuda_instance *self, const recsort_plugin_job *job,
                                      const void *from, void *to, uint32_t bits,
                                      recsort_plugin_error *error)
{
  const staging_copy down = {.from = from, .to = to, .count = job->count, .element = bits / 8};
  return staging_down(&self->ring, &down, cuda_team(self, job), error);
}

/* Keys of up to 128 bits, where pair_work said; the permutation is left at the start. */
static recsort_plugin_status pair_sort(void *instance, const recsort_plugin_job *job, void *memory,
                                       recsort_plugin_error *error)
{
  cuda_instance *const self = instance;
  cuda_sorted sorted;
  if (in_runs_wanted(self, job)) return in_runs_sort(self, job, memory, error);
  bool room = false; /* there was, when the instance was opened */
  recsort_plugin_status status =
      runtime_has_room(&self->device, cuda_plan_pairs(&self->device, job).bytes, &room, error);
  if (status) return status;
  if (!room) return in_runs_sort_unplanned(self, job, memory, error);
  status = cuda_sort_keys(self, job, memory, &sorted, error);
  if (status) return status;
  return cuda_bring_down(self, job, sorted.indices, memory, job->index_bits, error);
}

static recsort_plugin_status cuda_sort(void *instance, const recsort_plugin_job *job, void *memory,
                                       recsort_plugin_error *error)
{
  const cuda_instance *const self = instance;
  if (job->count == 0) return RECSORT_PLUGIN_OK;
  recsort_plugin_status status = runtime_enter(&self->device, error);
  if (status) return status;
  status = job->key_width > MAX_PAIR_WIDTH
               ? wide_keys_sort(&pair_sorter, instance, job, memory, error)
               : pair_sort(instance, job, memory, error);
  runtime_leave(&self->device);
  return status;
}

static const void *cuda_extension(const char *name)
{
  return strcmp(name, RECSORT_PLUGIN_RECORDS) == 0 ? &cuda_whole_records : NULL;
}

/* ---- The table ---- */

#define SHOWN(number) &device_algorithms[number].shown
static const recsort_plugin_algorithm *const shown[DEVICE_ALGORITHMS] = {
    SHOWN(0), SHOWN(1), SHOWN(2), SHOWN(3), SHOWN(4), SHOWN(5), SHOWN(6), SHOWN(7), SHOWN(8)};

static const recsort_plugin table = {.size = sizeof table,
                                     .abi = RECSORT_PLUGIN_ABI,
                                     .name = "cuda",
                                     .version = "1.0",
                                     .description =
                                         "a sample sort, and merge sorts, on an NVIDIA GPU",
                                     .algorithms = shown,
                                     .algorithm_count = DEVICE_ALGORITHMS,
                                     .score = cuda_score,
                                     .open = cuda_open,
                                     .close = cuda_close,
                                     .limits = cuda_limits,
                                     .work_size = cuda_work_size,
                                     .sort = cuda_sort,
                                     .extension = cuda_extension,
                                     .options = cuda_option_list,
                                     .option_count = CUDA_OPTIONS};

const recsort_plugin *recsort_plugin_entry(uint32_t host_abi);

__attribute__((visibility("default"))) const recsort_plugin *recsort_plugin_entry(uint32_t host_abi)
{
  return host_abi >> 16 == RECSORT_PLUGIN_ABI_MAJOR ? &table : NULL;
}
