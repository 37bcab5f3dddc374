/* records.cu - sorts of records in device memory by recsort_run, beside what a program does with
 * CUB: it takes the keys, sorts them with numbers and gathers the records; or it sorts the records
 * by cub::DeviceRadixSort with a decomposer. Rounds are interleaved, inputs are fresh in each, and
 * results are compared with CUB's. Usage: records [LEAST [MOST]], powers of two; medians in
 * microseconds. */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <cub/device/device_radix_sort.cuh>
#include <cuda/std/tuple>
#include <recsort/recsort.h>

namespace
{

void need(cudaError_t error)
{
  if (!error) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(1);
}

void need(recsort_status status, const recsort_error &error)
{
  if (!status) return;
  std::printf("%s\n", error.text);
  std::exit(1);
}

__host__ __device__ uint64_t mix(uint64_t x)
{
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/* ---- Records ---- */

__device__ float some_float(uint64_t random)
{
  return (float)(random >> 40) * 1e-3f;
}

struct entity {
  float x, y, angle;
  int16_t sprite, unused;
  float distance;

  static constexpr bool descending = true;
  using key_type = float;
  static constexpr const char *name = "entity of 20 bytes, float, descending";
  static std::string schema()
  {
    return "record: entity\nfields:\n  - {name: x, type: float32}\n  - {name: y, type: float32}\n"
           "  - {name: angle, type: float32}\n  - {name: sprite, type: int16}\n"
           "  - {name: distance, type: float32}\nkeys:\n  - {field: distance, order: desc, nan: "
           "last}\n";
  }
  __device__ void set(uint64_t i, uint64_t random)
  {
    x = (float)i;
    y = (float)(i >> 20);
    angle = 1;
    sprite = (int16_t)i;
    unused = 0;
    distance = some_float(random);
  }
  __host__ __device__ float &key()
  {
    return distance;
  }
};

/* A float in the middle of other words. */
template <unsigned WORDS> struct words_of {
  uint32_t before[WORDS / 2];
  float number;
  uint32_t behind[WORDS - WORDS / 2 - 1];

  static constexpr bool descending = false;
  using key_type = float;
  static constexpr const char *name = WORDS == 3    ? "12 bytes, float"
                                      : WORDS == 4  ? "16 bytes, float"
                                      : WORDS == 8  ? "32 bytes, float"
                                      : WORDS == 12 ? "48 bytes, float"
                                                    : "64 bytes, float";
  static std::string schema()
  {
    std::string text = "record: words\nfields:\n";
    for (unsigned w = 0; w < WORDS; w++)
      text += "  - {name: f" + std::to_string(w) +
              ", type: " + (w == WORDS / 2 ? "float32" : "uint32") + "}\n";
    return text + "keys:\n  - {field: f" + std::to_string(WORDS / 2) + ", nan: last}\n";
  }
  __device__ void set(uint64_t i, uint64_t random)
  {
    before[0] = (uint32_t)i;
    behind[0] = (uint32_t)mix(i);
    number = some_float(random);
  }
  __host__ __device__ float &key()
  {
    return number;
  }
};

template <class Key> struct pair_of {
  Key number;
  uint32_t value;

  static constexpr bool descending = false;
  using key_type = Key;
  static constexpr bool is_float = std::is_same_v<Key, float>;
  static constexpr const char *name = is_float ? "8 bytes, float" : "8 bytes, uint32";
  static std::string schema()
  {
    return is_float ? "record: pair\nfields:\n  - {name: number, type: float32}\n"
                      "  - {name: value, type: uint32}\nkeys:\n  - {field: number, nan: last}\n"
                    : "record: pair\nfields:\n  - {name: number, type: uint32}\n"
                      "  - {name: value, type: uint32}\nkeys:\n  - {field: number}\n";
  }
  __device__ void set(uint64_t i, uint64_t random)
  {
    number = is_float ? (Key)some_float(random) : (Key)(random >> 32);
    value = (uint32_t)mix(i);
  }
  __host__ __device__ Key &key()
  {
    return number;
  }
};

template <class Record> struct decomposer {
  __host__ __device__ cuda::std::tuple<typename Record::key_type &> operator()(Record &record) const
  {
    return {record.key()};
  }
};

template <class Record> __global__ void fill(Record *records, uint64_t seed, uint64_t count)
{
  for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < count;
       i += (uint64_t)gridDim.x * blockDim.x) {
    Record one;
    memset(&one, 0, sizeof one);
    one.set(i, mix(seed + i));
    records[i] = one;
  }
}

__global__ void compare(const uint32_t *a, const uint32_t *b, uint64_t words, uint32_t *wrong)
{
  for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < words;
       i += (uint64_t)gridDim.x * blockDim.x)
    if (a[i] != b[i]) atomicAdd(wrong, 1u);
}

