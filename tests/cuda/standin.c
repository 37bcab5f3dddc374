#define _GNU_SOURCE
#include "standin.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "cuda_runtime_api.h"

enum { BLOCKS = 256, POISON = 0xee, DEFAULT_MEMORY = 1 << 26 };

typedef struct block {
  unsigned char *at;
  size_t size;
  bool pinned;
  int device; /* where it is, if it is not pinned */
} block;

/* A copy that was started: the data it found at its source, and where this must still arrive or
 * must not change. */
typedef struct copy {
  struct copy *next;
  unsigned char *host;
  bool up;
  size_t size;
  unsigned char bytes[];
} copy;

/* The contexts, as in standin_state, and how often each was retained; one that is not primary is
 * retained while it exists. */
struct CUctx_st {
  long retained;
};

struct CUstream_st {
  bool open;
  copy *first; /* the last one started */
};

enum { CALLS_FAILED = 99, MOST_CONTEXTS = 8 };

static struct CUctx_st contexts[2 * STANDIN_DEVICES];
static bool runtimes[STANDIN_DEVICES]; /* cudaSetDevice has made the primary one */

/* The thread's stack of contexts: at the bottom that of cudaSetDevice, above it those pushed. */
static _Thread_local int devices[MOST_CONTEXTS + 1];
static _Thread_local unsigned depth;
static _Thread_local bool set; /* by cudaSetDevice; otherwise there is none at the bottom */

static standin_plan plan;
static standin_state state;
static void (*watcher)(long number);
static block blocks[BLOCKS];
static struct CUstream_st streams[BLOCKS];
static size_t allocated;
static size_t sent; /* bytes, since the plan began, that copies took from one device to another */
static bool peers[STANDIN_DEVICES][STANDIN_DEVICES]; /* access was enabled */
static cudaError_t last_error;
static cudaError_t stuck; /* the sticky error, once it has occurred */
static pthread_mutex_t turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void standin_lock(void)
{
  (void)pthread_mutex_lock(&turn);
}

void standin_unlock(void)
{
  (void)pthread_mutex_unlock(&turn);
}

/* ---- The plan ---- */

void standin_begin(standin_plan begun)
{
  plan = begun;
  state.calls = 0;
  state.launches = 0;
  state.first_down = 0;
  memset(state.work, 0, sizeof state.work);
  memset(state.woken, 0, sizeof state.woken);
  state.most = (long)allocated;
  sent = 0;
  stuck = last_error = cudaSuccess;
}

standin_state standin_look(void)
{
  return state;
}

size_t standin_sent(void)
{
  return sent;
}

size_t standin_state_size(void)
{
  return sizeof(standin_state);
}

__attribute__((constructor)) static void read_plan(void)
{
  const char *at = getenv("STANDIN_PLAN");
  long *const members[] = {&plan.fail_at,    &plan.code,      &plan.sticky,
                           &plan.memory,     &plan.devices,   &plan.driver,
                           &plan.capability, &plan.capturing, &plan.apart};
  for (size_t i = 0; at && i < sizeof members / sizeof *members; i++) {
    char *end;
    *members[i] = strtol(at, &end, 10);
    at = end;
  }
}

__attribute__((destructor)) static void write_calls(void)
{
  const char *path = getenv("STANDIN_CALLS");
  FILE *const file = path ? fopen(path, "w") : NULL;
  if (!path) return;
  if (!file || fprintf(file, "%ld %ld\n", state.calls, state.misuses) < 0 || fclose(file) != 0)
    _Exit(CALLS_FAILED);
}

static cudaError_t fail(cudaError_t code)
{
  last_error = code;
  return code;
}

int standin_call(int likely_code)
{
  const long call = ++state.calls;
  if (stuck) return (int)stuck;
  if (plan.fail_at == 0 || call != plan.fail_at) return 0;
  const cudaError_t code = (cudaError_t)(plan.code ? plan.code : likely_code);
  if (plan.sticky) stuck = code;
  return (int)fail(code);
}

int standin_work(int likely_code)
{
  state.work[devices[depth]]++;
  state.woken[devices[depth]] = true;
  return standin_call(likely_code);
}

int standin_current(void)
{
  return devices[depth] % STANDIN_DEVICES;
}

void standin_watch(void (*before)(long number))
{
  watcher = before;
}

void standin_launching(void)
{
  state.launches++;
  if (watcher) watcher(state.launches);
}

unsigned standin_depth(void)
{
  return depth;
}

static bool take_turn(void)
{
  standin_lock();
  return true;
}

static void leave_turn(const bool *taken)
{
  if (*taken) standin_unlock();
}

