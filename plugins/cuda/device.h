/* device.h - what kernels and their launches need: with nvcc, CUDA; otherwise the emulator, which
 * runs each thread of a block as a fiber (tests/emulation).
 *
 * A kernel is a plain function or a template. It takes its own struct by value, which says how many
 * threads a block may have, and waits before it reads what the kernel before it writes:
 *
 *   struct fill_args { static constexpr uint32_t max_threads = 256; ... };
 *   __global__ void __launch_bounds__(fill_args::max_threads)
 *       fill(const __grid_constant__ fill_args args)
 *   {
 *     device_await_before();
 *     ...
 *   }
 *   device_launch(fill, grid, block, shared_bytes, stream, args)          a device_status
 *
 * Kernels use these:
 *
 *   DEVICE_INLINE uint32_t lane_next(uint32_t x) {...}       a device function
 *   DEVICE_APART uint32_t lane_last(uint32_t x) {...}        a device function, not inlined
 *   DEVICE_MEMBER uint32_t next() const {...}                a member function of a struct
 *   DEVICE_UNROLL DEVICE_UNROLL_BY_4 DEVICE_ROLLED           for the next loop
 *   DEVICE_SHARED(type, keys);                               the dynamic shared memory: a pointer
 *   device_shared_memory()                                   the same, also for device functions
 *   DEVICE_SHARED_ARRAY(type, bounds, 2);                    a static shared array
 *   DEVICE_ASSERT(lane < DEVICE_WARP);                       an assertion (base/assert.h)
 *   threadIdx.x blockIdx.x blockDim.x gridDim.x __syncthreads() __syncwarp() __shfl_xor_sync()
 *   device_clz32() ...64()            leading zeros; the argument is not 0
 *   device_or32() device_add32() ...64()
 *                                     atomic, in global or shared memory; return the old value
 *   device_min32() device_max32()     likewise
 *   device_peek32() ...64() device_poke32()
 *                                     relaxed atomic load and store
 *   device_warp_sum(x) ..._min(x) ..._max(x)
 *                                     over all lanes; the result is for all of them
 *   device_ballot(x)                  a mask of the lanes where x is not 0
 *   device_match(x)                   a mask of the lanes with the same x
 *   device_match_bits(x, bits)        the same, faster, if x has few bits
 *   device_take_if_less(count, a, b)  subtracts 1 from a count if a < b, of 64 bits
 *   device_popc(bits)                 the number of bits set
 *   device_first_lane(bits)           the number of the lowest bit set
 *   device_is_last(count)             true in the last block that calls it; the writes of the
 *                                     others are visible
 *   device_copy_in(at, from)          copies an element to shared memory, some time before
 *                                     device_await_copies() returns, which waits for the thread's
 * own device_post(at, value)            writes a flag for the host, after all earlier writes
 *   device_quotient(x, y)             of floats, y at most 2^126; within 2 ulp
 *   device_product(x, y)              the 64-bit product, in one instruction
 *
 * The host uses these:
 *
 *   device_clear() device_copy() device_read()
 *                                     ordered like launches, on device memory; device_read waits
 *   device_await(flag, stream)        waits until a kernel on the stream has posted the flag
 *   device_prefer_cache(kernel)       most of the shared memory is L1 cache for its blocks, even if
 *                                     those of the kernel before, which end now, had more of it
 */
#ifndef RECSORT_CUDA_DEVICE_H
#define RECSORT_CUDA_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "gpu/device_sort.h"

__extension__ typedef unsigned __int128 device_uint128;

#define DEVICE_ASSERT(condition) RS_ASSERT(condition)

#ifdef __CUDACC__

#include <cuda_runtime.h>

/* `blocks`, or as many blocks as fit on a multiprocessor: the compiler ignores a greater number. */
static constexpr unsigned device_blocks([[maybe_unused]] unsigned threads, unsigned blocks)
{
#if !defined __CUDA_ARCH__
  return blocks;
#else
#if __CUDA_ARCH__ < 800
  const unsigned most = 1024 / threads;
#elif __CUDA_ARCH__ < 900 && __CUDA_ARCH__ != 800 || __CUDA_ARCH__ >= 1200
  const unsigned most = 1536 / threads;
#else
  const unsigned most = 2048 / threads;
#endif
  return blocks < most ? blocks : most;
#endif
}

