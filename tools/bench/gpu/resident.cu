/* resident.cu - records in device memory, by the public interface: the time of a sort on a stream
 * and replayed from a graph, beside a loop made by hand of CUB's sorts; the first records alone
 * beside CUB's top k and a kernel that only reads the keys; and many segments beside CUB's
 * segmented sorts. Each result is compared with the host's. Prints a table; exit status 1 if a
 * result is wrong. */
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "commit.h"
#include "cub_loop.h"
#include "cub_sorts.h"
#include "measure.cuh"
#include "recsort/device.h"

namespace
{

using bench::entity;

bool wrong;

recsort_device_sorter *open_sorter(const char *yaml, recsort_device_limits limits)
{
  recsort_schema *schema = nullptr;
  recsort_device_sorter *sorter = nullptr;
  recsort_error error = {};
  limits.struct_size = sizeof limits;
  if (recsort_schema_load_memory(yaml, std::string(yaml).size(), "bench", nullptr, &schema,
                                 &error) ||
      recsort_device_sorter_create(schema, nullptr, &limits, &sorter, &error)) {
    std::fprintf(stderr, "%s\n", error.text);
    std::exit(2);
  }
  recsort_schema_destroy(schema);
  return sorter;
}

void sort(recsort_device_sorter *sorter, recsort_device_job job, cudaStream_t on)
{
  recsort_error error = {};
  job.struct_size = sizeof job;
  job.stream = on;
  if (recsort_device_sort(sorter, &job, &error)) {
    std::fprintf(stderr, "%s\n", error.text);
    std::exit(2);
  }
}

/* ---- Entities ---- */

const char entity_yaml[] = "record: Entity\nfields:\n- {name: x, type: float32}\n"
                           "- {name: y, type: float32}\n- {name: angle, type: float32}\n"
                           "- {name: sprite, type: int16}\n- {name: distance, type: float32}\n"
                           "keys: [{field: distance, order: desc}]\n";

enum input { RANDOM, NEARLY, SORTED };

bool is_farther(const entity &a, const entity &b)
{
  return a.distance > b.distance;
}

std::vector<entity> make_entities(size_t count, input kind)
{
  std::mt19937_64 random(count + kind);
  std::vector<entity> made(count);
  for (auto &one : made)
    one = {(float)random(), 0, 0, (short)random(), (float)(random() % (count / 2))};
  if (kind != RANDOM) std::stable_sort(made.begin(), made.end(), is_farther);
  for (size_t i = 0; kind == NEARLY && i < count / 100; i++)
    made[random() % count].distance = (float)(random() % (count / 2));
  return made;
}

void measure_entities(size_t count, input kind)
{
  static const char *const names[] = {"random", "1% moved", "sorted"};
  std::vector<entity> entities = make_entities(count, kind);
  entity *const kept = device_copy(entities), *const records = device_array<entity>(count);
  recsort_device_limits limits = {};
  limits.most_records = count;
  limits.most_in_place = sizeof(entity);
  recsort_device_sorter *const sorter = open_sorter(entity_yaml, limits);
  const auto restore = [&](cudaStream_t s) {
    CHECK(cudaMemcpyAsync(records, kept, count * sizeof *kept, cudaMemcpyDeviceToDevice, s));
  };
  const auto run = [&](cudaStream_t s) {
    recsort_device_job job = {};
    job.count = count;
    job.records = records;
    job.sorted = records;
    sort(sorter, job, s);
  };
  const double on_stream = measure(restore, run), replayed = measure_graph(restore, run);
  std::stable_sort(entities.begin(), entities.end(), is_farther);
  const std::vector<entity> found = host_copy(records, count);
  const bool right = std::memcmp(found.data(), entities.data(), count * sizeof(entity)) == 0;
  wrong |= !right;
  std::printf("%-10s %10zu %10.4f %10.4f %10.1f%s\n", names[kind], count, on_stream, replayed,
              (double)recsort_device_sorter_memory(sorter) / (double)count, right ? "" : "  WRONG");
  recsort_device_sorter_destroy(sorter);
  CHECK(cudaFree(kept));
  CHECK(cudaFree(records));
}

using size_filter = std::function<bool(int bits)>;

void measure_all_entities(const size_filter &wanted)
{
  std::printf("\nEntities of 20 bytes in place, ms\n%-10s %10s %10s %10s %10s\n", "", "records",
              "stream", "graph", "bytes each");
  for (const int bits : {10, 14, 17, 20, 24})
    for (const input kind : {RANDOM, NEARLY, SORTED})
      if (wanted(bits)) measure_entities((size_t)1 << bits, kind);
}

/* How many kernels and copies `measured` starts. */
size_t count_nodes(const work &measured)
{
  cudaGraph_t graph;
  size_t nodes = 0;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  measured(stream);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphDestroy(graph));
  return nodes;
}

