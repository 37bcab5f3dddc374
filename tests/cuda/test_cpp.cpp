/* recsort::device_sorter, with the stand-in for the CUDA runtime, whose device memory the host can
 * read: its sorts against those of recsort::sorter. */
#include <recsort/recsort.hpp>

#include <algorithm>
#include <cstdarg>
#include <csetjmp>
#include <cstdlib>
#include <vector>

extern "C" {
#include <cmocka.h>
#include <cuda_runtime_api.h>

#include "cuda/standin.h"
}

#include "support/random.h"

namespace
{

using recsort::asc;
using recsort::desc;

struct entity {
  std::uint32_t serial;
  float distance;
  std::int16_t team;
  char name[3];
};

enum { COUNT = 500 };

std::vector<entity> some_entities()
{
  std::uint64_t state = 7;
  std::vector<entity> made(COUNT);
  for (std::uint32_t i = 0; i < COUNT; i++)
    made[i] = {i,
               static_cast<float>(random_below(&state, 40)) - 20,
               static_cast<std::int16_t>(random_below(&state, 3)),
               {static_cast<char>('a' + random_below(&state, 3)), 0, 'x'}};
  return made;
}

/* An array in the device's memory. */
template <class Element> class on_device
{
public:
  explicit on_device(std::size_t count) : count_(count)
  {
    void *memory = nullptr;
    assert_int_equal(cudaMalloc(&memory, count * sizeof(Element)), cudaSuccess);
    data_ = static_cast<Element *>(memory);
  }
  explicit on_device(const std::vector<Element> &from) : on_device(from.size())
  {
    std::copy(from.begin(), from.end(), data_);
  }
  on_device(const on_device &) = delete;
  ~on_device()
  {
    (void)cudaFree(data_);
  }
  Element *data() const
  {
    return data_;
  }
  std::size_t size() const
  {
    return count_;
  }

private:
  Element *data_;
  std::size_t count_;
};

/* Runs a job as a program does, and waits. */
template <class Record> void run(recsort::device_sorter<Record> &by, recsort_job job)
{
  cudaStream_t stream;
  assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  job.stream = stream;
  job.workspace_size = by.plan(job).device;
  assert_true(job.workspace_size > 0);
  const on_device<char> workspace(job.workspace_size);
  job.workspace = workspace.data();
  assert_true(by.run(job));
  assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
  assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);

  recsort_error error;
  job.workspace_size--;
  assert_false(by.run(job, error));
  assert_int_equal(error.status, RECSORT_PLUGIN_ERROR);
}

bool same(const entity *a, const entity *b, std::size_t count)
{
  return std::equal(a, a + count, b,
                    [](const entity &x, const entity &y) { return x.serial == y.serial; });
}

void records_are_sorted_there(void **)
{
  const std::vector<entity> input = some_entities();
  std::vector<entity> expected(COUNT);
  const auto keys = {desc(&entity::distance), asc(&entity::name)};
  recsort::sorter<entity>(keys).sort_to(input, expected);
  recsort::device_sorter<entity> by(keys);

  const on_device<entity> records(input), first(10);
  const on_device<std::uint32_t> index(COUNT);
  recsort_job job = by.from(records);
  job.permutation = index.data();
  run(by, job);
  for (std::size_t i = 0; i < COUNT; i++)
    assert_int_equal(index.data()[i], expected[i].serial);
  by.set_head(10);
  job = by.from(records);
  job.sorted = first.data();
  run(by, job);
  assert_true(same(first.data(), expected.data(), 10));
  by.set_head(0);
  run(by, by.in_place({records.data(), COUNT}));
  assert_true(same(records.data(), expected.data(), COUNT));
}

void columns_are_read_there(void **)
{
  const std::vector<entity> input = some_entities();
  std::vector<std::uint32_t> expected(COUNT);
  const auto keys = {asc(&entity::team), desc(&entity::distance)};
  recsort::sorter<entity>(keys).argsort(input, expected);
  const on_device<float> distance(COUNT);
  const on_device<std::int16_t> team(COUNT);
  const on_device<std::uint32_t> serial(COUNT);
  for (std::size_t i = 0; i < COUNT; i++) {
    distance.data()[i] = input[i].distance;
    team.data()[i] = input[i].team;
    serial.data()[i] = input[i].serial;
  }
  recsort::device_sorter<entity> by(keys);
  const recsort_array moved = {serial.data(), serial.data(), 4};
  recsort_job job =
      by.from({by.column(distance, &entity::distance), by.column(team, &entity::team)});
  job.arrays = &moved;
  job.array_count = 1;
  run(by, job);
  assert_true(std::equal(expected.begin(), expected.end(), serial.data()));
}

