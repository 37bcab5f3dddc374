/* shards.cu - records in the memory of several devices, beside as many as one of them has on one
 * device. Records are checked where they are: keys ascend, equal ones are in input order, and none
 * is lost. Times are the host's, as these sorts wait. */
#include <chrono>

#include "bench.cuh"

namespace bench
{

namespace
{

enum spread { RANDOM, SKEWED, EQUAL };

struct pair {
  float distance;
  uint32_t place;
};

const char pair_yaml[] = "record: Pair\nfields:\n- {name: key, type: float32}\n"
                         "- {name: place, type: uint32}\nkeys: [{field: key, order: desc}]\n";

/* Skewed: 99 of 100 keys are in a hundredth of the range. */
__device__ float distance_of(uint64_t place, spread how)
{
  const uint64_t chance = mix(place);
  const auto number = (float)(chance >> 40);
  if (how == EQUAL) return 1;
  return how == RANDOM || (chance & 0xffff) < 655 ? number : number / 100;
}

template <class Record>
__global__ void fill(Record *records, uint64_t count, uint64_t first, spread how)
{
  const uint64_t i = thread_number();
  if (i >= count) return;
  Record record = {};
  record.place = (uint32_t)(first + i);
  record.distance = distance_of(first + i, how);
  records[i] = record;
}

/* Adds up the numbers of all threads. */
__device__ void add(unsigned long long *sum, unsigned long long number)
{
  for (int distance = 16; distance; distance /= 2)
    number += __shfl_xor_sync(0xffffffffu, number, distance);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, number);
}

template <class Record> __host__ __device__ bool is_before(const Record &a, const Record &b)
{
  return a.distance > b.distance || (a.distance == b.distance && a.place < b.place);
}

/* found: neighbours that are out of order and keys of other records; the sum of hashes of places;
 * and that of the places which these records had, from `first` on. */
template <class Record>
__global__ void look(const Record *records, uint64_t count, uint64_t first, spread how,
                     unsigned long long *found)
{
  const uint64_t i = thread_number();
  const Record record = records[min(i, count - 1)];
  const bool ordered = i == 0 || i >= count || is_before(records[i - 1], record);
  if (!ordered || distance_of(record.place, how) != record.distance) atomicAdd(found, 1ull);
  add(found + 1, i < count ? mix(record.place) >> 20 : 0);
  add(found + 2, i < count ? mix((uint32_t)(first + i)) >> 20 : 0);
}

template <class Record> struct shards_trial : trial {
  shards_trial(const request &asked, const char *yaml, size_t number, int devices);
  ~shards_trial() override;
  void add_one(const char *yaml);
  void add_all(const char *yaml);
  void use(size_t shard) const
  {
    CHECK(cudaSetDevice(shard < devices_of.size() ? devices_of[shard] : 0));
  }
  void fill_shards(size_t number) const;
  bool are_right(size_t number) const;
  std::function<double()> timed(work sort)
  {
    return [sort = std::move(sort)] {
      const auto begin = std::chrono::steady_clock::now();
      sort();
      CHECK(cudaStreamSynchronize(stream));
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
  }

  size_t share;
  spread how;
  std::vector<int> devices_of;
  std::vector<Record *> shards;
  std::unique_ptr<device_job> one;
  recsort_sorter *sorter = nullptr;
  std::vector<recsort_job> jobs;
};

template <class Record>
shards_trial<Record>::shards_trial(const request &asked, const char *yaml, size_t number,
                                   int devices)
    : share(asked.count), how(asked.order == "random"   ? RANDOM
                              : asked.order == "skewed" ? SKEWED
                                                        : EQUAL)
{
  record_size = sizeof(Record);
  for (size_t s = 0; s < number; s++) {
    devices_of.push_back((int)s % devices);
    shards.push_back(nullptr);
    use(s);
    CHECK(cudaMalloc((void **)&shards[s], share * sizeof(Record)));
  }
  CHECK(cudaSetDevice(0));
  add_one(yaml);
  add_all(yaml);
}

template <class Record> shards_trial<Record>::~shards_trial()
{
  recsort_sorter_destroy(sorter);
  for (const recsort_job &job : jobs)
    (void)cudaFree(job.workspace);
  for (Record *shard : shards)
    (void)cudaFree(shard);
}

template <class Record> void shards_trial<Record>::fill_shards(size_t number) const
{
  for (size_t s = 0; s < number; s++) {
    use(s);
    fill<<<grid_of(share), 256>>>(shards[s], share, s * share, how);
    CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaSetDevice(0));
}

template <class Record> bool shards_trial<Record>::are_right(size_t number) const
{
  unsigned long long misplaced = 0, places = 0;
  Record last = {};
  bool joined = true;
  for (size_t s = 0; s < number; s++) {
    use(s);
    const array<unsigned long long> found(3);
    unsigned long long sums[3];
    Record ends[2];
    CHECK(cudaMemset(found, 0, sizeof sums));
    look<<<grid_of(share), 256>>>(shards[s], share, s * share, how, (unsigned long long *)found);
    CHECK(cudaMemcpy(sums, found, sizeof sums, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&ends[0], shards[s], sizeof(Record), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&ends[1], shards[s] + share - 1, sizeof(Record), cudaMemcpyDeviceToHost));
    joined = joined && (s == 0 || is_before(last, ends[0]));
    last = ends[1];
    misplaced += sums[0];
    places += sums[1] - sums[2];
  }
  CHECK(cudaSetDevice(0));
  return joined && misplaced == 0 && places == 0;
}

/* A share on one device, by the sorter of records in device memory. */
template <class Record> void shards_trial<Record>::add_one(const char *yaml)
{
  recsort_job job = RECSORT_JOB_INIT;
  job.count = share;
  job.records = job.sorted = shards[0];
  one = std::make_unique<device_job>(make_sorter(load(yaml)), job);
  contender made = {"recsort, one share", {}, one->bytes()};
  made.prepare = [this] { fill_shards(1); };
  made.right = [this] { return are_right(1); };
  made.seconds = timed([this] { one->run(); });
  contenders.push_back(made);
}

template <class Record> void shards_trial<Record>::add_all(const char *yaml)
{
  std::vector<recsort_needs> needs(shards.size());
  recsort_error error = {};
  sorter = make_sorter(load(yaml));
  for (size_t s = 0; s < shards.size(); s++) {
    recsort_job job = RECSORT_JOB_INIT;
    job.count = share;
    job.records = job.sorted = shards[s];
    job.device = devices_of[s];
    jobs.push_back(job);
    needs[s] = RECSORT_NEEDS_INIT;
  }
  check(recsort_plan(sorter, jobs.data(), jobs.size(), needs.data(), &error), error);
  for (size_t s = 0; s < jobs.size(); s++) {
    use(s);
    CHECK(cudaMalloc(&jobs[s].workspace, needs[s].device));
    jobs[s].workspace_size = needs[s].device;
  }
  CHECK(cudaSetDevice(0));
  contender made = {"recsort, all shards", {}, needs[0].device};
  made.prepare = [this] { fill_shards(shards.size()); };
  made.right = [this] { return are_right(shards.size()); };
  made.seconds = timed([this] {
    recsort_error why = {};
    check(recsort_run(sorter, jobs.data(), jobs.size(), &why), why);
  });
  contenders.push_back(made);
}

} // namespace

/* detail: SHARDS on DEVICES, as in "2 on 1", which shows what cuts, exchange and merge take without
 * the way to another device. */
std::unique_ptr<trial> make_shards(const request &asked)
{
  const size_t number = std::stoul(asked.detail);
  const int devices = std::stoi(asked.detail.substr(asked.detail.rfind(' ') + 1));
  if (asked.record == "entity")
    return std::make_unique<shards_trial<entity>>(asked, entity_yaml, number, devices);
  return std::make_unique<shards_trial<pair>>(asked, pair_yaml, number, devices);
}

} // namespace bench
