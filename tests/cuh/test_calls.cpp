/* What calls of recsort.cuh do besides sorting: workspaces, errors, devices, limits, and two source
 * files that include the header. */
#include "cuh/calls.h"

#include <cinttypes>

#include "cuh/another.h"

namespace
{

[[noreturn]] void fail(const std::string &what, const char *how)
{
  std::printf("%s: %s\n", what.c_str(), how);
  std::exit(1);
}

void expect_error(const std::string &what, cudaError_t found, cudaError_t wanted)
{
  if (found == wanted) return;
  std::printf("%s: error %d in place of %d\n", what.c_str(), (int)found, (int)wanted);
  std::exit(1);
}

size_t bytes_of(const named_call &call)
{
  size_t bytes = 0;
  check_cuda(call.name.c_str(), call.make(nullptr, bytes));
  return bytes;
}

/* ---- Errors ---- */

void check_workspace(const named_call &call)
{
  size_t bytes = bytes_of(call), less = bytes - 1;
  const device_array<char> workspace(bytes + 256);
  const auto refused = [&](const char *what, void *at, size_t &given) {
    expect_error(call.name + what,
                 watched(call.name.c_str(), stream, false, [&] { return call.make(at, given); }),
                 cudaErrorInvalidValue);
  };
  refused(", a workspace that is too small", workspace.data, less);
  for (const size_t off : {1ul, 8ul, 64ul, 128ul})
    refused(", a workspace that is not aligned", workspace.data + off, bytes);
}

/* Whatever fails to start, the call returns its error, and starts nothing more. */
void check_failures(const named_call &call)
{
  size_t bytes = bytes_of(call);
  const device_array<char> workspace(bytes);
  const char *const name = call.name.c_str();
  const auto make = [&] { return call.make(workspace.data, bytes); };
  check_cuda(name, watched(name, stream, true, make));
  const size_t all = counts.started;
  if (all == 0) fail(call.name, "started nothing");
  for (size_t n = 1; n <= all; n++) {
    expect_error(call.name, watched(name, stream, true, make, n),
                 (cudaError_t)EMULATOR_LAUNCH_FAILED);
    if (counts.started != n) fail(call.name, "went on after an error");
  }
}

/* ---- Results ---- */

std::vector<unsigned char> contents_of(const call_arrays &on)
{
  std::vector<unsigned char> all;
  const auto add = [&](const auto &array) {
    const auto found = array.read();
    const auto *const from = (const unsigned char *)found.data();
    all.insert(all.end(), from, from + array.bytes());
  };
  add(on.floats);
  add(on.other_floats);
  add(on.numbers);
  add(on.wides);
  add(on.fats);
  add(on.records);
  add(on.positions);
  return all;
}

std::vector<unsigned char> result_of(const named_call &call, call_arrays &on)
{
  on.fill();
  run(call.name.c_str(), call.make);
  return contents_of(on);
}

/* A graph sorts what is in the arrays when it runs, not when it was captured. */
void check_graph(const named_call &call, call_arrays &on)
{
  const std::vector<unsigned char> result = result_of(call, on);
  size_t bytes = bytes_of(call);
  const device_array<char> workspace(bytes);
  run_graph(call.name.c_str(), [&] {
    const cudaError_t error = call.make(workspace.data, bytes);
    on.fill();
    return error;
  });
  if (contents_of(on) != result) fail(call.name, "differs in a graph");
}

/* ---- Devices ---- */

/* A call asks for the limits of the device that is the current one then. */
void check_devices(const std::vector<named_call> &calls, call_arrays &on)
{
  size_t differ = 0;
  for (const named_call &call : calls) {
    const std::vector<unsigned char> result = result_of(call, on);
    const size_t bytes = bytes_of(call);
    check_cuda("cudaSetDevice", cudaSetDevice(1));
    emulator_set_shared(48 << 10);
    differ += bytes_of(call) != bytes;
    if (result_of(call, on) != result) fail(call.name, "differs on another device");
    check_cuda("cudaSetDevice", cudaSetDevice(0));
    emulator_set_shared(EMULATOR_SHARED_BYTES);
    if (bytes_of(call) != bytes) fail(call.name, "keeps what another device had");
  }
  if (differ == 0) fail("devices", "are all alike");
  size_t bytes = 0;
  check_cuda("cudaSetDevice", cudaSetDevice(2)); /* the runtime does not know it */
  for (unsigned time = 0; time < 2; time++)
    expect_error("no such device", calls[0].make(nullptr, bytes), cudaErrorInvalidDevice);
  check_cuda("cudaSetDevice", cudaSetDevice(0));
}

/* ---- Limits: nothing is sorted ---- */

void check_limits()
{
  const size_t most = (size_t)1 << 32;
  float key, *const keys = &key; /* nothing is read */
  uint32_t value, *const values = &value;
  call_record record, *const records = &record;
  const uint64_t offset = 0, *const offsets = &offset;
  size_t bytes = 0;
  const auto expect = [&](const char *what, size_t least, auto make) {
    expect_error(what, make(most), cudaSuccess);
    if (bytes < least) fail(what, "asks for too few bytes");
    expect_error(what, make(most + 1), cudaErrorInvalidValue);
  };
  expect("2^32 pairs", (2 * 8 + 8) * most, [&](size_t count) {
    return recsort::sort_pairs(nullptr, bytes, keys, keys, values, values, count);
  });
  expect("2^32 keys", (2 * 8 + 4) * most,
         [&](size_t count) { return recsort::sort_keys(nullptr, bytes, keys, keys, count); });
  expect("2^32 records", (2 * 8 + sizeof *records) * most, [&](size_t count) {
    return recsort::sort_records(nullptr, bytes, records, records, count, nullptr,
                                 recsort::asc(&call_record::distance));
  });
  expect("2^32 in segments", (2 * 12 + 8) * most, [&](size_t count) {
    return recsort::segmented_sort_pairs(nullptr, bytes, keys, keys, values, values, count, offsets,
                                         5);
  });
  expect("the first of 2^32", 8 * most, [&](size_t count) {
    return recsort::top(nullptr, bytes, keys, keys, values, values, count, 9);
  });
  expect("the first of 2^32 in segments", 0, [&](size_t count) {
    return recsort::segmented_top(nullptr, bytes, keys, keys, values, values, count, offsets, 5, 9);
  });
  expect("a merge of 2^32", (2 * 8 + 8) * most, [&](size_t count) {
    const size_t bounds[] = {0, 5, count};
    return recsort::merge(nullptr, bytes, keys, keys, values, values, bounds, 2);
  });
  const auto segmented = [&](size_t segments) {
    return recsort::segmented_sort_pairs(nullptr, bytes, keys, keys, values, values, 100, offsets,
                                         segments);
  };
  expect_error("2^31 segments", segmented(most / 2), cudaSuccess);
  expect_error("more segments", segmented(most / 2 + 1), cudaErrorInvalidValue);
  const auto tops = [&](size_t segments, size_t wanted) {
    return recsort::segmented_top(nullptr, bytes, keys, keys, values, values, 100, offsets,
                                  segments, wanted);
  };
  expect_error("tops of 2^31 segments", tops(most / 2, 1024), cudaSuccess);
  expect_error("tops of more segments", tops(most / 2 + 1, 1), cudaErrorInvalidValue);
  expect_error("1025 of a segment", tops(5, 1025), cudaErrorInvalidValue);
  expect_error("no runs", recsort::merge(nullptr, bytes, keys, keys, values, values, nullptr, 0),
               cudaSuccess);
}

} // namespace

int main()
{
  for (const size_t count : {40ul, 3000ul, 20000ul}) {
    call_arrays arrays(count);
    const std::vector<named_call> calls = calls_on(arrays), others = calls_of_another(arrays);
    for (size_t i = 0; i < calls.size(); i++) {
      arrays.fill();
      check_workspace(calls[i]);
      check_failures(calls[i]);
      if (result_of(calls[i], arrays) != result_of(others[i], arrays))
        fail(calls[i].name, "differs in another source file");
      check_graph(calls[i], arrays);
    }
    check_devices(calls, arrays);
  }
  check_limits();
  if (names_of_another() != 7) fail("names", "are not the program's");
  std::puts("calls do as they say");
  return 0;
}
