/* The sorts of the GPU plugin in the emulator, on all orderings of a few pairs, whose keys are at
 * both ends: with tiles of few elements, and pairs that go through buckets.
 *
 * Usage: all_kernels MOST-PAIRS */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/sort/sample/plan.h"
#include "emulation/emulator.h"
#include "exhaustive/orderings.h"
#include "gpu/algorithms.h"

static size_t most;

enum { ROOM = 1 << 20 };

__extension__ typedef unsigned __int128 wide_key;

typedef struct trial {
  const device_algorithm *algorithm;
  device_job job;
  unsigned char *memory;
  unsigned tried;
} trial;

static void try_sort(const ordering *o, void *argument)
{
  trial *const t = argument;
  device_job job = t->job;
  job.count = o->count;
  const size_t key_size = job.key_width / 8, index_size = job.index_bits / 8;
  const uint64_t extra = t->algorithm->extra_bytes ? t->algorithm->extra_bytes(&job) : 0;
  const device_buffers buffers = device_divide(&job, t->memory, extra);
  const wide_key greatest = ~(wide_key)0 >> (128 - job.key_width);
  wide_key keys[MOST_ELEMENTS];
  uint64_t mailbox[DEVICE_MAILBOX / 8] = {0};
  unsigned result = 2;
  job.mailbox = mailbox;
  assert_true(device_bytes(&job, extra) <= ROOM);
  for (size_t i = 0; i < o->count; i++) {
    const size_t rank = o->rank[i];
    keys[i] = 2 * rank < o->ranks ? rank : greatest - (o->ranks - 1 - rank);
    memcpy((char *)buffers.keys[0] + i * key_size, &keys[i], key_size);
  }
  emulator_set_order((emulator_order)(t->tried % EMULATOR_ORDERS), t->tried + 1);
  t->tried++;
  if (t->algorithm->sort(&job, &buffers, &result)) fail_msg("%s", emulator_failure());
  assert_in_range(result, 0, 1);
  for (size_t i = 0; i < o->count; i++) {
    wide_key key = 0;
    uint64_t index = 0;
    memcpy(&key, (char *)buffers.keys[result] + i * key_size, key_size);
    memcpy(&index, (char *)buffers.indices[result] + i * index_size, index_size);
    if (key == keys[o->place[i]] && index == o->place[i]) continue;
    for (size_t j = 0; j < o->count; j++)
      print_error("%u ", o->rank[j]);
    fail_msg("%s, %u bits, tile %u: place %zu", t->algorithm->shown.name, job.key_width, job.tile,
             i);
  }
}

static void test_sorts(void **state)
{
  static const sample_tuning buckets = {.most_small = 2,
                                        .most_small_wide = 2,
                                        .most_alone = 2,
                                        .run = 2,
                                        .least_detected = 2,
                                        .least_decided = 2,
                                        .drop_share = 1,
                                        .limit = 2,
                                        .padded = true,
                                        .tile = 4};
  static const uint32_t widths[] = {32, 64, 128};
  (void)state;
  trial t = {.memory = aligned_alloc(DEVICE_ALIGNMENT, ROOM)};
  for (uint32_t a = 0; a < device_algorithm_count; a++)
    for (size_t w = 0; w < 3; w++)
      for (unsigned way = 0; way < 3; way++) {
        t.algorithm = &device_algorithms[a];
        t.job = (device_job){.key_bits = widths[w],
                             .key_width = widths[w],
                             .index_bits = w == 1 ? 64 : 32,
                             .block = 32,
                             .tile = way == 0   ? 0
                                     : way == 1 ? 2
                                                : 4,
                             .shared_bytes = 8192,
                             .tuning = way == 2 ? &buckets : NULL,
                             .multiprocessors = 2};
        for (size_t count = 2; count <= most; count++)
          assert_int_equal(each_ordering(count, try_sort, &t), orderings_of[count]);
      }
  free(t.memory);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sorts)};
  if (argc != 2) return 2;
  most = strtoul(argv[1], NULL, 10);
  if (most < 2 || most > MOST_ELEMENTS) return 2;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