#define DEVICE_INLINE static __device__ __forceinline__
#define DEVICE_APART static __device__ __noinline__
#define DEVICE_MEMBER __device__ __forceinline__
#define DEVICE_SHARED(type, name)                                                                  \
  extern __shared__ __align__(16) unsigned char device_shared[];                                   \
  type *const name = (type *)device_shared
#define DEVICE_SHARED_ARRAY(type, name, count) __shared__ type name[count]

/* The dynamic shared memory of the block. */
static __device__ __forceinline__ void *device_shared_memory()
{
  extern __shared__ __align__(16) unsigned char device_shared[];
  return device_shared;
}
#define DEVICE_ALIGNED(bytes) __align__(bytes)
#define DEVICE_PATH(name) ((void)0) /* names a rare path, which the emulator counts for tests */
#define DEVICE_UNROLL _Pragma("unroll")
#define DEVICE_UNROLL_BY_4 _Pragma("unroll 4")
#define DEVICE_ROLLED _Pragma("unroll 1")

DEVICE_INLINE bool device_is_last(uint32_t *count)
{
  __threadfence();
  const bool last = atomicAdd(count, 1) + 1 == gridDim.x;
  __threadfence();
  return last;
}
DEVICE_INLINE void device_post(volatile uint32_t *at, uint32_t value)
{
  __threadfence_system();
  *at = value;
}

/* Waits until the previous kernel has finished and its writes are visible. From compute capability
 * 9.0 on, blocks start while the last blocks of the previous kernel still run, and wait here. The
 * blocks of the next kernel may start only after this wait: before it they would take the place of
 * blocks that have work to do. */
DEVICE_INLINE void device_await_before(void)
{
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Nonzero if kernels wait in device_await_before() on the current device. This depends on how they
 * were compiled, as a newer device may run code that was made for an older one. All kernels are
 * compiled alike; each thread asks once for each device that it changes to. */
static inline unsigned device_overlaps(const void *kernel)
{
  static thread_local int asked = -1;
  static thread_local unsigned overlaps = 0;
  int device = 0;
  if (cudaGetDevice(&device) || device == asked) return device == asked ? overlaps : 0;
  cudaFuncAttributes code;
  if (cudaFuncGetAttributes(&code, kernel)) return 0;
  asked = device;
  overlaps = code.ptxVersion >= 90;
  return overlaps;
}

template <class Element> DEVICE_INLINE void device_copy_in(Element *at, const Element *from)
{
#if __CUDA_ARCH__ >= 800
  if constexpr (sizeof(Element) == 4 || sizeof(Element) == 8 || sizeof(Element) == 16) {
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((uint32_t)__cvta_generic_to_shared(at)),
        "l"(from), "n"(sizeof(Element))
        : "memory");
    return;
  }
#endif
  *at = *from;
}
DEVICE_INLINE void device_await_copies(void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

DEVICE_INLINE uint32_t device_clz32(uint32_t bits)
{
  DEVICE_ASSERT(bits != 0);
  return (uint32_t)__clz((int)bits);
}
DEVICE_INLINE uint32_t device_clz64(uint64_t bits)
{
  DEVICE_ASSERT(bits != 0);
  return (uint32_t)__clzll((long long)bits);
}
DEVICE_INLINE uint32_t device_or32(uint32_t *at, uint32_t bits)
{
  return atomicOr(at, bits);
}
DEVICE_INLINE uint32_t device_popc(uint32_t bits)
{
  return (uint32_t)__popc(bits);
}
DEVICE_INLINE uint32_t device_first_lane(uint32_t bits)
{
  DEVICE_ASSERT(bits != 0);
  return (uint32_t)__ffs((int)bits) - 1;
}
DEVICE_INLINE uint64_t device_or64(uint64_t *at, uint64_t bits)
{
  return atomicOr((unsigned long long *)at, (unsigned long long)bits);
}
DEVICE_INLINE uint32_t device_add32(uint32_t *at, uint32_t more)
{
  return atomicAdd(at, more);
}
DEVICE_INLINE uint32_t device_min32(uint32_t *at, uint32_t other)
{
  return atomicMin(at, other);
}
DEVICE_INLINE uint32_t device_max32(uint32_t *at, uint32_t other)
{
  return atomicMax(at, other);
}
DEVICE_INLINE uint64_t device_add64(uint64_t *at, uint64_t more)
{
  return atomicAdd((unsigned long long *)at, (unsigned long long)more);
}
DEVICE_INLINE uint32_t device_peek32(const uint32_t *at)
{
  return *(const volatile uint32_t *)at;
}
DEVICE_INLINE uint64_t device_peek64(const uint64_t *at)
{
  return *(const volatile uint64_t *)at;
}
DEVICE_INLINE void device_poke32(uint32_t *at, uint32_t other)
{
  *(volatile uint32_t *)at = other;
}
DEVICE_INLINE float device_quotient(float x, float y)
{
  return __fdividef(x, y);
}
/* In assembly, as the compiler emits three instructions if it knows that x is an upper half. */
DEVICE_INLINE uint64_t device_product(uint32_t x, uint32_t y)
{
  uint64_t product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(x), "r"(y));
  return product;
}
DEVICE_INLINE uint32_t device_ballot(bool value)
{
  return __ballot_sync(UINT32_MAX, value);
}
DEVICE_INLINE uint32_t device_match(uint32_t value)
{
  return __match_any_sync(UINT32_MAX, value);
}
/* In assembly, as the compiler computes each bit twice. */
DEVICE_INLINE uint32_t device_match_bits(uint32_t value, uint32_t bits)
{
  DEVICE_ASSERT(bits < 32);
  uint32_t alike = UINT32_MAX;
  DEVICE_UNROLL
  for (uint32_t bit = 0; bit < bits; bit++) {
    uint32_t lanes;
    asm volatile("{ .reg .pred set;\n"
                 "and.b32 %0, %1, %2;\n"
                 "setp.ne.u32 set, %0, 0;\n"
                 "vote.sync.ballot.b32 %0, set, 0xffffffff;\n"
                 "@!set not.b32 %0, %0; }"
                 : "=r"(lanes)
                 : "r"(value), "r"(1u << bit));
    alike &= lanes;
  }
  return alike;
}

