/* The plans of the GPU plugin for all counts up to a bound, and around each multiple of what a plan
 * divides by beyond it, with every limit of shared memory that makes a difference;
 * docs/exhaustive.md says why these are all.
 *
 * Usage: all_plans BITS: all counts up to 2^BITS */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

#include "cuda/merge/plan.h"
#include "cuda/sort/carry/plan.h"
#include "cuda/sort/sample/merge_plan.h"
#include "cuda/sort/sample/plan.h"

/* Shared memory of a block: the least that CUDA's devices have, and more than any has. */
enum { LEAST_SHARED = 48 << 10, MOST_SHARED = 256 << 10, MOST_LIMITS = 64 };

static unsigned bits;
static uint64_t stride; /* of limits of shared memory, and of multiples: from 16 bits on 1 */

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Pairs, with the bytes of what is sampled of them and of an index: packed, then of keys of 32, 64
 * and 128 bits. */
static const struct {
  sample_traits traits;
  uint32_t sample, index;
} pairs_of[] = {{{8, 8, 8}, 16, 4},  {{8, 8, 4}, 8, 4},   {{12, 8, 4}, 12, 4},
                {{16, 8, 4}, 16, 8}, {{20, 8, 4}, 20, 4}, {{24, 8, 4}, 24, 8}};
static const uint32_t multiprocessors[] = {1, 2, 132, 1024};

static bool is_power(uint64_t value)
{
  return value > 0 && (value & (value - 1)) == 0;
}

/* ---- Sample sort, and merges of runs ---- */

static device_job job_with(uint64_t count, uint64_t shared, uint32_t processors)
{
  return (device_job){.count = count,
                      .key_bits = 64,
                      .key_width = 64,
                      .index_bits = 32,
                      .shared_bytes = shared,
                      .multiprocessors = processors};
}

/* The limits of shared memory that plans of tiles tell apart. Returns how many there are. */
static size_t limits_of(sample_traits traits, uint64_t *limits)
{
  enum { STATIC = 6 << 10 };
  size_t found = 0;
  uint32_t last = 0;
  for (uint64_t shared = LEAST_SHARED; shared <= MOST_SHARED; shared++) {
    const device_job job = job_with(1, shared, 1);
    const sample_plan plan = sample_plan_of_tiles(&job, traits);
    assert_true(is_power(plan.block));
    assert_in_range(plan.block, WARP_SIZE, SAMPLE_TILE_BLOCK);
    assert_true(plan.block == WARP_SIZE ||
                sample_block_bytes(plan.block, traits) + STATIC <= shared);
    if (plan.block == last) continue;
    assert_true(plan.block > last && found < MOST_LIMITS);
    last = plan.block;
    limits[found++] = shared;
  }
  assert_int_equal(last, SAMPLE_TILE_BLOCK);
  return found;
}

/* Buckets have several times the room that is expected, and their numbers fit where they are. */
static void check_sample(uint64_t count, uint64_t shared, sample_traits traits)
{
  enum { MOST_ROOM = 60 << 20 };
  for (size_t m = 0; m < COUNT_OF(multiprocessors); m++) {
    const device_job job = job_with(count, shared, multiprocessors[m]);
    const sample_plan plan = sample_plan_of(&job, traits);
    if (plan.buckets == 0) return;
    const uint64_t pairs = (uint64_t)plan.buckets * plan.capacity, of = plan.scattered;
    const uint32_t table = sample_table_bins(&plan);
    if (!(plan.buckets <= 2 * plan.scatter_block && plan.buckets <= SAMPLE_MOST_BUCKETS &&
          plan.capacity == plan.tile && plan.tile <= plan.block * traits.items &&
          plan.block <= plan.scatter_block && plan.block % WARP_SIZE == 0 && pairs >= 3 * count &&
          pairs * traits.pair_bytes <= MOST_ROOM && plan.samples >= 4 * plan.buckets &&
          plan.samples <= 8 * SAMPLE_MOST_BUCKETS && of > 0 &&
          of <= plan.scatter_block * SAMPLE_SCATTER_ITEMS && table >= plan.buckets &&
          table % 8 == 0 && table <= 12 * plan.scatter_block))
      fail_msg("sample plan of %llu pairs of %u bytes, %llu bytes shared",
               (unsigned long long)count, traits.pair_bytes, (unsigned long long)shared);
  }
}

static void test_sample(void **state)
{
  (void)state;
  for (size_t t = 0; t < COUNT_OF(pairs_of); t++) {
    uint64_t limits[MOST_LIMITS];
    const size_t found = limits_of(pairs_of[t].traits, limits);
    for (size_t l = 0; l < found; l++) {
      for (uint64_t count = 1; count <= UINT64_C(1) << bits; count++)
        check_sample(count, limits[l], pairs_of[t].traits);
      for (unsigned bit = bits; bit < 62; bit++)
        for (uint64_t count = (UINT64_C(1) << bit) - 2; count <= (UINT64_C(1) << bit) + 2; count++)
          check_sample(count, limits[l], pairs_of[t].traits);
    }
  }
}

