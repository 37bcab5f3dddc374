/* A device that corrupts its memory after the records arrived, between any two kernels. The plugin
 * either gives the right result or reports a wrong one; without its checks it gives wrong
 * results. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/pairs.h"
#include "gpu/shards.h"
#include "standin.h"
#include "support/random.h"

/* A record: a key and other bytes. The plugin is built with PIECE here. One thread, so that the
 * numbers of launches are reproducible. */
enum { PIECE = 1024, COUNT = 400, SIZE = 20, KEYS = 97, THREADS = 1, PIECE_RECORDS = PIECE / SIZE };

static unsigned char input[COUNT * SIZE], expected[COUNT * SIZE], sorted[COUNT * SIZE];
static uint64_t random_state = 11;

const recsort_plugin *recsort_plugin_entry(uint32_t host_abi);

/* ---- The plugin ---- */

static void *allocate(void *context, size_t size)
{
  (void)context;
  return malloc(size);
}

static void release(void *context, void *memory, size_t size)
{
  (void)context;
  (void)size;
  free(memory);
}

static const recsort_plugin *plugin(void)
{
  return recsort_plugin_entry(RECSORT_PLUGIN_ABI);
}

static const recsort_key_step step = {
    .kind = RECSORT_KEY_UNSIGNED, .bytes = 4, .width = 32, .shift = 0};
static const recsort_key_program program = {.size = sizeof program,
                                            .step_count = 1,
                                            .steps = &step,
                                            .record_size = SIZE,
                                            .key_bits = 32,
                                            .key_width = 32};
static const recsort_plugin_job job = {.size = sizeof job,
                                       .count = COUNT,
                                       .key_bits = 32,
                                       .key_width = 32,
                                       .index_bits = 32,
                                       .threads = THREADS};

static uint32_t key_of(const unsigned char *records, size_t i)
{
  uint32_t key;
  memcpy(&key, records + i * SIZE, sizeof key);
  return key;
}

static void make_records(void)
{
  size_t next = 0;
  for (size_t i = 0; i < sizeof input; i++)
    input[i] = (unsigned char)next_random(&random_state);
  for (uint32_t i = 0; i < COUNT; i++) {
    const uint32_t key = i * 7919 % KEYS;
    memcpy(input + i * SIZE, &key, sizeof key);
  }
  for (uint32_t key = 0; key < KEYS; key++)
    for (size_t i = 0; i < COUNT; i++)
      if (key_of(input, i) == key) memcpy(expected + next++ * SIZE, input + i * SIZE, SIZE);
  assert_int_equal(next, COUNT);
}

static gpu_instance *self;

static void open_instance(recsort_verify verify)
{
  static recsort_host host = {.size = sizeof host, .abi = RECSORT_PLUGIN_ABI};
  recsort_error error = {0};
  void *made = NULL;
  host.allocate = allocate;
  host.release = release;
  host.verify = (uint32_t)verify;
  standin_begin((standin_plan){0});
  assert_int_equal(plugin()->open(&host, &made, &error), RECSORT_OK);
  self = made;
}

static void close_instance(void)
{
  plugin()->close(self);
  assert_int_equal(standin_look().blocks + standin_look().streams + standin_look().misuses, 0);
}

/* ---- Sorts ---- */

static recsort_status sort(recsort_error *error)
{
  const recsort_plugin_records *const whole = plugin()->extension(RECSORT_PLUGIN_RECORDS);
  recsort_plugin_times times = {.size = sizeof times};
  *error = (recsort_error){0};
  standin_begin((standin_plan){0});
  memset(sorted, 0xee, sizeof sorted);
  return whole->sort(self, &job, &program, input, sorted, &times, error);
}

static bool is_right(void)
{
  return memcmp(sorted, expected, sizeof sorted) == 0;
}

/* The arrays on the device; `room` is where pieces are gathered. */
typedef struct places {
  device_buffers buffers;
  unsigned char *records, *room;
} places;

static places find_places(void)
{
  const gpu_pairs pairs = gpu_plan_pairs(self->device, &job);
  unsigned char *const memory = (unsigned char *)self->device->memory;
  unsigned char *const records = memory + device_aligned(pairs.bytes);
  return (places){device_divide(&pairs.job, memory, pairs.extra_bytes), records,
                  records + device_aligned(sizeof input)};
}

