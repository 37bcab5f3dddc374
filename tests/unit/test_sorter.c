/* The sorter: every way to call it, its state afterwards, and wrong calls. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/tools.h"
#include "support/failing_allocator.h"
#include "support/jobs.h"
#include "support/open.h"
#include "support/random.h"
#include "support/told.h"

typedef struct entity {
  float x, y, angle;
  int16_t sprite;
  float distance;
} entity;

static recsort_schema *open_entity(void)
{
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  if (recsort_schema_load_file(RS_NATIVE_SCHEMAS "/entity.yaml", NULL, &schema, &error))
    fail_msg("%s", error.text);
  return schema;
}

static recsort_sorter *open_sorter(const recsort_options *options)
{
  return sorter_of_schema(open_entity(), options);
}

/* Few distances, so that there are ties; `x` is the position. */
static entity *make_entities(size_t count)
{
  entity *entities = calloc(count + 1, sizeof *entities);
  assert_non_null(entities);
  for (size_t i = 0; i < count; i++) {
    entities[i].x = (float)i;
    entities[i].sprite = (int16_t)(mix(i) % 5);
    entities[i].distance = (float)(mix(i) % (count / 4 + 1));
  }
  return entities;
}

static bool ordered(const entity *entities, size_t count, bool descending)
{
  for (size_t i = 1; i < count; i++) {
    const float a = entities[i - 1].distance, b = entities[i].distance;
    if (descending ? a < b : a > b) return false;
    if (a == b && entities[i - 1].x >= entities[i].x) return false;
  }
  return true;
}

/* Takes now what sorts of so many entities take, in place and elsewhere. */
static void reserve(recsort_sorter *sorter, size_t count, size_t head)
{
  entity here, there;
  recsort_job job = {.struct_size = sizeof job, .count = count, .records = &here, .head = head};
  job.sorted = &there;
  assert_int_equal(recsort_sorter_reserve(sorter, &job, NULL), RECSORT_OK);
  job.sorted = &here;
  if (!head) assert_int_equal(recsort_sorter_reserve(sorter, &job, NULL), RECSORT_OK);
}

static const size_t counts[] = {0, 1, 2, 100, 5000, 100000};
#define EACH_COUNT(c) (size_t c = 0; c < sizeof counts / sizeof *counts; c++)

static void test_in_place_and_out_of_place(void **state)
{
  recsort_sorter *sorter = open_sorter(NULL);
  (void)state;
  for
    EACH_COUNT(c)
    {
      const size_t count = counts[c], size = count * sizeof(entity);
      entity *entities = make_entities(count), *before = make_entities(count);
      entity *sorted = calloc(count + 1, sizeof *sorted);
      assert_int_equal(recsort_sort_to(sorter, entities, count, sorted, NULL), RECSORT_OK);
      assert_memory_equal(entities, before, size + 1);
      assert_true(ordered(sorted, count, true));
      assert_int_equal(recsort_sort(sorter, entities, count, NULL), RECSORT_OK);
      assert_memory_equal(entities, sorted, size + 1);
      assert_int_equal(recsort_sort(sorter, entities, count, NULL), RECSORT_OK); /* sorted */
      assert_memory_equal(entities, sorted, size + 1);
      assert_int_equal(stats_of(sorter).records, count);
      free(entities);
      free(before);
      free(sorted);
    }
  recsort_sorter_destroy(sorter);
}

