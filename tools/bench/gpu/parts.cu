/* parts.cu - sorts of which the order of all records is not wanted: the first records alone, beside
 * CUB's search for the least and a kernel that only reads the keys; and many segments, each by
 * itself, beside CUB's segmented sorts. */
#include <algorithm>
#include <cmath>
#include <random>

#include "bench.cuh"

namespace bench
{

namespace
{

/* ---- The first records ---- */

/* A float at the beginning of each `size` bytes. */
__device__ float float_at(const char *records, size_t size, uint64_t i)
{
  return *(const float *)(records + i * size);
}

__global__ void fill_floats(char *records, size_t size, uint32_t *places, uint64_t count,
                            input from)
{
  const uint64_t i = thread_number();
  if (i >= count) return;
  *(float *)(records + i * size) =
      from.kind == order::random ? random_float(from.seed, i) : (float)key_at<uint32_t>(from, i);
  places[i] = (uint32_t)i;
}

/* The least time that any method takes. */
__global__ void read_keys(const char *records, size_t size, uint64_t count, float *least)
{
  float found = INFINITY;
  const uint64_t all = (uint64_t)gridDim.x * blockDim.x;
#pragma unroll 4
  for (uint64_t i = thread_number(); i < count; i += all)
    found = fminf(found, float_at(records, size, i));
  if (found < -1) *least = found; /* never, but the compiler cannot know */
}

__device__ bool is_before(const char *records, size_t size, uint64_t a, uint64_t b)
{
  const float x = float_at(records, size, a), y = float_at(records, size, b);
  return x < y || (x == y && a < b);
}

/* Counts places that do not ascend strictly, and the records of all that come before the last of
 * these, which are head - 1. */
__global__ void look_at_head(const char *records, size_t size, uint64_t count,
                             const uint32_t *places, uint64_t head, unsigned *wrong,
                             unsigned *before)
{
  const uint64_t i = thread_number();
  if (i >= count) return;
  const uint32_t last = places[head - 1];
  if (i < head && (places[i] >= count ||
                   (i + 1 < head && (places[i + 1] >= count ||
                                     !is_before(records, size, places[i], places[i + 1])))))
    atomicAdd(wrong, 1u);
  if (last < count && is_before(records, size, i, last)) atomicAdd(before, 1u);
}

struct head_trial : trial {
  explicit head_trial(const request &asked);
  void add_ours(const char *name, size_t wanted);
  void add_cub(const cub_named &cub);

  size_t count, size, head;
  input from;
  array<char> records;
  array<float> keys_out, least;
  array<uint32_t> places, found, values_out;
  std::vector<std::unique_ptr<device_job>> jobs;
  std::vector<std::unique_ptr<array<char>>> extras;
  tally wrong, before;
};

head_trial::head_trial(const request &asked)
    : count(asked.count), size(asked.record == "f32" ? 4 : 20), head(std::stoul(asked.detail)),
      from(0, order_of(asked.order), count, 32), records(count * size), keys_out(head), least(1),
      places(count), found(count), values_out(head)
{
  record_size = size;
  prepare = [this] {
    from.seed = mix(from.seed + 1);
    found.poison();
    fill_floats<<<grid_of(count), 256, 0, stream>>>(records, size, places, count, from);
  };
  right = [this] {
    look_at_head<<<grid_of(count), 256, 0, stream>>>(records, size, count, found, head,
                                                     wrong.reset(), before.reset());
    return wrong.value() == 0 && before.value() == head - 1;
  };
  add_ours("recsort", head);
  add_ours("recsort, all sorted", 0);
  contender read = {"each key read", [this] {
                      read_keys<<<132 * 8, 256, 0, stream>>>(records, size, count, least);
                    }};
  read.right = [] { return true; };
  contenders.push_back(read);
  for (const cub_named &cub : cubs())
    if (cub.sorts->top && size == sizeof(float)) add_cub(cub);
}

void head_trial::add_ours(const char *name, size_t wanted)
{
  recsort_job job = RECSORT_JOB_INIT;
  job.count = count;
  job.records = records;
  job.permutation = found;
  job.head = wanted;
  jobs.push_back(std::make_unique<device_job>(
      make_sorter(load("record: R\nsize: " + std::to_string(size) +
                       "\nfields: [{name: key, type: float32}]\nkeys: [key]\n")),
      job));
  const device_job *const made = jobs.back().get();
  add_both({name, [made] { made->run(); }, made->bytes()});
}

/* In no order, so that it is not checked. */
void head_trial::add_cub(const cub_named &cub)
{
  const cub_pairs at = {
      cub_type::f32, 32,      4, {records, keys_out}, {places, values_out}, (uint32_t)count,
      false,         nullptr, 0, (uint32_t)head};
  size_t bytes = 0;
  CHECK(cub.sorts->top(at, nullptr, bytes, stream));
  extras.push_back(std::make_unique<array<char>>(bytes));
  char *const extra = *extras.back();
  contender one = {cub.name + "::DeviceTopK",
                   [=] {
                     size_t given = bytes;
                     CHECK(cub.sorts->top(at, extra, given, stream));
                   },
                   bytes};
  one.right = [] { return true; };
  contenders.push_back(one);
}

/* ---- Segments ---- */

/* SEGMENTSxLENGTH, SEGMENTSx1-LONGEST (random lengths) or SEGMENTSxpower (a power law). */
std::vector<uint32_t> offsets_of(const std::string &shape)
{
  const size_t x = shape.find('x');
  if (x == std::string::npos) fail("'" + shape + "' is no shape of segments");
  const std::string length = shape.substr(x + 1);
  const bool power = length == "power", random_length = length.rfind("1-", 0) == 0;
  const auto number = (uint32_t)std::strtoul(length.c_str() + (random_length ? 2 : 0), nullptr, 10);
  std::mt19937_64 random(1);
  std::vector<uint32_t> offsets(std::stoul(shape) + 1);
  for (size_t s = 0; s + 1 < offsets.size(); s++) {
    const double chance = (double)(random() >> 11) * 0x1p-53;
    const uint32_t one = power ? (uint32_t)std::min(1e6, 16 / std::pow(1 - chance, 1 / 1.1))
                         : random_length ? 1 + (uint32_t)(chance * number)
                                         : number;
    offsets[s + 1] = offsets[s] + one;
  }
  return offsets;
}

/* Positive and negative floats. */
__global__ void fill_keys(float *keys, uint32_t *values, uint64_t count, uint64_t seed)
{
  const uint64_t i = thread_number();
  if (i >= count) return;
  keys[i] = random_float(seed, i) - 500;
  values[i] = (uint32_t)i;
}

/* Keys and places ascend strictly in each segment, and each place is one of its segment. */
__global__ void look_at_segments(const float *keys, const uint32_t *places, const float *before,
                                 const uint32_t *offsets, uint32_t segments, unsigned *wrong)
{
  for (uint32_t s = blockIdx.x; s < segments; s += gridDim.x)
    for (uint32_t i = offsets[s] + threadIdx.x; i < offsets[s + 1]; i += blockDim.x) {
      const uint32_t place = places[i];
      bool good = place >= offsets[s] && place < offsets[s + 1] && before[place] == keys[i];
      if (i + 1 < offsets[s + 1])
        good = good && (keys[i] < keys[i + 1] || (keys[i] == keys[i + 1] && place < places[i + 1]));
      if (!good) atomicAdd(wrong, 1u);
    }
}

struct segments_trial : trial {
  segments_trial(const request &asked, const std::vector<uint32_t> &bounds);
  void add_ours(bool known, uint32_t longest);
  void add_cub(const std::string &name, cub_sort *sort);