/* In assembly, as the compiler adds and then selects. */
DEVICE_INLINE uint32_t device_take_if_less(uint32_t count, uint64_t a, uint64_t b)
{
  asm("{ .reg .u32 difference;\n"
      "sub.cc.u32 difference, %1, %2;\n"
      "subc.cc.u32 difference, %3, %4;\n"
      "subc.u32 %0, %0, 0; }"
      : "+r"(count)
      : "r"((uint32_t)a), "r"((uint32_t)b), "r"((uint32_t)(a >> 32)), "r"((uint32_t)(b >> 32)));
  return count;
}

/* A block may use more than 48 KiB of shared memory, static arrays included, only after
 * cudaFuncSetAttribute. */
static inline device_status device_launch(const void *kernel, uint64_t grid, uint32_t block,
                                          uint64_t shared_bytes, void *stream, void *args)
{
  if (grid > INT32_MAX) return (device_status)cudaErrorInvalidConfiguration;
  if (shared_bytes > 32 * 1024) {
    const cudaError_t error = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
    if (error) return (device_status)error;
  }
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)grid);
  config.blockDim = dim3(block);
  config.dynamicSmemBytes = (size_t)shared_bytes;
  config.stream = (cudaStream_t)stream;
  config.attrs = &overlap;
  config.numAttrs = device_overlaps(kernel);
  return (device_status)cudaLaunchKernelExC(&config, kernel, &args);
}

template <class Args>
static inline device_status device_launch(void (*kernel)(Args), uint64_t grid, uint32_t block,
                                          uint64_t shared_bytes, void *stream, Args args)
{
  return device_launch((const void *)kernel, grid, block, shared_bytes, stream, (void *)&args);
}

template <class Args> static inline device_status device_prefer_cache(void (*kernel)(Args))
{
  enum { PERCENT = 16 }; /* of the memory that both share */
  return (device_status)cudaFuncSetAttribute(
      (const void *)kernel, cudaFuncAttributePreferredSharedMemoryCarveout, PERCENT);
}