/* ---- Faults ---- */

/* A fault before a launch. */
typedef struct fault {
  void (*strike)(void);
  long at;
} fault;

static fault planned;
static bool struck;

static void watch(long number)
{
  if (number != planned.at) return;
  planned.strike();
  struck = true;
}

static void turn_bit(unsigned char *at, size_t bytes)
{
  at[random_below(&random_state, bytes)] ^= (unsigned char)(1u << random_below(&random_state, 8));
}

static void turn_record(void)
{
  turn_bit(find_places().records, sizeof input);
}

static void clear_records(void)
{
  memset(find_places().records, 0, sizeof input);
}

static void turn_room(void)
{
  turn_bit(find_places().room, (size_t)PIECE_RECORDS * SIZE);
}

static void turn_first_keys(void)
{
  turn_bit(find_places().buffers.keys[0], COUNT * sizeof(uint32_t));
}

static void turn_other_keys(void)
{
  turn_bit(find_places().buffers.keys[1], COUNT * sizeof(uint32_t));
}

/* Swaps two neighbours of the order, with equal keys or not. */
static void swap_indices(void *indices, uint64_t count)
{
  uint32_t *const order = indices;
  const uint64_t i = 1 + random_below(&random_state, count - 1);
  const uint32_t kept = order[i];
  order[i] = order[i - 1];
  order[i - 1] = kept;
}

static void swap_first_indices(void)
{
  swap_indices(find_places().buffers.indices[0], COUNT);
}

static void swap_other_indices(void)
{
  swap_indices(find_places().buffers.indices[1], COUNT);
}

/* Launches after the sort: the check of pairs, that of the order; then for each piece the gather
 * and the confirmation. */
enum { PIECES = (COUNT + PIECE_RECORDS - 1) / PIECE_RECORDS, AFTER_SORT = 2 + 2 * PIECES };

static long count_launches(void)
{
  recsort_error error;
  standin_watch(NULL);
  assert_int_equal(sort(&error), RECSORT_OK);
  assert_true(is_right());
  return standin_look().launches;
}

/* How often, of `times`, a fault was found. A wrong result must never be accepted. */
static size_t count_found(fault f, size_t times)
{
  recsort_error error;
  size_t found = 0;
  planned = f;
  standin_watch(watch);
  for (size_t i = 0; i < times; i++) {
    struck = false;
    const recsort_status status = sort(&error);
    assert_true(struck);
    assert_true(status == RECSORT_CORRUPT_RESULT || (status == RECSORT_OK && is_right()));
    assert_true(status == RECSORT_OK || error.text[0]);
    found += status == RECSORT_CORRUPT_RESULT;
  }
  standin_watch(NULL);
  return found;
}

static void test_no_fault_passes(void **state)
{
  enum { TIMES = 6 };
  (void)state;
  open_instance(RECSORT_VERIFY_DEFAULT);
  const long launches = count_launches(), pairs = launches - AFTER_SORT + 1, gather = pairs + 2;
  /* faults that are always found */
  assert_int_equal(count_found((fault){turn_record, gather}, TIMES), TIMES);
  assert_int_equal(count_found((fault){clear_records, gather}, 1), 1);
  assert_int_equal(count_found((fault){turn_room, gather + 1}, TIMES), TIMES);
  assert_int_equal(count_found((fault){turn_first_keys, PIECES + 1}, TIMES), TIMES);
  /* faults that may hit memory which is not read any more */
  static void (*const strikes[])(void) = {turn_record, turn_first_keys, turn_other_keys};
  for (size_t s = 0; s < sizeof strikes / sizeof *strikes; s++)
    for (long at = pairs; at <= launches; at++)
      (void)count_found((fault){strikes[s], at}, 1);
  assert_int_equal(count_found((fault){turn_first_keys, pairs}, TIMES) +
                       count_found((fault){turn_other_keys, pairs}, TIMES),
                   TIMES);
  assert_int_equal(count_found((fault){swap_first_indices, pairs}, TIMES) +
                       count_found((fault){swap_other_indices, pairs}, TIMES),
                   TIMES);
  close_instance();
}