static void test_argsort_and_gather(void **state)
{
  recsort_sorter *sorter = open_sorter(NULL);
  (void)state;
  for
    EACH_COUNT(c)
    {
      const size_t count = counts[c];
      entity *entities = make_entities(count), *sorted = calloc(count + 1, sizeof *sorted);
      uint32_t *narrow = calloc(count + 1, sizeof *narrow);
      uint64_t *wide = calloc(count + 1, sizeof *wide);
      narrow[count] = 77;
      wide[count] = 77;
      assert_int_equal(recsort_argsort(sorter, entities, count, narrow, 32, NULL), RECSORT_OK);
      assert_int_equal(recsort_argsort(sorter, entities, count, wide, 64, NULL), RECSORT_OK);
      assert_true(narrow[count] == 77 && wide[count] == 77);
      for (size_t i = 0; i < count; i++)
        assert_true(narrow[i] == wide[i]);
      recsort_gather(sorter, narrow, 32, count, entities, sizeof *entities, sorted);
      assert_true(ordered(sorted, count, true));
      free(entities);
      free(sorted);
      free(narrow);
      free(wide);
    }
  assert_int_equal(recsort_argsort(sorter, NULL, 0, NULL, 32, NULL), RECSORT_OK);
  assert_int_equal(recsort_sort(sorter, NULL, 0, NULL), RECSORT_OK);
  assert_int_equal(recsort_sort_to(sorter, NULL, 0, NULL, NULL), RECSORT_OK);
  recsort_sorter_destroy(sorter);
}

static void test_arrays_move_with_the_records(void **state)
{
  enum { COUNT = 30000 };
  recsort_sorter *sorter = open_sorter(NULL);
  entity *entities = make_entities(COUNT);
  uint16_t *small = malloc(COUNT * sizeof *small);
  double(*large)[3] = malloc(COUNT * sizeof *large);
  (void)state;
  for (size_t i = 0; i < COUNT; i++) {
    small[i] = (uint16_t)i;
    large[i][0] = large[i][1] = large[i][2] = (double)i;
  }
  const recsort_array moved[] = {{small, small, sizeof *small}, {large, large, sizeof *large}};
  const recsort_job job = {
      .count = COUNT, .records = entities, .sorted = entities, .arrays = moved, .array_count = 2};
  assert_int_equal(run_job(sorter, job, NULL), RECSORT_OK);
  assert_true(ordered(entities, COUNT, true));
  for (size_t i = 0; i < COUNT; i++) {
    assert_int_equal(small[i], (uint16_t)entities[i].x);
    assert_true(large[i][0] == (double)entities[i].x && large[i][2] == large[i][0]);
  }
  free(entities);
  free(small);
  free(large);
  recsort_sorter_destroy(sorter);
}

static void test_reverse_stays_stable(void **state)
{
  const recsort_options options = {.struct_size = sizeof options, .reverse = true};
  recsort_sorter *sorter = open_sorter(&options);
  (void)state;
  for
    EACH_COUNT(c)
    {
      entity *entities = make_entities(counts[c]);
      assert_int_equal(recsort_sort(sorter, entities, counts[c], NULL), RECSORT_OK);
      assert_true(ordered(entities, counts[c], false));
      free(entities);
    }
  recsort_sorter_destroy(sorter);
}

static void test_keys_in_place_of_the_schemas(void **state)
{
  enum { COUNT = 3000 };
  const recsort_key_desc keys[] = {{.path = "spriteIndex"}, {.path = "x", .order = 1}};
  const recsort_options options = {.struct_size = sizeof options, .keys = keys, .key_count = 2};
  recsort_sorter *sorter = open_sorter(&options);
  entity *entities = make_entities(COUNT);
  (void)state;
  assert_int_equal(recsort_sort(sorter, entities, COUNT, NULL), RECSORT_OK);
  for (size_t i = 1; i < COUNT; i++) {
    assert_true(entities[i - 1].sprite <= entities[i].sprite);
    if (entities[i - 1].sprite == entities[i].sprite)
      assert_true(entities[i - 1].x > entities[i].x);
  }
  assert_null(key_of(sorter, 2).path);
  recsort_key_info info;
  recsort_sorter_get_key(sorter, 1, &info, sizeof info);
  assert_string_equal(info.path, "x");
  assert_string_equal(info.field->name, "x");
  assert_int_equal(info.order, RECSORT_DESCENDING);
  assert_int_equal(info.bits, 32);
  assert_int_equal(key_of(sorter, 0).shift, 32);
  free(entities);
  recsort_sorter_destroy(sorter);
}