struct frame_times {
  double stream, graph;
};

frame_times measure_frame(const work &frame)
{
  const auto nothing = [](cudaStream_t) {};
  return {measure(nothing, frame), measure_graph(nothing, frame)};
}

/* Random entities to another array, beside the faster of the loops that are made by hand of CUB. */
void measure_loop(size_t count)
{
  std::vector<entity> entities = make_entities(count, RANDOM);
  entity *const from = device_copy(entities), *const to = device_array<entity>(count);
  std::stable_sort(entities.begin(), entities.end(), is_farther);
  const auto is_right = [&] {
    const std::vector<entity> found = host_copy(to, count);
    CHECK(cudaMemset(to, 0xee, count * sizeof(entity)));
    CHECK(cudaDeviceSynchronize());
    return std::memcmp(found.data(), entities.data(), count * sizeof(entity)) == 0;
  };
  recsort_device_limits limits = {};
  limits.most_records = count;
  recsort_device_sorter *const sorter = open_sorter(entity_yaml, limits);
  const work run = [&](cudaStream_t s) {
    recsort_device_job job = {};
    job.count = count;
    job.records = from;
    job.sorted = to;
    sort(sorter, job, s);
  };
  const frame_times ours = measure_frame(run);
  bool right = is_right();
  frame_times best = {INFINITY, INFINITY};
  size_t best_bytes = 0, best_nodes = 0;
  for (const bench::cub_loop_sort kind : {bench::CUB_LOOP_RADIX, bench::CUB_LOOP_MERGE}) {
    bench::cub_loop loop;
    CHECK(bench::cub_loop_open(&loop, kind, (uint32_t)count));
    const work frame = [&](cudaStream_t s) { CHECK(bench::cub_loop_run(&loop, from, to, s)); };
    const frame_times took = measure_frame(frame);
    if (took.stream < best.stream) {
      best_bytes = loop.bytes;
      best_nodes = count_nodes(frame);
    }
    best = {std::min(best.stream, took.stream), std::min(best.graph, took.graph)};
    right &= is_right();
    bench::cub_loop_close(&loop);
  }
  wrong |= !right;
  const double each = (double)count;
  std::printf("%10zu %10.4f %10.4f %10.4f %10.4f %8.2f %8.2f %10.1f %10.1f %8zu %8zu%s\n", count,
              ours.stream, best.stream, ours.graph, best.graph, best.stream / ours.stream,
              best.graph / ours.graph, (double)recsort_device_sorter_memory(sorter) / each,
              (double)best_bytes / each, count_nodes(run), best_nodes, right ? "" : "  WRONG");
  recsort_device_sorter_destroy(sorter);
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
}

void measure_loops(const size_filter &wanted)
{
  std::printf("\nRandom entities to another array, ms, beside keys, CUB's faster sort and a gather"
              "\n%10s %10s %10s %10s %10s %8s %8s %10s %10s %8s %8s\n",
              "records", "stream", "CUB", "graph", "CUB", "x", "x graph", "bytes each", "CUB",
              "launches", "CUB");
  for (const int bits : {10, 12, 14, 17, 20, 22, 24})
    if (wanted(bits)) measure_loop((size_t)1 << bits);
}

/* ---- Frames ---- */

/* Gives one entity in `one_in` a distance at random; 0: none. */
__global__ void stir(entity *entities, uint32_t count, uint32_t one_in, uint32_t frame)
{
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t mixed = (i + frame * 0x9e3779b9) * 0x85ebca6b;
  mixed = (mixed ^ mixed >> 15) * 0xc2b2ae35;
  mixed ^= mixed >> 13;
  if (i >= count || one_in == 0 || mixed % one_in != 0) return;
  entities[i].distance = (float)(mixed * 0x27d4eb2fu % (count / 2));
}

