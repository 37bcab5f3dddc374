/* recsort.cuh - stable sorts on a GPU, as templates: no library, no plugin. C++17, nvcc.
 *
 *   size_t bytes = 0;
 *   recsort::sort_pairs(nullptr, bytes, keys_in, keys_out, values_in, values_out, count, stream);
 *   cudaMalloc(&workspace, bytes);
 *   recsort::sort_pairs(workspace, bytes, keys_in, keys_out, values_in, values_out, count, stream);
 *
 *   sort_pairs             keys with values
 *   sort_keys              keys alone
 *   sort_records           structs, by some of their members
 *   segmented_sort_pairs   many arrays of keys with values, each by itself
 *   top                    the first few of the order
 *   segmented_top          the first few of each of many arrays
 *   merge                  sorted runs of keys with values
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
 * same arrays, offsets of segments included. Another count needs another graph. Any number of
 * threads may call at a time.
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
 *
 * Examples. Below, each call is made twice, as above. keys_in are the four floats 3 1 2 1, and
 * values_in the integers 10 20 30 40. records_in are structs of an int id, a float distance and a
 * Position at. Their ids are 1 2 3 4, their distances 3 1 2 1, and so is at.x.
 */
#ifndef RECSORT_CUH
#define RECSORT_CUH

#include "cuda/call/head.cuh"
#include "cuda/call/merge.cuh"
#include "cuda/call/pairs.cuh"
#include "cuda/call/records.cuh"
#include "cuda/call/segment_heads.cuh"
#include "cuda/call/segments.cuh"

