/* shard_peers.cu - see shard_peers.h. */
#include <algorithm>
#include <cub/device/device_merge.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cuda/devices>
#include <cuda/experimental/__multi_gpu/algorithm/sort/sort.h>
#include <cuda/experimental/__multi_gpu/nccl_communicator.h>
#include <cuda/memory_resource>
#include <map>
#include <mutex>
#include <nccl.h>
#include <stdexcept>
#include <string>

#include "shard_peers.h"

namespace bench
{

namespace
{

namespace cudax = cuda::experimental;

void check(cudaError_t code, const char *call)
{
  if (code != cudaSuccess)
    throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(code));
}

void check(ncclResult_t code, const char *call)
{
  if (code != ncclSuccess)
    throw std::runtime_error(std::string(call) + ": " + ncclGetErrorString(code));
}

#define CHECK(call) check(call, #call)

struct pair {
  float distance;
  uint32_t place;
};

struct entity {
  uint32_t place;
  float y, angle;
  int16_t sprite, unused;
  float distance;
};

/* By distance, descending; ties by their place, which makes any sort stable. */
struct comes_before {
  template <class Record>
  __host__ __device__ bool operator()(const Record &a, const Record &b) const
  {
    return a.distance > b.distance || (a.distance == b.distance && a.place < b.place);
  }
};

struct is_greater {
  __host__ __device__ bool operator()(float a, float b) const
  {
    return a > b;
  }
};

unsigned grid_of(size_t count)
{
  return (unsigned)((count + 255) / 256);
}

/* Memory of a device, by cudaMalloc. Blocks are kept for the next sort. */
class kept_memory
{
public:
  explicit kept_memory(int device) : device_(device)
  {
  }
  ~kept_memory()
  {
    (void)cudaSetDevice(device_);
    for (const auto &[bytes, block] : free_)
      (void)cudaFree(block);
  }
  void *take(size_t bytes)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const size_t size = (std::max<size_t>(bytes, 1) + 511) / 512 * 512;
    const auto found = free_.lower_bound(size);
    void *block = nullptr;
    if (found != free_.end() && found->first <= size + size / 8) {
      block = found->second;
      taken_[block] = found->first;
      free_.erase(found);
      return block;
    }
    int before = 0;
    CHECK(cudaGetDevice(&before));
    CHECK(cudaSetDevice(device_));
    CHECK(cudaMalloc(&block, size));
    CHECK(cudaSetDevice(before));
    taken_[block] = size;
    return block;
  }
  void give_back(void *block)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = taken_.find(block);
    free_.emplace(found->second, block);
    taken_.erase(found);
  }

private:
  int device_;
  std::mutex mutex_;
  std::multimap<size_t, void *> free_;
  std::map<void *, size_t> taken_;
};

/* All work of a device is on one stream, so a block that is given back may be used at once. */
class resource
{
public:
  using default_queries = cuda::mr::properties_list<cuda::mr::device_accessible>;
  explicit resource(kept_memory *memory) : memory_(memory)
  {
  }
  void *allocate_sync(size_t bytes, size_t = 256)
  {
    return memory_->take(bytes);
  }
  void deallocate_sync(void *block, size_t, size_t = 256) noexcept
  {
    memory_->give_back(block);
  }
  void *allocate(cuda::stream_ref, size_t bytes, size_t = 256)
  {
    return memory_->take(bytes);
  }
  void deallocate(cuda::stream_ref, void *block, size_t, size_t = 256) noexcept
  {
    memory_->give_back(block);
  }
  bool operator==(const resource &other) const
  {
    return memory_ == other.memory_;
  }
  bool operator!=(const resource &other) const
  {
    return memory_ != other.memory_;
  }
  friend constexpr void get_property(const resource &, cuda::mr::device_accessible) noexcept
  {
  }

private:
  kept_memory *memory_;
};
static_assert(cuda::mr::resource_with<resource, cuda::mr::device_accessible>);

