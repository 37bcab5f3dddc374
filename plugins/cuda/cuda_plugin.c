/* cuda_plugin.c - the table of the plugin that sorts on a CUDA device. The host code without CUDA
 * is in plugins/gpu.
 *
 * An instance keeps its device memory and its pinned memory for the next sort. */
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/load_least.h"
#include "cuda/algorithms.h"
#include "cuda/runtime.h"
#include "gpu/gpu_plugin.h"

#ifndef CUDA_LEAST_COUNT
#define CUDA_LEAST_COUNT RS_LOAD_LEAST
#endif

typedef struct cuda_instance {
  gpu_instance shared; /* the part that plugins/gpu knows */
  cuda_device device;
} cuda_instance;

static uint32_t cuda_score(const recsort_host *host, char *reason, size_t reason_size)
{
  cuda_options options;
  return cuda_options_read(host, &options, reason, reason_size) &&
                 runtime_usable(&options, reason, reason_size)
             ? 200
             : 0;
}

static void cuda_close(void *instance)
{
  cuda_instance *const self = instance;
  const recsort_host *const host = self->shared.host;
  RS_ASSERT(host);
  const recsort_status entered = runtime_enter(self->shared.device, NULL);
  gpu_close(&self->shared);
  if (!entered) runtime_leave(self->shared.device);
  runtime_close(&self->device);
  host->release(host->context, self, sizeof *self);
}

static recsort_status cuda_open(const recsort_host *host, void **instance, recsort_error *error)
{
  cuda_instance *self = NULL;
  cuda_options options;
  cuda_device device;
  if (!cuda_options_read(host, &options, error->text, sizeof error->text))
    return RECSORT_PLUGIN_ERROR;
  recsort_status status = runtime_open(&options, &device, error);
  if (status) return status;
  self = host->allocate(host->context, sizeof *self);
  if (!self) {
    runtime_close(&device);
    (void)snprintf(error->text, sizeof error->text, "no memory for the plugin's instance");
    return RECSORT_OUT_OF_MEMORY;
  }
  *self = (cuda_instance){.device = device,
                          .shared = {.host = host,
                                     .device = &self->device.shared,
                                     .least_count = CUDA_LEAST_COUNT,
                                     .ring.device = &self->device.shared}};
  status = runtime_enter(self->shared.device, error);
  if (!status) {
    status = gpu_open(&self->shared, error);
    runtime_leave(self->shared.device);
  }
  if (status)
    cuda_close(self);
  else
    *instance = self;
  return status;
}

/* ---- The table ---- */

#define SHOWN(sort, extra_bytes, skills, name, description)                                        \
  &(const recsort_plugin_algorithm){sizeof(recsort_plugin_algorithm), 0, name, description},
static const recsort_plugin_algorithm *const shown[] = {CUDA_ALGORITHMS(SHOWN)};

/* Only then may the graphs of a caller decide what is done (decision.cuh). */
#if CUDART_VERSION >= 13000
#define BUILT_WITH "built with CUDA 13 or later"
#else
#define BUILT_WITH "built with CUDA 12"
#endif

static const recsort_plugin table = {
    .size = sizeof table,
    .abi = RECSORT_PLUGIN_ABI,
    .name = "cuda",
    .version = "1.0",
    .description = "a sample sort, and merge sorts, on an NVIDIA GPU; " BUILT_WITH,
    .algorithms = shown,
    .algorithm_count = sizeof shown / sizeof *shown,
    .score = cuda_score,
    .open = cuda_open,
    .close = cuda_close,
    .limits = gpu_limits,
    .work_size = gpu_work_size,
    .sort = gpu_sort,
    .extension = gpu_extension,
    .options = cuda_option_list,
    .option_count = CUDA_OPTIONS};

const recsort_plugin *recsort_plugin_entry(uint32_t host_abi);

__attribute__((visibility("default"))) const recsort_plugin *recsort_plugin_entry(uint32_t host_abi)
{
  return host_abi == RECSORT_PLUGIN_ABI ? &table : NULL;
}
