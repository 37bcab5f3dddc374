/* The promises of recsort.h that no other test shows; a test for each sentence. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h needs these first. */
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recsort/tools.h"
#include "support/failing_allocator.h"
#include "support/jobs.h"
#include "support/native.h"
#include "support/random.h"
#include "support/told.h"

typedef struct numbered {
  uint32_t key;
  uint32_t place;
} numbered;

static const char yaml[] =
    "record: N\n" NATIVE "fields: [{name: key, type: uint32}, {name: place, type: uint32}]\n"
    "keys: [key]\n";

static recsort_schema *load(const recsort_allocator *allocator)
{
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  if (recsort_schema_load_memory(yaml, sizeof yaml - 1, "n.yaml", allocator, &schema, &error))
    fail_msg("%s", error.text);
  return schema;
}

static recsort_sorter *open_sorter(const recsort_options *options)
{
  recsort_schema *const schema = load(NULL);
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  if (recsort_sorter_create(schema, options, &sorter, &error)) fail_msg("%s", error.text);
  recsort_schema_destroy(schema);
  return sorter;
}

static numbered *make(size_t count)
{
  numbered *const made = calloc(count + 1, sizeof *made);
  assert_non_null(made);
  for (size_t i = 0; i < count; i++)
    made[i] = (numbered){(uint32_t)(mix(i) % (count / 8 + 1)), (uint32_t)i};
  return made;
}

static bool in_order(const numbered *records, size_t count)
{
  for (size_t i = 1; i < count; i++)
    if (records[i - 1].key > records[i].key ||
        (records[i - 1].key == records[i].key && records[i - 1].place >= records[i].place))
      return false;
  return true;
}

/* ---- Schemas ---- */

static void test_a_schema_keeps_nothing_of_its_text(void **state)
{
  char text[sizeof yaml], name[] = "n.yaml";
  recsort_schema *schema = NULL;
  (void)state;
  memcpy(text, yaml, sizeof yaml);
  assert_int_equal(recsort_schema_load_memory(text, sizeof text - 1, name, NULL, &schema, NULL),
                   RECSORT_OK);
  memset(text, '?', sizeof text);
  memset(name, '?', sizeof name - 1);
  const recsort_schema_desc *const desc = recsort_schema_describe(schema);
  assert_string_equal(desc->record, "N");
  assert_string_equal(desc->fields[1].name, "place");
  assert_string_equal(desc->keys[0].path, "key");
  assert_true(desc->field_count == 2 && desc->key_count == 1);
  recsort_schema_destroy(schema);
}

static void test_a_schema_keeps_nothing_of_its_description(void **state)
{
  char record[] = "R", field[] = "kind", value[] = "low", path[] = "kind";
  recsort_enumerator enumerators[] = {{value, 3}};
  recsort_field_desc fields[] = {{.name = field,
                                  .type = RECSORT_ENUM,
                                  .base = RECSORT_UINT8,
                                  .offset = RECSORT_NO_OFFSET,
                                  .enumerators = enumerators,
                                  .enumerator_count = 1}};
  recsort_key_desc keys[] = {{.path = path}};
  recsort_schema_desc desc = {.struct_size = sizeof desc,
                              .record = record,
                              .fields = fields,
                              .field_count = 1,
                              .keys = keys,
                              .key_count = 1};
  recsort_schema *schema = NULL;
  (void)state;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, NULL), RECSORT_OK);
  record[0] = field[0] = value[0] = path[0] = '?';
  memset(enumerators, 0, sizeof enumerators);
  memset(fields, 0, sizeof fields);
  memset(keys, 0, sizeof keys);
  memset(&desc, 0, sizeof desc);
  const recsort_field_desc *const kept = recsort_schema_describe(schema)->fields;
  assert_string_equal(recsort_schema_describe(schema)->record, "R");
  assert_string_equal(kept->name, "kind");
  assert_string_equal(kept->enumerators[0].name, "low");
  assert_int_equal(kept->enumerators[0].value, 3);
  assert_string_equal(recsort_schema_describe(schema)->keys->path, "kind");
  recsort_schema_destroy(schema);
}

/* ---- Memory of sorters ---- */

