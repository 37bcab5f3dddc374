/* The plans of device sorts: every element in one pair, every output in one block, at any count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cuda/merge/plan.h"
#include "cuda/sort/sample/merge_plan.h"
#include "cuda/sort/sample/plan.h"
#include "cuda/sort/sample/sample.h"
#include "support/random.h"

/* Where 24, 31 and 32 bits end. */
static const uint64_t oversized[] = {(1 << 24) + 1, (UINT64_C(1) << 31) - 1,
                                     (UINT64_C(1) << 31) + 1, (UINT64_C(1) << 32) - 1,
                                     (UINT64_C(1) << 32) + (2 << 20) + 3};
enum { LARGE = sizeof oversized / sizeof *oversized };

static void blocks_are_rounded_up(void **state)
{
  (void)state;
  assert_int_equal(plan_blocks(0, 7), 0);
  for (uint64_t count = 1; count < 100; count++)
    for (uint64_t each = 1; each < 40; each++) {
      const uint64_t blocks = plan_blocks(count, each);
      assert_true(blocks * each >= count && (blocks - 1) * each < count);
    }
  for (size_t i = 0; i < LARGE; i++)
    assert_int_equal(plan_blocks(oversized[i], 256), oversized[i] / 256 + 1);
  assert_int_equal(plan_blocks(UINT64_MAX, 1), UINT64_MAX);
}

static void check_pair(uint64_t at, uint64_t width, uint64_t count)
{
  const pair_range pair = plan_pair_at(at, width, count);
  assert_int_equal(pair.begin, at / (2 * width) * (2 * width));
  assert_true(pair.begin <= at && at < pair.end && pair.end <= count);
  assert_true(pair.middle == pair.begin + width || (pair.middle == count && pair.end == count));
  assert_true(pair.end == pair.begin + 2 * width || pair.end == count);
}

static void pairs_hold_every_element(void **state)
{
  (void)state;
  for (uint64_t count = 1; count < 70; count++)
    for (uint64_t width = 1; width < 2 * count; width *= 2)
      for (uint64_t at = 0; at < count; at++)
        check_pair(at, width, count);
  for (size_t i = 0; i < LARGE; i++)
    for (uint64_t width = 1; width < 2 * oversized[i]; width *= 2)
      for (uint64_t back = 1; back < 4; back++)
        check_pair(oversized[i] - back, width, oversized[i]);
}

/* A block's outputs begin where those of the previous block end. */
static void check_outputs(uint64_t tile, uint64_t width, uint64_t count)
{
  const uint64_t each = plan_outputs(width, 8 * tile), blocks = plan_blocks(count, each);
  uint64_t next = 0;
  for (uint64_t block = 0; block < blocks; block++) {
    const output_range range = plan_output(block, each, width, count);
    assert_int_equal(range.pair.begin % (2 * width), 0);
    assert_int_equal(range.pair.begin + range.begin, next);
    assert_true(range.begin < range.end && range.end <= range.pair.end - range.pair.begin);
    next = range.pair.begin + range.end;
  }
  assert_int_equal(next, count);
}

static void blocks_hold_every_output(void **state)
{
  (void)state;
  for (uint64_t tile = 1; tile < 14; tile++)
    for (uint64_t count = 1; count < 200; count++)
      for (uint64_t width = tile; width < 2 * count; width *= 2)
        check_outputs(tile, width, count);
  for (size_t i = 0; i < LARGE; i++)
    for (uint64_t width = 1 << 20; width < 2 * oversized[i]; width *= 2)
      check_outputs(1 << 20, width, oversized[i]);
}

static void powers_are_the_largest_below(void **state)
{
  (void)state;
  for (unsigned bit = 0; bit < 64; bit++) {
    const uint64_t power = UINT64_C(1) << bit;
    assert_int_equal(plan_power_below(power), power);
    assert_int_equal(plan_power_below(power | (power - 1)), power);
  }
}

static void tiles_fit(void **state)
{
  (void)state;
  for (uint64_t pair = 8; pair <= 24; pair += 4)
    for (uint64_t shared = 2 * pair; shared < 300000; shared = shared * 3 / 2) {
      device_job job = {.block = 256, .shared_bytes = shared};
      const uint32_t tile = plan_tile(&job, pair);
      assert_true(tile > 0 && 2 * tile * pair <= shared && 2 * tile * pair <= 48 * 1024);
      assert_true(plan_staged(&job, pair) * pair <= shared);
      job.tile = 13;
      assert_int_equal(plan_tile(&job, pair), 13);
      assert_int_equal(plan_staged(&job, pair), 13);
    }
}

static void blocks_have_a_power_of_two_of_threads(void **state)
{
  (void)state;
  for (uint32_t threads = 1; threads <= DEVICE_MAX_BLOCK; threads++) {
    const device_job job = {.block = threads};
    const uint32_t block = plan_block(&job);
    assert_true((block & (block - 1)) == 0 && block <= threads && 2 * block > threads);
  }
}