/* Memory as promised: one copy of the records and 4 bytes a record, which are kept. */
static void test_memory(void **state)
{
  enum { COUNT = 200000 };
  failing_allocator memory = {0};
  const recsort_allocator hook = failing_hook(&memory);
  const recsort_options options = {.struct_size = sizeof options, .threads = 1, .allocator = &hook};
  recsort_sorter *sorter = open_sorter(&options);
  entity *entities = make_entities(COUNT);
  (void)state;
  const size_t before = memory.bytes;
  assert_int_equal(recsort_sort(sorter, entities, COUNT, NULL), RECSORT_OK);
  assert_true(memory.most_bytes - before <= COUNT * (sizeof *entities + 4) + (1 << 20));
  assert_int_equal(stats_of(sorter).memory, memory.bytes - before);
  const size_t calls = memory.calls;
  assert_int_equal(recsort_sort(sorter, entities, COUNT, NULL), RECSORT_OK);
  assert_int_equal(recsort_sort(sorter, entities, COUNT / 2, NULL), RECSORT_OK);
  assert_int_equal(memory.calls, calls);
  recsort_sorter_destroy(sorter);
  assert_int_equal(memory.blocks, 0);
  assert_int_equal(memory.bytes, 0);
  assert_int_equal(memory.wrong, 0);
  free(entities);
}

/* Whatever order the records of a frame are in, and whatever calls follow, only the first frame
 * allocates; after recsort_sorter_reserve none, for any smaller count either. */
static void test_frames_allocate_nothing(void **state)
{
  enum { COUNT = 150000, STEP = 9973 };
  (void)state;
  for (unsigned threads = 1; threads <= 3; threads++) {
    failing_allocator memory = {0};
    const recsort_allocator hook = failing_hook(&memory);
    const recsort_options options = {
        .struct_size = sizeof options, .threads = threads, .allocator = &hook};
    recsort_sorter *sorter = open_sorter(&options);
    entity *entities = make_entities(COUNT), *other = make_entities(COUNT);
    permutation order = {0};
    const size_t before = memory.bytes;
    reserve(sorter, COUNT, 0);
    assert_int_equal(stats_of(sorter).memory, memory.bytes - before);
    size_t calls = memory.calls;
    for (size_t count = COUNT; count > STEP; count -= STEP) {
      assert_int_equal(recsort_sort_to(sorter, entities, count, other, NULL), RECSORT_OK);
      assert_int_equal(recsort_sort(sorter, entities, count, NULL), RECSORT_OK);
      assert_int_equal(recsort_sort(sorter, entities, count, NULL), RECSORT_OK);
    }
    assert_int_equal(memory.calls, calls);
    for (unsigned frame = 0; frame < 3; frame++) {
      assert_int_equal(find_permutation(sorter, other, COUNT, &order, NULL), RECSORT_OK);
      assert_int_equal(make_unique(sorter, &order, NULL), RECSORT_OK);
      if (frame == 0) calls = memory.calls;
      assert_int_equal(memory.calls, calls);
    }
    assert_int_equal(recsort_sorter_reserve(sorter, NULL, NULL), RECSORT_OK);
    assert_int_equal(stats_of(sorter).memory, 0);
    assert_int_equal(make_unique(sorter, &order, NULL), RECSORT_INVALID_ARGUMENT);
    assert_int_equal(recsort_sort(sorter, entities, COUNT, NULL), RECSORT_OK);
    recsort_sorter_destroy(sorter);
    assert_int_equal(memory.bytes, 0);
    free(entities);
    free(other);
  }
}

/* So what is reserved for a number of records is enough for fewer. */
static void test_more_records_need_no_less(void **state)
{
  static const unsigned threads[] = {1, 2, 8};
  enum { MOST = 400000, STEP = 89 };
  (void)state;
  for (unsigned way = 0; way < 6; way++) {
    const recsort_options options = {
        .struct_size = sizeof options, .threads = threads[way % 3], .plugin = "cpu"};
    recsort_sorter *sorter = open_sorter(&options);
    size_t before = 0, bytes = 0;
    for (size_t count = 1; count < MOST; count += STEP) {
      assert_int_equal(sort_bytes(sorter, count, way > 2, &bytes, NULL), RECSORT_OK);
      if (bytes < before) fail_msg("%zu need less, with %u threads", count, threads[way % 3]);
      before = bytes;
    }
    recsort_sorter_destroy(sorter);
  }
}