static void test_no_memory_before_the_first_sort(void **state)
{
  recsort_sorter *const sorter = open_sorter(NULL);
  numbered *const records = make(1000);
  (void)state;
  assert_int_equal(stats_of(sorter).memory, 0);
  assert_int_equal(recsort_sort(sorter, records, 1000, NULL), RECSORT_OK);
  assert_true(stats_of(sorter).memory >= 1000 * sizeof *records);
  recsort_sorter_destroy(sorter);
  free(records);
}

static void test_what_is_given_is_copied(void **state)
{
  failing_allocator memory = {0};
  recsort_allocator hook = failing_hook(&memory);
  char algorithm[] = "sequential", path[] = "place";
  recsort_key_desc key = {.path = path, .order = RECSORT_DESCENDING};
  recsort_options options = {.struct_size = sizeof options,
                             .plugin = "cpu",
                             .algorithm = algorithm,
                             .keys = &key,
                             .key_count = 1,
                             .allocator = &hook};
  recsort_schema *const schema = load(&hook);
  recsort_sorter *sorter = NULL;
  numbered records[] = {{1, 1}, {0, 2}, {2, 0}};
  (void)state;
  assert_int_equal(recsort_sorter_create(schema, &options, &sorter, NULL), RECSORT_OK);
  memset(&hook, 0, sizeof hook);
  memset(&options, 0, sizeof options);
  memset(&key, 0, sizeof key);
  algorithm[0] = path[0] = '?';
  recsort_schema_destroy(schema);
  assert_int_equal(recsort_sort(sorter, records, 3, NULL), RECSORT_OK);
  assert_true(records[0].place == 2 && records[1].place == 1 && records[2].place == 0);
  assert_string_equal(stats_of(sorter).algorithm, "sequential");
  recsort_sorter_destroy(sorter);
  assert_true(memory.calls > 2 && memory.blocks == 0 && memory.wrong == 0);
}

static void test_at_most_1024_threads(void **state)
{
  const unsigned asked[] = {1, 7, 1024, 1025, 1u << 31, UINT32_MAX};
  (void)state;
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    const recsort_options options = {.struct_size = sizeof options, .threads = asked[i]};
    recsort_sorter *const sorter = open_sorter(&options);
    assert_int_equal(stats_of(sorter).threads, asked[i] < 1024 ? asked[i] : 1024);
    recsort_sorter_destroy(sorter);
  }
}

/* ---- The allocator ---- */

typedef struct watched {
  pthread_t caller;
  atomic_size_t calls;
  atomic_size_t elsewhere;
} watched;

static void watch(watched *w)
{
  (void)atomic_fetch_add(&w->calls, 1);
  if (!pthread_equal(pthread_self(), w->caller)) (void)atomic_fetch_add(&w->elsewhere, 1);
}

static void *watched_allocate(void *context, size_t size)
{
  watch(context);
  return malloc(size);
}

static void watched_release(void *context, void *memory, size_t size)
{
  (void)size;
  watch(context);
  free(memory);
}

/* Enough records for all threads, in every call that allocates memory. */
static void test_the_allocator_is_called_by_the_calling_thread(void **state)
{
  enum { COUNT = 400000 };
  watched w = {.caller = pthread_self()};
  const recsort_allocator hook = {&w, watched_allocate, watched_release};
  const recsort_options options = {.struct_size = sizeof options, .threads = 4, .allocator = &hook};
  recsort_sorter *const sorter = open_sorter(&options);
  numbered *const records = make(COUNT), *const sorted = make(COUNT);
  permutation order = {0};
  size_t disorder;
  (void)state;
  assert_int_equal(recsort_sort_to(sorter, records, COUNT, sorted, NULL), RECSORT_OK);
  assert_int_equal(recsort_check(sorter, sorted, COUNT, &disorder, NULL), RECSORT_OK);
  assert_int_equal(find_permutation(sorter, records, COUNT, &order, NULL), RECSORT_OK);
  assert_int_equal(make_unique(sorter, &order, NULL), RECSORT_OK);
  assert_int_equal(recsort_sort(sorter, records, COUNT, NULL), RECSORT_OK);
  assert_int_equal(disorder, COUNT);
  assert_true(in_order(records, COUNT));
  recsort_sorter_destroy(sorter);
  assert_true(w.calls > 6);
  assert_int_equal(w.elsewhere, 0);
  free(records);
  free(sorted);
}

/* ---- Orders and keys ---- */