/* A stream and a communicator for each device. */
struct devices {
  explicit devices(size_t count) : streams(count), comms(count)
  {
    std::vector<int> numbers;
    for (size_t s = 0; s < count; s++) {
      numbers.push_back((int)s);
      memory.push_back(std::make_unique<kept_memory>((int)s));
      CHECK(cudaSetDevice((int)s));
      CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    }
    CHECK(cudaSetDevice(0));
    CHECK(ncclCommInitAll(comms.data(), (int)count, numbers.data()));
  }
  ~devices()
  {
    for (ncclComm_t comm : comms)
      (void)ncclCommDestroy(comm);
    for (cudaStream_t stream : streams)
      (void)cudaStreamDestroy(stream);
    (void)cudaSetDevice(0);
  }
  void wait() const
  {
    for (cudaStream_t stream : streams)
      CHECK(cudaStreamSynchronize(stream));
  }
  std::vector<cudaStream_t> streams;
  std::vector<ncclComm_t> comms;
  std::vector<std::unique_ptr<kept_memory>> memory;
};

template <class Work> std::string failure_of(Work work)
{
  try {
    work();
    return {};
  } catch (const std::exception &error) {
    return error.what();
  }
}

/* ---- cudax::sort ---- */

template <class Record> struct cudax_sort : shard_peer {
  explicit cudax_sort(size_t count) : on(count)
  {
  }
  std::string sort() override
  {
    return failure_of([this] { sort_all(); });
  }
  void sort_all()
  {
    std::vector<cudax::nccl_communicator_ref> comms;
    std::vector<decltype(environment(0))> environments;
    std::vector<Record *> inputs;
    for (size_t s = 0; s < shards.size(); s++) {
      comms.emplace_back(on.comms[s]);
      environments.push_back(environment(s));
      inputs.push_back((Record *)shards[s]);
    }
    cudax::sort(cudax::distributed, comms, environments, inputs, counts, comes_before{});
    on.wait();
  }
  auto environment(size_t s)
  {
    namespace execution = cuda::std::execution;
    return execution::env{
        execution::prop{cuda::get_stream, cuda::stream_ref{on.streams[s]}},
        execution::prop{cuda::mr::get_memory_resource, resource{on.memory[s].get()}}};
  }
  devices on;
};

/* ---- CUB and NCCL ---- */

template <class Record>
__global__ void split(const Record *records, size_t count, float *keys, uint32_t *values)
{
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  keys[i] = records[i].distance;
  values[i] = sizeof(Record) == sizeof(pair) ? records[i].place : (uint32_t)i;
}

template <class Record>
__global__ void join(const float *keys, const uint32_t *values, size_t count, Record *records)
{
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Record record = {};
  record.distance = keys[i];
  record.place = values[i];
  records[i] = record;
}

/* Words of records are read and written by neighbouring threads. */
template <class Record>
__global__ void gather(const Record *records, const uint32_t *order, size_t count, Record *to)
{
  enum { WORDS = sizeof(Record) / 4 };
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count * WORDS) return;
  ((uint32_t *)to)[i] = ((const uint32_t *)(records + order[i / WORDS]))[i % WORDS];
}

__global__ void count_from_0(uint32_t *values, size_t count)
{
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = (uint32_t)i;
}

/* Where the keys end that are not less than a splitter: keys descend. */
__global__ void find_ends(const float *keys, size_t count, const float *splitters, size_t *ends)
{
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (keys[middle] >= splitters[threadIdx.x])
      low = middle + 1;
    else
      high = middle;
  }
  ends[threadIdx.x] = low;
}

/* A shard's keys with values; where records are larger than a key and a value, values are numbers
 * of records, which move by themselves. */