/* The same faults pass with the checks off, so it is the checks that find them. */
static void test_without_checks_faults_pass(void **state)
{
  static void (*const strikes[])(void) = {turn_record, clear_records};
  recsort_error error;
  (void)state;
  open_instance(RECSORT_VERIFY_OFF);
  const long gather = count_launches() - PIECES + 1;
  for (size_t s = 0; s < sizeof strikes / sizeof *strikes; s++) {
    planned = (fault){strikes[s], gather};
    standin_watch(watch);
    assert_int_equal(sort(&error), RECSORT_OK);
    assert_false(is_right());
    standin_watch(NULL);
  }
  close_instance();
}

/* ---- Records on the device ---- */

static unsigned char *workspace;

enum { WORKSPACE = 1 << 21 };

static unsigned char *make(size_t size)
{
  void *memory = NULL;
  assert_int_equal(cudaMalloc(&memory, size), cudaSuccess);
  return memory;
}

/* The launches that a job without a status does without. */
static long saved;

/* Does a job of `of`, then again with a fault before its last launch, which writes the status.
 * Returns that of the second time. */
static uint32_t run_resident(const recsort_key_program *of, recsort_job resident,
                             void (*strike)(void))
{
  const recsort_plugin_device *const device = plugin()->extension(RECSORT_PLUGIN_DEVICE);
  recsort_error error = {0};
  uint32_t *status = NULL;
  assert_int_equal(cudaMallocHost((void **)&status, sizeof *status), cudaSuccess);
  resident.struct_size = sizeof resident;
  resident.stream = self->device->stream;
  resident.count = COUNT;
  resident.workspace = workspace;
  resident.workspace_size = WORKSPACE;
  resident.status = status;
  const long before = standin_look().launches;
  assert_int_equal(device->run(self, 0, of, &resident, 1, &error), RECSORT_OK);
  const long launches = standin_look().launches - before;
  assert_int_equal(*status, RECSORT_OK);
  planned = (fault){strike, standin_look().launches + launches};
  standin_watch(watch);
  assert_int_equal(device->run(self, 0, of, &resident, 1, &error), RECSORT_OK);
  standin_watch(NULL);
  const uint32_t found = *status;
  resident.status = NULL;
  const long with_status = standin_look().launches;
  assert_int_equal(device->run(self, 0, of, &resident, 1, &error), RECSORT_OK);
  saved = launches - (standin_look().launches - with_status);
  assert_int_equal(cudaFreeHost(status), cudaSuccess);
  return found;
}

static void swap_resident_indices(void)
{
  const uint64_t each = device_aligned(COUNT * sizeof(uint32_t));
  swap_indices(workspace + each, COUNT);
  swap_indices(workspace + 2 * each, COUNT);
}

static void test_resident_records_are_checked(void **state)
{
  static const recsort_verify options[] = {RECSORT_VERIFY_DEFAULT, RECSORT_VERIFY_OFF};
  (void)state;
  for (size_t o = 0; o < 2; o++) {
    open_instance(options[o]);
    workspace = make(WORKSPACE);
    uint32_t *const order = (uint32_t *)(void *)make(COUNT * sizeof *order);
    const recsort_job resident = {.records = input, .permutation = order};
    assert_int_equal(run_resident(&program, resident, swap_resident_indices),
                     options[o] ? RECSORT_OK : RECSORT_CORRUPT_RESULT);
    assert_int_equal(saved, options[o] ? 0 : 1); /* what is not wanted is not looked for */
    assert_int_equal(cudaFree(order), cudaSuccess);
    assert_int_equal(cudaFree(workspace), cudaSuccess);
    close_instance();
  }
}

/* ---- Numbers on the device ---- */

static uint32_t sorted_keys[COUNT], positions[COUNT];

static void turn_number(void)
{
  turn_bit((unsigned char *)sorted_keys, sizeof sorted_keys);
}

/* Most keys stay in order: keys are multiples of 4. */
static void turn_lowest_bit(void)
{
  sorted_keys[random_below(&random_state, COUNT)] ^= 1;
}

static void turn_position(void)
{
  positions[random_below(&random_state, COUNT)] ^= 1;
}

static void swap_words(uint32_t *words, size_t i)
{
  const uint32_t kept = words[i];
  words[i] = words[i + 1];
  words[i + 1] = kept;
}

/* Two neighbours, of which the keys differ. */
static void swap_numbers(void)
{
  size_t i = random_below(&random_state, COUNT - 1);
  while (sorted_keys[i] == sorted_keys[i + 1])
    i = (i + 1) % (COUNT - 1);
  swap_words(sorted_keys, i);
  swap_words(positions, i);
}

