/* records.cu - entities in device memory: sorted in place and to another array, beside what a
 * program does by hand that uses CUB (a kernel that takes the keys, a sort of keys and numbers, and
 * a kernel that moves the records). */
#include "bench.cuh"

namespace bench
{

namespace
{

__device__ float distance_of(const input &from, uint64_t i)
{
  if (from.kind == order::random) return random_float(from.seed, i);
  return (float)(from.count - key_at<uint32_t>(from, i)); /* descending */
}

__global__ void fill(entity *entities, entity *kept, uint64_t count, input from)
{
  const uint64_t i = thread_number();
  if (i >= count) return;
  kept[i] = entities[i] = {(uint32_t)i, (float)i, 0.5f, (int16_t)i, 0, distance_of(from, i)};
}

/* Each record is one that was there, with its place; they descend strictly by (distance, -place).
 */
__global__ void look(const entity *sorted, const entity *before, uint64_t count, unsigned *wrong)
{
  const uint64_t i = thread_number();
  if (i >= count) return;
  const entity mine = sorted[i];
  bool good = mine.place < count;
  if (good) {
    const entity was = before[mine.place];
    good = was.place == mine.place && was.y == mine.y && was.sprite == mine.sprite &&
           was.distance == mine.distance;
  }
  if (i + 1 < count) {
    const entity next = sorted[i + 1];
    good = good && (mine.distance > next.distance ||
                    (mine.distance == next.distance && mine.place < next.place));
  }
  if (!good) atomicAdd(wrong, 1u);
}

/* ---- By hand ---- */

enum { BLOCK = 256, WORDS = sizeof(entity) / sizeof(uint32_t) };

__global__ void __launch_bounds__(BLOCK)
    take_keys(const entity *from, float *keys, uint32_t *numbers, uint32_t count)
{
  const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= count) return;
  keys[i] = from[i].distance;
  numbers[i] = i;
}

/* As fast as ours: adjacent threads write adjacent words. */
__global__ void __launch_bounds__(BLOCK)
    move_records(const uint32_t *from, const uint32_t *numbers, uint32_t *to, uint32_t count)
{
  __shared__ uint32_t places[BLOCK];
  const uint32_t first = blockIdx.x * BLOCK, some = min(count - first, (uint32_t)BLOCK);
  if (threadIdx.x < some) places[threadIdx.x] = numbers[first + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (uint32_t w = 0; w < WORDS; w++) {
    const uint32_t i = w * BLOCK + threadIdx.x;
    if (i < some * WORDS)
      to[(size_t)first * WORDS + i] = from[(size_t)places[i / WORDS] * WORDS + i % WORDS];
  }
}

struct records_trial : trial {
  explicit records_trial(const request &asked);
  void add_ours(bool in_place, const checking &how);
  void add_cub(const cub_named &cub, const char *name, cub_sort *sort, bool in_place);
  std::function<bool()> is_right(const entity *sorted)
  {
    return [this, sorted] {
      look<<<grid_of(count), 256, 0, stream>>>(sorted, before, count, wrong.reset());
      return wrong.value() == 0;
    };
  }

  size_t count;
  input from;
  array<entity> records, before, sorted;
  array<float> keys[2];
  array<uint32_t> numbers[2];
  array<uint32_t> status{1};
  std::vector<std::unique_ptr<device_job>> jobs;
  std::vector<std::unique_ptr<array<char>>> extras;
  tally wrong;
};

records_trial::records_trial(const request &asked)
    : count(asked.count), from(0, order_of(asked.order), asked.count, 32), records(count),
      before(count),
      sorted(count), keys{array<float>(count), array<float>(count)}, numbers{array<uint32_t>(count),
                                                                             array<uint32_t>(count)}
{
  if (asked.record != "entity") fail("the record of this suite is entity");
  record_size = sizeof(entity);
  prepare = [this] {
    from.seed = mix(from.seed + 1);
    sorted.poison();
    fill<<<grid_of(count), 256, 0, stream>>>(records, before, count, from);
  };
  right = is_right(sorted);
  if (asked.detail == "checked") {
    for (const checking &how : checkings)
      add_ours(false, how);
    return;
  }
  add_ours(true, checkings[0]);
  add_ours(false, checkings[0]);
  for (const cub_named &cub : cubs()) {
    add_cub(cub, "DeviceRadixSort, gather", cub.sorts->radix, false);
    add_cub(cub, "DeviceMergeSort, gather", cub.sorts->merge, true);
  }
}

void records_trial::add_ours(bool in_place, const checking &how)
{
  recsort_job job = RECSORT_JOB_INIT;
  job.count = count;
  job.records = records;
  job.sorted = in_place ? records : sorted;
  job.status = how.has_status ? (uint32_t *)status : nullptr;
  jobs.push_back(
      std::make_unique<device_job>(make_sorter(load(entity_yaml), nullptr, how.verify), job));
  const device_job *const made = jobs.back().get();
  contender one = {std::string(how.name) + (in_place ? " in place" : ""), [made] { made->run(); },
                   made->bytes()};
  if (in_place) one.right = is_right(records);
  add_both(one);
}

void records_trial::add_cub(const cub_named &cub, const char *name, cub_sort *sort, bool in_place)
{
  const int first = in_place; /* the merge sort needs one pair of arrays */
  const cub_pairs at = {
      cub_type::f32,   32,  sizeof(uint32_t), {keys[0], keys[1]}, {numbers[0], numbers[1]},
      (uint32_t)count, true};
  size_t bytes = 0;
  CHECK(sort(at, nullptr, bytes, stream));
  extras.push_back(std::make_unique<array<char>>(bytes));
  char *const extra = *extras.back();
  add_both({cub.name + "::" + name,
            [=] {
              size_t given = bytes;
              take_keys<<<grid_of(count), BLOCK, 0, stream>>>(records, keys[first], numbers[first],
                                                              (uint32_t)count);
              CHECK(sort(at, extra, given, stream));
              move_records<<<grid_of(count), BLOCK, 0, stream>>>(
                  (const uint32_t *)(entity *)records, numbers[1], (uint32_t *)(entity *)sorted,
                  (uint32_t)count);
              CHECK(cudaGetLastError());
            },
            bytes + (2 - in_place) * count * 8});
}

} // namespace

std::unique_ptr<trial> make_records(const request &asked)
{
  return std::make_unique<records_trial>(asked);
}

} // namespace bench
