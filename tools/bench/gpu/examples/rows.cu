/* rows.cu - the greatest keys of each of many rows, with their positions: recsort's segmented_top,
 * and what else there is: a segmented sort that is cut, and a sort or a selection of each row.
 * (CUB's DeviceBatchedTopK takes only rows that fit in the shared memory of a block.)
 *
 *   rows [COLUMNS]     of rows with COLUMNS keys; else of some lengths
 *
 * Every call is in a graph, but that of DeviceSegmentedSort, which waits for the device; every
 * result is checked on the device. "read" is a kernel that only reads the keys. CUB's DeviceTopK
 * writes its results in no order, and any of equal keys. A loop over many rows is timed for LOOPED
 * of them, and its time is multiplied. */
#include <cuda/__execution/determinism.h>
#include <cuda/__execution/output_ordering.h>
#include <cuda/__execution/require.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cub/device/device_topk.cuh>
#include <cuda/std/execution>
#include <cuda/stream_ref>
#include <recsort.cuh>

#include "example.cuh"

namespace
{

enum { LOOPED = 64, BLOCK = 256, GRID = 2048 };
enum contents { NORMAL, FEW_VALUES, EQUAL, ASCENDING, DESCENDING, CONTENTS };
const char *const names[] = {"normal", "1000 values", "equal", "ascending", "descending"};

cudaStream_t stream;
int wrong;

__device__ uint32_t mixed(uint64_t x)
{
  x = (x ^ x >> 31) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
  return (uint32_t)(x >> 32);
}

__device__ float key_at(size_t at, size_t column, contents how)
{
  if (how == EQUAL) return 1;
  if (how == ASCENDING) return (float)column + 1;
  if (how == DESCENDING) return -(float)column - 1;
  if (how == FEW_VALUES) return (float)(mixed(at) % 1000 + 1);
  float sum = 0.125f; /* so that no key is a zero, whose signs CUB tells apart */
  for (int i = 0; i < 8; i++)
    sum += (float)(mixed(8 * at + i) >> 8) - (1 << 23);
  return sum / (1 << 22);
}

__global__ void fill_keys(float *keys, int *positions, size_t count, size_t columns, contents how)
{
  for (size_t i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += GRID * BLOCK) {
    keys[i] = key_at(i, i % columns, how);
    positions[i] = (int)i;
  }
}

__global__ void read_keys(const float4 *keys, size_t count, float *sum)
{
  float mine = 0;
  for (size_t i = blockIdx.x * BLOCK + threadIdx.x; i < count / 4; i += GRID * BLOCK) {
    const float4 four = keys[i];
    mine += four.x + four.y + four.z + four.w;
  }
  if (mine == 12.5f) *sum = mine;
}

/* Compares the first keys and positions of each row with those of a sorted one. */
__global__ void count_wrong(const float *sorted, const int *order, const int *offsets, int rows,
                            int most, const float *keys, const int *positions, int *found)
{
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const int begin = offsets[row], count = min(most, offsets[row + 1] - begin);
    for (int i = threadIdx.x; i < count; i += BLOCK) {
      const size_t at = (size_t)row * most + i;
      if (keys[at] != sorted[begin + i] || positions[at] != order[begin + i]) atomicAdd(found, 1);
    }
  }
}

/* The same for keys in any order: their sums of hashes are compared. */
__global__ void count_wrong_sums(const float *sorted, const int *offsets, int most,
                                 const float *keys, int *found)
{
  __shared__ unsigned long long sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < most; i += BLOCK) {
    const uint64_t wanted = mixed(__float_as_uint(sorted[offsets[blockIdx.x] + i]));
    const uint64_t has = mixed(__float_as_uint(keys[(size_t)blockIdx.x * most + i]));
    atomicAdd(&sum, has - wanted);
  }
  __syncthreads();
  if (threadIdx.x == 0 && sum) atomicAdd(found, 1);
}

template <class Type> Type *device(size_t count)
{
  Type *array;
  check(cudaMalloc(&array, count * sizeof(Type) + 1));
  return array;
}