/* The positions of two equal keys. */
static void swap_positions(void)
{
  size_t i = random_below(&random_state, COUNT - 1);
  while (sorted_keys[i] != sorted_keys[i + 1])
    i = (i + 1) % (COUNT - 1);
  swap_words(positions, i);
}

static uint32_t sort_numbers(void (*strike)(void))
{
  static uint32_t keys[COUNT];
  recsort_key_program numbers = program;
  numbers.record_size = sizeof *keys;
  for (size_t i = 0; i < COUNT; i++)
    keys[i] = 4 * (uint32_t)random_below(&random_state, COUNT);
  return run_resident(
      &numbers,
      (recsort_job){
          .records = keys, .sorted = sorted_keys, .permutation = positions, .index_bits = 32},
      strike);
}

static void test_numbers_are_checked(void **state)
{
  enum { TIMES = 8 };
  static void (*const strikes[])(void) = {turn_number, turn_lowest_bit, turn_position, swap_numbers,
                                          swap_positions};
  (void)state;
  open_instance(RECSORT_VERIFY_DEFAULT);
  workspace = make(WORKSPACE);
  for (size_t i = 0; i < TIMES * sizeof strikes / sizeof *strikes; i++)
    assert_int_equal(sort_numbers(strikes[i / TIMES]), RECSORT_CORRUPT_RESULT);
  assert_int_equal(cudaFree(workspace), cudaSuccess);
  close_instance();
  open_instance(RECSORT_VERIFY_OFF);
  workspace = make(WORKSPACE);
  for (size_t i = 0; i < TIMES; i++)
    assert_int_equal(sort_numbers(swap_numbers), RECSORT_OK);
  assert_int_equal(cudaFree(workspace), cudaSuccess);
  close_instance();
}

/* ---- Shards ---- */

/* Of the sort of the first shard, in its workspace. */
static void swap_shard_indices(void)
{
  const gpu_seat *const seat = &self->shards->seats[0];
  const uint64_t each = device_aligned(COUNT / 2 * sizeof(uint32_t));
  swap_indices(seat->memory + seat->rooms.work + each, COUNT / 2);
  swap_indices(seat->memory + seat->rooms.work + 2 * each, COUNT / 2);
}

/* The first of two equal ones of the second sorted shard becomes greater: a merge that finds its
 * way by others is misled no further. */
static void turn_sorted_key(void)
{
  unsigned char *records = (unsigned char *)self->shards->seats[1].memory;
  while (key_of(records, 0) != key_of(records, 1))
    records += SIZE;
  const uint32_t key = key_of(records, 0) + 1;
  memcpy(records, &key, sizeof key);
}

static unsigned char *sorted_shards;

/* The last record of the first shard becomes the greatest of all. */
static void turn_last_key(void)
{
  memset(sorted_shards + (COUNT / 2 - 1) * SIZE, 0xff, sizeof(uint32_t));
}

static long shard_launches; /* of a sort of shards */

/* Those after the merges: of the keys at both ends of each part, of which a shard has one. */
enum { BORDERS = 4 };

/* Sorts two shards; a fault strikes before launch `from_last`, counted from the end: before the
 * borders, the last two are the merges. */
static recsort_status sort_shards(void (*strike)(void), long from_last, unsigned char *at)
{
  const recsort_plugin_device *const device = plugin()->extension(RECSORT_PLUGIN_DEVICE);
  recsort_job jobs[2];
  recsort_error error = {0};
  for (size_t i = 0; i < 2; i++) {
    void *const half = at + i * (COUNT / 2 * SIZE);
    jobs[i] = (recsort_job){.struct_size = sizeof *jobs,
                            .count = COUNT / 2,
                            .records = half,
                            .sorted = half,
                            .workspace = make(WORKSPACE),
                            .workspace_size = WORKSPACE};
  }
  memcpy(at, input, sizeof input);
  sorted_shards = at;
  const long before = standin_look().launches;
  assert_int_equal(device->run(self, 0, &program, jobs, 2, &error), RECSORT_OK);
  assert_memory_equal(at, expected, sizeof input);
  shard_launches = standin_look().launches - before;
  memcpy(at, input, sizeof input);
  planned = (fault){strike, standin_look().launches + shard_launches - from_last};
  standin_watch(watch);
  const recsort_status status = device->run(self, 0, &program, jobs, 2, &error);
  standin_watch(NULL);
  for (size_t i = 0; i < 2; i++)
    assert_int_equal(cudaFree(jobs[i].workspace), cudaSuccess);
  return status;
}