/* Holds the lock until the end of the function. */
#define TURN                                                                                       \
  __attribute__((cleanup(leave_turn))) const bool taken = take_turn();                             \
  (void)taken

#define CALL(likely_code)                                                                          \
  TURN;                                                                                            \
  const int call_code = standin_call(likely_code);                                                 \
  if (call_code) return (cudaError_t)call_code

#define WORK(likely_code)                                                                          \
  TURN;                                                                                            \
  const int call_code = standin_work(likely_code);                                                 \
  if (call_code) return (cudaError_t)call_code

/* ---- The device ---- */

cudaError_t cudaDriverGetVersion(int *version)
{
  CALL(cudaErrorUnknown);
  *version = plan.driver == 1 ? 0 : plan.driver ? (int)plan.driver : CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
  CALL(cudaErrorNoDevice);
  if (plan.driver) return fail(cudaErrorInsufficientDriver);
  if (plan.devices < 0) return fail(cudaErrorNoDevice);
  *count = (int)plan.devices + 1;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
  CALL(cudaErrorDevicesUnavailable);
  *device = standin_current();
  return cudaSuccess;
}

static bool is_device(int device)
{
  return device >= 0 && device <= plan.devices;
}

/* Makes a context, as from CUDA 12 on. */
cudaError_t cudaSetDevice(int device)
{
  CALL(cudaErrorInvalidDevice);
  if (!is_device(device)) return fail(cudaErrorInvalidDevice);
  devices[depth] = device;
  set = true;
  runtimes[device] = state.woken[device] = true;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
  CALL(cudaErrorInvalidDevice);
  const int capability = plan.capability ? (int)plan.capability : 90;
  if (!is_device(device)) return fail(cudaErrorInvalidDevice);
  switch (attribute) {
  case cudaDevAttrMultiProcessorCount:
    *value = 3;
    return cudaSuccess;
  case cudaDevAttrComputeCapabilityMajor:
    *value = capability / 10;
    return cudaSuccess;
  case cudaDevAttrComputeCapabilityMinor:
    *value = capability % 10;
    return cudaSuccess;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    *value = 227 << 10;
    return cudaSuccess;
  }
  return fail(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceSynchronize(void)
{
  WORK(cudaErrorLaunchFailure);
  if (plan.capturing) return fail(cudaErrorStreamCaptureUnsupported);
  state.waits++;
  return cudaSuccess;
}

/* ---- Contexts ---- */

static CUresult get_current(CUcontext *context)
{
  TURN;
  const int code = standin_call(cudaErrorDevicesUnavailable);
  if (code) return (CUresult)code;
  *context = depth || set ? &contexts[devices[depth]] : NULL;
  return CUDA_SUCCESS;
}

static CUresult get_state(CUdevice device, unsigned *flags, int *active)
{
  TURN;
  const int code = standin_call(cudaErrorDevicesUnavailable);
  if (code) return (CUresult)code;
  *flags = 0;
  *active = contexts[device].retained > 0 || runtimes[device];
  return CUDA_SUCCESS;
}

/* Makes the context of a device that is not its primary one, and pushes it. For tests. */
static CUresult create(CUcontext *context, unsigned flags, CUdevice device)
{
  TURN;
  (void)flags;
  *context = &contexts[STANDIN_DEVICES + device];
  (*context)->retained++;
  devices[++depth] = STANDIN_DEVICES + device;
  return CUDA_SUCCESS;
}

static CUresult destroy(CUcontext context)
{
  TURN;
  context->retained--;
  if (&contexts[devices[depth]] == context) depth--;
  return CUDA_SUCCESS;
}

static CUresult retain(CUcontext *context, CUdevice device)
{
  TURN;
  const int code = standin_call(cudaErrorMemoryAllocation);
  if (code) return (CUresult)code;
  if (!is_device(device)) return (CUresult)cudaErrorInvalidDevice;
  contexts[device].retained++;
  state.woken[device] = true;
  *context = &contexts[device];
  return CUDA_SUCCESS;
}

static CUresult release(CUdevice device)
{
  TURN;
  const int code = standin_call(cudaErrorInvalidDevice);
  if (code) return (CUresult)code;
  if (is_device(device) && contexts[device].retained-- > 0) return CUDA_SUCCESS;
  state.misuses++;
  return (CUresult)cudaErrorInvalidDevice;
}

static CUresult push(CUcontext context)
{
  TURN;
  const int code = standin_call(cudaErrorDevicesUnavailable);
  if (code) return (CUresult)code;
  if (depth == MOST_CONTEXTS || context->retained <= 0) {
    state.misuses++;
    return (CUresult)cudaErrorInvalidValue;
  }
  devices[++depth] = (int)(context - contexts);
  return CUDA_SUCCESS;
}

/* Fails only if it is called once too often; plans do not make it fail. */
static CUresult pop(CUcontext *context)
{
  TURN;
  if (depth == 0) {
    state.misuses++;
    return (CUresult)cudaErrorInvalidValue;
  }
  *context = &contexts[devices[depth--]];
  return CUDA_SUCCESS;
}

static void function_address(const void *function, void **address)
{
  memcpy(address, function, sizeof *address);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **address, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found)
{
  static CUresult (*const gets_current)(CUcontext *) = get_current;
  static CUresult (*const gets_state)(CUdevice, unsigned *, int *) = get_state;
  static CUresult (*const creates)(CUcontext *, unsigned, CUdevice) = create;
  static CUresult (*const destroys)(CUcontext) = destroy;
  static CUresult (*const retains)(CUcontext *, CUdevice) = retain;
  static CUresult (*const releases)(CUdevice) = release;
  static CUresult (*const pushes)(CUcontext) = push;
  static CUresult (*const pops)(CUcontext *) = pop;
  const struct {
    const char *name;
    const void *function;
  } calls[] = {{"cuCtxGetCurrent", &gets_current},
               {"cuDevicePrimaryCtxGetState", &gets_state},
               {"cuCtxCreate", &creates},
               {"cuCtxDestroy", &destroys},
               {"cuDevicePrimaryCtxRetain", &retains},
               {"cuDevicePrimaryCtxRelease", &releases},
               {"cuCtxPushCurrent", &pushes},
               {"cuCtxPopCurrent", &pops}};
  CALL(cudaErrorUnknown);
  *address = NULL;
  for (size_t i = 0; i < sizeof calls / sizeof *calls && version >= 4000 && flags == 0; i++)
    if (strcmp(calls[i].name, symbol) == 0) function_address(calls[i].function, address);
  *found = *address ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

/* ---- Memory ---- */

static size_t total_memory(void)
{
  return plan.memory ? (size_t)plan.memory : DEFAULT_MEMORY;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
  WORK(cudaErrorDevicesUnavailable);
  *total = total_memory();
  *available = *total - allocated;
  return cudaSuccess;
}

/* The block that holds [at, at + size); NULL: none. */
static block *find(const void *at, size_t size)
{
  for (size_t i = 0; i < BLOCKS; i++) {
    const unsigned char *const begin = blocks[i].at, *const wanted = at;
    if (begin && wanted >= begin && wanted <= begin + blocks[i].size &&
        size <= (size_t)(begin + blocks[i].size - wanted))
      return &blocks[i];
  }
  return NULL;
}

static cudaError_t add_block(void **memory, size_t size, bool pinned)
{
  block *free_one = NULL;
  for (size_t i = 0; i < BLOCKS; i++)
    if (!blocks[i].at) free_one = &blocks[i];
  if (!free_one || (!pinned && size > total_memory() - allocated))
    return fail(cudaErrorMemoryAllocation);
  const size_t whole = (size + 255) / 256 * 256;
  void *const made = aligned_alloc(256, whole ? whole : 256);
  if (!made) return fail(cudaErrorMemoryAllocation);
  memset(made, POISON, whole);
  *free_one = (block){made, size, pinned, standin_current()};
  allocated += pinned ? 0 : size;
  if ((long)allocated > state.most) state.most = (long)allocated;
  state.blocks++;
  state.allocations++;
  *memory = made;
  return cudaSuccess;
}

static cudaError_t remove_block(void *memory, bool pinned)
{
  block *const found = memory ? find(memory, 0) : NULL;
  if (!memory) return cudaSuccess;
  if (!found || found->at != memory || found->pinned != pinned) {
    state.misuses++;
    return fail(cudaErrorInvalidValue);
  }
  allocated -= pinned ? 0 : found->size;
  state.blocks--;
  free(found->at);
  *found = (block){NULL, 0, false, 0};
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t size)
{
  WORK(cudaErrorMemoryAllocation);
  return add_block(memory, size, false);
}

cudaError_t cudaFree(void *memory)
{
  WORK(cudaErrorInvalidValue);
  return remove_block(memory, false);
}

cudaError_t cudaMallocHost(void **memory, size_t size)
{
  WORK(cudaErrorMemoryAllocation);
  return add_block(memory, size, true);
}

cudaError_t cudaFreeHost(void *memory)
{
  WORK(cudaErrorInvalidValue);
  return remove_block(memory, true);
}

/* ---- Copies ---- */

/* Completes all copies that a stream has started. */
static void finish_copies(cudaStream_t stream)
{
  while (stream->first) {
    copy *const done = stream->first;
    stream->first = done->next;
    if (!done->up)
      memcpy(done->host, done->bytes, done->size);
    else if (memcmp(done->host, done->bytes, done->size) != 0)
      state.misuses++;
    free(done);
  }
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
  WORK(cudaErrorInvalidValue);
  const bool up = kind == cudaMemcpyHostToDevice;
  const block *const source = find(from, size), *const target = find(to, size);
  if (kind == cudaMemcpyDeviceToDevice && stream && source && target && !source->pinned &&
      !target->pinned) {
    memmove(to, from, size);
    return cudaSuccess;
  }
  if (!stream || !source || !target || source->pinned != up || target->pinned == up) {
    state.misuses++;
    return fail(cudaErrorInvalidValue);
  }
  copy *const started = malloc(sizeof *started + size);
  if (!started) return fail(cudaErrorMemoryAllocation);
  *started = (copy){.next = stream->first,
                    .host = up ? source->at + ((const unsigned char *)from - source->at) : to,
                    .up = up,
                    .size = size};
  memcpy(started->bytes, from, size);
  if (up) memcpy(to, from, size);
  stream->first = started;
  if (!up && state.first_down == 0) state.first_down = state.calls;
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream)
{
  WORK(cudaErrorInvalidValue);
  if (!stream || !find(to, size)) {
    state.misuses++;
    return fail(cudaErrorInvalidValue);
  }
  memset(to, value, size);
  return cudaSuccess;
}

/* ---- Several devices ---- */

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
  CALL(cudaErrorInvalidDevice);
  if (!is_device(device) || !is_device(peer)) return fail(cudaErrorInvalidDevice);
  *can = device != peer && !plan.apart;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
  WORK(cudaErrorInvalidDevice);
  const int device = standin_current();
  if (!is_device(peer) || peer == device || flags || plan.apart)
    return fail(cudaErrorInvalidDevice);
  if (peers[device][peer]) return fail(cudaErrorPeerAccessAlreadyEnabled);
  peers[device][peer] = true;
  return cudaSuccess;
}

/* The memory must be of those devices, and the thread in the first one. */
cudaError_t cudaMemcpyPeerAsync(void *to, int peer, const void *from, int device, size_t size,
                                cudaStream_t stream)
{
  WORK(cudaErrorInvalidValue);
  const block *const source = find(from, size), *const target = find(to, size);
  if (!stream || !source || !target || source->pinned || target->pinned ||
      source->device != device || target->device != peer || standin_current() != peer) {
    state.misuses++;
    return fail(cudaErrorInvalidValue);
  }
  if (device != peer) sent += size;
  memmove(to, from, size);
  return cudaSuccess;
}

/* ---- Streams and errors ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
  WORK(cudaErrorMemoryAllocation);
  for (size_t i = 0; i < BLOCKS && flags == cudaStreamNonBlocking; i++) {
    if (streams[i].open) continue;
    streams[i].open = true;
    state.streams++;
    *stream = &streams[i];
    return cudaSuccess;
  }
  return fail(cudaErrorInvalidValue);
}

/* The default stream is always there; no copy is started on it. */
static cudaError_t judge(cudaStream_t stream)
{
  if (!stream || stream->open) return cudaSuccess;
  state.misuses++;
  return fail(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
  WORK(cudaErrorLaunchFailure);
  state.waits++;
  const cudaError_t code = judge(stream);
  if (code == cudaSuccess && stream) finish_copies(stream);
  return code;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
  WORK(cudaErrorInvalidResourceHandle);
  if (!stream || judge(stream)) return fail(cudaErrorInvalidResourceHandle);
  state.misuses += stream->first != NULL;
  finish_copies(stream);
  stream->open = false;
  state.streams--;
  return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
  TURN;
  const cudaError_t code = stuck ? stuck : last_error;
  last_error = cudaSuccess;
  return code;
}

const char *cudaGetErrorString(cudaError_t code)
{
  static const struct {
    cudaError_t code;
    const char *text;
  } texts[] = {
      {cudaErrorMemoryAllocation, "out of memory"},
      {cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"},
      {cudaErrorNoDevice, "no CUDA-capable device is detected"},
      {cudaErrorIllegalAddress, "an illegal memory access was encountered"},
      {cudaErrorLaunchFailure, "unspecified launch failure"}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i].code == code) return texts[i].text;
  return "some other error";
}