static void test_an_order_holds_until_the_next_sort(void **state)
{
  enum { COUNT = 50000 };
  recsort_sorter *const sorter = open_sorter(NULL);
  numbered *const records = make(COUNT), *const moved = make(COUNT);
  uint32_t *const before = calloc(COUNT, sizeof *before), *const keys = calloc(COUNT, 8);
  permutation order = {0};
  size_t disorder;
  (void)state;
  assert_true(before && keys);
  assert_int_equal(find_permutation(sorter, records, COUNT, &order, NULL), RECSORT_OK);
  assert_int_equal(order.index_bits, 32);
  memcpy(before, order.index, COUNT * sizeof *before);
  assert_int_equal(recsort_check(sorter, records, COUNT, &disorder, NULL), RECSORT_OK);
  assert_int_equal(recsort_encode(sorter, records, COUNT, keys, NULL), RECSORT_OK);
  recsort_gather(sorter, order.index, order.index_bits, COUNT, records, sizeof *records, moved);
  assert_true(in_order(moved, COUNT));
  assert_memory_equal(order.index, before, COUNT * sizeof *before);
  for (size_t i = 0; i < COUNT; i += 997)
    assert_int_equal(permutation_at(&order, i), before[i]);
  recsort_sorter_destroy(sorter);
  free(records);
  free(moved);
  free(before);
  free(keys);
}

static void test_keys_have_the_order_of_records(void **state)
{
  enum { COUNT = 3000 };
  const recsort_key_desc two[] = {{.path = "key", .order = RECSORT_DESCENDING}, {.path = "place"}};
  const recsort_options options = {.struct_size = sizeof options, .keys = two, .key_count = 2};
  recsort_sorter *const sorter = open_sorter(&options);
  numbered *const records = make(COUNT);
  uint64_t *const keys = calloc(COUNT, sizeof *keys);
  (void)state;
  assert_int_equal(recsort_key_size(sorter), sizeof *keys);
  assert_int_equal(recsort_encode(sorter, records, COUNT, keys, NULL), RECSORT_OK);
  for (size_t i = 1; i < COUNT; i++) {
    const numbered a = records[i - 1], b = records[i];
    const bool before = a.key != b.key ? a.key > b.key : a.place < b.place;
    assert_true((keys[i - 1] < keys[i]) == before);
    assert_true((recsort_key_compare(sorter, &keys[i - 1], &keys[i]) < 0) == before);
  }
  recsort_sorter_destroy(sorter);
  free(records);
  free(keys);
}

/* ---- Failures ---- */

static recsort_sorter *open_enum_sorter(const char *plugin, const recsort_allocator *allocator)
{
  static const char text[] = "record: E\nlayout: packed\nfields:\n"
                             "- {name: kind, type: enum, base: uint8, values: [off, on]}\n"
                             "- {name: place, type: uint8}\nkeys: [kind]\n";
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = plugin, .threads = 2, .allocator = allocator};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  if (recsort_schema_load_memory(text, sizeof text - 1, "e.yaml", NULL, &schema, &error) ||
      recsort_sorter_create(schema, &options, &sorter, &error))
    fail_msg("%s", error.text);
  recsort_schema_destroy(schema);
  return sorter;
}

enum { PAIRS = 300 };

typedef struct arrays {
  unsigned char records[2 * PAIRS], other[2 * PAIRS];
  uint32_t index[PAIRS];
  permutation order;
  size_t disorder;
} arrays;

static void fill(arrays *a, unsigned char last)
{
  memset(a, 0x77, sizeof *a);
  for (size_t i = 0; i < PAIRS; i++) {
    a->records[2 * i] = (unsigned char)(mix(i) % 2);
    a->records[2 * i + 1] = (unsigned char)i;
  }
  a->records[2 * PAIRS - 2] = last;
}

/* Makes call number `call` of those that take records. */
static recsort_status call_with(recsort_sorter *sorter, size_t call, arrays *a)
{
  switch (call) {
  case 0:
    return recsort_sort(sorter, a->records, PAIRS, NULL);
  case 1:
    return recsort_sort_to(sorter, a->records, PAIRS, a->other, NULL);
  case 2:
    return recsort_argsort(sorter, a->records, PAIRS, a->index, 32, NULL);
  case 3:
    return find_permutation(sorter, a->records, PAIRS, &a->order, NULL);
  default:
    return recsort_check(sorter, a->records, PAIRS, &a->disorder, NULL);
  }
}

enum { CALLS = 5 };