/* The median time of some work, in us. */
template <class Work> double median_time(const Work &work)
{
  cudaEvent_t begin, end;
  std::vector<float> times;
  float all = 0;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (int i = 0; i < 31 && (i < 4 || all < 400); i++) {
    float ms;
    check(cudaEventRecord(begin, stream));
    check(work());
    check(cudaEventRecord(end, stream));
    check(cudaEventSynchronize(end));
    check(cudaEventElapsedTime(&ms, begin, end));
    if (i > 0) times.push_back(1000 * ms);
    all += ms;
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

/* That of a call in a graph. */
template <class Call> double time_of_graph(const Call &call)
{
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check(call());
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&exec, graph, 0));
  const double us = median_time([&] { return cudaGraphLaunch(exec, stream); });
  check(cudaGraphExecDestroy(exec));
  check(cudaGraphDestroy(graph));
  return us;
}

/* The same of a call with a workspace. */
template <class Call> double time_with_workspace(const Call &call, bool in_graph = true)
{
  size_t bytes = 0;
  check(call(nullptr, bytes));
  char *const workspace = device<char>(bytes);
  const auto work = [&] { return call(workspace, bytes); };
  const double us = in_graph ? time_of_graph(work) : median_time(work);
  check(cudaFree(workspace));
  return us;
}

struct table {
  int rows, columns;
  size_t count;
  float *keys, *sorted, *first;
  int *positions, *order, *where, *offsets, *found;
  double read, radix, segmented;

  table(int rows_of, int columns_of, contents how, bool ragged)
      : rows(rows_of), columns(columns_of), count((size_t)rows_of * columns_of)
  {
    keys = device<float>(count);
    sorted = device<float>(count);
    positions = device<int>(count);
    order = device<int>(count);
    first = device<float>((size_t)rows * 1024);
    where = device<int>((size_t)rows * 1024);
    found = make<int>(1);
    offsets = make<int>(rows + 1);
    for (int row = 0; row <= rows; row++)
      offsets[row] = row * columns;
    if (ragged) {
      std::mt19937 random(38);
      for (int row = 1; row < rows; row++)
        offsets[row] = (int)(random() % count);
      offsets[0] = 3;
      std::sort(offsets, offsets + rows + 1);
      for (int row = 1; row < rows; row += 5)
        offsets[row] = offsets[row + 1]; /* empty rows */
    }
    fill_keys<<<GRID, BLOCK, 0, stream>>>(keys, positions, count, columns, how);
    read = time_of_graph([&] {
      read_keys<<<GRID, BLOCK, 0, stream>>>((const float4 *)keys, count, first);
      return cudaGetLastError();
    });
    segmented = time_with_workspace(
        [&](void *workspace, size_t &bytes) {
          return cub::DeviceSegmentedSort::StableSortPairsDescending(
              workspace, bytes, keys, sorted, positions, order, (int)count, rows, offsets,
              offsets + 1, stream);
        },
        false);
    radix = time_with_workspace([&](void *workspace, size_t &bytes) {
      return cub::DeviceSegmentedRadixSort::SortPairsDescending(
          workspace, bytes, keys, sorted, positions, order, (int)count, rows, offsets, offsets + 1,
          0, 32, stream);
    });
  }
  table(const table &) = delete;
  ~table()
  {
    for (void *const each : {(void *)keys, (void *)sorted, (void *)first, (void *)positions,
                             (void *)order, (void *)where, (void *)offsets, (void *)found})
      check(cudaFree(each));
  }

  void expect_none(const char *what)
  {
    check(cudaStreamSynchronize(stream));
    if (*found == 0) return;
    std::printf("FAIL: %s: %d wrong\n", what, *found);
    wrong++;
  }

  double top(int most)
  {
    check(cudaMemsetAsync(first, 0xee, sizeof(float) * rows * most, stream));
    check(cudaMemsetAsync(where, 0xee, sizeof(int) * rows * most, stream));
    const double us = time_with_workspace([&](void *workspace, size_t &bytes) {
      return recsort::segmented_top<recsort::order::descending>(
          workspace, bytes, keys, first, nullptr, where, count, offsets, rows, most, stream);
    });
    *found = 0;
    count_wrong<<<GRID, BLOCK, 0, stream>>>(sorted, order, offsets, rows, most, first, where,
                                            found);
    expect_none("segmented_top");
    return us;
  }