/* Padded buckets have space for several times the expected pairs. */
static void check_deal(const sample_plan *plan, uint64_t count)
{
  assert_in_range(plan->buckets, 2, SAMPLE_MOST_BUCKETS);
  assert_true(plan->buckets <= 2 * plan->scatter_block);
  assert_true(sample_table_bins(plan) >= plan->buckets);
  assert_true(plan->samples >= 4 * plan->buckets);
  assert_true(plan->capacity == plan->tile &&
              plan->buckets * (uint64_t)plan->capacity >= 3 * count);
  assert_in_range(plan->scattered, 1, plan->scatter_block * SAMPLE_SCATTER_ITEMS);
}

/* Runs fit the device, have a fence for each lane, and are long enough for blocks. */
static void check_ranking(const device_job *job, uint64_t count)
{
  const sample_ranking how = sample_ranking_of(job, count);
  const uint64_t run = UINT64_C(1) << how.run_bits;
  assert_true(how.block % WARP_SIZE == 0 && how.block <= SAMPLE_RANK_BLOCK);
  assert_true(run % (how.block / WARP_SIZE * SAMPLE_WARP_RANKED) == 0);
  assert_true(run >= WARP_SIZE && run * (job->key_width / 8) <= job->shared_bytes);
  assert_true(how.alone ? count <= run : sample_fences(&how, count) * run >= count * WARP_SIZE);
  assert_true(sample_rank_blocks(&how, count) * (how.block / WARP_SIZE * SAMPLE_WARP_RANKED) >=
              count);
}

/* There is space for all pairs, in tiles that fit the device, at any count. */
static void check_sample(uint64_t count, sample_traits traits, uint32_t key_width,
                         uint64_t shared_bytes)
{
  const device_job job = {.count = count,
                          .key_bits = key_width,
                          .key_width = key_width,
                          .index_bits = count > UINT32_MAX ? 64 : 32,
                          .shared_bytes = shared_bytes,
                          .multiprocessors = 132};
  const uint64_t bytes = count * (key_width / 8 + 4), share = shared_bytes < 227 << 10 ? 4 : 10;
  if (count <= 1 << 28) assert_true(sample_extra_bytes(&job) <= plan_max(64 << 20, bytes / share));
  check_ranking(&job, plan_min(count, 1 << 14));
  if (sample_is_small(&job)) {
    assert_true(count <= 1 << 14);
    return;
  }
  const sample_plan plan = sample_plan_of(&job, traits);
  assert_true(plan.tile <= plan.block * traits.items);
  assert_true(sample_block_bytes(plan.block, traits) <= shared_bytes);
  if (plan.buckets == 0) return;
  check_deal(&plan, count);
  check_ranking(&job, plan.samples);
}

static void sample_has_room_for_every_pair(void **state)
{
  (void)state;
  for (uint64_t count = 1; count < UINT64_C(1) << 40; count += 1 + count / 7) {
    check_sample(count, (sample_traits){8, 8, 8}, 32, 227 << 10);
    check_sample(count, (sample_traits){24, 8, 4}, 128, 64 << 10);
  }
  for (uint32_t bits = 0; bits <= 40; bits++)
    check_sample(UINT64_C(1) << bits, (sample_traits){12, 8, 4}, 64, 227 << 10);
}

/* Runs of any lengths, of `count` keys in all. */
static sample_runs runs_of(uint32_t runs, uint64_t count, uint64_t *random)
{
  sample_runs all = {runs, 0, {0}};
  for (uint32_t r = 1; r < runs; r++)
    all.bounds[r] = all.bounds[r - 1] +
                    random_below(random, 1 + (count - all.bounds[r - 1]) / (r % 3 ? runs : 2));
  all.bounds[runs] = count;
  return all;
}

/* No tile is too large, whatever the keys, each has pairs, and samples and cuts fit in the memory
 * of the indices. `sample_bytes` are those of a sample, `index` those of an index. */
static void check_merge(uint64_t shared_bytes, uint64_t count, uint32_t runs, sample_traits traits,
                        uint32_t sample_bytes, uint32_t index, uint64_t *random)
{
  const device_job job = {.count = count, .shared_bytes = shared_bytes, .multiprocessors = 132};
  if (!sample_merge_fits(&job, traits, runs)) return;
  const sample_merge_plan plan = sample_merge_plan_of(&job, traits, runs);
  const sample_runs all = runs_of(runs, count, random);
  const uint64_t step = UINT64_C(1) << plan.step_bits;
  assert_true(plan.samples > 0 && (plan.samples + runs) * step - runs <= plan.tile);
  assert_true(plan.tile <= plan.block * traits.items && runs <= plan.block);
  assert_true(sample_tile_bytes(plan.block, traits) <= shared_bytes);
  assert_int_equal(sample_runs_length(&all), count);
  if (count <= plan.tile) return;
  const sample_runs sampled = sample_runs_sampled(&all, &plan);
  assert_true(sample_merge_tiles(&plan, sample_runs_length(&sampled)) >= 2);
  assert_true(sample_merge_bytes(&plan, &all, sample_bytes) <= count * index);
}