template <class Record> struct nccl_sort : shard_peer {
  enum { SAMPLES = 1024 };
  static constexpr bool moves_values = sizeof(Record) == sizeof(pair);

  struct side {
    float *keys = nullptr;
    uint32_t *values = nullptr;
  };

  struct seat {
    side sides[3]; // before the sort and after the merge; after the sort; received
    Record *sent = nullptr, *received = nullptr;
    void *extra = nullptr;
    size_t extra_bytes = 0;
    float *samples = nullptr; // pinned, as the next ones
    float *splitters = nullptr;
    size_t *ends = nullptr;
  };

  nccl_sort(size_t devices, size_t count, size_t most) : on(devices), seats(devices)
  {
    room = most;
    for (size_t s = 0; s < devices; s++) {
      seat &at = seats[s];
      CHECK(cudaSetDevice((int)s));
      for (side &each : at.sides) {
        CHECK(cudaMalloc(&each.keys, room * sizeof(float)));
        CHECK(cudaMalloc(&each.values, room * sizeof(uint32_t)));
      }
      if (!moves_values) {
        CHECK(cudaMalloc(&at.sent, count * sizeof(Record)));
        CHECK(cudaMalloc(&at.received, room * sizeof(Record)));
      }
      CHECK(cudaMallocHost(&at.samples, SAMPLES * sizeof(float)));
      CHECK(cudaMallocHost(&at.splitters, devices * sizeof(float)));
      CHECK(cudaMallocHost(&at.ends, devices * sizeof(size_t)));
      size_t sorts = 0, merges = 0;
      sort_keys(s, nullptr, sorts, count);
      merge(s, nullptr, merges, {}, room / 2, {}, room - room / 2, {});
      at.extra_bytes = std::max(sorts, merges);
      CHECK(cudaMalloc(&at.extra, at.extra_bytes));
    }
    CHECK(cudaSetDevice(0));
  }

  ~nccl_sort() override
  {
    for (size_t s = 0; s < seats.size(); s++) {
      (void)cudaSetDevice((int)s);
      for (const side &each : seats[s].sides) {
        (void)cudaFree(each.keys);
        (void)cudaFree(each.values);
      }
      (void)cudaFree(seats[s].sent);
      (void)cudaFree(seats[s].received);
      (void)cudaFree(seats[s].extra);
      (void)cudaFreeHost(seats[s].samples);
      (void)cudaFreeHost(seats[s].splitters);
      (void)cudaFreeHost(seats[s].ends);
    }
  }

  void sort_keys(size_t s, void *extra, size_t &bytes, size_t count)
  {
    const side &from = seats[s].sides[0], &to = seats[s].sides[1];
    CHECK(cub::DeviceRadixSort::SortPairsDescending(extra, bytes, from.keys, to.keys, from.values,
                                                    to.values, count, 0, 32, on.streams[s]));
  }

  void merge(size_t s, void *extra, size_t &bytes, side a, size_t a_count, side b, size_t b_count,
             side to)
  {
    CHECK(cub::DeviceMerge::MergePairs(extra, bytes, a.keys, a.values, (int64_t)a_count, b.keys,
                                       b.values, (int64_t)b_count, to.keys, to.values, is_greater{},
                                       on.streams[s]));
  }

  std::string sort() override
  {
    return failure_of([this] { sort_all(); });
  }

  void sort_all()
  {
    sort_shards();
    find_cuts();
    exchange();
    for (size_t s = 0; s < seats.size(); s++) {
      CHECK(cudaSetDevice((int)s));
      merge_runs(s);
    }
    CHECK(cudaSetDevice(0));
    on.wait();
  }

  void sort_shards()
  {
    for (size_t s = 0; s < seats.size(); s++) {
      seat &at = seats[s];
      const size_t count = counts[s];
      CHECK(cudaSetDevice((int)s));
      split<<<grid_of(count), 256, 0, on.streams[s]>>>((const Record *)shards[s], count,
                                                       at.sides[0].keys, at.sides[0].values);
      size_t bytes = at.extra_bytes;
      sort_keys(s, at.extra, bytes, count);
      if constexpr (!moves_values)
        gather<<<grid_of(count * sizeof(Record) / 4), 256, 0, on.streams[s]>>>(
            (const Record *)shards[s], at.sides[1].values, count, at.sent);
      const size_t step = std::max<size_t>(count / SAMPLES, 1);
      CHECK(cudaMemcpy2DAsync(at.samples, sizeof(float), at.sides[1].keys + step / 2,
                              step * sizeof(float), sizeof(float), SAMPLES, cudaMemcpyDeviceToHost,
                              on.streams[s]));
    }
    on.wait();
  }

  /* Regular samples (Shi and Schaeffer, 1992). */
  void find_cuts()
  {
    std::vector<float> all;
    for (const seat &at : seats)
      all.insert(all.end(), at.samples, at.samples + SAMPLES);
    std::sort(all.begin(), all.end(), is_greater{});
    for (size_t s = 0; s < seats.size(); s++) {
      seat &at = seats[s];
      for (size_t cut = 0; cut + 1 < seats.size(); cut++)
        at.splitters[cut] = all[(cut + 1) * SAMPLES];
      CHECK(cudaSetDevice((int)s));
      find_ends<<<1, (unsigned)seats.size() - 1, 0, on.streams[s]>>>(at.sides[1].keys, counts[s],
                                                                     at.splitters, at.ends);
    }
    on.wait();
    for (size_t s = 0; s < seats.size(); s++)
      seats[s].ends[seats.size() - 1] = counts[s];
  }

  size_t begin_of(size_t from, size_t to) const
  {
    return to ? seats[from].ends[to - 1] : 0;
  }

  void exchange()
  {
    bounds.assign(seats.size(), std::vector<size_t>(1, 0));
    for (size_t to = 0; to < seats.size(); to++) {
      for (size_t from = 0; from < seats.size(); from++)
        bounds[to].push_back(bounds[to].back() + seats[from].ends[to] - begin_of(from, to));
      if (bounds[to].back() > room) throw std::runtime_error("a part is too large");
    }
    CHECK(ncclGroupStart());
    for (size_t from = 0; from < seats.size(); from++)
      for (size_t to = 0; to < seats.size(); to++) {
        const size_t first = begin_of(from, to), count = seats[from].ends[to] - first;
        pass(from, to, seats[from].sides[1].keys + first,
             seats[to].sides[2].keys + bounds[to][from], count);
        if (moves_values)
          pass(from, to, seats[from].sides[1].values + first,
               seats[to].sides[2].values + bounds[to][from], count);
        else
          pass(from, to, seats[from].sent + first, seats[to].received + bounds[to][from], count);
      }
    CHECK(ncclGroupEnd());
  }

  template <class T> void pass(size_t from, size_t to, const T *sent, T *received, size_t count)
  {
    CHECK(ncclSend(sent, count * sizeof(T), ncclChar, (int)to, on.comms[from], on.streams[from]));
    CHECK(ncclRecv(received, count * sizeof(T), ncclChar, (int)from, on.comms[to], on.streams[to]));
  }

  static side behind(side at, size_t count)
  {
    return {at.keys + count, at.values + count};
  }

  /* Neighbouring runs in pairs, until one is left. */
  void merge_runs(size_t s)
  {
    seat &at = seats[s];
    std::vector<size_t> runs = bounds[s];
    const size_t count = runs.back();
    side from = at.sides[2], to = at.sides[0], other = at.sides[1];
    if (!moves_values) count_from_0<<<grid_of(count), 256, 0, on.streams[s]>>>(from.values, count);
    while (runs.size() > 2) {
      std::vector<size_t> merged(1, 0);
      for (size_t run = 0; run + 1 < runs.size(); run += 2) {
        const size_t begin = runs[run], middle = runs[run + 1],
                     end = runs[std::min(run + 2, runs.size() - 1)];
        size_t bytes = at.extra_bytes;
        merge(s, at.extra, bytes, behind(from, begin), middle - begin, behind(from, middle),
              end - middle, behind(to, begin));
        merged.push_back(end);
      }
      runs = merged;
      std::swap(from, to);
      if (to.keys == at.sides[2].keys) to = other;
    }
    if constexpr (moves_values)
      join<<<grid_of(count), 256, 0, on.streams[s]>>>(from.keys, from.values, count,
                                                      (Record *)shards[s]);
    else
      gather<<<grid_of(count * sizeof(Record) / 4), 256, 0, on.streams[s]>>>(
          at.received, from.values, count, (Record *)shards[s]);
    CHECK(cudaGetLastError());
    counts[s] = count;
  }

  devices on;
  std::vector<seat> seats;
  std::vector<std::vector<size_t>> bounds; // of the runs that each device receives
};