  template <class Call> double loop(const Call &call)
  {
    const int looped = std::min<int>(rows, LOOPED);
    const double us = time_with_workspace([&](void *workspace, size_t &bytes) {
      for (int row = 0; row < (workspace ? looped : 1); row++)
        if (const cudaError_t error = call(workspace, bytes, row, (size_t)row * columns))
          return error;
      return cudaSuccess;
    });
    return us * rows / looped;
  }

  double loop_of_selections(int most)
  {
    const auto anyhow = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                 cuda::execution::output_ordering::unsorted);
    const auto on = cuda::std::execution::env{cuda::stream_ref{stream}, anyhow};
    const double us = loop([&](void *workspace, size_t &bytes, int row, size_t from) {
      return cub::DeviceTopK::MaxPairs(workspace, bytes, keys + from, first + (size_t)row * most,
                                       positions + from, where + (size_t)row * most, columns, most,
                                       on);
    });
    *found = 0;
    count_wrong_sums<<<std::min<int>(rows, LOOPED), BLOCK, 0, stream>>>(sorted, offsets, most,
                                                                        first, found);
    expect_none("DeviceTopK");
    return us;
  }

  double loop_of_sorts()
  {
    float *const keys_out = device<float>(columns);
    int *const values_out = device<int>(columns);
    const double us = loop([&](void *workspace, size_t &bytes, int, size_t from) {
      return cub::DeviceRadixSort::SortPairsDescending(workspace, bytes, keys + from, keys_out,
                                                       positions + from, values_out, columns, 0, 32,
                                                       stream);
    });
    check(cudaFree(keys_out));
    check(cudaFree(values_out));
    return us;
  }

  double loop_of_tops(int most)
  {
    return loop([&](void *workspace, size_t &bytes, int row, size_t from) {
      return recsort::top<recsort::order::descending>(
          workspace, bytes, keys + from, first + (size_t)row * most, nullptr,
          where + (size_t)row * most, columns, most, stream);
    });
  }
};

void head()
{
  std::printf("\n%-12s %6s %7s %5s %9s %9s %9s %9s %9s %9s %9s %7s %7s\n", "keys", "rows",
              "columns", "most", "recsort", "read", "TopK", "sorts", "radix", "segmented", "top",
              "x TopK", "x best");
}

void show(table &of, const char *name, bool even, int most)
{
  const double us = of.top(most), cut = std::min(of.radix, of.segmented);
  const double selections = even ? of.loop_of_selections(most) : 1e30;
  const double sorts = even ? of.loop_of_sorts() : 1e30;
  const double tops = even ? of.loop_of_tops(most) : 1e30;
  const double best = std::min(std::min(selections, sorts), cut);
  std::printf("%-12s %6d %7d %5d %9.1f %9.1f", name, of.rows, of.columns, most, us, of.read);
  for (const double other : {selections, sorts, of.radix, of.segmented, tops})
    if (other < 1e30)
      std::printf(" %9.1f", other);
    else
      std::printf(" %9s", "");
  if (even)
    std::printf(" %7.2f %7.2f\n", selections / us, best / us);
  else
    std::printf(" %7s %7.2f\n", "", best / us);
  std::fflush(stdout);
}

void of_length(int columns)
{
  head();
  for (const int rows : {1, 4, 16, 64, 256, 1024, 4096}) {
    table of(rows, columns, NORMAL, false);
    for (const int most : {1, 50, 256, 1024})
      show(of, names[NORMAL], true, most);
  }
}

} // namespace

int main(int argc, char **argv)
{
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0));
  check(cudaStreamCreate(&stream));
  std::printf("%s, CUB %d; us\n", properties.name, CUB_VERSION);
  if (argc > 1) {
    of_length(std::atoi(argv[1]));
  } else {
    head();
    for (const int rows : {1, 64})
      for (int how = 1; how < CONTENTS; how++) {
        table of(rows, 1 << 17, (contents)how, false);
        for (const int most : {50, 1024})
          show(of, names[how], true, most);
      }
    for (const int rows : {7, 300, 100000}) {
      table of(rows, rows > 1000 ? 100 : 30000, NORMAL, true);
      for (const int most : {1, 50, 1024})
        show(of, "ragged", false, most);
    }
    for (const int columns : {1 << 17, 1 << 15, 160 << 10})
      of_length(columns);
  }
  std::printf(wrong ? "FAIL: %d results are wrong\n" : "PASS\n", wrong);
  return wrong != 0;
}