void numbers_with_values(void **)
{
  const on_device<float> keys(std::vector<float>{2, 5, 1, 5}), sorted(4);
  const on_device<std::uint32_t> values(std::vector<std::uint32_t>{0, 1, 2, 3}), order(4);
  const recsort_array moved = {values.data(), order.data(), 4};
  recsort::device_sorter<float> by({desc(recsort::number<float>())});
  recsort_job job = by.from(keys);
  job.sorted = sorted.data();
  job.arrays = &moved;
  job.array_count = 1;
  run(by, job);
  const float expected[] = {5, 5, 2, 1};
  const std::uint32_t places[] = {1, 3, 0, 2};
  assert_true(std::equal(expected, expected + 4, sorted.data()));
  assert_true(std::equal(places, places + 4, order.data()));
}

void set_or_bind(const recsort::key<entity> &key)
{
  const std::vector<entity> input = some_entities();
  recsort::sorter<entity> host({key});
  recsort::device_sorter<entity> by({key});
  const on_device<double> bound(1);
  for (const double point : {0.0, 7.0, -100.0}) {
    std::vector<entity> expected(COUNT);
    host.set_parameter("eye", {point});
    host.sort_to(input, expected);
    const on_device<entity> records(input), again(input);
    by.set_parameter("eye", {point});
    run(by, by.in_place({records.data(), COUNT}));
    assert_true(same(records.data(), expected.data(), COUNT));
    by.bind_parameter("eye", {bound.data(), 1});
    bound.data()[0] = point;
    run(by, by.in_place({again.data(), COUNT}));
    assert_true(same(again.data(), expected.data(), COUNT));
  }
}

void points_are_set_or_bound(void **)
{
  set_or_bind(asc(recsort::distance("eye", &entity::distance)));
  set_or_bind(desc(recsort::dot("eye", &entity::distance)));
}

/* The calls that read the host's memory. */
void calls_for_the_host_are_refused(void **)
{
  recsort::device_sorter<entity> by({asc(&entity::team)});
  std::vector<entity> records = some_entities(), before = records;
  std::vector<std::uint32_t> index(COUNT);
  std::vector<std::int16_t> teams(COUNT);
  const std::size_t offsets[] = {0, 1, COUNT};
  const recsort::view<entity> all = records;
  recsort_error error;
  const auto refused = [&](bool done) {
    assert_false(done);
    assert_int_equal(error.status, RECSORT_INVALID_ARGUMENT);
    assert_true(same(records.data(), before.data(), COUNT));
  };
  refused(by.sort(records, error));
  refused(by.sort({by.column(teams, &entity::team)}, error));
  refused(by.sort_to({all.data(), 100}, {all.data() + 100, 100}, error));
  refused(by.argsort(records, index, error));
  refused(by.is_sorted(records, error));
  refused(by.disorder(records, error) != 0);
  refused(by.unique(records, error) != 0);
  refused(by.apply(index, error));
  refused(by.merge(records, offsets, error));
  refused(by.merge_to({all, all}, records, error));
}

void without_a_device_it_is_refused(void **)
{
  standin_plan none = {};
  none.driver = 1;
  standin_begin(none);
  recsort_error error;
  recsort::device_sorter<entity> by({asc(&entity::team)}, error);
  assert_false(bool(by));
  assert_int_equal(error.status, RECSORT_PLUGIN_ERROR);
  assert_non_null(std::strstr(error.text, "no plugin here sorts on a device; \"cuda\" cannot be"));
}

int begin(void **)
{
  standin_plan plan = {};
  plan.memory = 1 << 26;
  standin_begin(plan);
  return 0;
}

} // namespace

int main()
{
  const CMUnitTest tests[] = {
      cmocka_unit_test_setup(records_are_sorted_there, begin),
      cmocka_unit_test_setup(columns_are_read_there, begin),
      cmocka_unit_test_setup(numbers_with_values, begin),
      cmocka_unit_test_setup(points_are_set_or_bound, begin),
      cmocka_unit_test_setup(calls_for_the_host_are_refused, begin),
      cmocka_unit_test(without_a_device_it_is_refused),
  };
  if (setenv("RECSORT_PLUGIN_PATH", RS_CUDA_PLUGIN, 1) != 0) return 2;
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