static void test_a_failure_leaves_what_was_given(void **state)
{
  static arrays a, before;
  failing_allocator memory = {0};
  const recsort_allocator hook = failing_hook(&memory);
  (void)state;
  for (size_t call = 0; call < CALLS; call++) {
    recsort_sorter *const sorter = open_enum_sorter("cpu", &hook);
    fill(&a, 9); /* the last record has an invalid value */
    for (size_t i = 0; call == CALLS - 1 && i < PAIRS; i++)
      a.records[2 * i] = i + 1 < PAIRS ? 0 : 9;
    before = a;
    assert_int_equal(call_with(sorter, call, &a), RECSORT_INVALID_RECORD);
    assert_memory_equal(&a, &before, sizeof a);
    recsort_sorter_destroy(sorter);

    recsort_sorter *const poor = open_enum_sorter("cpu", &hook);
    fill(&a, 1);
    before = a;
    memory.fail_at = memory.calls + 1;
    assert_int_equal(call_with(poor, call, &a), RECSORT_OUT_OF_MEMORY);
    assert_memory_equal(&a, &before, sizeof a);
    recsort_sorter_destroy(poor);
  }
}

/* A plugin that moves whole records may have written to the output, but not to the input. */
static void test_records_are_intact_whatever_fails(void **state)
{
  static const char *const scripts[] = {"whole-failed", "whole-memory", "whole-lost",
                                        "sort-failed",  "sort-range",   "sort-nothing"};
  static arrays a, before;
  failing_allocator memory = {0}; /* which fills what it gives */
  const recsort_allocator hook = failing_hook(&memory);
  (void)state;
  assert_int_equal(setenv("RECSORT_PLUGIN_PATH", RS_TEST_PLUGINS "/scripted", 1), 0);
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
    for (size_t call = 0; call < 4; call++) {
      assert_int_equal(setenv("RECSORT_TEST_SCRIPT", scripts[i], 1), 0);
      recsort_sorter *const sorter = open_enum_sorter("scripted", &hook);
      fill(&a, 1);
      before = a;
      const bool keys_alone = strncmp(scripts[i], "sort", 4) == 0;
      const recsort_status status = call_with(sorter, call, &a);
      assert_int_equal(status != RECSORT_OK, call < 2 || keys_alone);
      assert_memory_equal(a.records, before.records, sizeof a.records);
      if (keys_alone) assert_memory_equal(a.other, before.other, sizeof a.other);
      recsort_sorter_destroy(sorter);
      assert_int_equal(unsetenv("RECSORT_TEST_SCRIPT"), 0);
    }
  assert_int_equal(unsetenv("RECSORT_PLUGIN_PATH"), 0);
}

/* ---- Stacks ---- */

/* Builds without optimisation, or with sanitizers, take more stack. */
#ifdef __has_feature
#define HAS_FEATURE(feature) __has_feature(feature)
#else
#define HAS_FEATURE(feature) 0
#endif
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||     \
    HAS_FEATURE(address_sanitizer) || HAS_FEATURE(thread_sanitizer)
enum { STACK = 1 << 20 };
#else
enum { STACK = 64 << 10 };
#endif

typedef struct stacked {
  void (*task)(void *argument, size_t number);
  void *argument;
  size_t number;
} stacked;

static void *run_stacked(void *argument)
{
  const stacked *const s = argument;
  s->task(s->argument, s->number);
  return NULL;
}

/* Runs each task on a new thread, whose stack includes what the C library needs. */
static void run_on_small_stacks(void *context, void (*task)(void *argument, size_t number),
                                void *argument, size_t count)
{
  pthread_attr_t *const attributes = context;
  for (size_t i = 0; i < count; i++) {
    stacked s = {task, argument, i};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, attributes, run_stacked, &s), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
  }
}

/* As many runs as a pass merges, of sorted records that overlap. */
static void merge_parts_of(recsort_sorter *sorter, const unsigned char *records, size_t size)
{
  enum { RUNS = 256, EACH = 1000 };
  size_t offsets[RUNS + 1], disorder;
  const void *begins[RUNS];
  unsigned char *const merged = malloc(RUNS * EACH * size);
  assert_non_null(merged);
  for (size_t r = 0; r <= RUNS; r++)
    offsets[r] = r * EACH;
  for (size_t r = 0; r < RUNS; r++)
    begins[r] = records + r * (EACH / 2) * size;
  recsort_job job = runs_job(NULL, offsets, RUNS);
  job.part_records = begins;
  job.sorted = merged;
  assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
  assert_int_equal(recsort_check(sorter, merged, RUNS * EACH, &disorder, NULL), RECSORT_OK);
  assert_int_equal(disorder, RUNS * EACH);
  free(merged);
}

