#include "cuda/runtime.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define LIMIT_VARIABLE "RECSORT_CUDA_MEMORY"

enum { DRIVER_VERSION = 12000 }; /* the version whose context functions are used */

/* The error that lost the device, for the whole process: a context cannot be repaired. */
static atomic_int lost_code;

/* ---- Errors ---- */

/* Waits for the device. While a stream is being captured that is not allowed, which does not tell
 * that the device is lost. */
static bool is_alive(void)
{
  const cudaError_t code = cudaDeviceSynchronize();
  const bool forbidden =
      code >= cudaErrorStreamCaptureUnsupported && code <= cudaErrorStreamCaptureWrongThread;
  (void)cudaGetLastError(); /* otherwise the next launch would seem to have failed */
  return code == cudaSuccess || forbidden;
}

recsort_status runtime_judge(int code, const char *call, recsort_error *error)
{
  if (code == cudaSuccess) return RECSORT_OK;
  (void)snprintf(error->text, sizeof error->text, "%s failed: %s (error %d)", call,
                 cudaGetErrorString((cudaError_t)code), code);
  if (is_alive())
    return code == cudaErrorMemoryAllocation ? RECSORT_OUT_OF_MEMORY : RECSORT_DEVICE_ERROR;
  atomic_store(&lost_code, code);
  return RECSORT_DEVICE_LOST;
}

static recsort_status check(cudaError_t code, const char *call, recsort_error *error)
{
  return runtime_judge((int)code, call, error);
}

/* ---- Availability ---- */

static void explain_no_driver(char *reason, size_t reason_size)
{
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
    (void)snprintf(reason, reason_size, "no NVIDIA driver was found");
  else
    (void)snprintf(reason, reason_size,
                   "the NVIDIA driver is too old: it is for CUDA %d.%d, and %d.%d is needed",
                   driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
                   CUDART_VERSION % 1000 / 10);
}

static void explain(cudaError_t code, char *reason, size_t reason_size)
{
  if (code == cudaErrorInsufficientDriver)
    explain_no_driver(reason, reason_size);
  else if (code == cudaErrorNoDevice)
    (void)snprintf(reason, reason_size, "no CUDA device was found");
  else
    (void)snprintf(reason, reason_size, "the CUDA device cannot be used: %s (error %d)",
                   cudaGetErrorString(code), (int)code);
}

static cudaError_t find_device(const cuda_options *options, int *number)
{
  *number = options->device;
  return options->device == CUDA_CURRENT_DEVICE ? cudaGetDevice(number) : cudaSuccess;
}

static bool was_lost(char *reason, size_t reason_size)
{
  const int code = atomic_load(&lost_code);
  if (code)
    (void)snprintf(reason, reason_size,
                   "the CUDA device failed earlier in this process: %s (error %d)",
                   cudaGetErrorString((cudaError_t)code), code);
  return code != 0;
}

bool runtime_usable(const cuda_options *options, char *reason, size_t reason_size)
{
  int count = 0, number = 0, major = 0, minor = 0;
  if (was_lost(reason, reason_size)) return false;
  cudaError_t code = cudaGetDeviceCount(&count);
  if (!code && count == 0) code = cudaErrorNoDevice;
  if (!code && options->device >= count) {
    (void)snprintf(reason, reason_size,
                   "option \"device=%d\": there are %d CUDA devices, numbered from 0",
                   options->device, count);
    return false;
  }
  if (!code) code = find_device(options, &number);
  if (!code) code = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, number);
  if (!code) code = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, number);
  if (code) {
    (void)cudaGetLastError();
    explain(code, reason, reason_size);
    return false;
  }
  if (10 * major + minor >= RECSORT_CUDA_CAPABILITY) return true;
  (void)snprintf(reason, reason_size,
                 "the CUDA device is too old: its compute capability is %d.%d, and %d.%d is needed",
                 major, minor, RECSORT_CUDA_CAPABILITY / 10, RECSORT_CUDA_CAPABILITY % 10);
  return false;
}

/* ---- Amounts of memory ---- */

