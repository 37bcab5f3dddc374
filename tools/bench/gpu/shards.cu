/* shards.cu - records in the memory of several devices, beside as many as one of them has on one
 * device, and beside other sorts of several devices. Records are checked where they are: keys
 * descend, equal ones are in input order, and none is lost. Times are the host's, as these sorts
 * wait. */
#include <algorithm>
#include <chrono>
#include <numeric>

#include "bench.cuh"
#include "shard_peers.h"

namespace bench
{

namespace
{

/* Skewed: 99 of 100 keys are in a hundredth of the range. Turned: all records of a shard belong to
 * the next one. */
enum spread { RANDOM, SKEWED, EQUAL, SORTED, TURNED, SPREADS };
const char *const spread_names[SPREADS] = {"random", "skewed", "equal", "sorted", "turned"};

/* What the shards hold at first. */
struct contents {
  spread how;
  uint64_t share; // records of each shard
  uint32_t shards;
};

struct pair {
  float distance;
  uint32_t place;
};

const char pair_yaml[] = "record: Pair\nfields:\n- {name: key, type: float32}\n"
                         "- {name: place, type: uint32}\nkeys: [{field: key, order: desc}]\n";

/* Keys descend. Numbers of 24 bits are floats; sorted keys of more records have ties. */
__device__ float distance_of(uint64_t place, contents of)
{
  const uint64_t chance = mix(place);
  const auto number = (float)(chance >> 40);
  switch (of.how) {
  case EQUAL:
    return 1;
  case SORTED:
    return -(float)place;
  case TURNED: {
    const uint32_t to = (uint32_t)(place / of.share + 1) % of.shards;
    return (float)((of.shards - 1 - to) << 20 | chance >> 44);
  }
  case SKEWED:
    return (chance & 0xffff) < 655 ? number : number / 100;
  default:
    return number;
  }
}

template <class Record> __global__ void fill(Record *records, uint64_t first, contents of)
{
  const uint64_t i = thread_number();
  if (i >= of.share) return;
  Record record = {};
  record.place = (uint32_t)(first + i);
  record.distance = distance_of(first + i, of);
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

/* found: neighbours that are out of order and keys of other records; and the sum of hashes of
 * places. */
template <class Record>
__global__ void look(const Record *records, uint64_t count, contents of, unsigned long long *found)
{
  const uint64_t i = thread_number();
  const Record record = records[min(i, count - 1)];
  const bool ordered = i == 0 || i >= count || is_before(records[i - 1], record);
  if (!ordered || distance_of(record.place, of) != record.distance) atomicAdd(found, 1ull);
  add(found + 1, i < count ? mix(record.place) >> 20 : 0);
}

/* The sum of hashes of all places below `count`. */
__global__ void add_places(uint64_t count, unsigned long long *sum)
{
  const uint64_t i = thread_number();
  add(sum, i < count ? mix((uint32_t)i) >> 20 : 0);
}

/* Those that were compiled. */
std::vector<shard_peer_named> peers_found()
{
  std::vector<shard_peer_named> found;
#ifdef BENCH_SHARD_PEERS
  for (const shard_peer_named *each = shard_peers; each->name; each++)
    found.push_back(*each);
#endif
  return found;
}

template <class Record> struct shards_trial : trial {
  shards_trial(const request &asked, const char *yaml, size_t number, int devices);
  ~shards_trial() override;
  void add_one(const char *yaml, bool checked);
  void add_all(const char *yaml);
  void add_link();
  void add_peers(const std::string &detail);
  void use(size_t shard) const
  {
    CHECK(cudaSetDevice(shard < devices_of.size() ? devices_of[shard] : 0));
  }
  void fill_shards() const;
  bool are_right(const std::vector<size_t> &counts) const;
  std::function<double()> timed(work sort)
  {
    return [sort = std::move(sort)] {
      const auto begin = std::chrono::steady_clock::now();
      sort();
      CHECK(cudaStreamSynchronize(stream));
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
  }

  contents all, alone; // of all shards; of the one that is sorted by itself
  size_t room;         // of a shard, in records
  std::vector<int> devices_of;
  std::vector<Record *> shards;
  std::unique_ptr<device_job> ones[2]; // the second one is checked
  array<uint32_t> status{1};
  recsort_sorter *sorter = nullptr;
  std::vector<recsort_job> jobs;
  std::vector<cudaStream_t> links;
  std::vector<std::unique_ptr<shard_peer>> peers;
};

spread spread_of(const std::string &name)
{
  const auto *const found = std::find(std::begin(spread_names), std::end(spread_names), name);
  if (found == std::end(spread_names)) fail("'" + name + "' is no order of shards");
  return static_cast<spread>(found - spread_names);
}

/* If `asked.count` is of all shards, one device sorts them all by itself; if it is of each, as many
 * as one has. */
template <class Record>
shards_trial<Record>::shards_trial(const request &asked, const char *yaml, size_t number,
                                   int devices)
{
  const bool in_all = asked.detail.find("in all") != std::string::npos;
  record_size = sizeof(Record);
  all = {spread_of(asked.order), in_all ? asked.count / number : asked.count, (uint32_t)number};
  alone = all;
  alone.share = asked.count;
  alone.shards = 1;
  room = all.share + all.share / 8;
  for (size_t s = 0; s < number; s++) {
    devices_of.push_back((int)s % devices);
    shards.push_back(nullptr);
    use(s);
    CHECK(
        cudaMalloc((void **)&shards[s], (s ? room : std::max(room, asked.count)) * sizeof(Record)));
  }
  CHECK(cudaSetDevice(0));
  add_one(yaml, false);
  add_one(yaml, true);
  add_all(yaml);
  if (devices > 1) add_link();
  add_peers(asked.detail);
}

template <class Record> shards_trial<Record>::~shards_trial()
{
  peers.clear();
  recsort_sorter_destroy(sorter);
  for (const recsort_job &job : jobs)
    (void)cudaFree(job.workspace);
  for (Record *shard : shards)
    (void)cudaFree(shard);
  for (cudaStream_t link : links)
    (void)cudaStreamDestroy(link);
}

template <class Record> void shards_trial<Record>::fill_shards() const
{
  for (size_t s = 0; s < shards.size(); s++) {
    use(s);
    fill<<<grid_of(all.share), 256>>>(shards[s], s * all.share, all);
    CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaSetDevice(0));
}

template <class Record>
bool shards_trial<Record>::are_right(const std::vector<size_t> &counts) const
{
  const contents of = counts.size() == 1 ? alone : all;
  const uint64_t total = of.share * of.shards;
  unsigned long long misplaced = 0, places = 0, expected = 0;
  Record last = {};
  bool is_first = true, joined = true;
  for (size_t s = 0; s < counts.size(); s++) {
    if (counts[s] == 0) continue;
    use(s);
    const array<unsigned long long> found(2);
    unsigned long long sums[2];
    Record ends[2];
    CHECK(cudaMemset(found, 0, sizeof sums));
    look<<<grid_of(counts[s]), 256>>>(shards[s], counts[s], of, (unsigned long long *)found);
    CHECK(cudaMemcpy(sums, found, sizeof sums, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&ends[0], shards[s], sizeof(Record), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&ends[1], shards[s] + counts[s] - 1, sizeof(Record), cudaMemcpyDeviceToHost));
    joined = joined && (is_first || is_before(last, ends[0]));
    is_first = false;
    last = ends[1];
    misplaced += sums[0];
    places += sums[1];
  }
  CHECK(cudaSetDevice(0));
  const array<unsigned long long> sum(1);
  CHECK(cudaMemset(sum, 0, sizeof expected));
  add_places<<<grid_of(total), 256>>>(total, (unsigned long long *)sum);
  CHECK(cudaMemcpy(&expected, sum, sizeof expected, cudaMemcpyDeviceToHost));
  return std::accumulate(counts.begin(), counts.end(), UINT64_C(0)) == total && joined &&
         misplaced == 0 && places == expected;
}

/* On one device, by the sorter of records in device memory. If `checked`, the job has a status, and
 * its result is checked, as those of shards are. */
template <class Record> void shards_trial<Record>::add_one(const char *yaml, bool checked)
{
  recsort_job job = RECSORT_JOB_INIT;
  std::unique_ptr<device_job> &one = ones[checked];
  job.count = alone.share;
  job.records = job.sorted = shards[0];
  job.status = checked ? (uint32_t *)status : nullptr;
  one = std::make_unique<device_job>(make_sorter(load(yaml)), job);
  std::string name = alone.share == all.share ? "recsort, one share" : "recsort, one device";
  if (checked) name += ", checked";
  contender made = {name, {}, one->bytes()};
  made.prepare = [this] {
    fill<<<grid_of(alone.share), 256>>>(shards[0], 0, alone);
    CHECK(cudaDeviceSynchronize());
  };
  made.right = [this] { return are_right({alone.share}); };
  made.seconds = timed([&one] { one->run(); });
  contenders.push_back(made);
}

template <class Record> void shards_trial<Record>::add_all(const char *yaml)
{
  std::vector<recsort_needs> needs(shards.size());
  recsort_error error = {};
  sorter = make_sorter(load(yaml));
  for (size_t s = 0; s < shards.size(); s++) {
    recsort_job job = RECSORT_JOB_INIT;
    job.count = all.share;
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
  made.prepare = [this] { fill_shards(); };
  made.right = [this] { return are_right(std::vector<size_t>(shards.size(), all.share)); };
  made.seconds = timed([this] {
    recsort_error why = {};
    check(recsort_run(sorter, jobs.data(), jobs.size(), &why), why);
  });
  contenders.push_back(made);
}

/* The records of each shard go to the workspace of the next one, and all shards' at once: what the
 * links between the devices take if all records move. */
template <class Record> void shards_trial<Record>::add_link()
{
  const size_t bytes = all.share * sizeof(Record);
  for (size_t s = 0; s < shards.size(); s++) {
    use(s);
    links.push_back(nullptr);
    CHECK(cudaStreamCreateWithFlags(&links[s], cudaStreamNonBlocking));
    if (jobs[s].workspace_size < bytes) fail("a workspace has no room for a share");
  }
  CHECK(cudaSetDevice(0));
  contender made = {"copies to the next device", {}};
  made.prepare = [this, bytes] {
    fill_shards();
    for (size_t s = 0; s < shards.size(); s++) {
      use(s);
      CHECK(cudaMemset(jobs[s].workspace, 0xee, bytes));
      CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaSetDevice(0));
  };
  made.seconds = timed([this, bytes] {
    for (size_t s = 0; s < shards.size(); s++) {
      const size_t to = (s + 1) % shards.size();
      use(s);
      CHECK(cudaMemcpyPeerAsync(jobs[to].workspace, devices_of[to], shards[s], devices_of[s], bytes,
                                links[s]));
    }
    for (cudaStream_t link : links)
      CHECK(cudaStreamSynchronize(link));
    CHECK(cudaSetDevice(0));
  });
  made.right = [this, bytes] {
    std::vector<char> sent(std::min<size_t>(bytes, 4096)), came(sent.size());
    for (size_t s = 0; s < shards.size(); s++) {
      const size_t to = (s + 1) % shards.size(), last = bytes - sent.size();
      CHECK(cudaMemcpy(sent.data(), (char *)shards[s] + last, sent.size(), cudaMemcpyDefault));
      CHECK(cudaMemcpy(came.data(), (char *)jobs[to].workspace + last, sent.size(),
                       cudaMemcpyDefault));
      if (sent != came) return false;
    }
    return true;
  };
  contenders.push_back(made);
}

/* Those that the detail names. */
template <class Record> void shards_trial<Record>::add_peers(const std::string &detail)
{
  for (const shard_peer_named &each : peers_found()) {
    if (detail.find(each.name) == std::string::npos) continue;
    peers.push_back(each.make(sizeof(Record), {shards.begin(), shards.end()}, all.share, room));
    shard_peer *const peer = peers.back().get();
    contender made = {each.name, {}};
    made.prepare = [this, peer] {
      fill_shards();
      peer->counts.assign(shards.size(), all.share);
    };
    made.right = [this, peer] { return are_right(peer->counts); };
    made.seconds = timed([peer] {
      const std::string failure = peer->sort();
      if (!failure.empty()) fail(failure);
    });
    contenders.push_back(made);
  }
}

} // namespace

/* detail: SHARDS on DEVICES, as in "2 on 1", which shows what cuts, exchange and merge take without
 * the way to another device; then perhaps ", in all", and ", beside" one of the peers, which take
 * one shard on each device. */
std::unique_ptr<trial> make_shards(const request &asked)
{
  const size_t number = std::stoul(asked.detail);
  const int devices = std::stoi(asked.detail.substr(asked.detail.find(" on ") + 4));
  if (asked.record == "entity")
    return std::make_unique<shards_trial<entity>>(asked, entity_yaml, number, devices);
  return std::make_unique<shards_trial<pair>>(asked, pair_yaml, number, devices);
}

} // namespace bench
