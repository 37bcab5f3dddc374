/* shards.cu - records in the memory of several devices, by the public interface: how the throughput
 * grows if each device has as many records as one has alone. Each result is checked where it is:
 * keys ascend, equal ones are in input order, and no record is lost. Prints a table; exit status 1
 * if a result is wrong.
 *
 *   shards-bench [--pairs N] [--entities N] [--repeat N] [--devices N]
 *
 * N records of each shard, sorts of each case, and devices; else 2^28, 2^27, 7 and all. "device" is
 * a share sorted by recsort_device_sort, "one" the same as a single shard; "ratio" is how many
 * times the throughput of the faster of these all shards have. Two shards on one device show what
 * cuts, exchange and merge take without the way to another device. */
#include <chrono>
#include <cstring>
#include <string>

#include "commit.h"
#include "measure.cuh"
#include "recsort/device.h"
#include "recsort/shards.h"

namespace
{

enum spread { RANDOM, SKEWED, EQUAL, SPREADS };
const char *const spreads[] = {"random", "skewed", "all equal"};

struct pair {
  float key;
  uint32_t place;
};

struct entity {
  uint32_t place;
  float y, angle;
  int16_t sprite, unused;
  float key;
};

const char *const pair_schema = "record: Pair\nfields:\n- {name: key, type: float32}\n"
                                "- {name: place, type: uint32}\nkeys: [key]\n";
const char *const entity_schema =
    "record: Entity\nfields:\n- {name: x, type: float32}\n- {name: y, type: float32}\n"
    "- {name: angle, type: float32}\n- {name: sprite, type: int16}\n"
    "- {name: distance, type: float32}\nkeys: [distance]\n";

bool wrong;

/* ---- Records ---- */

/* splitmix64's finalizer: the same numbers for each run. */
__device__ uint64_t mix(uint64_t x)
{
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* Skewed: 99 of 100 keys are in a hundredth of the range. */
__device__ float key_of(uint64_t place, int how)
{
  const uint64_t bits = mix(place + 0x9e3779b97f4a7c15u);
  const float number = (float)(bits >> 40);
  if (how == EQUAL) return 1;
  return how == RANDOM || (bits & 0xffff) < 655 ? number : number / 100;
}

template <class Record>
__global__ void fill(Record *records, uint64_t count, uint64_t first, int how)
{
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Record record = {};
  record.place = (uint32_t)(first + i);
  record.key = key_of(first + i, how);
  records[i] = record;
}

/* Adds up the numbers of all threads. */
__device__ void add(unsigned long long *sum, unsigned long long number)
{
  for (int distance = 16; distance; distance /= 2)
    number += __shfl_xor_sync(0xffffffffu, number, distance);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, number);
}

/* Counts neighbours that are out of order and keys of other records, and adds up places. */
template <class Record>
__global__ void look(const Record *records, uint64_t count, int how, unsigned long long *found)
{
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const Record record = records[min(i, count - 1)];
  const Record before = records[i && i < count ? i - 1 : 0];
  const bool good = i == 0 || i >= count || before.key < record.key ||
                    (before.key == record.key && before.place < record.place);
  if (!good || key_of(record.place, how) != record.key) atomicAdd(found, 1ull);
  add(found + 1, i < count ? mix(record.place) >> 20 : 0);
}

__global__ void add_places(uint64_t first, uint64_t count, unsigned long long *found)
{
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  add(found + 1, i < count ? mix((uint32_t)(first + i)) >> 20 : 0);
}

unsigned grid_of(uint64_t count)
{
  return (unsigned)((count + 255) / 256);
}

/* ---- Shards ---- */

template <class Record> struct shard {
  int device;
  Record *records;
};

template <class Record> using shards = std::vector<shard<Record>>;

void use(int device)
{
  CHECK(cudaSetDevice(device));
}

template <class Record> void wait(const shards<Record> &all)
{
  for (const auto &one : all) {
    use(one.device);
    CHECK(cudaDeviceSynchronize());
  }
  use(0);
}

template <class Record> shards<Record> make_shards(size_t number, int devices, uint64_t share)
{
  shards<Record> all;
  for (size_t s = 0; s < number; s++) {
    shard<Record> one = {(int)s % devices, nullptr};
    use(one.device);
    one.records = device_array<Record>(share);
    all.push_back(one);
  }
  use(0);
  return all;
}

template <class Record> void drop_shards(const shards<Record> &all)
{
  for (const auto &one : all) {
    use(one.device);
    CHECK(cudaFree(one.records));
  }
  use(0);
}

template <class Record> void fill_shards(const shards<Record> &all, uint64_t share, int how)
{
  uint64_t first = 0;
  for (const auto &one : all) {
    use(one.device);
    fill<<<grid_of(share), 256>>>(one.records, share, first, how);
    first += share;
  }
  wait(all);
}

/* The last record of a shard comes before the first one of the next. */
template <class Record> bool are_joined(const shards<Record> &all, uint64_t share)
{
  for (size_t s = 1; s < all.size(); s++) {
    const Record last = host_copy(all[s - 1].records + share - 1, 1)[0];
    const Record first = host_copy(all[s].records, 1)[0];
    if (last.key > first.key || (last.key == first.key && last.place > first.place)) return false;
  }
  return true;
}

template <class Record> bool are_sorted(const shards<Record> &all, uint64_t share, int how)
{
  uint64_t first = 0, misplaced = 0, places = 0;
  for (const auto &one : all) {
    use(one.device);
    unsigned long long *found = nullptr;
    CHECK(cudaMalloc((void **)&found, 4 * sizeof *found));
    CHECK(cudaMemset(found, 0, 4 * sizeof *found));
    look<<<grid_of(share), 256>>>(one.records, share, how, found);
    add_places<<<grid_of(share), 256>>>(first, share, found + 2);
    unsigned long long sums[4];
    CHECK(cudaMemcpy(sums, found, sizeof sums, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(found));
    misplaced += sums[0];
    places += sums[1] - sums[3];
    first += share;
  }
  use(0);
  return misplaced == 0 && places == 0 && are_joined(all, share);
}

/* ---- Sorts ---- */

[[noreturn]] void give_up(const recsort_error &error)
{
  std::fprintf(stderr, "%s\n", error.text);
  std::exit(2);
}

recsort_schema *load(const char *yaml)
{
  recsort_schema *schema = nullptr;
  recsort_error error = {};
  if (recsort_schema_load_memory(yaml, std::strlen(yaml), "bench", nullptr, &schema, &error))
    give_up(error);
  return schema;
}

/* The median of `sort` in ms, which waits. Fills the shards before each, and checks the result. */
template <class Record>
double measure_sorts(const shards<Record> &all, uint64_t share, int how, unsigned repeat,
                     const std::function<void()> &sort)
{
  std::vector<double> ms;
  for (unsigned r = 0; r < repeat + 2; r++) {
    fill_shards(all, share, how);
    const auto begin = std::chrono::steady_clock::now();
    sort();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    if (r >= 2) ms.push_back(time.count());
  }
  if (!are_sorted(all, share, how)) {
    std::printf("WRONG: %zu shards, %s\n", all.size(), spreads[how]);
    wrong = true;
  }
  std::sort(ms.begin(), ms.end());
  return ms[ms.size() / 2];
}

template <class Record>
std::vector<double> measure_shards(const recsort_schema *schema, size_t number, int device_count,
                                   uint64_t share, unsigned repeat)
{
  const shards<Record> all = make_shards<Record>(number, device_count, share);
  std::vector<int> devices;
  const std::vector<size_t> most(number, share);
  for (const auto &one : all)
    devices.push_back(one.device);
  recsort_shards_limits limits = {};
  limits.struct_size = sizeof limits;
  limits.devices = devices.data();
  limits.most_records = most.data();
  limits.shard_count = number;
  recsort_shards_sorter *sorter = nullptr;
  recsort_error error = {};
  if (recsort_shards_sorter_create(schema, nullptr, &limits, &sorter, &error)) give_up(error);
  std::vector<double> ms;
  for (int how = 0; how < SPREADS; how++)
    ms.push_back(measure_sorts(all, share, how, repeat, [&] {
      std::vector<recsort_device_shard> given;
      for (const auto &one : all)
        given.push_back({one.records, share, nullptr});
      if (recsort_sort_shards(sorter, given.data(), number, &error)) give_up(error);
    }));
  recsort_shards_sorter_destroy(sorter);
  drop_shards(all);
  return ms;
}

/* One share on one device, by the sorter of records in device memory. */
template <class Record>
std::vector<double> measure_one(const recsort_schema *schema, uint64_t share, unsigned repeat)
{
  const shards<Record> all = make_shards<Record>(1, 1, share);
  recsort_device_limits limits = {};
  limits.struct_size = sizeof limits;
  limits.most_records = share;
  limits.most_in_place = sizeof(Record);
  recsort_device_sorter *sorter = nullptr;
  recsort_error error = {};
  if (recsort_device_sorter_create(schema, nullptr, &limits, &sorter, &error)) give_up(error);
  recsort_device_job job = {};
  job.struct_size = sizeof job;
  job.count = share;
  job.stream = stream;
  job.records = job.sorted = all[0].records;
  std::vector<double> ms;
  for (int how = 0; how < SPREADS; how++)
    ms.push_back(measure_sorts(all, share, how, repeat, [&] {
      if (recsort_device_sort(sorter, &job, &error)) give_up(error);
      CHECK(cudaStreamSynchronize(stream));
    }));
  recsort_device_sorter_destroy(sorter);
  drop_shards(all);
  return ms;
}

/* ---- The table ---- */

/* The shards of one case, on so many devices, beside one share on one device. */
template <class Record> struct measured {
  const char *name;
  const recsort_schema *schema;
  uint64_t share;
  unsigned repeat;
  std::vector<double> device, one;

  void print(size_t number, int devices) const
  {
    const std::vector<double> ms = measure_shards<Record>(schema, number, devices, share, repeat);
    for (int how = 0; how < SPREADS; how++)
      std::printf("%-8s %11llu %-10s %6zu on %-2d %9.3f %9.3f %9.3f %8.2f\n", name,
                  (unsigned long long)share, spreads[how], number, devices, device[how], one[how],
                  ms[how], (double)number * std::min(device[how], one[how]) / ms[how]);
    std::fflush(stdout);
  }
};

template <class Record>
void measure_record(const char *name, const char *yaml, uint64_t share, int devices,
                    unsigned repeat)
{
  recsort_schema *const schema = load(yaml);
  const measured<Record> m = {name,
                              schema,
                              share,
                              repeat,
                              measure_one<Record>(schema, share, repeat),
                              measure_shards<Record>(schema, 1, 1, share, repeat)};
  m.print(2, 1);
  for (size_t number = 2; number <= (size_t)devices; number *= 2)
    m.print(number, (int)number);
  recsort_schema_destroy(schema);
}

/* A number, or a power such as 2^27. */
uint64_t parse(const char *text)
{
  char *end = nullptr;
  const uint64_t number = std::strtoull(text, &end, 10);
  return *end == '^' ? number == 2 ? 1ull << std::strtoull(end + 1, nullptr, 10) : 0 : number;
}

void describe(int devices)
{
  std::printf("commit %s\n", BENCH_COMMIT);
  for (int d = 0; d < devices; d++) {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, d));
    int access = 0;
    if (d) CHECK(cudaDeviceCanAccessPeer(&access, 0, d));
    std::printf("device %d: %s%s\n", d, properties.name,
                d ? access ? ", access from 0" : ", no access from 0" : "");
  }
  std::printf("%-8s %11s %-10s %12s %9s %9s %9s %8s\n", "record", "each", "keys", "shards",
              "device", "one", "all", "ratio");
}

} // namespace

int main(int count, char **arguments)
{
  uint64_t pairs = 1ull << 28, entities = 1ull << 27, repeat = 7, limit = 64;
  int devices = 0;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    uint64_t *const option = name == "--pairs"      ? &pairs
                             : name == "--entities" ? &entities
                             : name == "--repeat"   ? &repeat
                             : name == "--devices"  ? &limit
                                                    : nullptr;
    if (!option || (*option = parse(arguments[i + 1])) == 0) {
      std::fprintf(stderr, "%s %s: not an option of shards-bench\n", name.c_str(),
                   arguments[i + 1]);
      return 2;
    }
  }
  CHECK(cudaGetDeviceCount(&devices));
  devices = (int)std::min<uint64_t>((uint64_t)devices, limit);
  use(0);
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  describe(devices);
  measure_record<pair>("f32+u32", pair_schema, pairs, devices, (unsigned)repeat);
  measure_record<entity>("Entity", entity_schema, entities, devices, (unsigned)repeat);
  std::printf(wrong ? "A result is wrong.\n" : "all results are right\n");
  return wrong;
}