/* Also if so few records come that all are sorted. */
static void test_frames_with_a_head_allocate_nothing(void **state)
{
  enum { COUNT = 60000, HEAD = 1000 };
  failing_allocator memory = {0};
  const recsort_allocator hook = failing_hook(&memory);
  const recsort_options options = {.struct_size = sizeof options, .threads = 1, .allocator = &hook};
  recsort_sorter *sorter = open_sorter(&options);
  entity *entities = make_entities(COUNT), *other = make_entities(COUNT);
  (void)state;
  reserve(sorter, 0, HEAD);
  reserve(sorter, HEAD, HEAD);
  reserve(sorter, COUNT, HEAD);
  const size_t calls = memory.calls;
  for (size_t count = COUNT; count > 0; count = count * 15 / 16) {
    const recsort_job job = {.count = count, .records = entities, .sorted = other, .head = HEAD};
    assert_int_equal(run_job(sorter, job, NULL), RECSORT_OK);
  }
  assert_int_equal(memory.calls, calls);
  recsort_sorter_destroy(sorter);
  free(entities);
  free(other);
}

static void test_a_failed_allocation_changes_nothing(void **state)
{
  enum { COUNT = 1000 };
  failing_allocator memory = {0};
  const recsort_allocator hook = failing_hook(&memory);
  const recsort_options options = {.struct_size = sizeof options, .allocator = &hook};
  recsort_sorter *sorter = open_sorter(&options);
  entity *entities = make_entities(COUNT), *before = make_entities(COUNT);
  recsort_error error;
  (void)state;
  memory.fail_at = memory.calls + 1;
  assert_int_equal(recsort_sort(sorter, entities, COUNT, &error), RECSORT_OUT_OF_MEMORY);
  assert_memory_equal(entities, before, COUNT * sizeof *entities);
  assert_int_equal(recsort_sort(sorter, entities, COUNT, &error), RECSORT_OK);
  assert_true(ordered(entities, COUNT, true));
  recsort_sorter_destroy(sorter);
  assert_int_equal(memory.blocks, 0);
  free(entities);
  free(before);
}

static void test_an_invalid_record_changes_nothing(void **state)
{
  static const char text[] = "record: R\nfields:\n- {name: state, type: enum, base: uint8,"
                             " values: [off, on]}\nkeys: [{field: state}]\n";
  unsigned char records[] = {1, 0, 1, 9, 0}, before[sizeof records];
  recsort_sorter *const sorter = sorter_of(text, NULL);
  recsort_error error = {0};
  (void)state;
  memcpy(before, records, sizeof records);
  assert_int_equal(recsort_sort(sorter, records, sizeof records, &error), RECSORT_INVALID_RECORD);
  assert_non_null(strstr(error.text, "record 3: field \"state\" holds 0x9"));
  assert_null(stats_of(sorter).fallback);
  assert_memory_equal(records, before, sizeof records);
  assert_int_equal(recsort_sort(sorter, records, 3, &error), RECSORT_OK);
  recsort_sorter_destroy(sorter);
}