/* With few values, so that wide keys have ties to repair, and with any, of which every other bucket
 * has more than are sorted without parts. */
static void test_tasks_take_64_kib_of_stack(void **state)
{
  enum { COUNT = (1 << 18) - 1, NARROW = 0, ANY, LONG, WIDE, CASES };
  static const char wide[] =
      "record: N\n" NATIVE "fields: [{name: key, type: uint32}, {name: place, type: uint32}, "
      "{name: text, type: char, count: 40}]\nkeys: [text, key]\n";
  static const char two_words[] = "record: N\n" NATIVE "fields: [{name: key, type: uint32}, "
                                  "{name: place, type: uint32}, {name: more, type: uint64}]\n"
                                  "keys: [more, key]\n";
  static const char *const texts[] = {yaml, yaml, two_words, wide};
  static const size_t sizes[] = {sizeof(numbered), sizeof(numbered), 16, 48};
  pthread_attr_t attributes;
  (void)state;
  assert_int_equal(pthread_attr_init(&attributes), 0);
  const long least = sysconf(_SC_THREAD_STACK_MIN); /* greater on some processors */
  const size_t stack = least > STACK ? (size_t)least : STACK;
  assert_int_equal(pthread_attr_setstacksize(&attributes, stack), 0);
  const recsort_executor executor = {sizeof executor, &attributes, run_on_small_stacks, 4};
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = "cpu", .threads = 4, .executor = &executor};
  for (int n = 0; n < CASES; n++) {
    const size_t size = sizes[n];
    recsort_schema *schema = NULL;
    recsort_sorter *sorter = NULL;
    unsigned char *const records = calloc(COUNT, size);
    size_t disorder;
    assert_non_null(records);
    for (size_t i = 0; i < COUNT; i++) {
      const uint32_t any = (uint32_t)(mix(i) >> 32);
      const numbered record = {n == ANY ? any : (uint32_t)(mix(i) % 1000), (uint32_t)i};
      memcpy(records + i * size, &record, sizeof record);
      if (n >= LONG) records[(i + 1) * size - 1] = (unsigned char)(mix(i) >> 40 & 3);
    }
    const char *const text = texts[n];
    assert_int_equal(recsort_schema_load_memory(text, strlen(text), "n.yaml", NULL, &schema, NULL),
                     RECSORT_OK);
    assert_int_equal(recsort_sorter_create(schema, &options, &sorter, NULL), RECSORT_OK);
    assert_int_equal(recsort_sort(sorter, records, COUNT, NULL), RECSORT_OK);
    assert_int_equal(recsort_check(sorter, records, COUNT, &disorder, NULL), RECSORT_OK);
    assert_int_equal(disorder, COUNT);
    merge_parts_of(sorter, records, size);
    recsort_sorter_destroy(sorter);
    recsort_schema_destroy(schema);
    free(records);
  }
  assert_int_equal(pthread_attr_destroy(&attributes), 0);
}

static void test_names_are_never_null(void **state)
{
  (void)state;
  for (int i = -2; i < 300; i++) {
    assert_non_null(recsort_type_describe((recsort_type)i)->name);
    assert_non_null(recsort_status_text((recsort_status)i));
  }
  assert_non_null(recsort_executor_default());
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_schema_keeps_nothing_of_its_text),
      cmocka_unit_test(test_a_schema_keeps_nothing_of_its_description),
      cmocka_unit_test(test_no_memory_before_the_first_sort),
      cmocka_unit_test(test_what_is_given_is_copied),
      cmocka_unit_test(test_at_most_1024_threads),
      cmocka_unit_test(test_the_allocator_is_called_by_the_calling_thread),
      cmocka_unit_test(test_an_order_holds_until_the_next_sort),
      cmocka_unit_test(test_keys_have_the_order_of_records),
      cmocka_unit_test(test_a_failure_leaves_what_was_given),
      cmocka_unit_test(test_records_are_intact_whatever_fails),
      cmocka_unit_test(test_tasks_take_64_kib_of_stack),
      cmocka_unit_test(test_names_are_never_null),
  };
  return cmocka_run_group_tests_name("promises", tests, NULL, NULL);
}