static inline device_status device_clear(void *memory, size_t size, void *stream)
{
  return (device_status)cudaMemsetAsync(memory, 0, size, (cudaStream_t)stream);
}
static inline device_status device_copy(void *to, const void *from, size_t size, void *stream)
{
  return (device_status)cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToDevice,
                                        (cudaStream_t)stream);
}
static inline device_status device_read(void *host, const void *device, size_t size, void *stream)
{
  const cudaError_t error =
      cudaMemcpyAsync(host, device, size, cudaMemcpyDeviceToHost, (cudaStream_t)stream);
  return (device_status)(error ? error : cudaStreamSynchronize((cudaStream_t)stream));
}

/* Polling the flag is faster than waiting for the stream. But if a kernel fails, the flag stays 0,
 * so every 1000 looks the stream is asked whether it still runs. */
static inline device_status device_await(const uint32_t *flag, void *stream)
{
  enum { LOOKS = 1000 };
  cudaError_t state = cudaErrorNotReady;
  while (state == cudaErrorNotReady) {
    for (unsigned i = 0; i < LOOKS; i++)
      if (__atomic_load_n(flag, __ATOMIC_ACQUIRE)) return 0;
    state = cudaStreamQuery((cudaStream_t)stream);
  }
  if (__atomic_load_n(flag, __ATOMIC_ACQUIRE)) return 0;
  return (device_status)(state ? state : cudaErrorLaunchFailure);
}

#else

#include <string.h>

#include "emulator.h"

#define DEVICE_INLINE static inline
#define DEVICE_MEMBER inline
#define DEVICE_APART static

template <class Element> DEVICE_INLINE void device_copy_in(Element *at, const Element *from)
{
  *at = *from;
}
DEVICE_INLINE void device_await_copies(void)
{
}

DEVICE_INLINE uint32_t device_clz32(uint32_t bits)
{
  DEVICE_ASSERT(bits != 0);
  return (uint32_t)__builtin_clz(bits);
}
DEVICE_INLINE uint32_t device_clz64(uint64_t bits)
{
  DEVICE_ASSERT(bits != 0);
  return (uint32_t)__builtin_clzll(bits);
}
DEVICE_INLINE uint32_t device_or32(uint32_t *at, uint32_t bits)
{
  const uint32_t before = *at;
  *at |= bits;
  return before;
}
DEVICE_INLINE uint32_t device_popc(uint32_t bits)
{
  return (uint32_t)__builtin_popcount(bits);
}
DEVICE_INLINE uint32_t device_first_lane(uint32_t bits)
{
  DEVICE_ASSERT(bits != 0);
  return (uint32_t)__builtin_ctz(bits);
}
DEVICE_INLINE uint64_t device_or64(uint64_t *at, uint64_t bits)
{
  const uint64_t before = *at;
  *at |= bits;
  return before;
}
DEVICE_INLINE uint32_t device_add32(uint32_t *at, uint32_t more)
{
  const uint32_t before = *at;
  *at += more;
  return before;
}
DEVICE_INLINE uint32_t device_min32(uint32_t *at, uint32_t other)
{
  const uint32_t before = *at;
  if (other < before) *at = other;
  return before;
}
DEVICE_INLINE uint32_t device_max32(uint32_t *at, uint32_t other)
{
  const uint32_t before = *at;
  if (other > before) *at = other;
  return before;
}
DEVICE_INLINE uint64_t device_add64(uint64_t *at, uint64_t more)
{
  const uint64_t before = *at;
  *at += more;
  return before;
}
DEVICE_INLINE uint32_t device_peek32(const uint32_t *at)
{
  return *at;
}
DEVICE_INLINE uint64_t device_peek64(const uint64_t *at)
{
  return *at;
}
DEVICE_INLINE void device_poke32(uint32_t *at, uint32_t other)
{
  *at = other;
}
DEVICE_INLINE float device_quotient(float x, float y)
{
  return x / y;
}
DEVICE_INLINE uint64_t device_product(uint32_t x, uint32_t y)
{
  return (uint64_t)x * y;
}
DEVICE_INLINE uint32_t device_ballot(bool value)
{
  return __ballot_sync(UINT32_MAX, value);
}
DEVICE_INLINE uint32_t device_match(uint32_t value)
{
  return __match_any_sync(UINT32_MAX, value);
}
DEVICE_INLINE uint32_t device_match_bits(uint32_t value, uint32_t bits)
{
  DEVICE_ASSERT(bits < 32);
  return device_match(value & ((1u << bits) - 1));
}
DEVICE_INLINE uint32_t device_take_if_less(uint32_t count, uint64_t a, uint64_t b)
{
  return count - (a < b);
}