static recsort_status read_limit(const cuda_options *options, uint64_t *limit, recsort_error *error)
{
  const char *const text = getenv(LIMIT_VARIABLE);
  *limit = options->memory ? options->memory : UINT64_MAX;
  if (options->memory || !text || !*text || cuda_parse_size(text, strlen(text), limit))
    return RECSORT_OK;
  (void)snprintf(error->text, sizeof error->text,
                 LIMIT_VARIABLE " holds no size such as 512M or 8G");
  return RECSORT_PLUGIN_ERROR;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

/* Not all free memory is available as one block, and kernels take some when they are loaded. */
recsort_status runtime_room(const runtime_device *device, uint64_t *bytes, recsort_error *error)
{
  enum { LEFT = 32 }; /* leaves 1/32 of the memory free */
  size_t available = 0, total = 0;
  const recsort_status status = check(cudaMemGetInfo(&available, &total), "cudaMemGetInfo", error);
  *bytes = smaller(device->memory_bytes + available - available / LEFT, device->memory_limit);
  return status;
}

/* ---- A device and its memory ---- */

static recsort_status find_call(const char *name, void *call, recsort_error *error)
{
  enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  void *address = NULL;
  const cudaError_t code =
      cudaGetDriverEntryPointByVersion(name, &address, DRIVER_VERSION, cudaEnableDefault, &found);
  const recsort_status status = check(code, "cudaGetDriverEntryPointByVersion", error);
  if (status) return status;
  memcpy(call, &address, sizeof address); /* POSIX allows this for functions */
  if (address) return RECSORT_OK;
  (void)snprintf(error->text, sizeof error->text, "the NVIDIA driver has no %s", name);
  return RECSORT_DEVICE_ERROR;
}

/* Uses the calling thread's own context, if that is one of the device and the options allow it. A
 * primary one that is in use must be retained before it can be compared. */
static recsort_status open_context(const cuda_options *options, cuda_device *device,
                                   recsort_error *error)
{
  const runtime_contexts *const calls = &device->contexts;
  recsort_status status = RECSORT_OK;
  CUcontext current = NULL;
  unsigned flags;
  int number = 0, active = 1;
  if (!options->primary)
    status = runtime_judge((int)calls->current(&current), "cuCtxGetCurrent", error);
  if (!status && current) status = check(cudaGetDevice(&number), "cudaGetDevice", error);
  if (!current || number != device->number) current = NULL;
  if (!status && current)
    status = runtime_judge((int)calls->state(number, &flags, &active), "cuDevicePrimaryCtxGetState",
                           error);
  device->context = current;
  if (status || !active) return status;
  status = runtime_judge((int)calls->retain(&device->context, device->number),
                         "cuDevicePrimaryCtxRetain", error);
  device->retained = !status && (!current || current == device->context);
  if (status || device->retained) return status;
  device->context = current;
  return runtime_judge((int)calls->release(number), "cuDevicePrimaryCtxRelease", error);
}

static recsort_status find_calls(runtime_contexts *calls, recsort_error *error)
{
  recsort_status status = find_call("cuCtxGetCurrent", &calls->current, error);
  if (!status) status = find_call("cuDevicePrimaryCtxGetState", &calls->state, error);
  if (!status) status = find_call("cuDevicePrimaryCtxRetain", &calls->retain, error);
  if (!status) status = find_call("cuDevicePrimaryCtxRelease", &calls->release, error);
  if (!status) status = find_call("cuCtxPushCurrent", &calls->push, error);
  if (!status) status = find_call("cuCtxPopCurrent", &calls->pop, error);
  return status;
}

static void close_context(const cuda_device *device)
{
  if (device->retained) (void)device->contexts.release(device->number);
}

static const cuda_device *cuda_of(const runtime_device *device)
{
  return (const cuda_device *)(const void *)device; /* its first member */
}

recsort_status runtime_enter(const runtime_device *device, recsort_error *error)
{
  const cuda_device *const cuda = cuda_of(device);
  RS_ASSERT(cuda->contexts.push);
  const int code = (int)cuda->contexts.push(cuda->context);
  if (!error) return code ? RECSORT_DEVICE_ERROR : RECSORT_OK;
  return runtime_judge(code, "cuCtxPushCurrent", error);
}

void runtime_leave(const runtime_device *device)
{
  RS_ASSERT(cuda_of(device)->contexts.pop);
  CUcontext ignored;
  (void)cuda_of(device)->contexts.pop(&ignored);
}

/* Needs no context. */
static recsort_status read_properties(int number, runtime_device *device, recsort_error *error)
{
  int shared = 0, multiprocessors = 0;
  recsort_status status =
      check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, number),
            "cudaDeviceGetAttribute", error);
  if (!status)
    status = check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, number),
                   "cudaDeviceGetAttribute", error);
  device->shared_bytes = (uint64_t)shared;
  device->multiprocessors = (uint32_t)multiprocessors;
  return status;
}