/* ---- By hand ---- */

enum { BLOCK = 256 };

template <class Record>
__global__ void take_keys(Record *from, typename Record::key_type *keys, uint32_t *numbers,
                          uint32_t count)
{
  const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= count) return;
  keys[i] = from[i].key();
  numbers[i] = i;
}

/* Adjacent threads write adjacent words, of records whose numbers are in shared memory. */
template <uint32_t WORDS>
__global__ void __launch_bounds__(BLOCK)
    gather_words(const uint32_t *from, const uint32_t *numbers, uint32_t *to, uint32_t count)
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

template <class Record>
__global__ void gather_records(const Record *from, const uint32_t *numbers, Record *to,
                               uint32_t count)
{
  const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < count) to[i] = from[numbers[i]];
}

/* ---- Measuring ---- */

struct way {
  std::string name;
  std::function<void()> run;
  void *result;
  cudaGraphExec_t graph = nullptr;
  std::vector<float> times = {};
  float median = 0;
};

template <class Type> Type *take(uint64_t count)
{
  void *memory;
  need(cudaMalloc(&memory, count * sizeof(Type)));
  return (Type *)memory;
}

cudaStream_t stream;

struct job_of {
  recsort_sorter *sorter = nullptr;
  recsort_job job = RECSORT_JOB_INIT;

  job_of(const std::string &schema, void *records, void *sorted, uint64_t count, uint32_t *status)
  {
    recsort_error error = {};
    recsort_schema *loaded;
    need(recsort_schema_load_memory(schema.c_str(), schema.size(), "schema", nullptr, &loaded,
                                    &error),
         error);
    recsort_options options = {};
    options.struct_size = sizeof options;
    options.on_device = true;
    options.plugin = "cuda";
    need(recsort_sorter_create(loaded, &options, &sorter, &error), error);
    recsort_schema_destroy(loaded);
    job.stream = stream;
    job.count = count;
    job.records = records;
    job.sorted = sorted;
    job.status = status;
    recsort_needs needs = RECSORT_NEEDS_INIT;
    need(recsort_plan(sorter, &job, 1, &needs, &error), error);
    job.workspace = take<char>(needs.device);
    job.workspace_size = needs.device;
  }
  ~job_of()
  {
    need(cudaFree(job.workspace));
    recsort_sorter_destroy(sorter);
  }
  void run() const
  {
    recsort_error error = {};
    need(recsort_run(sorter, &job, 1, &error), error);
  }
};