/* Frames of entities, of which some move before each: in place, or to another array. */
double measure_frames(size_t count, bool in_place, uint32_t one_in, bool keep)
{
  std::vector<entity> entities = make_entities(count, RANDOM);
  entity *const from = device_copy(entities);
  entity *const to = in_place ? from : device_array<entity>(count);
  entity *const before = device_array<entity>(count);
  recsort_device_limits limits = {};
  limits.most_records = count;
  limits.most_in_place = in_place ? sizeof(entity) : 0;
  limits.keep_order = keep;
  recsort_device_sorter *const sorter = open_sorter(entity_yaml, limits);
  uint32_t frame = 0;
  const auto move = [&](cudaStream_t on) {
    stir<<<(uint32_t)(count + 255) / 256, 256, 0, on>>>(from, (uint32_t)count, one_in, frame++);
    CHECK(cudaMemcpyAsync(before, from, count * sizeof *from, cudaMemcpyDeviceToDevice, on));
  };
  const double ms = measure_graph(move, [&](cudaStream_t on) {
    recsort_device_job job = {};
    job.count = count;
    job.records = from;
    job.sorted = to;
    sort(sorter, job, on);
  });
  entities = host_copy(before, count);
  std::stable_sort(entities.begin(), entities.end(), is_farther);
  const std::vector<entity> found = host_copy(to, count);
  wrong |= std::memcmp(found.data(), entities.data(), count * sizeof(entity)) != 0;
  recsort_device_sorter_destroy(sorter);
  CHECK(cudaFree(from));
  CHECK(cudaFree(before));
  if (!in_place) CHECK(cudaFree(to));
  return ms;
}

void measure_all_frames(const size_filter &wanted)
{
  static const struct {
    const char *name;
    uint32_t one_in;
  } inputs[] = {{"all moved", 1}, {"10% moved", 10}, {"1% moved", 100}, {"unchanged", 0}};
  std::printf("\nFrames of entities, from a graph, ms; \"kept\": with keep_order\n"
              "%-10s %-10s %10s %10s %10s %10s\n",
              "", "", "records", "plain", "kept", "x random");
  for (const int bits : {18, 20, 22})
    for (const bool in_place : {true, false}) {
      double random = 0;
      for (const auto &input : inputs) {
        if (!wanted(bits)) continue;
        const size_t count = (size_t)1 << bits;
        const double plain = measure_frames(count, in_place, input.one_in, false);
        const double kept = measure_frames(count, in_place, input.one_in, true);
        if (input.one_in == 1) random = plain;
        std::printf("%-10s %-10s %10zu %10.4f %10.4f %10.2f\n", in_place ? "in place" : "to other",
                    input.name, count, plain, kept, random / kept);
      }
    }
}

/* ---- The first records ---- */

/* The least time that any method takes: reads a float of each record. */
__global__ void read_keys(const char *keys, size_t size, size_t count, float *least)
{
  float found = INFINITY;
  const size_t all = (size_t)gridDim.x * blockDim.x;
#pragma unroll 4
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += all)
    found = fminf(found, *(const float *)(keys + i * size));
  if (found < -1) *least = found; /* never, but the compiler cannot know */
}

double measure_cub_top(const float *keys, size_t count, size_t head)
{
#ifdef BENCH_CUB_OF_HEADERS
  bench::cub_top *const top = bench::cub_of_headers.top;
#else
  bench::cub_top *const top = nullptr;
#endif
  if (!top) return NAN;
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  uint32_t *const values = device_copy(numbers), *const values_to = device_array<uint32_t>(head);
  float *const keys_to = device_array<float>(head);
  size_t bytes = 0;
  const auto call = [&](void *extra, cudaStream_t on) {
    CHECK(top(keys, values, (uint32_t)count, (uint32_t)head, keys_to, values_to, on, extra, bytes));
  };
  call(nullptr, stream);
  char *const extra = device_array<char>(bytes);
  const double ms = measure([](cudaStream_t) {}, [&](cudaStream_t on) { call(extra, on); });
  for (void *memory : {(void *)values, (void *)values_to, (void *)keys_to, (void *)extra})
    CHECK(cudaFree(memory));
  return ms;
}

/* Floats of `size` bytes each with what is beside them, by the permutation; `kind`: as for
 * entities. */