namespace recsort
{

enum class order { ascending, descending };

/* Sorts keys with values.
 *
 *   keys_in     `count` keys
 *   keys_out    gets them in order; keys_in, or memory apart; null: not wanted
 *   values_in   a value for each key, of any type that can be copied byte by byte; null: the value
 *               of a key is its position, from 0, and Value is an integer
 *   values_out  gets the values in the order of their keys; values_in, or memory apart; not null
 *   first_bit   only bits first_bit to first_bit + bits - 1 of a key are compared; bit 0 is the
 *   bits        least significant one. A float or a signed integer counts as the unsigned integer
 *               of its order. 0: all bits from first_bit on
 *
 * To sort descending: sort_pairs<recsort::order::descending>(...).
 *
 * Example:
 *   recsort::sort_pairs(workspace, bytes, keys_in, keys_out, values_in, values_out, count, stream);
 *   // keys_out: 1 1 2 3   values_out: 20 40 30 10
 *
 * Example, with positions and without sorted keys:
 *   recsort::sort_pairs(workspace, bytes, keys_in, nullptr, nullptr, values_out, count, stream);
 *   // values_out: 1 3 2 0
 */
template <order way = order::ascending, class Key, class Value>
cudaError_t sort_pairs(void *workspace, size_t &bytes, const Key *keys_in,
                       call::given<Key> *keys_out, const call::given<Value> *values_in,
                       Value *values_out, size_t count, cudaStream_t stream = nullptr,
                       unsigned first_bit = 0, unsigned bits = 0)
{
  if (!call::are_valid(workspace, keys_in, count, first_bit, bits) ||
      !call::are_valid_values<Value>(workspace, values_in, values_out, count))
    return cudaErrorInvalidValue;
  return call::sort_pairs<pairs::values_of<Value>, Key>(
      workspace, bytes,
      call::pairs_of(way == order::descending, keys_in, keys_out, values_in, values_out, count,
                     stream, first_bit, bits),
      sizeof(Value));
}

/* Sorts keys alone: see sort_pairs.
 *
 * Example, descending and in place:
 *   using recsort::order;
 *   recsort::sort_keys<order::descending>(workspace, bytes, keys_in, keys_in, count, stream);
 *   // keys_in: 3 2 1 1
 */
template <order way = order::ascending, class Key>
cudaError_t sort_keys(void *workspace, size_t &bytes, const Key *keys_in,
                      call::given<Key> *keys_out, size_t count, cudaStream_t stream = nullptr,
                      unsigned first_bit = 0, unsigned bits = 0)
{
  if (!call::are_valid(workspace, keys_in, count, first_bit, bits)) return cudaErrorInvalidValue;
  return call::sort_pairs<pairs::no_values, Key>(workspace, bytes,
                                                 call::pairs_of(way == order::descending, keys_in,
                                                                keys_out, nullptr, nullptr, count,
                                                                stream, first_bit, bits),
                                                 0);
}

/* Keys of records: members, by pointers to them, as in recsort.hpp. A member is an integer, an
 * enum, a bool or a float, of at most 8 bytes; a char is an unsigned one. Name a member of a member
 * by both: desc(&Entity::position, &Position::x).
 *
 * If you include recsort.hpp, too, include it before this header. The keys are then for its sorters
 * as well.
 *
 * Example:
 *   const auto near = recsort::asc(&Entity::distance);
 *   const auto right = recsort::desc(&Entity::at, &Position::x);
 *   recsort::sort_records(workspace, bytes, records_in, records_out, count, stream, near, right);
 *   // records_out: 2 4 3 1
 */
template <class Record, class Member> call::key_of<Record, Member> asc(Member Record::*member)
{
  return call::key_at<Record, Member>(call::offset_of(member), false, member);
}
template <class Record, class Member> call::key_of<Record, Member> desc(Member Record::*member)
{
  return call::key_at<Record, Member>(call::offset_of(member), true, member);
}
template <class Record, class Inner, class Member>
call::key_of<Record, Member> asc(Inner Record::*outer, Member Inner::*member)
{
  return call::key_at<Record, Member>(call::offset_of(outer) + call::offset_of(member), false,
                                      outer, member);
}
template <class Record, class Inner, class Member>
call::key_of<Record, Member> desc(Inner Record::*outer, Member Inner::*member)
{
  return call::key_at<Record, Member>(call::offset_of(outer) + call::offset_of(member), true, outer,
                                      member);
}

/* Sorts records by keys, the first of which decides first; the next ones decide where it is equal.
 *
 *   records_in   `count` records, each a struct that can be copied byte by byte
 *   records_out  gets them in order; records_in, or memory apart
 *   keys         asc(&Record::member) or desc(&Record::member), of 128 bits together at most
 *
 * Example:
 *   const auto far = recsort::desc(&Entity::distance);
 *   recsort::sort_records(workspace, bytes, records_in, records_out, count, stream, far);
 *   // records_out: 1 3 2 4
 */
template <class Record, class... Keys>
cudaError_t sort_records(void *workspace, size_t &bytes, const Record *records_in,
                         call::given<Record> *records_out, size_t count, cudaStream_t stream,
                         const Keys &...keys)
{
  constexpr uint32_t bits = (Keys::bits + ...);
  static_assert(bits <= 128, "recsort: keys have more than 128 bits together");
  static_assert((std::is_base_of_v<typename Keys::record, Record> && ...),
                "recsort: a key is a member of another struct");
  if (count > call::most_count) return cudaErrorInvalidValue;
  return call::sort_records<bits>(workspace, bytes, call::program_of<Record>(keys...), records_in,
                                  records_out, count, stream);
}

/* Sorts segments of an array, each by itself. Elements that are in no segment stay where they are.
 *
 *   offsets   `segments` + 1 numbers of 32 or 64 bits in the device's memory, which ascend:
 *             segment s is elements offsets[s] to offsets[s + 1] - 1
 *   longest   no segment has more elements. If you know it, segments of up to about a million
 *             take less time, and short ones are sorted in one pass. If one is longer, it and its
 *             neighbours may stay as they were, and the call does not tell. 0: not known
 *
 * Keys have 4 or 8 bytes, and there are at most 2^31 segments. The rest is as in sort_pairs.
 *
 * Example, with the offsets 0 2 4:
 *   recsort::segmented_sort_pairs(workspace, bytes, keys_in, keys_out, values_in, values_out,
 *                                 count, offsets, 2, stream);
 *   // keys_out: 1 3 1 2   values_out: 20 10 40 30
 */
template <order way = order::ascending, class Key, class Value, class Offset>
cudaError_t segmented_sort_pairs(void *workspace, size_t &bytes, const Key *keys_in,
                                 call::given<Key> *keys_out, const call::given<Value> *values_in,
                                 Value *values_out, size_t count, const Offset *offsets,
                                 size_t segments, cudaStream_t stream = nullptr, size_t longest = 0)
{
  if (!call::are_valid_segments<Key, Offset>(workspace, keys_in, count, segments) ||
      !call::are_valid_values<Value>(workspace, values_in, values_out, count))
    return cudaErrorInvalidValue;
  return call::sort_segments<pairs::values_of<Value>, Key>(
      workspace, bytes,
      call::pairs_of(way == order::descending, keys_in, keys_out, values_in, values_out, count,
                     stream, 0, 0),
      sizeof(Value), way == order::descending, {offsets, segments, 8 * sizeof(Offset), longest});
}

/* Sorts segments of keys alone: see segmented_sort_pairs.
 *
 * Example, with the offsets 0 2 4:
 *   recsort::segmented_sort_keys(workspace, bytes, keys_in, keys_in, count, offsets, 2, stream);
 *   // keys_in: 1 3 1 2
 */
template <order way = order::ascending, class Key, class Offset>
cudaError_t segmented_sort_keys(void *workspace, size_t &bytes, const Key *keys_in,
                                call::given<Key> *keys_out, size_t count, const Offset *offsets,
                                size_t segments, cudaStream_t stream = nullptr, size_t longest = 0)
{
  if (!call::are_valid_segments<Key, Offset>(workspace, keys_in, count, segments))
    return cudaErrorInvalidValue;
  return call::sort_segments<pairs::no_values, Key>(
      workspace, bytes,
      call::pairs_of(way == order::descending, keys_in, keys_out, nullptr, nullptr, count, stream,
                     0, 0),
      0, way == order::descending, {offsets, segments, 8 * sizeof(Offset), longest});
}

/* Writes the first keys of the order with their values: what sort_pairs would write first. From
 * 2^19 keys on, up to 256 are found without a sort of the others; from 2^21 on, up to 2048.
 *
 *   keys_out, values_out   get `most` elements, which is at most `count`
 *
 * For the greatest: top<recsort::order::descending>(...). Keys have 4 or 8 bytes. The rest is as in
 * sort_pairs.
 *
 * Example, the two least:
 *   recsort::top(workspace, bytes, keys_in, keys_out, values_in, values_out, count, 2, stream);
 *   // keys_out: 1 1   values_out: 20 40
 */
template <order way = order::ascending, class Key, class Value>
cudaError_t top(void *workspace, size_t &bytes, const Key *keys_in, call::given<Key> *keys_out,
                const call::given<Value> *values_in, Value *values_out, size_t count, size_t most,
                cudaStream_t stream = nullptr)
{
  static_assert(sizeof(Key) <= sizeof(uint64_t), "recsort: keys of top have 4 or 8 bytes");
  if (!call::are_valid(workspace, keys_in, count, 0, 0) ||
      !call::are_valid_values<Value>(workspace, values_in, values_out, count) || most > count)
    return cudaErrorInvalidValue;
  return call::find_pairs<pairs::values_of<Value>, Key>(
      workspace, bytes,
      call::pairs_of(way == order::descending, keys_in, keys_out, values_in, values_out,
                     most ? count : 0, stream, 0, 0),
      sizeof(Value), way == order::descending, most);
}

/* Writes the first keys of each segment with their values: what segmented_sort_pairs would write
 * first in it. Each key is read once, and no key is sorted but those that are written.
 *
 *   keys_out, values_out   have `most` elements for each segment: those of segment s are from
 *                          s * most on. If it has fewer than `most`, all of them are written in
 *                          order, and the elements behind them stay as they were. No output is an
 *                          input
 *   most                   at most 1024
 *
 * For the greatest: segmented_top<recsort::order::descending>(...). If values_in is null, the value
 * of a key is its position in keys_in, not in its segment. The time depends on the average length
 * of segments: it is longer if few of them are much longer than the others. The rest is as in
 * segmented_sort_pairs.
 *
 * Example, the least of each segment, with the offsets 0 2 4:
 *   recsort::segmented_top(workspace, bytes, keys_in, keys_out, values_in, values_out, count,
 *                          offsets, 2, 1, stream);
 *   // keys_out: 1 1   values_out: 20 40
 */
template <order way = order::ascending, class Key, class Value, class Offset>
cudaError_t segmented_top(void *workspace, size_t &bytes, const Key *keys_in,
                          call::given<Key> *keys_out, const call::given<Value> *values_in,
                          Value *values_out, size_t count, const Offset *offsets, size_t segments,
                          size_t most, cudaStream_t stream = nullptr)
{
  static_assert(sizeof(Key) <= sizeof(uint64_t), "recsort: keys of top have 4 or 8 bytes");
  static_assert(std::is_integral_v<Offset> && (sizeof(Offset) == 4 || sizeof(Offset) == 8),
                "recsort: offsets have 32 or 64 bits");
  if (!call::are_valid(workspace, keys_in, count, 0, 0) ||
      !call::are_valid_values<Value>(workspace, values_in, values_out, count) ||
      segments > (size_t)1 << 31 || most > call::most_of_segments ||
      (workspace && count && (keys_out == keys_in || values_out == values_in)))
    return cudaErrorInvalidValue;
  return call::find_in_segments<Value, Key, way == order::descending>(
      workspace, bytes,
      call::pairs_of(way == order::descending, keys_in, keys_out, values_in, values_out, count,
                     stream, 0, 0),
      {offsets, segments, 8 * sizeof(Offset), 0}, (uint32_t)most);
}

/* Merges sorted runs of keys with values: equal keys of an earlier run come first.
 *
 *   bounds  `runs` + 1 numbers in the host's memory, which ascend: run r is elements bounds[r] to
 *           bounds[r + 1] - 1; the first is 0, the last one is the number of elements. They are
 *           read before the call returns, and a graph keeps what they were
 *
 * The rest is as in sort_pairs. A merge moves pairs once, however many runs there are, up to 128.
 * If a run is not sorted, what is written is in no order.
 *
 * Example, of the runs 3, 1 2 and 1:
 *   const size_t bounds[] = {0, 1, 3, 4};
 *   recsort::merge(workspace, bytes, keys_in, keys_out, values_in, values_out, bounds, 3, stream);
 *   // keys_out: 1 1 2 3   values_out: 20 40 30 10
 */
template <order way = order::ascending, class Key, class Value>
cudaError_t merge(void *workspace, size_t &bytes, const Key *keys_in, call::given<Key> *keys_out,
                  const call::given<Value> *values_in, Value *values_out, const size_t *bounds,
                  size_t runs, cudaStream_t stream = nullptr)
{
  static_assert(sizeof(size_t) == sizeof(uint64_t), "recsort: size_t has 64 bits");
  const size_t count = runs ? bounds[runs] : 0;
  if (!call::are_valid(workspace, keys_in, count, 0, 0) ||
      !call::are_valid_values<Value>(workspace, values_in, values_out, count) || runs > UINT32_MAX)
    return cudaErrorInvalidValue;
  for (size_t r = 0; r < runs; r++)
    if (bounds[r] > bounds[r + 1] || bounds[0] != 0) return cudaErrorInvalidValue;
  return call::merge_pairs<pairs::values_of<Value>, Key>(
      workspace, bytes,
      call::pairs_of(way == order::descending, keys_in, keys_out, values_in, values_out, count,
                     stream, 0, 0),
      sizeof(Value), (const uint64_t *)bounds, (uint32_t)runs);
}

} // namespace recsort

#endif
