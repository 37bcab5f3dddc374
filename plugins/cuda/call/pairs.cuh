/* pairs.cuh - sorts of keys with values: codes of the keys are sorted, merged or looked through,
 * then keys and values are written. */
#ifndef RECSORT_CUDA_CALL_PAIRS_CUH
#define RECSORT_CUDA_CALL_PAIRS_CUH

#include "cuda/call/ground.cuh"
#include "cuda/call/sorts.cuh"
#include "cuda/pairs/few.cuh"
#include "cuda/pairs/pairs.cuh"

namespace call
{

/* The job of a call, from its arguments. `bits` 0: all from first_bit on. */
template <class Key>
static device_pairs pairs_of(bool descending, const Key *keys_in, Key *keys_out,
                             const void *values_in, void *values_out, uint64_t count,
                             cudaStream_t stream, unsigned first_bit, unsigned bits)
{
  constexpr uint32_t width = 8 * sizeof(Key);
  device_pairs pairs = {};
  pairs.stream = stream;
  pairs.count = count;
  pairs.kind = kind_of<Key>();
  pairs.flags = descending ? RECSORT_KEY_DESCENDING : 0;
  pairs.key_width = width;
  pairs.first_bit = first_bit;
  pairs.bits = bits ? bits : width - first_bit;
  pairs.keys_in = keys_in;
  pairs.keys_out = keys_out;
  pairs.values_in = values_in;
  pairs.values_out = values_out;
  return pairs;
}

/* What a sort of pairs has in its workspace. */
struct pairs_memory {
  uint64_t extra_bytes; /* of the sort */
  void *pairs;
  uint32_t *differ; /* NULL: all bits of the keys are compared */
  void *keys_copy; /* of keys that are sorted in place and read after others are written; or NULL */
  void *values_copy; /* likewise */
};

/* `reads_keys`: keys are read after others have been written. */
static inline void divide_copies(const device_pairs &pairs, bool reads_keys, uint32_t value_bytes,
                                 workspace *from, pairs_memory *memory)
{
  if (pairs.keys_in == pairs.keys_out && reads_keys)
    memory->keys_copy = from->take(pairs.count * (pairs.key_width / 8));
  if (pairs.values_in && pairs.values_in == pairs.values_out)
    memory->values_copy = from->take(pairs.count * value_bytes);
}

static inline pairs_memory divide_pairs(const device_job &job, const device_pairs &pairs,
                                        uint64_t extra_bytes, uint32_t value_bytes, workspace *from)
{
  pairs_memory memory = {};
  if (pairs.count == 0) return memory;
  memory.extra_bytes = extra_bytes;
  memory.pairs = from->take(device_bytes(&job, extra_bytes));
  if (pairs.bits < pairs.key_width) memory.differ = (uint32_t *)from->take(sizeof(uint32_t));
  divide_copies(pairs, pairs::reads_keys(&pairs), value_bytes, from, &memory);
  return memory;
}

/* Copies an array to `copy`, which is read in its place, as others are written to the array; not if
 * `copy` is NULL. */
static inline device_status read_copy(const void **array, void *copy, uint64_t bytes, void *stream)
{
  const void *const from = *array;
  if (!copy) return 0;
  *array = copy;
  return device_copy(copy, from, bytes, stream);
}

/* Writes the first pairs->count keys and values of an order. */
template <class Code, class Key, class Values>
static device_status write_pairs(device_pairs pairs, uint32_t value_bytes, uint64_t count,
                                 const pairs_memory &memory, const void *codes, const void *order)
{
  const device_pairs_sorted sorted = {codes, order, 8 * sizeof(Code), 32, memory.differ, {}};
  device_status status =
      read_copy(&pairs.values_in, memory.values_copy, count * value_bytes, pairs.stream);
  if (!status)
    status = read_copy(&pairs.keys_in, memory.keys_copy, count * sizeof(Key), pairs.stream);
  return status ? status : pairs::start_finish<Key, Code, Values>(&pairs, &sorted);
}

/* The same by an order alone: all keys are gathered, as if no bit of a key was in its code. */
template <class Key, class Values>
static device_status write_by_order(device_pairs pairs, uint32_t value_bytes, uint64_t count,
                                    const pairs_memory &memory, const uint32_t *order)
{
  pairs.bits = 0;
  return write_pairs<uint32_t, code_of<Key>, Values>(pairs, value_bytes, count, memory, order,
                                                     order);
}

/* Encodes, calls sort(buffers, side), and writes the first `written` pairs. */
template <class Code, class Values, class Sort>
static device_status start_pairs(const device_job &job, device_pairs pairs, uint32_t value_bytes,
                                 const pairs_memory &memory, uint64_t written, const Sort &sort)
{
  device_buffers buffers = device_divide(&job, memory.pairs, memory.extra_bytes);
  unsigned side = 0;
  device_status status = 0;
  if (pairs::are_codes(&pairs))
    buffers.input = pairs.keys_in;
  else
    status = pairs::start_encode<Code, Code>(&pairs, buffers.keys[0], memory.differ);
  if (!status) status = sort(&buffers, &side);
  pairs.count = written;
  return status ? status
                : write_pairs<Code, Code, Values>(pairs, value_bytes, job.count, memory,
                                                  buffers.keys[side], buffers.indices[side]);
}

/* False if the arguments of a call are out of range. Without a workspace nothing is read, so arrays
 * may be null. */
template <class Key>
static bool are_valid(const void *workspace, const Key *keys_in, uint64_t count, unsigned first_bit,
                      unsigned bits)
{
  constexpr uint32_t width = 8 * sizeof(Key);
  const bool read = workspace && count;
  return count <= most_count && first_bit < width && bits <= width - first_bit &&
         (!read || keys_in);
}

/* The same for values. */
template <class Value>
static bool are_valid_values(const void *workspace, const Value *values_in, const Value *values_out,
                             uint64_t count)
{
  static_assert(std::is_trivially_copyable_v<Value> && std::is_default_constructible_v<Value>,
                "recsort: values are copied byte by byte, and have a default constructor");
  const bool read = workspace && count;
  return !read || (values_out && (values_in || std::is_integral_v<Value>));
}

/* Wider values are gathered by the order. */
template <class Value> constexpr bool can_carry = sizeof(Value) <= 16;
template <> inline constexpr bool can_carry<void> = true;
template <class Value>
using carried = std::conditional_t<std::is_void_v<Value>, carry::no_value, Value>;

/* Sorts pairs by a carry sort that is planned. */
template <class Sort>
static cudaError_t start_carry(void *given, size_t &bytes, const device_pairs &pairs,
                               const device_limits &limits, const carry_plan &plan)
{
  workspace space = {(char *)given, 0};
  void *const memory = space.take(Sort::bytes(plan, pairs.keys_out != NULL, false));
  cudaError_t error;
  if (ends_with(space, given, bytes, &error)) return error;
  return (cudaError_t)Sort::sort(plan, pairs, limits.multiprocessors, {NULL, NULL, memory}, {});
}

/* Sorts many pairs whose values move along with their keys. Returns false if they are few, or too
 * many, and then has done nothing. */
template <class Code, class Value>
static bool sort_carried(void *given, size_t &bytes, const device_pairs &pairs,
                         const device_limits &limits, cudaError_t *error)
{
  using sort = carry::pair_sort<Code, Value>;
  carry_plan plan = {};
  if (!carry_is_fast(pairs.count, sizeof(Code)) ||
      !sort::plan(&plan, pairs.count, limits.shared_bytes, carry::compares_all(pairs)))
    return false;
  *error = start_carry<sort>(given, bytes, pairs, limits, plan);
  return true;
}

/* Sorts few pairs whose values move along with their keys, and writes the first `written`. */
template <class Values, class Code>
static cudaError_t sort_few(void *given, size_t &bytes, const device_pairs &pairs,
                            uint32_t value_bytes, uint64_t written, const device_job &job)
{
  workspace space = {(char *)given, 0};
  cudaError_t error;
  uint64_t taken = 0;
  const auto runs =
      pairs::divide_few<Code>(&job, pairs::reads_keys(&pairs), value_bytes, space.begin, &taken);
  (void)space.take(taken);
  if (ends_with(space, given, bytes, &error) || pairs.count == 0) return error;
  return (cudaError_t)pairs::start_few<Code, Values>(&job, &pairs, runs, written);
}

/* Sorts pairs, and writes the first `written`: many by an order of their numbers. */
template <class Values, class Key>
static cudaError_t sort_by_order(void *given, size_t &bytes, const device_pairs &pairs,
                                 uint32_t value_bytes, uint64_t written)
{
  using code = code_of<Key>;
  using pair = pair_of<code>;
  constexpr bool few = can_carry<typename Values::type>;
  device_limits limits;
  cudaError_t error = limits_of_device(&limits);
  if (error) return error;
  const device_job job =
      job_of(pairs.count, pairs.bits, pairs.key_width, limits, (cudaStream_t)pairs.stream);
  if constexpr (few)
    if (sample_is_small(&job))
      return sort_few<Values, code>(given, bytes, pairs, value_bytes, written, job);
  constexpr pair_form form = form_of_code<code>;
  sample::chosen_sort chosen;
  if constexpr (few)
    chosen = sample::choose_many<pair, form>(&job);
  else
    chosen = sample::choose_sort<pair, form>(&job);
  workspace space = {(char *)given, 0};
  const pairs_memory memory =
      divide_pairs(job, pairs, chosen.extra_bytes(&job), value_bytes, &space);
  if (ends_with(space, given, bytes, &error) || pairs.count == 0) return error;
  return (cudaError_t)start_pairs<code, Values>(job, pairs, value_bytes, memory, written,
                                                [&](const device_buffers *buffers, unsigned *side) {
                                                  return chosen.sort(&job, buffers, side);
                                                });
}

/* Sorts pairs. */
template <class Values, class Key>
static cudaError_t sort_pairs(void *given, size_t &bytes, const device_pairs &pairs,
                              uint32_t value_bytes)
{
  using value = typename Values::type;
  if constexpr (can_carry<value>) {
    device_limits limits;
    cudaError_t error = limits_of_device(&limits);
    if (error || sort_carried<code_of<Key>, carried<value>>(given, bytes, pairs, limits, &error))
      return error;
  }
  return sort_by_order<Values, Key>(given, bytes, pairs, value_bytes, pairs.count);
}

} // namespace call

#endif