static void test_shards_are_checked(void **state)
{
  static unsigned char records[COUNT * SIZE];
  long found = 0;
  (void)state;
  open_instance(RECSORT_VERIFY_FULL);
  assert_int_equal(sort_shards(turn_sorted_key, BORDERS + 1, records), RECSORT_CORRUPT_RESULT);
  assert_int_equal(sort_shards(turn_last_key, BORDERS - 1, records), RECSORT_CORRUPT_RESULT);
  for (long from_last = BORDERS; from_last < shard_launches; from_last++) {
    const recsort_status status = sort_shards(swap_shard_indices, from_last, records);
    if (status) found = from_last;
    assert_true(status == RECSORT_OK || status == RECSORT_CORRUPT_RESULT);
    assert_memory_equal(records, status ? input : expected, sizeof input); /* none has moved yet */
  }
  assert_true(found > 1);
  close_instance();
  open_instance(RECSORT_VERIFY_OFF);
  assert_int_equal(sort_shards(turn_sorted_key, 1, records), RECSORT_OK);
  assert_int_equal(sort_shards(turn_last_key, 0, records), RECSORT_OK);
  close_instance();
}

/* With only keys, their order is checked too. */
static void test_keys_alone(void **state)
{
  enum { TIMES = 6 };
  _Alignas(64) static uint32_t memory[COUNT];
  static void (*const strikes[])(void) = {turn_first_keys, turn_other_keys, swap_first_indices,
                                          swap_other_indices};
  size_t found = 0;
  (void)state;
  open_instance(RECSORT_VERIFY_DEFAULT);
  for (size_t i = 0; i < TIMES; i++)
    for (size_t s = 0; s <= sizeof strikes / sizeof *strikes; s++) {
      recsort_error error = {0};
      for (size_t k = 0; k < COUNT; k++)
        memory[k] = key_of(input, k);
      standin_begin((standin_plan){0});
      if (s) standin_watch(watch);
      const recsort_status status = plugin()->sort(self, &job, memory, &error);
      standin_watch(NULL);
      if (s == 0) { /* the last launch is the check */
        assert_int_equal(status, RECSORT_OK);
        planned.at = standin_look().launches;
      }
      if (s < sizeof strikes / sizeof *strikes) planned.strike = strikes[s];
      found += status == RECSORT_CORRUPT_RESULT;
    }
  assert_in_range(found, TIMES, 2 * TIMES); /* a changed key may still be in order */
  close_instance();
}

/* The launches of a sort of `count` keys: one more if its result is checked. */
static long launches_of(recsort_verify verify, uint64_t count)
{
  _Alignas(64) static uint32_t memory[COUNT];
  recsort_error error = {0};
  recsort_plugin_job some = job;
  some.count = count;
  open_instance(verify);
  standin_begin((standin_plan){0});
  assert_int_equal(plugin()->sort(self, &some, memory, &error), RECSORT_OK);
  close_instance();
  return standin_look().launches;
}

static void test_all_results_are_checked_by_default(void **state)
{
  (void)state;
  for (uint64_t count = 2; count <= COUNT; count += COUNT - 2) {
    const long off = launches_of(RECSORT_VERIFY_OFF, count);
    assert_int_equal(launches_of(RECSORT_VERIFY_DEFAULT, count), off + 1);
    assert_int_equal(launches_of(RECSORT_VERIFY_FULL, count), off + 1);
  }
}

static int prepare(void **state)
{
  (void)state;
  make_records();
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_fault_passes),
      cmocka_unit_test(test_without_checks_faults_pass),
      cmocka_unit_test(test_resident_records_are_checked),
      cmocka_unit_test(test_numbers_are_checked),
      cmocka_unit_test(test_shards_are_checked),
      cmocka_unit_test(test_keys_alone),
      cmocka_unit_test(test_all_results_are_checked_by_default),
  };
  return cmocka_run_group_tests_name("verify", tests, prepare, NULL);
}