static void test_wrong_calls(void **state)
{
  recsort_schema *schema = open_entity();
  recsort_sorter *sorter = open_sorter(NULL), *none = NULL;
  recsort_options options = {.struct_size = 3};
  entity one = {0};
  uint32_t index;
  (void)state;
#define WRONG(call) assert_int_equal(call, RECSORT_INVALID_ARGUMENT)
  WRONG(recsort_sorter_create(NULL, NULL, &none, NULL));
  WRONG(recsort_sorter_create(schema, NULL, NULL, NULL));
  WRONG(recsort_sorter_create(schema, &options, &none, NULL));
  WRONG(recsort_sort(sorter, NULL, 1, NULL));
  WRONG(recsort_sort_to(sorter, &one, 1, NULL, NULL));
  WRONG(recsort_argsort(sorter, &one, 1, &index, 16, NULL));
  WRONG(recsort_argsort(sorter, &one, 1, NULL, 32, NULL));
  WRONG(recsort_argsort(sorter, &one, (UINT64_C(1) << 32) + 1, &index, 32, NULL));
  assert_int_equal(recsort_sort(sorter, &one, SIZE_MAX / 2, NULL), RECSORT_OUT_OF_MEMORY);
  assert_null(none);
  recsort_sorter_destroy(NULL);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

static void test_status_texts(void **state)
{
  (void)state;
  for (int a = 0; a <= RECSORT_UNSORTED_RUN; a++)
    for (int b = 0; b < a; b++)
      assert_string_not_equal(recsort_status_text((recsort_status)a),
                              recsort_status_text((recsort_status)b));
  assert_string_equal(recsort_status_text((recsort_status)99), "unknown status");
}

/* ---- Threads ---- */

static void *sort_many_times(void *schema)
{
  const recsort_options options = {.struct_size = sizeof options, .threads = 2};
  recsort_sorter *sorter;
  bool good = recsort_sorter_create(schema, &options, &sorter, NULL) == RECSORT_OK;
  for (size_t count = 1; count < 60000 && good; count = count * 2 + 1) {
    entity *entities = make_entities(count);
    good =
        recsort_sort(sorter, entities, count, NULL) == RECSORT_OK && ordered(entities, count, true);
    free(entities);
  }
  if (good) recsort_sorter_destroy(sorter);
  return good ? schema : NULL;
}

static void test_several_sorters_at_once(void **state)
{
  enum { THREADS = 4 };
  recsort_schema *schema = open_entity();
  pthread_t threads[THREADS];
  (void)state;
  for (size_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, sort_many_times, schema), 0);
  for (size_t i = 0; i < THREADS; i++) {
    void *result;
    assert_int_equal(pthread_join(threads[i], &result), 0);
    assert_ptr_equal(result, schema);
  }
  recsort_schema_destroy(schema);
}

typedef struct nested {
  recsort_schema *schema;
  atomic_bool good;
} nested;

static void sort_in_a_task(void *argument, size_t number)
{
  enum { COUNT = 100000 };
  nested *const n = argument;
  const recsort_options options = {.struct_size = sizeof options,
                                   .threads = 1 + (unsigned)number % 3};
  recsort_sorter *sorter = NULL;
  entity *const entities = make_entities(COUNT);
  if (recsort_sorter_create(n->schema, &options, &sorter, NULL) != RECSORT_OK ||
      recsort_sort(sorter, entities, COUNT, NULL) != RECSORT_OK || !ordered(entities, COUNT, true))
    n->good = false;
  recsort_sorter_destroy(sorter);
  free(entities);
}

/* A caller may be a thread of the pool itself. */
static void test_sorters_in_tasks(void **state)
{
  enum { TASKS = 12 };
  const recsort_executor *const executor = recsort_executor_default();
  nested n = {open_entity(), true};
  (void)state;
  executor->run(executor->context, sort_in_a_task, &n, TASKS);
  assert_true(n.good);
  recsort_schema_destroy(n.schema);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_in_place_and_out_of_place),
      cmocka_unit_test(test_argsort_and_gather),
      cmocka_unit_test(test_arrays_move_with_the_records),
      cmocka_unit_test(test_reverse_stays_stable),
      cmocka_unit_test(test_keys_in_place_of_the_schemas),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_frames_allocate_nothing),
      cmocka_unit_test(test_more_records_need_no_less),
      cmocka_unit_test(test_frames_with_a_head_allocate_nothing),
      cmocka_unit_test(test_a_failed_allocation_changes_nothing),
      cmocka_unit_test(test_an_invalid_record_changes_nothing),
      cmocka_unit_test(test_wrong_calls),
      cmocka_unit_test(test_status_texts),
      cmocka_unit_test(test_several_sorters_at_once),
      cmocka_unit_test(test_sorters_in_tasks),
  };
  return cmocka_run_group_tests_name("sorter", tests, NULL, NULL);
}
