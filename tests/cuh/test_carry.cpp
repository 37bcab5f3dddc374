/* The sort of recsort.cuh that moves values along with their keys, in small: blocks, tiles and
 * buckets of many sizes, one level and two, against a sort of the C++ library, byte by byte. */
#include <recsort.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "support/random.h"

namespace
{

using namespace recsort_kernels;
using namespace recsort_kernels::carry;

uint64_t state = 39;
unsigned long checks;

/* Memory for a sort, poisoned. */
struct arrays {
  std::vector<void *> all;

  void *take(uint64_t bytes)
  {
    enum { ALIGNMENT = 256 };
    const size_t size = (size_t)(bytes / ALIGNMENT + 1) * ALIGNMENT;
    void *const memory = std::aligned_alloc(ALIGNMENT, size);
    if (!memory) std::exit(1);
    std::memset(memory, 0xaa, size);
    all.push_back(memory);
    return memory;
  }
  ~arrays()
  {
    for (void *memory : all)
      std::free(memory);
  }
};

enum contents {
  RANDOM,
  FEW,
  ALIKE,
  ASCENDING,
  DESCENDING,
  SAW,
  SHORT,       /* of all lengths */
  MOSTLY_LAST, /* nine in ten are one of the three greatest */
  MOSTLY_ZERO,
  NARROW,
  STEPS,   /* nearly in order, with repeats */
  FLOATS,  /* with zeros of both signs and NaNs */
  REPEATS, /* of a few hundred keys that lie far apart */
  PACKED,  /* a few upper halves, with lower halves in a small range */
  CONTENTS
};

uint32_t float_bits(uint64_t random)
{
  float number = (float)(random >> 40) * (random & 1 ? 1e-3f : -1e-3f);
  uint32_t bits;
  if (random % 50 == 0) number = random & 2 ? 0.0f : -0.0f;
  std::memcpy(&bits, &number, sizeof bits);
  return random % 77 == 0 ? 0x7fc00000 | (uint32_t)(random >> 20 & 0xffff) : bits;
}

template <class Key> Key key_of(contents how, uint64_t i, uint64_t count)
{
  const unsigned width = 8 * sizeof(Key);
  const uint64_t random = next_random(&state);
  Key key = (Key)random;
  if (width > 64) key = (Key)((Key)(key << (width / 2)) | (Key)next_random(&state));
  switch (how) {
  case FEW:
    return (Key)(random % 7);
  case ALIKE:
    return (Key)5;
  case ASCENDING:
    return (Key)i;
  case DESCENDING:
    return (Key)(count - i);
  case SAW:
    return (Key)((Key)(i % 97) << (width - 8));
  case SHORT:
    return (Key)(key >> random % width);
  case MOSTLY_LAST:
    return random % 10 ? (Key)(~(Key)0 - random % 3) : key;
  case MOSTLY_ZERO:
    return random % 16 ? 0 : key;
  case NARROW:
    return (Key)(1000 + random % 200);
  case STEPS:
    return i % 1000 < 990 ? (Key)(i / 50) : key;
  case FLOATS:
    return (Key)((Key)float_bits(random) << (width - 32));
  case REPEATS:
    return (Key)((Key)(random % 300) * (Key)0x0100000001000001);
  case PACKED:
    return (Key)((Key)(random % 9) << (width / 2) | (Key)(5000 + (random >> 32) % 1000));
  default:
    return key;
  }
}

carry_plan some_plan(uint64_t count, bool keys_only)
{
  carry_plan plan = {};
  plan.keys_only = keys_only;
  plan.count = count;
  plan.tiles[0] = CARRY_BLOCK * (uint32_t)(1 + random_below(&state, CARRY_FIRST_ITEMS));
  plan.tiles[1] = CARRY_BLOCK * (uint32_t)(1 + random_below(&state, CARRY_SECOND_ITEMS));
  if (keys_only) plan.tiles[0] = plan.tiles[1] = CARRY_KEYS_TILE;
  plan.most =
      CARRY_SORT_BLOCK * (uint32_t)(1 + random_below(&state, CARRY_MOST / CARRY_SORT_BLOCK));
  plan.samples = CARRY_MOST;
  plan.joined = plan.most / (uint32_t)(1 + random_below(&state, 3));
  plan.levels = 1 + (uint32_t)random_below(&state, 2);
  for (uint32_t &buckets : plan.buckets)
    buckets = 2 + 2 * (uint32_t)random_below(&state, 20);
  plan.far_befores = plan.levels > 1 && random_below(&state, 2);
  return plan;
}

/* Offsets of segments of mixed lengths, of which some are empty. The first and the last elements
 * may be in none. */
std::vector<uint32_t> some_offsets(uint64_t count)
{
  std::vector<uint32_t> offsets = {
      (uint32_t)random_below(&state, 1 + random_below(&state, 99) % count)};
  const uint64_t longest = 1 + random_below(&state, count), last = count - random_below(&state, 2);
  do {
    const uint64_t length =
        random_below(&state, 4) ? random_below(&state, longest) >> random_below(&state, 12) : 0;
    offsets.push_back((uint32_t)std::min(last, offsets.back() + length));
  } while (offsets.back() < last && random_below(&state, 200));
  return offsets;
}

template <class Key, class Value>
void check(const char *what, contents how, uint64_t count, bool in_segments = false)
{
  const bool in_place = random_below(&state, 2), numbered = random_below(&state, 2);
  const bool wide = random_below(&state, 2);
  const uint64_t told =
      in_segments || random_below(&state, 3) ? count : random_below(&state, count + 1);
  std::vector<uint32_t> offsets = {0, (uint32_t)told};
  device_pairs job = {};
  arrays space;
  std::vector<Key> keys(count), sorted(count);
  std::vector<Value> values(count), moved(count);
  std::vector<uint32_t> order(count);
  for (uint64_t i = 0; i < count; i++)
    keys[i] = key_of<Key>(how, i, count);
  if constexpr (has_value<Value>)
    for (uint64_t i = 0; i < count; i++)
      values[i] = (Value)i;
  job.count = count;
  job.kind = sizeof(Key) < 16 && random_below(&state, 2) ? RECSORT_KEY_FLOAT
             : random_below(&state, 2)                   ? RECSORT_KEY_SIGNED
                                                         : RECSORT_KEY_UNSIGNED;
  job.flags = random_below(&state, 2) ? RECSORT_KEY_DESCENDING : 0;
  job.key_width = job.bits = 8 * sizeof(Key);
  if (how == RANDOM && random_below(&state, 3) == 0) {
    job.first_bit = (uint32_t)random_below(&state, 9);
    job.bits = 1 + (uint32_t)random_below(&state, job.key_width - job.first_bit);
  }
  const bool exact = compares_all(job) && can_be_keys_only<Key, Value>;
  carry_plan plan = some_plan(count, exact && random_below(&state, 4));
  if (in_segments) {
    offsets = some_offsets(count);
    plan.levels = 1;
    plan.far_befores = false;
    plan.segments = (uint32_t)offsets.size() - 1;
  }
  const std::vector<uint64_t> wide_offsets(offsets.begin(), offsets.end());
  job.segments.offsets = wide ? (const void *)wide_offsets.data() : offsets.data();
  job.segments.count = plan.segments;
  job.segments.offset_bits = wide ? 64 : 32;
  if (!in_segments && (told < count || random_below(&state, 2))) job.device_count = &told;
  std::iota(order.begin(), order.end(), 0);
  for (size_t s = 0; s + 1 < offsets.size(); s++)
    std::stable_sort(order.begin() + offsets[s], order.begin() + offsets[s + 1],
                     [&](uint32_t a, uint32_t b) {
                       const auto code = [&](Key key) {
                         return (Key)((pairs::code_of(job, key) & pairs::compared_mask<Key>(job)) >>
                                      job.first_bit);
                       };
                       return code(keys[a]) < code(keys[b]);
                     });
  std::vector<Key> in = keys;
  if (in_place) {
    sorted = keys;
    moved = values;
  }
  sort_state<Key, Value> sort = {};
  sort.plan = &plan;
  sort.memory = divide<Key, Value>(plan, &space);
  sort.order = key_order_of<Key>(job);
  sort.segments = job.segments;
  sort.multiprocessors = 3;
  sort.stream = NULL;
  sort.in = {in_place ? sorted.data() : in.data(), NULL};
  sort.out = {sorted.data(), moved.data()};
  if (in_place || !numbered) sort.in.values = in_place ? moved.data() : values.data();
  bool right = start(sort) == 0;
  for (uint64_t i = 0; i < count && right; i++) { /* what is behind as many as told stays */
    right = std::memcmp(&sorted[i], &keys[order[i]], sizeof(Key)) == 0;
    if constexpr (has_value<Value>) right = right && moved[i] == (Value)order[i];
  }
  checks++;
  if (right) return;
  std::printf("%s, contents %d, %llu elements: tiles %u %u, most %u, levels %u, buckets %u %u, "
              "segments %u\n",
              what, how, (unsigned long long)count, plan.tiles[0], plan.tiles[1], plan.most,
              plan.levels, plan.buckets[0], plan.buckets[1], plan.segments);
  std::exit(1);
}

template <class Key, class Value> void check_all(const char *what)
{
  enum { ROUNDS = 3, FEWEST = 300, MOST = 12000 };
  for (unsigned round = 0; round < ROUNDS; round++)
    for (int how = 0; how < CONTENTS; how++)
      check<Key, Value>(what, (contents)how,
                        1 + random_below(&state, random_below(&state, 4) ? MOST : FEWEST),
                        round == 1);
}

/* Offsets behind the last element are as if they were there; if offsets do not ascend, all stays.
 */
void check_offsets(const std::vector<uint64_t> &offsets, bool sorts)
{
  enum { COUNT = 5000 };
  carry_plan plan = some_plan(COUNT, random_below(&state, 2));
  arrays space;
  std::vector<uint32_t> keys(COUNT), wanted;
  for (uint32_t &key : keys)
    key = (uint32_t)next_random(&state);
  wanted = keys;
  const auto place = [&](uint64_t offset) {
    return wanted.begin() + (ptrdiff_t)std::min<uint64_t>(offset, COUNT);
  };
  for (size_t s = 0; s + 1 < offsets.size() && sorts; s++)
    std::sort(place(offsets[s]), place(offsets[s + 1]));
  plan.levels = 1;
  plan.far_befores = false;
  plan.segments = (uint32_t)offsets.size() - 1;
  device_pairs job = {};
  job.count = COUNT;
  job.kind = RECSORT_KEY_UNSIGNED;
  job.key_width = job.bits = 32;
  sort_state<uint32_t, no_value> sort = {};
  sort.plan = &plan;
  sort.memory = divide<uint32_t, no_value>(plan, &space);
  sort.order = key_order_of<uint32_t>(job);
  sort.segments = {offsets.data(), plan.segments, 64, 0};
  sort.multiprocessors = 3;
  sort.in = sort.out = {keys.data(), NULL};
  checks++;
  if (start(sort) == 0 && keys == wanted) return;
  std::printf("offsets %llu %llu ... are not as promised\n", (unsigned long long)offsets[0],
              (unsigned long long)offsets[1]);
  std::exit(1);
}

/* Numbers that are no more than parts have one each; others are divided in their order. */
void check_parts()
{
  for (uint32_t most :
       {1u, 2u, 9u, CARRY_BINS - 2u, CARRY_BINS - 1u, CARRY_BINS + 0u, 99999u, ~0u}) {
    const range_parts part = range_parts_of(CARRY_BINS, most);
    for (uint64_t number = 0; number <= most; number += most / CARRY_BINS + 1) {
      const uint32_t own = part((uint32_t)number),
                     next = part((uint32_t)plan_min(number + 1, most));
      checks++;
      if (own < CARRY_BINS && own <= next && (most >= CARRY_BINS || own == number)) continue;
      std::printf("number %llu of %u is in part %u\n", (unsigned long long)number, most, own);
      std::exit(1);
    }
  }
}

/* A place of an entry begins at the first distance that is in it. */
template <class Code> void check_places()
{
  for (uint32_t shift = 1; shift <= 8 * sizeof(Code) - 6; shift++)
    for (uint32_t place = 0; place < ENTRY_PLACES; place++) {
      const Code begin = place_begin<Code>(place, shift);
      checks++;
      if (begin >> shift) continue; /* an entry of few codes has fewer places */
      if (place_in_entry(begin, shift) >= place &&
          (begin == 0 || place_in_entry((Code)(begin - 1), shift) < place))
        continue;
      std::printf("place %u of entries of %u bits\n", place, shift);
      std::exit(1);
    }
}

/* Sizes that fit in shared memory, for devices and elements of all kinds. */
void check_plans()
{
  for (uint64_t shared : {48ul << 10, 64ul << 10, 99ul << 10, 163ul << 10, 227ul << 10})
    for (uint32_t code : {4u, 8u, 16u})
      for (uint32_t value : {0u, 1u, 4u, 8u, 16u})
        for (uint64_t count = 1; count < UINT64_C(1) << 34; count *= 3) {
          carry_plan plan;
          checks += 2;
          if (carry_plan_segments(&plan, count, count / 99 + 1, count / 7 + 1, shared, code + value,
                                  code, code == 4 && value == 0) &&
              (plan.levels > 1 || plan.joined == 0 || plan.joined > plan.most || count >> 31 ||
               carry_most_parts(&plan) <= count / plan.most + plan.segments)) {
            std::printf("plan of segments of %llu elements\n", (unsigned long long)count);
            std::exit(1);
          }
          if (!carry_plan_of(&plan, count, shared, code + value, code, code == 4 && value == 0))
            continue;
          const uint64_t parts = carry_most_parts(&plan);
          if (plan.tiles[0] % CARRY_BLOCK == 0 && plan.tiles[1] % CARRY_BLOCK == 0 &&
              plan.most % CARRY_SORT_BLOCK == 0 && plan.tiles[0] <= UINT16_MAX &&
              plan.buckets[0] % 2 == 0 && plan.joined <= plan.most && plan.joined > 0 &&
              parts > count / plan.most &&
              plan.most * (code + value) + carry_sort_bytes(plan.most, code) < shared)
            continue;
          std::printf("plan of %llu elements of %u and %u bytes\n", (unsigned long long)count, code,
                      value);
          std::exit(1);
        }
}

} // namespace