/* A tile has fewer than (samples + runs) * step elements. What a merge needs besides keys is no
 * more than the indices, in which it lies; there are most samples if one run has all keys. */
static void check_merge(uint64_t shared, size_t pair, uint32_t runs)
{
  enum { ROUNDED = 5 * 16 };
  const sample_traits traits = pairs_of[pair].traits;
  const uint64_t index = pairs_of[pair].index, sample = pairs_of[pair].sample;
  const device_job job = job_with(1, shared, 1);
  if (!sample_merge_fits(&job, traits, runs)) return;
  const sample_merge_plan plan = sample_merge_plan_of(&job, traits, runs);
  const uint64_t step = UINT64_C(1) << plan.step_bits;
  const uint64_t loop = 4 * (uint64_t)plan.tile;
  assert_true(plan.samples > 0 && (plan.samples + runs) * step <= plan.tile);
  assert_true(plan.samples * step <= plan.joined && plan.joined <= plan.tile);
  assert_true(plan.tile <= plan.block * traits.items);
  for (uint64_t count = plan.tile + 1; count <= loop; count++) {
    sample_runs all = {runs, 0, {0}};
    for (uint32_t r = 1; r <= runs; r++)
      all.bounds[r] = count;
    if (sample_merge_bytes(&plan, &all, (uint32_t)sample) > index * count)
      fail_msg("merge of %u runs, %llu pairs of %u bytes", runs, (unsigned long long)count,
               traits.pair_bytes);
  }
  /* Beyond, by the bound of docs/exhaustive.md, times samples * step^2. */
  const uint64_t unit = plan.samples * step * step;
  const uint64_t each = runs * sizeof(uint64_t) * step + sample * plan.samples * (step + 1);
  assert_true(each <= index * unit);
  assert_true((runs * sizeof(uint64_t) + ROUNDED) * unit <= (index * unit - each) * loop);
}

static void test_merges(void **state)
{
  (void)state;
  for (size_t t = 0; t < COUNT_OF(pairs_of); t++) {
    uint64_t limits[MOST_LIMITS];
    const size_t found = limits_of(pairs_of[t].traits, limits);
    for (size_t l = 0; l < found; l++)
      for (uint32_t runs = 1; runs <= SAMPLE_MOST_RUNS; runs++)
        check_merge(limits[l], t, runs);
  }
}

/* ---- Merge sort ---- */

/* Items of a thread that merges tiles and of one that moves records, with bytes of pairs and keys.
 */
static const uint32_t tiles[][2] = {{13, 8}, {7, 12}, {7, 16}, {7, 20}, {7, 24}};
static const uint32_t moves[][2] = {{13, 4}, {9, 8}, {7, 16}};

static void check_merge_sort(const device_job *job)
{
  enum { PLACE_BITS = 12, TAG_BITS = 16 };
  for (size_t t = 0; t < COUNT_OF(tiles); t++) {
    const merge_plan plan = merge_plan_of(job, tiles[t][0], tiles[t][1]);
    const uint64_t chunks = plan_blocks(job->count, plan.chunk);
    if (!(is_power(plan.chunk_block) && plan.chunk_block >= MERGE_LEAST_BLOCK &&
          plan.chunk_block <= MERGE_CHUNK_BLOCK &&
          plan.chunk == plan.chunk_block * MERGE_CHUNK_ITEMS && is_power(plan.tile_block) &&
          plan.tile_block >= MERGE_LEAST_BLOCK && plan.tile_block <= MERGE_TILE_BLOCK &&
          plan.tile == plan.tile_block * tiles[t][0] && plan.tile < 1 << TAG_BITS &&
          merge_tile_bytes(&plan, tiles[t][1]) <= job->shared_bytes &&
          chunks * plan.chunk >= job->count && chunks * plan.chunk - job->count < plan.chunk))
      fail_msg("merge plan of %llu pairs of %u bytes, %llu bytes shared",
               (unsigned long long)job->count, tiles[t][1], (unsigned long long)job->shared_bytes);
  }
  for (size_t m = 0; m < COUNT_OF(moves); m++) {
    const move_plan plan = move_plan_of(job, moves[m][0], moves[m][1]);
    if (!(is_power(plan.block) && plan.block >= MERGE_LEAST_BLOCK &&
          plan.block <= MERGE_TILE_BLOCK && plan.tile > 0 && plan.tile <= 1 << PLACE_BITS &&
          plan.tile + (DEVICE_MOVED_RUNS / 2) * (moves[m][0] - 1) <= plan.block * moves[m][0] &&
          move_bytes(&plan, moves[m][1]) <= job->shared_bytes))
      fail_msg("move plan of %llu records, keys of %u bytes, %llu bytes shared",
               (unsigned long long)job->count, moves[m][1], (unsigned long long)job->shared_bytes);
  }
}

