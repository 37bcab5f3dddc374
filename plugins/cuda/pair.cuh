/* pair.cuh - the types of pair, a key and its index, that are template parameters of the kernels.
 *
 *   wide_pair<Key, Index>   keys and indices in separate arrays
 *   packed_pair             both in 64 bits, the index in the low ones; one array
 *
 * with_key, with_short_pair, with_wide_pair and with_form choose the types of a job. The values
 * that they pass are only there for their types.
 */
#ifndef RECSORT_CUDA_PAIR_CUH
#define RECSORT_CUDA_PAIR_CUH

#include "base/co_rank.h"
#include "cuda/device.h"
#include "cuda/plan.h"

template <class Key, class Index> struct wide_pair {
  using key_type = Key;
  using index_type = Index;
  static constexpr bool packed = false;
  static constexpr uint32_t bytes = sizeof(Key) + sizeof(Index);

  Key key;
  Index index;
};

struct packed_pair {
  using key_type = uint64_t;
  using index_type = uint64_t;
  static constexpr bool packed = true;
  static constexpr uint32_t bytes = sizeof(uint64_t);

  uint64_t key; /* the index is in its low bits */
};

/* Whether a sort of many packs pairs of a key and index (few are never packed): those of 32 bits
 * each always fit in 64 bits. Of wider keys the job's key_bits tell. A program that knows more
 * about its keys compiles less. */
enum pair_form { ALWAYS_PACKED, NEVER_PACKED, EITHER };
template <class Pair>
constexpr pair_form form_of = sizeof(typename Pair::key_type) + sizeof(typename Pair::index_type) ==
                                      8
                                  ? ALWAYS_PACKED
                                  : EITHER;

template <class Pair> using key_of = typename Pair::key_type;
template <class Pair> using index_of = typename Pair::index_type;

/* An array of pairs. If `indices` is NULL, the index of a pair is its position. */
template <class Pair> struct pair_array {
  key_of<Pair> *keys;
  index_of<Pair> *indices;
};
template <> struct pair_array<packed_pair> {
  uint64_t *keys;
};

/* An array of `count` pairs that begins at `memory`. */
template <class Pair>
RECSORT_HD static inline pair_array<Pair> pair_array_at(void *memory, uint64_t count)
{
  pair_array<Pair> array;
  RS_ASSERT((uintptr_t)memory % alignof(key_of<Pair>) == 0);
  array.keys = (key_of<Pair> *)memory;
  if constexpr (!Pair::packed) array.indices = (index_of<Pair> *)(array.keys + count);
  return array;
}

/* The end of such an array. */
template <class Pair>
RECSORT_HD static inline void *pair_array_end(const pair_array<Pair> *array, uint64_t count)
{
  if constexpr (Pair::packed)
    return array->keys + count;
  else
    return array->indices + count;
}

/* The pairs of a side of a sort's buffers. Packed ones take the place of its keys and indices,
 * which lie in one block. */
template <class Pair>
static inline pair_array<Pair> pair_array_of_side(const device_buffers *buffers, unsigned side)
{
  pair_array<Pair> array;
  RS_ASSERT(side < 2);
  if constexpr (Pair::packed) {
    array.keys = (uint64_t *)(side ? buffers->indices[1] : buffers->keys[0]);
  } else {
    array.keys = (key_of<Pair> *)buffers->keys[side];
    array.indices = (index_of<Pair> *)buffers->indices[side];
  }
  return array;
}

template <class Pair> DEVICE_INLINE Pair pair_get(const pair_array<Pair> *from, uint64_t i)
{
  Pair pair;
  pair.key = from->keys[i];
  if constexpr (!Pair::packed) pair.index = from->indices[i];
  return pair;
}

template <class Pair> DEVICE_INLINE void pair_put(const pair_array<Pair> *to, uint64_t i, Pair pair)
{
  to->keys[i] = pair.key;
  if constexpr (!Pair::packed) to->indices[i] = pair.index;
}

/* Where keys and indices of packed pairs go, each of its own width in bits. */
struct pair_sink {
  void *keys;
  void *indices; /* NULL: `keys` gets packed pairs */
  uint32_t key_width, index_width;
};

