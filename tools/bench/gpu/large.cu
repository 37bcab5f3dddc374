/* large.cu - checks one run of each algorithm on more pairs than 31 and 32 bits can count. */
#include <stdexcept>

#include "keys.cuh"

namespace bench
{

namespace
{

uint64_t free_memory()
{
  size_t available, total;
  CHECK(cudaMemGetInfo(&available, &total));
  return available;
}

template <typename Index>
void measure(const device_algorithm &algorithm, uint64_t count, results &found)
{
  const device_job job = describe_job(count, 32, 8 * sizeof(Index), 0);
  const uint64_t extra_bytes = algorithm.extra_bytes ? algorithm.extra_bytes(&job) : 0;
  const uint64_t wanted = device_bytes(&job, extra_bytes);
  if (wanted > free_memory())
    throw std::runtime_error("needs " + std::to_string(wanted >> 30) + " GiB of device memory");
  const uint64_t keys_bytes = device_aligned(count * 4),
                 indices_bytes = device_aligned(count * sizeof(Index));
  memory side0(keys_bytes + indices_bytes), side1(keys_bytes + indices_bytes + extra_bytes);
  const device_buffers buffers = {{side0.as<char>(), side1.as<char>() + indices_bytes},
                                  {side0.as<char>() + keys_bytes, side1.as<char>()},
                                  side1.as<char>() + indices_bytes + keys_bytes,
                                  extra_bytes};
  uint32_t *const keys[2] = {(uint32_t *)buffers.keys[0], (uint32_t *)buffers.keys[1]};
  Index *const indices[2] = {(Index *)buffers.indices[0], (Index *)buffers.indices[1]};
  unsigned result = 0;
  stopwatch watch;
  fill_pairs<uint32_t, Index>(keys[0], nullptr, count, count);
  keep_busy(nullptr);
  watch.start(nullptr);
  check((cudaError_t)algorithm.sort(&job, &buffers, &result), algorithm.shown.name);
  watch.stop(nullptr);
  const double seconds = watch.seconds();
  check_pairs(keys[result], indices[result], count, count);
  add_figure(found, {"large",
                     "recsort",
                     algorithm.shown.name,
                     "f32",
                     "",
                     count,
                     0,
                     extra_bytes,
                     {{"device", "s", {seconds}}}});
}

} // namespace

void measure_large(const options &asked, results &found)
{
  print_pairs_head("Many pairs");
  for (uint64_t count : asked.large)
    for (const device_algorithm *algorithm : algorithms(asked))
      try {
        if (count > UINT64_C(1) << 32)
          measure<uint64_t>(*algorithm, count, found);
        else
          measure<uint32_t>(*algorithm, count, found);
      } catch (const std::runtime_error &error) {
        add_failure(found, std::string("recsort ") + algorithm->shown.name,
                    std::to_string(count) + " pairs: " + error.what());
      }
}

} // namespace bench
