/* ground.cuh - what every function of recsort.cuh does: asks for the device's limits, divides the
 * workspace, and finds the unsigned integers that have the order of keys. */
#ifndef RECSORT_CUDA_CALL_GROUND_CUH
#define RECSORT_CUDA_CALL_GROUND_CUH

#include <type_traits>

#include "cuda/pair.cuh"
#include "cuda/workspace.cuh"
#include "recsort/plugin_keys.h"

namespace call
{

/* A parameter of this type does not say what `Type` is, so it may be nullptr. */
template <class Type> struct given_type {
  using type = Type;
};
template <class Type> using given = typename given_type<Type>::type;

/* ---- The device ---- */

struct device_limits {
  int number;
  uint32_t multiprocessors;
  uint64_t shared_bytes;
};

/* Those of the current device. Each thread asks again when its device changes. */
static inline cudaError_t limits_of_device(device_limits *limits)
{
  static thread_local device_limits known = {-1, 0, 0};
  int device = 0, multiprocessors = 0, shared = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (!error && device != known.number) {
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (!error)
      error = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (!error) known = {device, (uint32_t)multiprocessors, (uint64_t)shared};
  }
  *limits = known;
  return error;
}

/* ---- The workspace ---- */

/* Without a workspace, tells the caller how many bytes the call takes; else checks the workspace.
 * Returns true if the call ends with *error. */
static inline bool ends_with(const workspace &needed, void *given, size_t &bytes,
                             cudaError_t *error)
{
  const uint64_t most = needed.taken + DEVICE_ALIGNMENT; /* so that it is never 0 */
  *error = cudaSuccess;
  if (!given) {
    bytes = (size_t)most;
    return true;
  }
  if (bytes >= most && (uintptr_t)given % DEVICE_ALIGNMENT == 0) return false;
  *error = cudaErrorInvalidValue;
  return true;
}

/* ---- Keys ---- */

/* The unsigned integer that has the size of a key. */
template <class Key>
using code_of = std::conditional_t<sizeof(Key) == 4, uint32_t,
                                   std::conditional_t<sizeof(Key) == 8, uint64_t, device_uint128>>;

template <class Key>
constexpr bool is_int128 = sizeof(Key) == 16 && !std::is_class_v<Key> &&
                           !std::is_floating_point_v<Key>;

template <class Key> constexpr uint32_t kind_of()
{
  static_assert(std::is_integral_v<Key> || std::is_floating_point_v<Key> || is_int128<Key>,
                "recsort: keys are integers or floats");
  static_assert(sizeof(Key) == 4 || sizeof(Key) == 8 || is_int128<Key>,
                "recsort: keys have 4, 8 or 16 bytes");
  if (std::is_floating_point_v<Key>) return RECSORT_KEY_FLOAT;
  return (Key)-1 < (Key)0 ? RECSORT_KEY_SIGNED : RECSORT_KEY_UNSIGNED;
}

/* Pairs of 64-bit keys would fit in 64 bits with their indices only if few of their bits are
 * compared: a program that sorts them compiles the kernels of one type of pair, not of two. */
template <class Code>
constexpr pair_form form_of_code = sizeof(Code) == 4 ? ALWAYS_PACKED : NEVER_PACKED;

static constexpr uint64_t most_count = UINT64_C(1) << 32;

static inline device_job job_of(uint64_t count, uint32_t bits, uint32_t key_width,
                                const device_limits &limits, cudaStream_t stream)
{
  device_job job = {};
  job.count = count;
  job.key_bits = bits;
  job.key_width = key_width;
  job.index_bits = 32;
  job.shared_bytes = limits.shared_bytes;
  job.multiprocessors = limits.multiprocessors;
  job.stream = stream;
  return job;
}

/* A pair of a code and the number of its key. */
template <class Code> using pair_of = wide_pair<Code, uint32_t>;

} // namespace call

#endif