template <class Position>
DEVICE_INLINE void store_unpacked(const pair_sink *sink, uint32_t index_bits, Position i,
                                  uint64_t pair)
{
  DEVICE_ASSERT(index_bits < 64);
  const uint64_t place = pair & ((UINT64_C(1) << index_bits) - 1), key = pair >> index_bits;
  if (sink->index_width == 32)
    ((uint32_t *)sink->indices)[i] = (uint32_t)place;
  else
    ((uint64_t *)sink->indices)[i] = place;
  if (sink->key_width == 32)
    ((uint32_t *)sink->keys)[i] = (uint32_t)key;
  else if (sink->key_width == 64)
    ((uint64_t *)sink->keys)[i] = key;
  else
    ((device_uint128 *)sink->keys)[i] = key;
}

/* The part of a sink that begins with pair `first`. */
DEVICE_INLINE pair_sink sink_from(const pair_sink *all, uint64_t first)
{
  pair_sink sink = *all;
  if (!sink.indices) return sink;
  sink.keys = (char *)sink.keys + first * (sink.key_width / 8);
  sink.indices = (char *)sink.indices + first * (sink.index_width / 8);
  return sink;
}

/* Pairs are never equal, as no two have the same index. */
template <class Pair> DEVICE_INLINE bool pair_less(Pair a, Pair b)
{
  if constexpr (Pair::packed)
    return a.key < b.key;
  else
    return a.key < b.key || (a.key == b.key && a.index < b.index);
}

/* The number of leading zeros; the key is not 0. */
template <class Key> DEVICE_INLINE uint32_t leading_zeros(Key key)
{
  DEVICE_ASSERT(key != 0);
  if (sizeof(Key) == sizeof(uint32_t)) return device_clz32((uint32_t)key);
  if (sizeof(Key) > sizeof(uint64_t)) {
    const uint64_t high = (uint64_t)((device_uint128)key >> 64);
    return high ? device_clz64(high) : 64 + device_clz64((uint64_t)key);
  }
  return device_clz64((uint64_t)key);
}

/* The value of lane `from` of the warp, of any unsigned type. */
template <class Key> DEVICE_INLINE Key key_from_lane(Key key, uint32_t from)
{
  DEVICE_ASSERT(from < WARP_SIZE);
  if constexpr (sizeof(Key) <= sizeof(uint64_t)) {
    return (Key)__shfl_sync(UINT32_MAX, key, from);
  } else {
    const uint64_t low = __shfl_sync(UINT32_MAX, (uint64_t)key, from);
    const uint64_t high = __shfl_sync(UINT32_MAX, (uint64_t)(key >> 64), from);
    return (Key)high << 64 | low;
  }
}

/* Calls work(key) with a key that is so many bits wide. */
template <class Work> static inline auto with_key(uint32_t key_width, const Work &work)
{
  RS_ASSERT(key_width == 32 || key_width == 64 || key_width == 128);
  if (key_width == 32) return work(uint32_t());
  if (key_width == 64) return work(uint64_t());
  return work(device_uint128());
}

/* Calls work(pair) with a pair of the job's key and an index of 32 bits, not packed. */
template <class Work> static inline auto with_short_pair(const device_job *job, const Work &work)
{
  RS_ASSERT(job->index_bits == 32);
  return with_key(job->key_width,
                  [&](auto key) { return work(wide_pair<decltype(key), uint32_t>()); });
}

/* Calls work(pair) with a pair of the job's key and index, not packed. */
template <class Work> static inline auto with_wide_pair(const device_job *job, const Work &work)
{
  RS_ASSERT(job->index_bits == 32 || job->index_bits == 64);
  return with_key(job->key_width, [&](auto key) {
    return job->index_bits == 32 ? work(wide_pair<decltype(key), uint32_t>())
                                 : work(wide_pair<decltype(key), uint64_t>());
  });
}

/* Calls work(pair) with a pair of the key and index of `Pair`, a wide one: packed, if it is known
 * that such pairs fit in 64 bits or the job's do. */
template <class Pair, pair_form form = form_of<Pair>, class Work>
static inline auto with_form(const device_job *job, const Work &work)
{
  if constexpr (form == ALWAYS_PACKED) {
    return work(packed_pair());
  } else {
    if constexpr (form == EITHER)
      if (plan_packs(job)) return work(packed_pair());
    return work(Pair());
  }
}

#endif
