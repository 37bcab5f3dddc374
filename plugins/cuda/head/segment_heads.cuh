/* segment_heads.cuh - the first few of each segment.
 *
 *   read_slices    a block reads a segment, or one of several parts of it, and keeps a list of the
 *                  first few; of a whole segment it writes the result
 *   join_slices    if segments have several parts, a block makes one list of those of a segment,
 *                  and writes the result
 *
 * Each key is read once. A segment has several parts if the segments are too few for all
 * multiprocessors. How many is found from the average length, so a segment that is much longer than
 * the others takes longer, but its result is the same.
 */
#ifndef RECSORT_CUDA_HEAD_SEGMENT_HEADS_CUH
#define RECSORT_CUDA_HEAD_SEGMENT_HEADS_CUH

#include <type_traits>

#include "cuda/head/shortlist.cuh"
#include "cuda/pairs/pairs.cuh"
#include "cuda/records/offsets.cuh"

#ifndef HEAD_MOST_BLOCKS
#define HEAD_MOST_BLOCKS (1 << 20) /* each goes on to further segments */
#endif

namespace head
{

enum {
  READ_BYTES = 64, /* of the keys of a thread, in a batch */
  LOAD_BYTES = 16,
  JOIN_EACH = 8,
  LIST_BLOCKS = 2, /* on a multiprocessor */
  MOST_PARTS = 32,
  LEAST_SORTED = 64
};

/* How many keys a block has in a batch. */
template <class Code> constexpr uint32_t batch_keys = LIST_BLOCK *READ_BYTES / sizeof(Code);

/* The job of the kernels. A part's list is at `kept` times its number. */
struct slices_args {
  static constexpr uint32_t max_threads = LIST_BLOCK;
  device_pairs job; /* each output has `head` elements for each segment */
  device_segments segments;
  uint32_t head, parts, kept;
  void *codes;
  uint32_t *places, *counts;
};

struct slice {
  uint64_t segment, begin, end; /* elements */
};

DEVICE_INLINE slice segment_at(const slices_args &args, uint64_t segment)
{
  DEVICE_ASSERT(segment < args.segments.count);
  const uint64_t begin = records::offset_at(&args.segments, segment);
  return {segment, begin, plan_max(begin, records::offset_at(&args.segments, segment + 1))};
}

/* ---- Keys ---- */

/* That of pairs::code_of. Kind and direction are known to the compiler, and a float takes no
 * branch: each key is encoded, at the speed of the memory. */
template <class Code, uint32_t Kind, bool Descending> DEVICE_INLINE Code code_of_key(Code key)
{
  constexpr Code sign = pairs::sign_of<Code>, all = pairs::all_of<Code>;
  if constexpr (Kind == RECSORT_KEY_FLOAT) {
    const bool is_nan = (key & (all ^ sign)) > pairs::infinity_of<Code>;
    if (key == sign) key = 0; /* -0 */
    const Code negative = (Code)((Code)0 - (key >> (pairs::width_of<Code> - 1)));
    const Code code = key ^ (negative | sign) ^ (Descending ? all : 0);
    return is_nan ? all : code;
  } else {
    return key ^ (Kind == RECSORT_KEY_SIGNED ? sign : 0) ^ (Descending ? all : 0);
  }
}

template <class Code> struct DEVICE_ALIGNED(LOAD_BYTES) key_vector {
  static constexpr uint32_t count = LOAD_BYTES / sizeof(Code);
  Code keys[count];
};

/* The keys of a thread in a batch: vectors that are a block's width apart. `valid` has a bit for
 * each that is in the segment. */
template <class Code> struct read_keys {
  enum { VECTOR = key_vector<Code>::count, VECTORS = READ_BYTES / LOAD_BYTES };
  Code keys[VECTOR * VECTORS];
  uint32_t valid;
};

template <class Code>
DEVICE_INLINE void load_vector(const Code *from, uint32_t v, read_keys<Code> *to)
{
  constexpr uint32_t count = read_keys<Code>::VECTOR;
  const key_vector<Code> loaded = *(const key_vector<Code> *)from;
  DEVICE_UNROLL
  for (uint32_t i = 0; i < count; i++)
    to->keys[v * count + i] = loaded.keys[i];
  to->valid |= ((1u << count) - 1) << (v * count);
}

/* Loads those from `first` on, which is aligned for vectors, and may be before the segment. */
template <class Code>
DEVICE_INLINE read_keys<Code> load_keys(const slices_args &args, const slice &of, int64_t first)
{
  using read = read_keys<Code>;
  const Code *const keys = (const Code *)args.job.keys_in;
  const int64_t begin = (int64_t)of.begin, end = (int64_t)of.end;
  read found = {{}, 0};
  if (first >= begin && first + batch_keys<Code> <= end) { /* most often */
    DEVICE_UNROLL
    for (uint32_t v = 0; v < read::VECTORS; v++)
      load_vector(keys + first + (v * LIST_BLOCK + threadIdx.x) * read::VECTOR, v, &found);
    return found;
  }
  DEVICE_UNROLL
  for (uint32_t v = 0; v < read::VECTORS; v++) {
    const int64_t at = first + (int64_t)(v * LIST_BLOCK + threadIdx.x) * read::VECTOR;
    if (at >= begin && at + read::VECTOR <= end) {
      load_vector(keys + at, v, &found);
      continue;
    }
    DEVICE_UNROLL
    for (uint32_t i = 0; i < read::VECTOR; i++)
      if (at + i >= begin && at + i < end) {
        found.keys[v * read::VECTOR + i] = keys[at + i];
        found.valid |= 1u << (v * read::VECTOR + i);
      }
  }
  return found;
}

/* ---- Results ---- */

/* Writes the first of a segment, in order: its list has at least as many, or the whole segment. By
 * all threads. */
template <class Value, class Code>
DEVICE_INLINE void write_first(const slices_args &args, const slice &of, shortlist<Code> *list)
{
  uint32_t sorted = LEAST_SORTED;
  while (sorted < args.head)
    sorted *= 2;
  DEVICE_ASSERT(sorted <= list_room<Code>);
  cut_to(list, sorted);
  sort_list(*list);
  for (uint32_t i = threadIdx.x; i < plan_min(list->held, args.head); i += LIST_BLOCK) {
    const uint64_t from = of.begin + list->places[i], to = of.segment * args.head + i;
    if (args.job.keys_out) ((Code *)args.job.keys_out)[to] = ((const Code *)args.job.keys_in)[from];
    if constexpr (std::is_integral_v<Value>)
      if (!args.job.values_in) {
        ((Value *)args.job.values_out)[to] = (Value)from;
        continue;
      }
    ((Value *)args.job.values_out)[to] = ((const Value *)args.job.values_in)[from];
  }
}

/* Writes the list of a part. By all threads. */
template <class Code>
DEVICE_INLINE void write_list(const slices_args &args, uint64_t number, shortlist<Code> *list)
{
  DEVICE_ASSERT(number < args.segments.count * args.parts);
  cut_to(list, args.kept);
  for (uint32_t i = threadIdx.x; i < list->held; i += LIST_BLOCK) {
    ((Code *)args.codes)[number * args.kept + i] = list->codes[i];
    args.places[number * args.kept + i] = list->places[i];
  }
  if (threadIdx.x == 0) args.counts[number] = list->held;
}

/* Reads a part of a segment to a list. Keys come in the order of their places: none that equals the
 * bound is wanted. By all threads. */
template <class Code, uint32_t Kind, bool Descending>
DEVICE_INLINE void read_part(const slices_args &args, const slice &of, uint32_t part,
                             shortlist<Code> *list)
{
  enum { EACH = READ_BYTES / sizeof(Code), VECTOR = key_vector<Code>::count };
  const uint64_t off = ((uintptr_t)args.job.keys_in / sizeof(Code) + of.begin) % VECTOR;
  const uint64_t batches = plan_blocks(off + of.end - of.begin, batch_keys<Code>);
  const uint64_t first = batches * part / args.parts, last = batches * (part + 1) / args.parts;
  DEVICE_ASSERT(first <= last && part < args.parts);
  const int64_t begin = (int64_t)of.begin - (int64_t)off;
  const auto code_of = [](Code key) { return code_of_key<Code, Kind, Descending>(key); };
  if (first == last) return;
  const Code like = code_of(((const Code *)args.job.keys_in)[of.begin]);
  read_keys<Code> next = load_keys<Code>(args, of, begin + (int64_t)(first * batch_keys<Code>));
  for (uint64_t b = first; b < last; b++) {
    const uint32_t place = (uint32_t)(b * batch_keys<Code> - off);
    list_batch<Code, EACH> batch;
    batch.wanted = next.valid;
    DEVICE_UNROLL
    for (uint32_t e = 0; e < EACH; e++) {
      batch.codes[e] = code_of(next.keys[e]);
      batch.places[e] = place + (e / VECTOR * LIST_BLOCK + threadIdx.x) * VECTOR + e % VECTOR;
    }
    if (b + 1 < last)
      next = load_keys<Code>(args, of, begin + (int64_t)((b + 1) * batch_keys<Code>));
    if (list->bounded) {
      uint32_t before = 0;
      DEVICE_UNROLL
      for (uint32_t e = 0; e < EACH; e++)
        before |= (uint32_t)(batch.codes[e] < list->bound) << e;
      batch.wanted &= before;
    }
    add_batch(list, batch, like);
  }
}

/* ---- Kernels ---- */

/* Reads a part of each segment. Writes its list, or, if it is the whole segment, the first keys and
 * values of the segment.
 *
 * The memory limits it: each key is read once, and little is written. A thread has the loads of the
 * next batch in flight while it compares this one; two blocks share a multiprocessor, as one waits
 * at barriers while it cuts its list. */
template <class Code, uint32_t Kind, bool Descending, class Value>
__global__ void __launch_bounds__(LIST_BLOCK, device_blocks(LIST_BLOCK, LIST_BLOCKS))
    read_slices(const __grid_constant__ slices_args args)
{
  DEVICE_SHARED(uint64_t, shared);
  DEVICE_SHARED_ARRAY(list_words, words, 1);
  device_await_before();
  const uint64_t slices = args.segments.count * args.parts;
  for (uint64_t number = blockIdx.x; number < slices; number += gridDim.x) {
    const slice of = segment_at(args, number / args.parts);
    shortlist<Code> list = begin_list<Code>(shared, words, args.head);
    read_part<Code, Kind, Descending>(args, of, (uint32_t)(number % args.parts), &list);
    if (args.parts == 1)
      write_first<Value>(args, of, &list);
    else
      write_list(args, number, &list);
  }
}

/* Reads the lists of a segment's parts. Writes the first keys and values of the segment.
 *
 * Its time is that of waiting, as each batch of the lists needs the bound of the one before: so the
 * lists are short. They are in no order, so places are compared, too. */
template <class Code, class Value>
__global__ void __launch_bounds__(LIST_BLOCK, device_blocks(LIST_BLOCK, LIST_BLOCKS))
    join_slices(const __grid_constant__ slices_args args)
{
  DEVICE_SHARED(uint64_t, shared);
  DEVICE_SHARED_ARRAY(list_words, words, 1);
  device_await_before();
  const uint32_t all = args.parts * args.kept;
  for (uint64_t s = blockIdx.x; s < args.segments.count; s += gridDim.x) {
    const slice of = segment_at(args, s);
    shortlist<Code> list = begin_list<Code>(shared, words, args.head);
    const Code *const codes = (const Code *)args.codes + s * all;
    const uint32_t *const places = args.places + s * all;
    for (uint32_t first = 0; first < all; first += JOIN_EACH * LIST_BLOCK) {
      list_batch<Code, JOIN_EACH> batch = {{}, {}, 0};
      DEVICE_UNROLL
      for (uint32_t e = 0; e < JOIN_EACH; e++) {
        const uint32_t i = first + e * LIST_BLOCK + threadIdx.x, part = i / args.kept;
        if (i >= all || i % args.kept >= args.counts[s * args.parts + part]) continue;
        batch.codes[e] = codes[i];
        batch.places[e] = places[i];
        const bool beyond =
            list.bounded && (batch.codes[e] > list.bound ||
                             (batch.codes[e] == list.bound && batch.places[e] > list.bound_place));
        if (!beyond) batch.wanted |= 1u << e;
      }
      add_batch(&list, batch, list.bound);
    }
    write_first<Value>(args, of, &list);
  }
}

/* ---- Launches ---- */

/* How many parts take the least time. The unit is that of a batch: a cut takes about as long, and a
 * slice has about three. */
template <class Code>
static inline uint32_t parts_of(uint64_t count, uint64_t segments, uint32_t head,
                                uint32_t multiprocessors)
{
  RS_ASSERT(segments > 0 && multiprocessors > 0);
  enum { SLICE_TIME = 3, JOIN_TIME = 4 };
  const uint64_t blocks = (uint64_t)multiprocessors * LIST_BLOCKS;
  const uint64_t batches = plan_blocks(plan_blocks(count, segments), batch_keys<Code>);
  uint64_t least = UINT64_MAX;
  uint32_t best = 1;
  for (uint32_t parts = 1; parts <= plan_clamp(batches, 1, MOST_PARTS); parts++) {
    const uint64_t joined = plan_blocks(parts * list_kept(head), JOIN_EACH * LIST_BLOCK);
    const uint64_t join = parts == 1 ? 0 : plan_blocks(segments, blocks) * (joined + JOIN_TIME);
    const uint64_t time =
        plan_blocks(segments * parts, blocks) * (plan_blocks(batches, parts) + SLICE_TIME) + join;
    if (time >= least) continue;
    least = time;
    best = parts;
  }
  return best;
}

template <class Code, uint32_t Kind, bool Descending, class Value>
static inline device_status start_slices(const slices_args &args)
{
  RS_ASSERT(args.parts > 0 && args.head > 0);
  const uint64_t slices = args.segments.count * args.parts;
  void *const on = args.job.stream;
  const device_status status =
      device_launch(read_slices<Code, Kind, Descending, Value>, plan_min(slices, HEAD_MOST_BLOCKS),
                    LIST_BLOCK, list_bytes<Code>(), on, args);
  if (status || args.parts == 1) return status;
  return device_launch(join_slices<Code, Value>, plan_min(args.segments.count, HEAD_MOST_BLOCKS),
                       LIST_BLOCK, list_bytes<Code>(), on, args);
}

} // namespace head

#endif