/* Fails unless sorts take a path that is rare on a device. */
void check_path(const char *name)
{
  emulator_count_path(name);
  check_all<uint64_t, uint32_t>(name);
  check_all<uint32_t, no_value>(name);
  if (emulator_path_count() > 0) return;
  std::printf("no sort took the path %s\n", name);
  std::exit(1);
}

int main()
{
  check_plans();
  check_parts();
  check_places<uint32_t>();
  check_places<uint64_t>();
  check_places<device_uint128>();
  check_offsets({10, 2000, 4000, 6000, UINT64_MAX}, true);
  check_offsets({0, 3000, 2999, 5000}, false);
  check_offsets(std::vector<uint64_t>(1000, 77), true);
  for (const char *path : {"carry_exactly", "carry_oversized", "carry_widest", "carry_folded",
                           "carry_sample", "carry_ties"})
    check_path(path);
  check_all<uint32_t, uint32_t>("u32 + u32");
  check_all<uint32_t, no_value>("u32");
  check_all<uint64_t, uint32_t>("u64 + u32");
  check_all<uint64_t, no_value>("u64");
  check_all<device_uint128, uint64_t>("u128 + u64");
  check_all<uint32_t, unsigned char>("u32 + u8");
  std::printf("%lu checks\n", checks);
  return 0;
}