  uint32_t segments, count;
  uint64_t seed = 0;
  array<uint32_t> offsets;
  array<float> in, out;
  array<uint32_t> values_in, values_out;
  recsort_array moved;
  std::unique_ptr<device_job> jobs[2];
  std::vector<std::unique_ptr<array<char>>> extras;
  tally wrong;
};

segments_trial::segments_trial(const request &asked, const std::vector<uint32_t> &bounds)
    : segments((uint32_t)bounds.size() - 1), count(bounds.back()), offsets(bounds), in(count),
      out(count), values_in(count),
      values_out(count), moved{values_in, values_out, sizeof(uint32_t)}
{
  if (asked.record != "f32+u32") fail("the record of this suite is f32+u32");
  record_size = 8;
  record_count = count;
  prepare = [this] {
    out.poison();
    values_out.poison();
    fill_keys<<<grid_of(count), 256, 0, stream>>>(in, values_in, count, ++seed);
  };
  right = [this] {
    look_at_segments<<<1 << 12, 256, 0, stream>>>(out, values_out, in, offsets, segments,
                                                  wrong.reset());
    return wrong.value() == 0;
  };
  uint32_t longest = 0;
  for (uint32_t s = 0; s < segments; s++)
    longest = std::max(longest, bounds[s + 1] - bounds[s]);
  add_ours(false, longest);
  add_ours(true, longest);
  for (const cub_named &cub : cubs()) {
    add_cub(cub.name + "::DeviceSegmentedSort", cub.sorts->segments);
    add_cub(cub.name + "::DeviceSegmentedRadixSort", cub.sorts->segments_radix);
  }
}

/* With longest_part given, on a stream; without, also in a graph. */
void segments_trial::add_ours(bool known, uint32_t longest)
{
  recsort_job job = RECSORT_JOB_INIT;
  job.count = count;
  job.records = in;
  job.sorted = out;
  job.arrays = &moved;
  job.array_count = 1;
  job.parts = RECSORT_SEGMENTS;
  job.offsets = offsets;
  job.offset_bits = 32;
  job.part_count = segments;
  job.longest_part = known ? longest : 0;
  jobs[known] = std::make_unique<device_job>(make_sorter(load(float_yaml)), job);
  const device_job *const made = jobs[known].get();
  const contender one = {known ? "recsort, longest known" : "recsort", [made] { made->run(); },
                         made->bytes()};
  if (known)
    contenders.push_back(one);
  else
    add_both(one);
}

void segments_trial::add_cub(const std::string &name, cub_sort *sort)
{
  const cub_pairs at = {cub_type::f32, 32,    4,       {in, out}, {values_in, values_out},
                        count,         false, offsets, segments};
  size_t bytes = 0;
  CHECK(sort(at, nullptr, bytes, stream));
  extras.push_back(std::make_unique<array<char>>(bytes));
  char *const extra = *extras.back();
  contenders.push_back({name,
                        [=] {
                          size_t given = bytes;
                          CHECK(sort(at, extra, given, stream));
                        },
                        bytes});
}

} // namespace

std::unique_ptr<trial> make_head(const request &asked)
{
  return std::make_unique<head_trial>(asked);
}

std::unique_ptr<trial> make_segments(const request &asked)
{
  return std::make_unique<segments_trial>(asked, offsets_of(asked.detail));
}

} // namespace bench
