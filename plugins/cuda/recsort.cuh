/* recsort.cuh - stable sorts on a GPU, as templates: no library, no plugin. C++17, nvcc.
 *
 *   size_t bytes = 0;
 *   recsort::sort_pairs(nullptr, bytes, keys_in, keys_out, values_in, values_out, count, stream);
 *   cudaMalloc(&workspace, bytes);
 *   recsort::sort_pairs(workspace, bytes, keys_in, keys_out, values_in, values_out, count, stream);
 *
 *   sort_pairs             keys with values
 *   sort_keys              keys alone
 *
 * These hold for every function:
 *
 * Memory. All arrays are in the device's memory. If `workspace` is null, the call only sets
 * `bytes`, and touches no memory of the device. Otherwise `workspace` has `bytes` bytes, at least
 * as many as such a call with the same arguments says. It is aligned to 256 bytes, as memory of
 * cudaMalloc is. You may use it again once the stream has passed the call. Nothing else is
 * allocated.
 *
 * Time. A call starts kernels on `stream` and returns; it never waits for the device. So the stream
 * may be captured in a graph, and the graph may run any number of times, with other contents of the
 * same arrays. Any number of threads may call at a time.
 *
 * Order. Equal keys stay in the order that they came in. -0 equals +0. NaNs of either sign are
 * equal to each other and come last, in descending order, too. Each key keeps its own bits. The
 * same input gives the same bytes, whatever the device.
 *
 * Parameters. `count` is at most 2^32. Keys are integers of 4, 8 or 16 bytes, or floats of 4 or 8;
 * signed integers are in two's complement. Arrays are aligned to their elements. An output is its
 * input, and is then sorted in place, or does not overlap any other array.
 *
 * Errors. A call returns cudaErrorInvalidValue, and starts nothing, if the workspace is too small
 * or not aligned, or an argument is out of range. It returns other errors as the CUDA runtime told
 * them: then some kernels may have been started.
 */
#ifndef RECSORT_CUH
#define RECSORT_CUH

#include <type_traits>

#include "cuda/pairs/pairs.cuh"
#include "cuda/sort/sample/dispatch/mixed.cuh"
#include "cuda/sort/sample/dispatch/sort_many.cuh"
#include "cuda/sort/sample/dispatch/sort_small.cuh"

namespace recsort
{

enum class order { ascending, descending };

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

/* Takes arrays from a workspace, one after the other; without one, only adds up their bytes. */
struct workspace {
  char *begin;
  uint64_t taken;