/* Reads the device's properties and allocates what the plugin keeps on it. By a thread that has
 * entered. */
static recsort_status open_entered(const cuda_options *options, int number, runtime_device *device,
                                   recsort_error *error)
{
  recsort_status status = read_properties(number, device, error);
  if (!status) status = runtime_room(device, &device->first_room, error);
  if (!status) status = runtime_pin(&device->mailbox, 3 * DEVICE_MAILBOX, error);
  if (!status) status = runtime_open_stream(&device->stream, error);
  if (status) runtime_unpin(device->mailbox);
  device->verify = options->verify;
  if (!status) {
    device->disorder = (uint32_t *)device->mailbox + DEVICE_MAILBOX / sizeof *device->disorder;
    device->facts = (char *)device->mailbox + 2 * DEVICE_MAILBOX;
  }
  return status;
}

recsort_status runtime_open(const cuda_options *options, cuda_device *device, recsort_error *error)
{
  cuda_device made = {0};
  if (was_lost(error->text, sizeof error->text)) return RECSORT_DEVICE_LOST;
  recsort_status status = read_limit(options, &made.shared.memory_limit, error);
  if (!status) status = check(find_device(options, &made.number), "cudaGetDevice", error);
  if (!status) status = find_calls(&made.contexts, error);
  if (!status) status = open_context(options, &made, error);
  if (status) return status;
  status = runtime_enter(&made.shared, error);
  if (!status) {
    status = open_entered(options, made.number, &made.shared, error);
    runtime_leave(&made.shared);
  }
  if (status)
    close_context(&made);
  else
    *device = made;
  return status;
}

/* Ignores errors: a call that fails here has failed before, and nothing depends on it any more. */
void runtime_close(cuda_device *device)
{
  runtime_device *const shared = &device->shared;
  const recsort_status entered = runtime_enter(shared, NULL);
  if (shared->stream) (void)cudaStreamSynchronize(shared->stream);
  (void)cudaFree(shared->memory);
  runtime_close_stream(shared->stream);
  runtime_unpin(shared->mailbox);
  if (!entered) runtime_leave(shared);
  close_context(device);
  *device = (cuda_device){0};
}

recsort_status runtime_refuse(uint64_t needed, uint64_t room, recsort_error *error)
{
  const double mebibyte = 1 << 20;
  (void)snprintf(error->text, sizeof error->text,
                 "%.1f MiB of device memory are needed, %.1f MiB are free to use",
                 (double)needed / mebibyte, (double)room / mebibyte);
  return RECSORT_OUT_OF_MEMORY;
}

static recsort_status release_memory(runtime_device *device, recsort_error *error)
{
  void *const memory = device->memory;
  device->memory = NULL;
  device->memory_bytes = 0;
  return check(cudaFree(memory), "cudaFree", error);
}

/* Frees the old block first: there may not be enough memory for both. */
recsort_status runtime_reserve(runtime_device *device, uint64_t bytes, recsort_error *error)
{
  RS_ASSERT(!device->memory == !device->memory_bytes);
  size_t available = 0, total = 0;
  void *memory = NULL;
  if (bytes <= device->memory_bytes) return RECSORT_OK;
  recsort_status status = release_memory(device, error);
  if (status == RECSORT_OK)
    status = check(cudaMemGetInfo(&available, &total), "cudaMemGetInfo", error);
  if (status) return status;
  const uint64_t most = smaller(available, device->memory_limit);
  if (bytes > most) return runtime_refuse(bytes, most, error);
  status = check(cudaMalloc(&memory, (size_t)bytes), "cudaMalloc", error);
  if (status) return status; /* some other program may have taken what was free */
  device->memory = memory;
  device->memory_bytes = bytes;
  return RECSORT_OK;
}

recsort_status runtime_pin(void **memory, uint64_t bytes, recsort_error *error)
{
  RS_ASSERT(bytes > 0);
  return check(cudaMallocHost(memory, (size_t)bytes), "cudaMallocHost", error);
}