static void test_merge_sorts(void **state)
{
  (void)state;
  for (size_t m = 0; m < COUNT_OF(multiprocessors); m++) {
    for (uint64_t count = 1; count <= UINT64_C(1) << bits; count++) {
      const device_job job = job_with(count, 227 << 10, multiprocessors[m]);
      check_merge_sort(&job);
    }
    for (uint64_t shared = LEAST_SHARED; shared <= MOST_SHARED; shared += stride)
      for (unsigned bit = 0; bit < 62; bit++) {
        const device_job job = job_with(UINT64_C(1) << bit, shared, multiprocessors[m]);
        check_merge_sort(&job);
      }
  }
}

/* ---- Carry sort ---- */

/* Bytes of an element, and of the code of its key. */
static const uint32_t carried[][2] = {{4, 4},  {8, 4},   {12, 4},  {8, 8},  {12, 8},
                                      {16, 8}, {16, 16}, {24, 16}, {32, 16}};

static void check_carry_plan(const carry_plan *plan, uint64_t shared, const uint32_t *of)
{
  const uint64_t two = carry_room(shared, 2), three = carry_room(shared, 3);
  bool good = plan->levels >= 1 && plan->levels <= CARRY_MAX_LEVELS && plan->most > 0 &&
              plan->most % CARRY_SORT_BLOCK == 0 && plan->most <= CARRY_MOST && plan->joined > 0 &&
              plan->joined <= plan->most &&
              carry_sort_bytes(plan->most, of[1]) + plan->most * of[0] <= two;
  for (uint32_t level = 0; level < plan->levels; level++) {
    const uint32_t tile = plan->tiles[level], buckets = plan->buckets[level];
    const uint32_t samples = carry_samples(plan, level);
    const uint64_t room = level ? three : two;
    good = good && buckets % 2 == 0 && buckets >= 2 && buckets <= CARRY_MOST_BUCKETS &&
           tile % CARRY_BLOCK == 0 && tile > 0 && tile <= CARRY_FIRST_ITEMS * CARRY_BLOCK &&
           carry_cell_bits(buckets) <= CARRY_CELL_BITS && samples >= buckets &&
           samples <= CARRY_MOST && carry_choose_bytes(plan, level, of[1]) <= two &&
           (plan->keys_only ? carry_keys_bytes(buckets) <= three
                            : tile * of[0] + carry_split_bytes(tile, buckets, of[1]) <= room) &&
           carry_most_tiles(plan, level) <= UINT32_MAX;
  }
  /* Parts and sections are numbered with 32 bits. */
  good = good && carry_most_parts(plan) <= UINT32_MAX && carry_sections(plan) <= UINT32_MAX;
  if (!good)
    fail_msg("carry plan of %llu elements of %u bytes, keys of %u, %llu bytes shared",
             (unsigned long long)plan->count, of[0], of[1], (unsigned long long)shared);
}

static void check_carry(uint64_t count, uint64_t shared, const uint32_t *of)
{
  for (unsigned only = 0; only < 2; only++) {
    carry_plan plan;
    if (carry_plan_of(&plan, count, shared, of[0], of[1], only))
      check_carry_plan(&plan, shared, of);
    if (carry_plan_segments(&plan, plan_min(8 * count, UINT32_MAX / 2), 8, count, shared, of[0],
                            of[1], only))
      check_carry_plan(&plan, shared, of);
  }
}

static void test_carry(void **state)
{
  static const uint64_t usual[] = {48 << 10, 64 << 10, 99 << 10, 163 << 10, 227 << 10};
  const uint64_t most = (uint64_t)CARRY_MOST_BUCKETS * CARRY_MOST_BUCKETS * CARRY_MOST;
  (void)state;
  for (size_t c = 0; c < COUNT_OF(carried); c++) {
    for (size_t s = 0; s < COUNT_OF(usual); s++) {
      for (uint64_t count = 0; count <= UINT64_C(1) << bits; count++)
        check_carry(count, usual[s], carried[c]);
      /* Buckets are counted in multiples of 1024 elements at most, and there are 2^18. */
      for (uint64_t count = 1024; count <= most; count += 1024 * stride)
        for (uint64_t n = count - 1; n <= count + 1; n++)
          check_carry(n, usual[s], carried[c]);
    }
    for (uint64_t shared = LEAST_SHARED; shared <= MOST_SHARED; shared += stride)
      for (unsigned bit = 0; bit < 36; bit += 3)
        check_carry(UINT64_C(1) << bit, shared, carried[c]);
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sample), cmocka_unit_test(test_merges),
                                     cmocka_unit_test(test_merge_sorts),
                                     cmocka_unit_test(test_carry)};
  if (argc != 2) return 2;
  bits = (unsigned)strtoul(argv[1], NULL, 10);
  if (bits < 1 || bits > 24) return 2;
  stride = bits < 16 ? 100 : 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