  void *take(uint64_t bytes)
  {
    char *const at = begin ? begin + taken : NULL;
    taken += device_aligned(bytes);
    return at;
  }
};

/* Tells the caller how many bytes a call takes, or checks those that it got. Returns true if the
 * call ends with *error. */
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

template <class Key> constexpr bool is_int128 = sizeof(Key) == 16 && !std::is_class_v<Key>;

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

/* ---- Pairs ---- */

/* What a sort of pairs has in its workspace. */
struct pairs_memory {
  uint64_t extra_bytes; /* of the sort */
  void *pairs;
  uint32_t *differ; /* NULL: all bits of the keys are compared */
  void
      *keys_copy; /* of keys that are sorted in place, and read after others are written; or NULL */
  void *values_copy; /* likewise */
};

template <class Code>
static pairs_memory divide(const device_job &job, const device_pairs &pairs, uint32_t value_bytes,
                           workspace *from)
{
  const uint64_t key_bytes =
      pairs.keys_in == pairs.keys_out && pairs::reads_keys(&pairs) ? pairs.count * sizeof(Code) : 0;
  const bool stay = pairs.values_in && pairs.values_in == pairs.values_out;
  pairs_memory memory = {};
  memory.extra_bytes =
      sample::choose_sort<wide_pair<Code, uint32_t>, form_of_code<Code>>(&job).extra_bytes(&job);
  memory.pairs = from->take(device_bytes(&job, memory.extra_bytes));
  if (pairs.bits < pairs.key_width) memory.differ = (uint32_t *)from->take(sizeof(uint32_t));
  if (key_bytes) memory.keys_copy = from->take(key_bytes);
  if (stay) memory.values_copy = from->take(pairs.count * value_bytes);
  return memory;
}

/* Copies an array in place, and lets the copy be read. */
static inline device_status copy_of(const void **array, void *copy, uint64_t bytes, void *stream)
{
  const void *const from = *array;
  if (!copy) return 0;
  *array = copy;
  return device_copy(copy, from, bytes, stream);
}

/* Encodes, sorts, writes. */
template <class Code, class Values>
static device_status start_pairs(const device_job &job, device_pairs pairs, uint32_t value_bytes,
                                 const pairs_memory &memory)
{
  device_buffers buffers = device_divide(&job, memory.pairs, memory.extra_bytes);
  unsigned side = 0;
  device_status status = 0;
  if (pairs::are_codes(&pairs))
    buffers.input = pairs.keys_in;
  else
    status = pairs::start_encode<Code, Code>(&pairs, buffers.keys[0], memory.differ);
  if (!status)
    status =
        sample::sort_mixed<wide_pair<Code, uint32_t>, form_of_code<Code>>(&job, &buffers, &side);
  if (!status)
    status = copy_of(&pairs.values_in, memory.values_copy, pairs.count * value_bytes, job.stream);
  if (!status)
    status = copy_of(&pairs.keys_in, memory.keys_copy, pairs.count * sizeof(Code), job.stream);
  const device_pairs_sorted sorted = {
      buffers.keys[side], buffers.indices[side], 8 * sizeof(Code), 32, memory.differ, NULL};
  return status ? status : pairs::start_finish<Code, Code, Values>(&pairs, &sorted);
}

template <order way, class Values, class Key>
static cudaError_t sort_pairs(void *given, size_t &bytes, const Key *keys_in, Key *keys_out,
                              const void *values_in, void *values_out, uint32_t value_bytes,
                              size_t count, cudaStream_t stream, unsigned first_bit, unsigned bits)
{
  using code = code_of<Key>;
  constexpr uint32_t width = 8 * sizeof(Key);
  if (count > most_count || first_bit >= width || bits > width - first_bit)
    return cudaErrorInvalidValue;
  device_limits limits;
  cudaError_t error = limits_of_device(&limits);
  if (error) return error;
  device_pairs pairs = {};
  pairs.stream = stream;
  pairs.count = count;
  pairs.kind = kind_of<Key>();
  pairs.flags = way == order::descending ? RECSORT_KEY_DESCENDING : 0;
  pairs.key_width = width;
  pairs.first_bit = first_bit;
  pairs.bits = bits ? bits : width - first_bit;
  pairs.keys_in = keys_in;
  pairs.keys_out = keys_out;
  pairs.values_in = values_in;
  pairs.values_out = values_out;
  const device_job job = job_of(count, pairs.bits, width, limits, stream);
  workspace space = {(char *)given, 0};
  const pairs_memory memory =
      count ? divide<code>(job, pairs, value_bytes, &space) : pairs_memory{};
  if (ends_with(space, given, bytes, &error) || count == 0) return error;
  return (cudaError_t)start_pairs<code, Values>(job, pairs, value_bytes, memory);
}

} // namespace call

/* Sorts keys with values.
 *
 *   keys_in     `count` keys
 *   keys_out    gets them in order; keys_in, or memory apart; null: not wanted
 *   values_in   a value for each key, of any type that can be copied byte by byte; null: the value
 *               of a key is its position, from 0 (Value is then an integer)
 *   values_out  gets the value of each key in keys_out's order; values_in, or memory apart
 *   first_bit   only bits [first_bit, first_bit + bits) of keys are compared, counted from the
 * least significant one; those of a float or of a signed integer are the bits of an unsigned
 *               integer in the same order. `bits` 0: all from first_bit on
 *
 * To sort descending: sort_pairs<recsort::order::descending>(...).
 */
template <order way = order::ascending, class Key, class Value>
cudaError_t sort_pairs(void *workspace, size_t &bytes, const Key *keys_in,
                       call::given<Key> *keys_out, const call::given<Value> *values_in,
                       Value *values_out, size_t count, cudaStream_t stream = nullptr,
                       unsigned first_bit = 0, unsigned bits = 0)
{
  static_assert(std::is_trivially_copyable_v<Value>,
                "recsort: values are copied byte by byte, which this type does not allow");
  return call::sort_pairs<way, pairs::values_of<Value>>(workspace, bytes, keys_in, keys_out,
                                                        values_in, values_out, sizeof(Value), count,
                                                        stream, first_bit, bits);
}

/* Sorts keys alone: see sort_pairs. */
template <order way = order::ascending, class Key>
cudaError_t sort_keys(void *workspace, size_t &bytes, const Key *keys_in,
                      call::given<Key> *keys_out, size_t count, cudaStream_t stream = nullptr,
                      unsigned first_bit = 0, unsigned bits = 0)
{
  return call::sort_pairs<way, pairs::no_values>(workspace, bytes, keys_in, keys_out, nullptr,
                                                 nullptr, 0, count, stream, first_bit, bits);
}

} // namespace recsort

#endif