void runtime_unpin(void *memory)
{
  if (memory) (void)cudaFreeHost(memory);
  (void)cudaGetLastError();
}

/* ---- Streams ---- */

recsort_status runtime_open_stream(void **stream, recsort_error *error)
{
  cudaStream_t made = NULL;
  const recsort_status status = check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking),
                                      "cudaStreamCreateWithFlags", error);
  *stream = made;
  return status;
}

void runtime_close_stream(void *stream)
{
  if (stream) (void)cudaStreamDestroy(stream);
  (void)cudaGetLastError();
}

static recsort_status start(void *stream, void *to, const void *from, uint64_t bytes,
                            enum cudaMemcpyKind kind, recsort_error *error)
{
  RS_ASSERT(bytes == 0 || (to && from));
  return check(cudaMemcpyAsync(to, from, (size_t)bytes, kind, stream), "cudaMemcpyAsync", error);
}

recsort_status runtime_start_up(void *stream, void *to, const void *from, uint64_t bytes,
                                recsort_error *error)
{
  return start(stream, to, from, bytes, cudaMemcpyHostToDevice, error);
}

recsort_status runtime_start_down(void *stream, void *to, const void *from, uint64_t bytes,
                                  recsort_error *error)
{
  return start(stream, to, from, bytes, cudaMemcpyDeviceToHost, error);
}

device_status runtime_start_clear(void *stream, void *memory, uint64_t bytes)
{
  return (device_status)cudaMemsetAsync(memory, 0, (size_t)bytes, stream);
}

device_status runtime_start_across(void *stream, void *to, const void *from, uint64_t bytes)
{
  return (device_status)cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToDevice, stream);
}

recsort_status runtime_wait(void *stream, recsort_error *error)
{
  return check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", error);
}

/* ---- Several devices ---- */

recsort_status runtime_look(const runtime_device *like, int number, runtime_device *found,
                            recsort_error *error)
{
  const cuda_options options = {.device = number};
  *found = *like;
  return runtime_usable(&options, error->text, sizeof error->text)
             ? read_properties(number, found, error)
             : RECSORT_PLUGIN_ERROR;
}

uint64_t runtime_other_bytes(void)
{
  return sizeof(cuda_device);
}

recsort_status runtime_open_other(const recsort_host *host, const runtime_device *like, int number,
                                  runtime_device **opened, recsort_error *error)
{
  const cuda_options options = {
      .device = number, .primary = true, .memory = like->memory_limit, .verify = like->verify};
  cuda_device *const made = host->allocate(host->context, sizeof *made);
  recsort_status status = RECSORT_OUT_OF_MEMORY;
  if (!made) {
    (void)snprintf(error->text, sizeof error->text, "no memory for a device");
    return status;
  }
  status = runtime_usable(&options, error->text, sizeof error->text)
               ? runtime_open(&options, made, error)
               : RECSORT_PLUGIN_ERROR;
  if (status)
    host->release(host->context, made, sizeof *made);
  else
    *opened = &made->shared;
  return status;
}

void runtime_close_other(const recsort_host *host, runtime_device *device)
{
  cuda_device *const cuda = (cuda_device *)(void *)device;
  runtime_close(cuda);
  host->release(host->context, cuda, sizeof *cuda);
}

/* Without access, or if it cannot be enabled, as for more than eight peers without NVSwitch, the
 * driver takes copies through the host. */
recsort_status runtime_reach(const runtime_device *device, const runtime_device *peer,
                             recsort_error *error)
{
  const int to = cuda_of(device)->number, from = cuda_of(peer)->number;
  int can = 0;
  if (from == to) return RECSORT_OK;
  const recsort_status status =
      check(cudaDeviceCanAccessPeer(&can, to, from), "cudaDeviceCanAccessPeer", error);
  if (!status && can && cudaDeviceEnablePeerAccess(from, 0)) (void)cudaGetLastError();
  return status;
}

recsort_status runtime_start_over(const runtime_device *device, void *stream, void *to,
                                  const runtime_device *peer, const void *from, uint64_t bytes,
                                  recsort_error *error)
{
  return check(cudaMemcpyPeerAsync(to, cuda_of(device)->number, from, cuda_of(peer)->number,
                                   (size_t)bytes, stream),
               "cudaMemcpyPeerAsync", error);
}
