/* pairs.cu - keys with values, sorted by recsort, by its header alone and by CUB. A record is the
 * type of its key, such as f32, u64, or u40 for 40 bits of 64; with values of 32 or 64 bits, as
 * f32+u32; without, when places in the input are the values, which CUB must be given; or f32+none
 * for keys alone.
 *
 * Values are places in any case: if keys ascend strictly by (key, place), and each is the key of
 * its place, this is the stable order of all. Keys alone ascend, and a sum of hashes stays. */
#include <recsort.cuh>

#include "bench.cuh"

namespace bench
{

namespace
{

template <class Key, class Value>
__global__ void fill(Key *keys, Value *values, uint64_t count, input from, Key flip)
{
  const uint64_t i = thread_number();
  if (i >= count) return;
  keys[i] = key_at<Key>(from, i) ^ flip;
  if (values) values[i] = (Value)i;
}

template <class Key, class Value>
__global__ void look(const Key *keys, const Value *values, uint64_t count, input from, Key flip,
                     unsigned *wrong)
{
  const uint64_t i = thread_number();
  if (i >= count) return;
  const Key key = keys[i] ^ flip;
  bool good = values[i] < count && key == key_at<Key>(from, values[i]);
  if (i + 1 < count) {
    const Key next = keys[i + 1] ^ flip;
    good = good && (key < next || (key == next && values[i] < values[i + 1]));
  }
  if (!good) atomicAdd(wrong, 1u);
}

template <class Key> __device__ unsigned hash(Key key)
{
  if constexpr (sizeof(Key) > sizeof(uint64_t))
    return (unsigned)mix((uint64_t)key ^ mix((uint64_t)(key >> 64)));
  else
    return (unsigned)mix(key);
}

template <class Key>
__global__ void look_at_keys(const Key *keys, uint64_t count, input from, Key flip, unsigned *wrong)
{
  const uint64_t i = thread_number();
  if (i >= count) return;
  const Key key = keys[i] ^ flip;
  const bool good = i + 1 == count || key <= (Key)(keys[i + 1] ^ flip);
  atomicAdd(wrong, hash(key) - hash(key_at<Key>(from, i)) + !good);
}

struct pairs_kind {
  cub_type type;
  recsort_type ours;
  unsigned bits;
  bool numbered; /* recsort gets no values */
  bool alone;    /* nor does CUB */
};

template <class Key, class Value> struct pairs_trial : trial {
  pairs_trial(const request &asked, const pairs_kind &kind);
  void add_ours(const char *algorithm, const std::string &name, const checking &how);
  void add_header();
  template <class Called> cudaError_t call_header(void *at, size_t &bytes) const;
  void add_cub(const cub_named &cub, const char *name, cub_sort *sort, bool in_place);
  void add_copy();
  void copy(void *to, const void *from, size_t bytes) const
  {
    CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
  }

  size_t count;
  pairs_kind kind;
  Key flip; /* so that codes become floats */
  input from;
  array<Key> keys_in, keys_out;
  array<Value> values_in, values_out;
  std::unique_ptr<array<char>> workspace; /* of all contenders, which run one at a time */
  size_t workspace_bytes = 0;
  recsort_array moved;
  array<uint32_t> status{1};
  std::vector<std::unique_ptr<device_job>> jobs;
  tally wrong;
};

template <class Key, class Value>
pairs_trial<Key, Value>::pairs_trial(const request &asked, const pairs_kind &of)
    : count(asked.count), kind(of), flip(of.type == cub_type::f32 ? (Key)0x80000000u : 0),
      from(0, order_of(asked.order), asked.count, of.bits), keys_in(count), keys_out(count),
      values_in(of.alone ? 0 : count),
      values_out(values_in.size() / sizeof(Value)), moved{values_in, values_out, sizeof(Value)}
{
  record_size = sizeof(Key) + (kind.alone ? 0 : sizeof(Value));
  if (flip && from.kind != order::random) fail("f32 has random keys only; u32 has any");
  prepare = [this] {
    from.seed = mix(from.seed + 1);
    keys_out.poison();
    values_out.poison();
    workspace->poison();
    fill<<<grid_of(count), 256, 0, stream>>>((Key *)keys_in, (Value *)values_in, count, from, flip);
  };
  right = [this] {
    if (kind.alone)
      look_at_keys<<<grid_of(count), 256, 0, stream>>>((const Key *)keys_out, count, from, flip,
                                                       wrong.reset());
    else
      look<<<grid_of(count), 256, 0, stream>>>((const Key *)keys_out, (const Value *)values_out,
                                               count, from, flip, wrong.reset());
    return wrong.value() == 0;
  };
  if (asked.detail == "checked") {
    for (const checking &how : checkings)
      add_ours(nullptr, how.name, how);
    workspace = std::make_unique<array<char>>(workspace_bytes);
    return;
  }
  for (const cub_named &cub : cubs()) {
    add_cub(cub, "DeviceMergeSort", cub.sorts->merge, true);
    add_cub(cub, "DeviceRadixSort", cub.sorts->radix, false);
  }
  add_copy();
  add_header();
  for (const std::string &algorithm : asked.algorithms)
    add_ours(algorithm.c_str(), "recsort " + algorithm, checkings[0]);
  workspace = std::make_unique<array<char>>(workspace_bytes);
}

template <class Key, class Value>
void pairs_trial<Key, Value>::add_ours(const char *algorithm, const std::string &name,
                                       const checking &how)
{
  recsort_schema *schema = nullptr;
  recsort_error error = {};
  check(recsort_schema_create_number(kind.ours, RECSORT_ASCENDING, (recsort_nan)0, nullptr, &schema,
                                     &error),
        error);
  recsort_job job = RECSORT_JOB_INIT;
  job.count = count;
  job.bits = kind.bits;
  job.records = keys_in;
  job.sorted = keys_out;
  job.permutation = kind.numbered ? (Value *)values_out : nullptr;
  job.index_bits = 8 * sizeof(Value);
  job.array_count = !kind.numbered && !kind.alone;
  job.arrays = job.array_count ? &moved : nullptr;
  job.status = how.has_status ? (uint32_t *)status : nullptr;
  jobs.push_back(std::make_unique<device_job>(make_sorter(schema, algorithm, how.verify), job));
  const device_job *const made = jobs.back().get();
  add_both({name, [made] { made->run(); }, made->bytes()});
}

/* By recsort.cuh, of keys of the type `Called`. */
template <class Key, class Value>
template <class Called>
cudaError_t pairs_trial<Key, Value>::call_header(void *at, size_t &bytes) const
{
  const Called *const from = (const Called *)(const Key *)keys_in;
  Called *const to = (Called *)(Key *)keys_out;
  return kind.alone ? recsort::sort_keys(at, bytes, from, to, count, stream, 0, kind.bits)
                    : recsort::sort_pairs(at, bytes, from, to,
                                          kind.numbered ? nullptr : (const Value *)values_in,
                                          (Value *)values_out, count, stream, 0, kind.bits);
}

template <class Key, class Value> void pairs_trial<Key, Value>::add_header()
{
  const auto call = [this](void *at, size_t &bytes) {
    if constexpr (sizeof(Key) == sizeof(float))
      if (kind.type == cub_type::f32) return call_header<float>(at, bytes);
    return call_header<Key>(at, bytes);
  };
  size_t bytes = 0;
  CHECK(call(nullptr, bytes));
  workspace_bytes = std::max(workspace_bytes, bytes);
  add_both({"recsort.cuh",
            [=] {
              size_t given = bytes;
              CHECK(call(*workspace, given));
            },
            bytes});
}

template <class Key, class Value>
void pairs_trial<Key, Value>::add_cub(const cub_named &cub, const char *name, cub_sort *sort,
                                      bool in_place)
{
  const cub_pairs at = {
      kind.type,      kind.bits, sizeof(Value), {keys_in, keys_out}, {values_in, values_out},
      (uint32_t)count};
  size_t bytes = 0;
  CHECK(sort(at, nullptr, bytes, stream));
  workspace_bytes = std::max(workspace_bytes, bytes);
  contender one = {cub.name + "::" + name,
                   [=] {
                     size_t given = bytes;
                     CHECK(sort(at, *workspace, given, stream));
                   },
                   bytes};
  if (in_place)
    one.prepare = [this] {
      prepare();
      copy(keys_out, keys_in, keys_in.size());
      copy(values_out, values_in, values_in.size());
    };
  add_both(one);
}

/* Not a sort: the least time of all that move every pair once. */
template <class Key, class Value> void pairs_trial<Key, Value>::add_copy()
{
  contender one = {"cudaMemcpyAsync", [this] {
                     copy(keys_out, keys_in, keys_in.size());
                     copy(values_out, values_in, values_in.size());
                   }};
  one.right = [] { return true; };
  contenders.push_back(one);
}

} // namespace

std::unique_ptr<trial> make_pairs(const request &asked)
{
  const size_t plus = asked.record.find('+');
  const std::string key = asked.record.substr(0, plus);
  const bool numbered = plus == std::string::npos;
  const std::string given = numbered ? "u32" : asked.record.substr(plus + 1);
  const bool alone = given == "none";
  const std::string value = alone ? "u32" : given;
  const unsigned bits = key.size() > 1 ? (unsigned)std::strtoul(key.c_str() + 1, nullptr, 10) : 0;
  const cub_type type = key == "f32" ? cub_type::f32
                        : bits == 32 ? cub_type::u32
                        : bits <= 64 ? cub_type::u64
                                     : cub_type::u128;
  const recsort_type ours = key == "f32" ? RECSORT_FLOAT32
                            : bits == 32 ? RECSORT_UINT32
                            : bits <= 64 ? RECSORT_UINT64
                                         : RECSORT_UINT128;
  const pairs_kind kind = {type, ours, bits, numbered, alone};
  if (bits < 32 || bits > 128 || (key[0] != 'u' && type != cub_type::f32))
    fail("'" + key + "' is no type of keys");
  if (asked.count > UINT32_MAX) fail("more than 2^32 - 1 pairs");
  if (value == "u64" && type == cub_type::u64)
    return std::make_unique<pairs_trial<uint64_t, uint64_t>>(asked, kind);
  if (value != "u32") fail("'" + value + "' is no type of values of " + key);
  if (bits == 32) return std::make_unique<pairs_trial<uint32_t, uint32_t>>(asked, kind);
  if (bits <= 64) return std::make_unique<pairs_trial<uint64_t, uint32_t>>(asked, kind);
  return std::make_unique<pairs_trial<wide_key, uint32_t>>(asked, kind);
}

} // namespace bench