template <class Record> void measure(uint64_t all, int rounds)
{
  const uint32_t count = (uint32_t)all, grid = (count + BLOCK - 1) / BLOCK;
  constexpr bool small = sizeof(Record) == 8;
  using key_type = typename Record::key_type;
  Record *const in = take<Record>(all), *const by_hand = take<Record>(all),
                *const ours = take<Record>(all), *const whole = take<Record>(all);
  key_type *const keys[2] = {take<key_type>(all), take<key_type>(all)};
  uint32_t *const numbers[2] = {take<uint32_t>(all), take<uint32_t>(all)};
  uint32_t *const wrong = take<uint32_t>(1), *const status = take<uint32_t>(1);
  cudaEvent_t begin, end;
  need(cudaEventCreate(&begin));
  need(cudaEventCreate(&end));
  need(cudaMemset(wrong, 0, sizeof *wrong));
  constexpr bool down = Record::descending;
  const auto pairs = [&](void *memory, size_t &bytes) {
    return down ? cub::DeviceRadixSort::SortPairsDescending(
                      memory, bytes, keys[0], keys[1], numbers[0], numbers[1], count, 0, 32, stream)
                : cub::DeviceRadixSort::SortPairs(memory, bytes, keys[0], keys[1], numbers[0],
                                                  numbers[1], count, 0, 32, stream);
  };
  const uint32_t *sorted_numbers = nullptr;
  const auto buffered = [&](void *memory, size_t &bytes) {
    cub::DoubleBuffer<key_type> k(keys[0], keys[1]);
    cub::DoubleBuffer<uint32_t> v(numbers[0], numbers[1]);
    const cudaError_t error =
        down ? cub::DeviceRadixSort::SortPairsDescending(memory, bytes, k, v, count, 0, 32, stream)
             : cub::DeviceRadixSort::SortPairs(memory, bytes, k, v, count, 0, 32, stream);
    sorted_numbers = v.Current();
    return error;
  };
  const auto decomposed = [&](void *memory, size_t &bytes) {
    if constexpr (sizeof(Record) > 24)
      return pairs(memory, bytes); /* does not compile */
    else if constexpr (down)
      return cub::DeviceRadixSort::SortKeysDescending(memory, bytes, in, whole, count,
                                                      decomposer<Record>{}, stream);
    else
      return cub::DeviceRadixSort::SortKeys(memory, bytes, in, whole, count, decomposer<Record>{},
                                            stream);
  };
  const auto words = [&](void *memory, size_t &bytes) {
    return cub::DeviceRadixSort::SortKeys(memory, bytes, (const uint64_t *)in, (uint64_t *)whole,
                                          count, 0, 32, stream);
  };
  size_t bytes = 0, most = 0;
  need(pairs(nullptr, most));
  need(buffered(nullptr, bytes));
  most = std::max(most, bytes);
  need(decomposed(nullptr, bytes));
  most = std::max(most, bytes);
  need(words(nullptr, bytes));
  most = std::max(most, bytes);
  char *const memory = take<char>(most);
  const auto take_all = [&] {
    take_keys<<<grid, BLOCK, 0, stream>>>(in, keys[0], numbers[0], count);
  };
  const auto gather = [&](const uint32_t *from) {
    gather_words<sizeof(Record) / 4>
        <<<grid, BLOCK, 0, stream>>>((const uint32_t *)in, from, (uint32_t *)by_hand, count);
  };
  job_of job(Record::schema(), in, ours, all, nullptr),
      checked(Record::schema(), in, ours, all, status);
  std::vector<way> ways;
  ways.push_back({"recsort", [&] { job.run(); }, ours});
  ways.push_back({"recsort, status", [&] { checked.run(); }, ours});
  ways.push_back({"CUB pairs, gather words",
                  [&] {
                    size_t given = most;
                    take_all();
                    need(pairs(memory, given));
                    gather(numbers[1]);
                  },
                  by_hand});
  ways.push_back({"CUB double buffer, gather words",
                  [&] {
                    size_t given = most;
                    take_all();
                    need(buffered(memory, given));
                    gather(sorted_numbers);
                  },
                  by_hand});
  ways.push_back({"CUB double buffer, gather records",
                  [&] {
                    size_t given = most;
                    take_all();
                    need(buffered(memory, given));
                    gather_records<<<grid, BLOCK, 0, stream>>>(in, sorted_numbers, by_hand, count);
                  },
                  by_hand});
  if (sizeof(Record) <= 24)
    ways.push_back({"CUB decomposer",
                    [&] {
                      size_t given = most;
                      need(decomposed(memory, given));
                    },
                    whole});
  if (small && std::is_same_v<key_type, uint32_t>)
    ways.push_back({"CUB 32 bits of uint64",
                    [&] {
                      size_t given = most;
                      need(words(memory, given));
                    },
                    whole});
  for (size_t w = 0, plain = ways.size(); w < plain; w++) {
    if (w == 1) continue;
    way one = ways[w];
    cudaGraph_t graph;
    need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    one.run();
    need(cudaStreamEndCapture(stream, &graph));
    need(cudaGraphInstantiate(&one.graph, graph, 0));
    need(cudaGraphDestroy(graph));
    one.name += ", graph";
    ways.push_back(one);
  }
  static uint64_t seed = 1;
  for (int r = -2; r < rounds; r++)
    for (size_t w = 0; w < ways.size(); w++) {
      way &one = ways[(w + (size_t)(r + 2)) % ways.size()];
      seed = mix(seed);
      fill<<<1024, 256, 0, stream>>>(in, seed, all);
      need(cudaMemsetAsync(one.result, 0xee, all * sizeof(Record), stream));
      need(cudaStreamSynchronize(stream));
      need(cudaEventRecord(begin, stream));
      if (one.graph)
        need(cudaGraphLaunch(one.graph, stream));
      else
        one.run();
      need(cudaEventRecord(end, stream));
      need(cudaStreamSynchronize(stream));
      float time;
      need(cudaEventElapsedTime(&time, begin, end));
      if (r >= 0) {
        one.times.push_back(time * 1e3f);
        continue;
      }
      if (one.result == by_hand && w == 2) continue;
      take_all(); /* the first way by hand is the oracle of all */
      size_t given = most;
      need(pairs(memory, given));
      gather(numbers[1]);
      compare<<<1024, 256, 0, stream>>>((const uint32_t *)by_hand, (const uint32_t *)one.result,
                                        all * sizeof(Record) / 4, wrong);
    }
  uint32_t differ = 0, said = 0;
  need(cudaMemcpy(&differ, wrong, sizeof differ, cudaMemcpyDeviceToHost));
  need(cudaMemcpy(&said, status, sizeof said, cudaMemcpyDeviceToHost));
  float best[2] = {0, 0}, mine[2] = {0, 0};
  std::printf("%s, %u records:", Record::name, count);
  for (way &one : ways) {
    std::sort(one.times.begin(), one.times.end());
    one.median = one.times[one.times.size() / 2];
    std::printf(" %s %.1f;", one.name.c_str(), one.median);
    const int at = one.graph != nullptr;
    if (one.name[0] == 'C') best[at] = best[at] ? std::min(best[at], one.median) : one.median;
    if (one.result == ours && !mine[at]) mine[at] = one.median;
    if (one.graph) need(cudaGraphExecDestroy(one.graph));
  }
  std::printf("\n| %s | %u | %.1f | %.1f | %.2f | %.1f | %.1f | %.2f |%s%s\n", Record::name, count,
              best[0], mine[0], best[0] / mine[0], best[1], mine[1], best[1] / mine[1],
              differ ? " WRONG" : "", said ? " STATUS" : "");
  std::fflush(stdout);
  for (void *const each :
       {(void *)in, (void *)by_hand, (void *)ours, (void *)whole, (void *)keys[0], (void *)keys[1],
        (void *)numbers[0], (void *)numbers[1], (void *)wrong, (void *)status, (void *)memory})
    need(cudaFree(each));
}

} // namespace

int main(int argc, char **argv)
{
  const int least = argc > 1 ? std::atoi(argv[1]) : 20, most = argc > 2 ? std::atoi(argv[2]) : 28;
  need(cudaStreamCreate(&stream));
  for (int bits : {20, 21, 22, 24, 28}) {
    if (bits < least || bits > most) continue;
    const int rounds = bits < 25 ? 15 : 5;
    if (bits < 28) measure<entity>((uint64_t)1 << bits, rounds);
    if (bits == 20) measure<entity>(((uint64_t)1 << bits) + 1, rounds);
    if (bits == 22 || bits == 24) {
      measure<words_of<3>>((uint64_t)1 << bits, rounds);
      measure<words_of<4>>((uint64_t)1 << bits, rounds);
      measure<words_of<8>>((uint64_t)1 << bits, rounds);
    }
    measure<pair_of<uint32_t>>((uint64_t)1 << bits, rounds);
    measure<pair_of<float>>((uint64_t)1 << bits, rounds);
  }
  return 0;
}