void measure_head(const char *name, size_t size, size_t count, size_t head, input kind)
{
  std::mt19937_64 random(count + head);
  std::vector<float> keys(count);
  std::vector<char> records(count * size);
  std::vector<uint32_t> order(count);
  for (auto &key : keys)
    key = (float)(random() % count);
  if (kind == SORTED) std::sort(keys.begin(), keys.end());
  for (size_t i = 0; i < count; i++)
    std::memcpy(&records[i * size], &keys[i], sizeof keys[i]);
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(
      order.begin(), order.begin() + (ptrdiff_t)head, order.end(),
      [&](uint32_t a, uint32_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
  const std::string yaml = "record: R\nsize: " + std::to_string(size) +
                           "\nfields: [{name: key, type: float32}]\nkeys: [key]\n";
  recsort_device_limits limits = {};
  limits.most_records = count;
  recsort_device_sorter *const sorter = open_sorter(yaml.c_str(), limits);
  char *const from = device_copy(records);
  uint32_t *const to = device_array<uint32_t>(count);
  float *const least = device_array<float>(1);
  const auto nothing = [](cudaStream_t) {};
  const auto find = [&](size_t wanted) {
    return [&, wanted](cudaStream_t on) {
      recsort_device_job job = {};
      job.count = count;
      job.records = from;
      job.permutation = to;
      job.head = wanted;
      sort(sorter, job, on);
    };
  };
  const double read = measure(nothing, [&](cudaStream_t on) {
    read_keys<<<132 * 8, 256, 0, on>>>(from, size, count, least);
  });
  const double all = measure(nothing, find(0));
  const double ours = measure(nothing, find(head)), replayed = measure_graph(nothing, find(head));
  order.resize(head);
  const bool right = host_copy(to, head) == order;
  wrong |= !right;
  std::printf("%-16s %10zu %7zu %10.4f %10.4f %10.4f %10.4f %10.4f %8.2f%s\n", name, count, head,
              ours, replayed, all, read,
              size == sizeof(float) ? measure_cub_top((const float *)from, count, head) : NAN,
              ours / read, right ? "" : "  WRONG");
  recsort_device_sorter_destroy(sorter);
  for (void *memory : {(void *)from, (void *)to, (void *)least})
    CHECK(cudaFree(memory));
}

void measure_heads()
{
  enum { COUNT = 1 << 24 };
  std::printf("\nThe first records, permutation only, ms; \"read\": a kernel that reads each key"
              "\n%-16s %10s %7s %10s %10s %10s %10s %10s %8s\n",
              "", "records", "first", "stream", "graph", "all sorted", "read", "CUB top k",
              "x read");
  measure_head("floats", 4, COUNT, 10, RANDOM);
  measure_head("floats", 4, COUNT, 1000, RANDOM);
  measure_head("floats", 4, COUNT, 2048, RANDOM);
  measure_head("floats, sorted", 4, COUNT, 1000, SORTED);
  measure_head("of 20 bytes", 20, COUNT, 1000, RANDOM);
  for (const int bits : {18, 20, 21})
    for (const size_t head : {10, 1000})
      measure_head("floats", 4, (size_t)1 << bits, head, RANDOM);
}

/* ---- Segments ---- */

struct shape {
  const char *name;
  std::vector<uint32_t> offsets;
};

std::vector<uint32_t> even_offsets(size_t segments, size_t length)
{
  std::vector<uint32_t> offsets(segments + 1);
  for (size_t s = 0; s <= segments; s++)
    offsets[s] = (uint32_t)(s * length);
  return offsets;
}

template <class Length> std::vector<uint32_t> offsets_of(size_t segments, Length length)
{
  std::vector<uint32_t> offsets(segments + 1);
  for (size_t s = 0; s < segments; s++)
    offsets[s + 1] = offsets[s] + length();
  return offsets;
}

/* A sort of CUB's: asks for its memory, then sorts. */
template <class Sort> double measure_cub(const work &restore, Sort by)
{
  size_t bytes = 0;
  CHECK(by(nullptr, bytes, stream));
  char *const memory = device_array<char>(bytes);
  const double ms = measure(restore, [&](cudaStream_t s) { CHECK(by(memory, bytes, s)); });
  CHECK(cudaFree(memory));
  return ms;
}

void measure_segments(const shape &s)
{
  const size_t segments = s.offsets.size() - 1, count = s.offsets.back();
  std::mt19937_64 random(count);
  std::vector<float> keys(count);
  std::vector<uint32_t> values(count), order(count);
  for (auto &key : keys)
    key = (float)(random() >> 40) - 8000000.f;
  std::iota(values.begin(), values.end(), 0);
  float *const in = device_copy(keys), *const out = device_array<float>(count);
  uint32_t *const value_in = device_copy(values), *const value_out = device_array<uint32_t>(count);
  uint32_t *const offsets = device_copy(s.offsets);
  const recsort_device_array moved = {value_in, value_out, sizeof *value_in};
  const auto nothing = [](cudaStream_t) {};
  uint32_t longest = 0;
  for (size_t g = 0; g < segments; g++)
    longest = std::max(longest, s.offsets[g + 1] - s.offsets[g]);
  std::iota(order.begin(), order.end(), 0);
  for (size_t g = 0; g < segments; g++)
    std::stable_sort(order.begin() + s.offsets[g], order.begin() + s.offsets[g + 1],
                     [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
  double ours[3]; /* on a stream, in a graph, and on a stream with the longest length given */
  bool right = true;
  for (int way = 0; way < 3; way++) {
    recsort_device_limits limits = {};
    limits.most_records = count;
    limits.most_segments = segments;
    limits.most_in_segment = way == 2 ? longest : 0;
    recsort_device_sorter *const sorter =
        open_sorter("record: Key\nfields: [{name: key, type: float32}]\nkeys: [key]\n", limits);
    CHECK(cudaMemset(value_out, 0xee, count * sizeof *value_out));
    CHECK(cudaDeviceSynchronize());
    const auto run = [&](cudaStream_t on) {
      recsort_device_job job = {};
      job.count = count;
      job.records = in;
      job.sorted = out;
      job.arrays = &moved;
      job.array_count = 1;
      job.offsets = offsets;
      job.segment_count = segments;
      sort(sorter, job, on);
    };
    ours[way] = way == 1 ? measure_graph(nothing, run) : measure(nothing, run);
    right &= host_copy(value_out, count) == order;
    recsort_device_sorter_destroy(sorter);
  }
  wrong |= !right;
  const double sorted = measure_cub(nothing, [&](void *memory, size_t &bytes, cudaStream_t on) {
    return cub::DeviceSegmentedSort::StableSortPairs(memory, bytes, in, out, value_in, value_out,
                                                     (int)count, (int)segments, offsets,
                                                     offsets + 1, on);
  });
  const double radix = measure_cub(nothing, [&](void *memory, size_t &bytes, cudaStream_t on) {
    return cub::DeviceSegmentedRadixSort::SortPairs(memory, bytes, in, out, value_in, value_out,
                                                    (int)count, (int)segments, offsets, offsets + 1,
                                                    0, 32, on);
  });
  const double best = std::min(sorted, radix);
  std::printf("%-18s %10zu %10.4f %10.4f %10.4f %10.4f %10.4f %8.2f %8.2f%s\n", s.name, count,
              ours[0], ours[1], ours[2], sorted, radix, best / ours[1], best / ours[2],
              right ? "" : "  WRONG");
  for (void *memory :
       {(void *)in, (void *)out, (void *)value_in, (void *)value_out, (void *)offsets})
    CHECK(cudaFree(memory));
}

void measure_all_segments()
{
  std::mt19937_64 random(1);
  std::printf("\nSegments of float keys and 32-bit values, ms; CUB on a stream; \"known\": with"
              " most_in_segment\n%-18s %10s %10s %10s %10s %10s %10s %8s %8s\n",
              "", "records", "stream", "graph", "known", "CUB sort", "CUB radix", "x graph",
              "x known");
  const std::vector<shape> shapes = {
      {"2^20 of 1 to 32", offsets_of(1 << 20, [&] { return (uint32_t)(1 + random() % 32); })},
      {"2^14 of 1024", even_offsets(1 << 14, 1024)},
      {"2^10 of 16384", even_offsets(1 << 10, 16384)},
      {"16 of 2^20", even_offsets(16, 1 << 20)},
      {"2^16, power law", offsets_of(1 << 16,
                                     [&] {
                                       const double u = (double)(random() >> 11) * 0x1p-53;
                                       return (uint32_t)std::min(1e6,
                                                                 16 / std::pow(1 - u, 1 / 1.1));
                                     })},
      {"2^10 of 1024", even_offsets(1 << 10, 1024)}};
  for (const shape &one : shapes)
    measure_segments(one);
}

} // namespace

/* Usage: resident-bench [PART [LOG2]], where PART is entities, loop, frames, head or segments, and
 * LOG2 chooses the sizes of the first three. */
int main(int argc, char **argv)
{
  const std::string part = argc > 1 ? argv[1] : "";
  const int only = argc > 2 ? std::atoi(argv[2]) : 0;
  const auto wanted = [&](const char *name) { return part.empty() || part == name; };
  const auto sized = [&](int bits) { return only == 0 || only == bits; };
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  std::printf("%s, commit %s\n", recsort_version(), BENCH_COMMIT);
  if (wanted("entities")) measure_all_entities(sized);
  if (wanted("loop")) measure_loops(sized);
  if (wanted("frames")) measure_all_frames(sized);
  if (wanted("head")) measure_heads();
  if (wanted("segments")) measure_all_segments();
  return wrong;
}