#define DEVICE_ALIGNED(bytes) __attribute__((aligned(bytes)))
#define DEVICE_PATH(name) emulator_take_path(name)
#define DEVICE_UNROLL
#define DEVICE_UNROLL_BY_4
#define DEVICE_ROLLED
#define DEVICE_SHARED(type, name) type *const name = (type *)emulator_shared()
static inline void *device_shared_memory(void)
{
  return emulator_shared();
}
#define DEVICE_SHARED_ARRAY(type, name, count)                                                     \
  static const char name##_id = 0;                                                                 \
  type *const name = (type *)emulator_shared_array(&name##_id, (count) * sizeof(type))

template <class Args> struct device_call {
  void (*kernel)(Args);
  Args args;

  static void thread(const void *call)
  {
    const device_call *const self = (const device_call *)call;
    self->kernel(self->args);
  }
};

/* The name is the text of the arguments, as the kernel comes first. */
#define device_launch(...) device_launch_named(#__VA_ARGS__, __VA_ARGS__)
template <class Args>
static inline device_status device_launch_named(const char *name, void (*kernel)(Args),
                                                uint64_t grid, uint32_t block,
                                                uint64_t shared_bytes, void *stream, Args args)
{
  const device_call<Args> call = {kernel, args};
  const emulator_kernel emulated = {device_call<Args>::thread, Args::max_threads, name};
  const device_status status = emulator_begin(stream, false);
  return status ? status : emulator_launch(&emulated, grid, block, shared_bytes, &call);
}

template <class Args> static inline device_status device_prefer_cache(void (*)(Args))
{
  return 0;
}

static inline device_status device_clear(void *memory, size_t size, void *stream)
{
  const device_status status = emulator_begin(stream, false);
  return status ? status : emulator_copy(memory, NULL, size);
}
static inline device_status device_copy(void *to, const void *from, size_t size, void *stream)
{
  const device_status status = emulator_begin(stream, false);
  return status ? status : emulator_copy(to, from, size);
}
static inline device_status device_read(void *host, const void *device, size_t size, void *stream)
{
  const device_status status = emulator_begin(stream, true);
  if (!status) memcpy(host, device, size);
  return status;
}
DEVICE_INLINE void device_await_before(void)
{
}
DEVICE_INLINE bool device_is_last(uint32_t *count)
{
  return ++*count == gridDim.x;
}
DEVICE_INLINE void device_post(volatile uint32_t *at, uint32_t value)
{
  *at = value;
}
static inline device_status device_await(const uint32_t *flag, void *stream)
{
  const device_status status = emulator_begin(stream, true);
  return status || *flag ? status : EMULATOR_LAUNCH_FAILED;
}

#endif

/* ---- Reductions over a warp: one instruction from compute capability 8.0 on ---- */

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
DEVICE_INLINE uint32_t device_warp_sum(uint32_t value)
{
  return __reduce_add_sync(UINT32_MAX, value);
}
DEVICE_INLINE uint32_t device_warp_min(uint32_t value)
{
  return __reduce_min_sync(UINT32_MAX, value);
}
DEVICE_INLINE uint32_t device_warp_max(uint32_t value)
{
  return __reduce_max_sync(UINT32_MAX, value);
}
#else
DEVICE_INLINE uint32_t device_warp_sum(uint32_t value)
{
  for (unsigned lanes = 16; lanes > 0; lanes /= 2)
    value += __shfl_xor_sync(UINT32_MAX, value, lanes);
  return value;
}
DEVICE_INLINE uint32_t device_warp_max(uint32_t value)
{
  for (unsigned lanes = 16; lanes > 0; lanes /= 2) {
    const uint32_t other = __shfl_xor_sync(UINT32_MAX, value, lanes);
    if (other > value) value = other;
  }
  return value;
}
DEVICE_INLINE uint32_t device_warp_min(uint32_t value)
{
  return ~device_warp_max(~value);
}
#endif

#endif