std::unique_ptr<shard_peer> filled(std::unique_ptr<shard_peer> made, std::vector<void *> shards,
                                   size_t count, size_t room)
{
  made->counts.assign(shards.size(), count);
  made->shards = std::move(shards);
  made->room = room;
  return made;
}

std::unique_ptr<shard_peer> make_cudax(size_t record_size, std::vector<void *> shards, size_t count,
                                       size_t room)
{
  std::unique_ptr<shard_peer> made;
  if (record_size == sizeof(pair))
    made = std::make_unique<cudax_sort<pair>>(shards.size());
  else
    made = std::make_unique<cudax_sort<entity>>(shards.size());
  return filled(std::move(made), std::move(shards), count, room);
}

std::unique_ptr<shard_peer> make_nccl(size_t record_size, std::vector<void *> shards, size_t count,
                                      size_t room)
{
  std::unique_ptr<shard_peer> made;
  if (record_size == sizeof(pair))
    made = std::make_unique<nccl_sort<pair>>(shards.size(), count, room);
  else
    made = std::make_unique<nccl_sort<entity>>(shards.size(), count, room);
  return filled(std::move(made), std::move(shards), count, room);
}

} // namespace

const shard_peer_named shard_peers[] = {
    {"CUB and NCCL", make_nccl}, {"cudax::sort", make_cudax}, {nullptr, nullptr}};

} // namespace bench