static void merges_have_room_for_every_tile(void **state)
{
  static const uint64_t shared[] = {48 << 10, 64 << 10, 99 << 10, 163 << 10, 227 << 10};
  uint64_t random = 1;
  (void)state;
  for (size_t s = 0; s < sizeof shared / sizeof *shared; s++)
    for (uint32_t runs = 3; runs <= SAMPLE_MOST_RUNS; runs++)
      for (uint64_t count = runs; count < UINT64_C(1) << 33; count += 1 + count) {
        check_merge(shared[s], count, runs, (sample_traits){8, 8, 8}, 16, 4, &random);
        check_merge(shared[s], count, runs, (sample_traits){12, 8, 4}, 12, 4, &random);
        check_merge(shared[s], count, runs, (sample_traits){20, 8, 4}, 20, 4, &random);
        check_merge(shared[s], count, runs, (sample_traits){24, 8, 4}, 24, 8, &random);
      }
}

/* What docs/gpu-sort.md says of an H200. */
static void many_runs_are_merged(void **state)
{
  const device_job job = {.count = 1 << 24, .shared_bytes = 227 << 10, .multiprocessors = 132};
  (void)state;
  assert_true(sample_merge_fits(&job, (sample_traits){8, 8, 8}, SAMPLE_MOST_RUNS));
  assert_true(sample_merge_fits(&job, (sample_traits){24, 8, 4}, SAMPLE_MOST_RUNS));
  assert_false(sample_merge_fits(&job, (sample_traits){8, 8, 8}, SAMPLE_MOST_RUNS + 1));
}

static void few_keys_are_sorted_though_they_are_runs(void **state)
{
  enum { WIDE, PACKED };
  device_job job = {.count = 1 << 22};
  (void)state;
  assert_true(sample_merge_pays(&job, PACKED, 9));
  job.count--;
  assert_false(sample_merge_pays(&job, PACKED, 9));
  assert_false(sample_merge_pays(&job, WIDE, 9));
  job.count = 1 << 21;
  assert_true(sample_merge_pays(&job, PACKED, 8));
  job.count--;
  assert_false(sample_merge_pays(&job, PACKED, 8));
  assert_true(sample_merge_pays(&job, WIDE, 8));
}

/* Passes of two runs leave as many as the last pass takes, and of few pairs one. */
static void the_last_pass_merges_most_runs(void **state)
{
  enum { CHUNK = 4608, SAMPLE_BYTES = 16 };
  const sample_traits packed = {8, 8, 8};
  device_job job = {.key_bits = 32,
                    .key_width = 32,
                    .index_bits = 32,
                    .shared_bytes = 227 << 10,
                    .multiprocessors = 132};
  uint64_t random = 1;
  (void)state;
  job.count = (1 << 22) - 1;
  assert_int_equal(merge_last_width(&job, packed, CHUNK), job.count);
  for (uint64_t runs = SAMPLE_MOST_RUNS; runs < 1 << 16; runs *= 2)
    for (int beyond = -1; beyond <= 1; beyond++)
      for (int some = 0; some < 2; some++) {
        job.count = runs * CHUNK + (uint64_t)(int64_t)beyond;
        if (some) job.count += random_below(&random, job.count);
        const uint64_t width = merge_last_width(&job, packed, CHUNK);
        if (job.count < 1 << 22) continue;
        assert_true(width % CHUNK == 0 && (width / CHUNK & (width / CHUNK - 1)) == 0);
        assert_in_range(plan_blocks(job.count, width), SAMPLE_MERGED_RUNS / 2 + 1,
                        SAMPLE_MERGED_RUNS);
        const sample_runs left = sample_runs_of_width(&job, width);
        const sample_merge_plan plan = sample_merge_plan_of(&job, packed, left.count);
        assert_true(sample_merge_bytes(&plan, &left, SAMPLE_BYTES) < 2 * job.count);
      }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_are_rounded_up),
      cmocka_unit_test(pairs_hold_every_element),
      cmocka_unit_test(blocks_hold_every_output),
      cmocka_unit_test(powers_are_the_largest_below),
      cmocka_unit_test(tiles_fit),
      cmocka_unit_test(blocks_have_a_power_of_two_of_threads),
      cmocka_unit_test(sample_has_room_for_every_pair),
      cmocka_unit_test(merges_have_room_for_every_tile),
      cmocka_unit_test(many_runs_are_merged),
      cmocka_unit_test(few_keys_are_sorted_though_they_are_runs),
      cmocka_unit_test(the_last_pass_merges_most_runs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
