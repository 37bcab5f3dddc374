/* Computed keys: distances compared with sums of another precision, dot products by exact sums,
 * curves by what defines them. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/key_interpreter.h"
#include "recsort/tools.h"
#include "sorter.h"
#include "support/failing_allocator.h"
#include "support/jobs.h"
#include "support/native.h"
#include "support/open.h"
#include "support/random.h"
#include "support/refused.h"

/* ---- Numbers ---- */

/* A float of 16 bits by its definition. */
static double half_by_definition(unsigned raw, int exponent_bits, int fraction)
{
  const int top = (1 << exponent_bits) - 1, bias = top >> 1;
  const int exponent = (int)(raw >> fraction) & top;
  const double digits = raw & ((1u << fraction) - 1), sign = raw >> 15 ? -1 : 1;
  if (exponent == top) return digits != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * ldexp(digits, 1 - bias - fraction);
  return sign * ldexp(digits + (1 << fraction), exponent - bias - fraction);
}

static void reads_every_short_float(void **state)
{
  static const int fractions[] = {10, 7};
  (void)state;
  for (int f = 0; f < 2; f++)
    for (unsigned raw = 0; raw < 1 << 16; raw++) {
      const double expected = half_by_definition(raw, 15 - fractions[f], fractions[f]);
      const double got = key_real(raw, 2, (unsigned)fractions[f]);
      if (isnan(expected) ? !isnan(got) : got != expected || !signbit(got) != !signbit(expected))
        fail_msg("%#x, %d bits of fraction: %g, not %g", raw, fractions[f], got, expected);
    }
}

static void reads_floats_and_integers(void **state)
{
  static const float floats[] = {0, -0.0f, 1, -1.5f, FLT_MIN / 4, -FLT_MAX, INFINITY};
  static const int64_t integers[] = {0, 1, -1, INT64_MAX, INT64_MIN, 1 << 20};
  (void)state;
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
    assert_true(key_real(key_float_bits(floats[i]), 4, 23) == (double)floats[i]);
  assert_true(isnan(key_real(0x7fc00000, 4, 23)));
  assert_true(key_real(key_double_bits(-0.1), 8, 52) == -0.1);
  assert_true(key_real(1, 8, 52) == DBL_MIN / ((uint64_t)1 << 52)); /* the least double */
  for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
    recsort_key_step step = {.bit = RECSORT_KEY_SIGNED, .bytes = 8};
    assert_true(key_number(&step, (uint64_t)integers[i]) == (double)integers[i]);
    step.bit = RECSORT_KEY_UNSIGNED;
    assert_true(key_number(&step, (uint64_t)integers[i]) == (double)(uint64_t)integers[i]);
    step = (recsort_key_step){.bit = RECSORT_KEY_SIGNED, .bytes = 2};
    assert_true(key_number(&step, (uint16_t)integers[i]) == (double)(int16_t)integers[i]);
  }
}

/* ---- Curves ---- */

typedef struct grid {
  unsigned count, bits;
} grid;

static const grid grids[] = {{2, 1}, {2, 5}, {3, 1}, {3, 4}, {4, 3}, {5, 2}, {8, 1}};

static void cell_of(grid g, uint64_t number, uint64_t *cells)
{
  for (unsigned i = 0; i < g.count; i++)
    cells[i] = number >> i * g.bits & ((1u << g.bits) - 1);
}

/* Every cell has a place of its own, and neighbours on the curve are neighbours in the grid: that
 * is what a Hilbert curve is. */
static void hilbert_visits_neighbours(void **state)
{
  (void)state;
  for (size_t n = 0; n < sizeof grids / sizeof *grids; n++) {
    const grid g = grids[n];
    const uint64_t size = UINT64_C(1) << g.count * g.bits;
    uint64_t *const cell_at = calloc(size, sizeof *cell_at);
    assert_non_null(cell_at);
    for (uint64_t number = 0; number < size; number++) {
      uint64_t cells[RECSORT_KEY_MOST_OPERANDS];
      cell_of(g, number, cells);
      key_hilbert(cells, g.count, g.bits, 1);
      const uint64_t place = key_interleave(cells, g.count, g.bits, 1);
      assert_true(place < size && cell_at[place] == 0);
      cell_at[place] = number + 1;
    }
    for (uint64_t place = 1; place < size; place++) {
      uint64_t a[RECSORT_KEY_MOST_OPERANDS], b[RECSORT_KEY_MOST_OPERANDS];
      uint64_t steps = 0;
      cell_of(g, cell_at[place - 1] - 1, a);
      cell_of(g, cell_at[place] - 1, b);
      for (unsigned i = 0; i < g.count; i++)
        steps += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
      if (steps != 1)
        fail_msg("%u fields of %u bits: place %llu is not beside the one before", g.count, g.bits,
                 (unsigned long long)place);
    }
    assert_true(cell_at[0] == 1); /* it begins at the origin */
    free(cell_at);
  }
}

/* The first field's bits are the most significant of their groups. */
static void morton_interleaves(void **state)
{
  uint64_t random = 1;
  (void)state;
  for (int round = 0; round < 1000; round++) {
    const unsigned count = 2 + (unsigned)random_below(&random, 7);
    const unsigned bits = 1 + (unsigned)random_below(&random, 64 / count);
    uint64_t cells[RECSORT_KEY_MOST_OPERANDS];
    for (unsigned i = 0; i < count; i++)
      cells[i] = next_random(&random) & key_mask(bits);
    const uint64_t code = key_interleave(cells, count, bits, 1);
    for (unsigned i = 0; i < count; i++)
      for (unsigned bit = 0; bit < bits; bit++)
        assert_true((code >> (bit * count + count - 1 - i) & 1) == (cells[i] >> bit & 1));
  }
}

/* ---- Sorting ---- */

typedef struct particle {
  float x, y, z;
  uint32_t id;
} particle;

static recsort_sorter *open_sorter(const char *keys, const recsort_options *options)
{
  char text[600];
  snprintf(text, sizeof text,
           "record: P\n" NATIVE
           "fields:\n  - {name: x, type: float32}\n  - {name: y, type: float32}\n"
           "  - {name: z, type: float32}\n  - {name: id, type: uint32}\nkeys:\n%s",
           keys);
  return sorter_of(text, options);
}

static void set(recsort_sorter *sorter, const char *name, const double *values, size_t count)
{
  recsort_error error = {0};
  if (recsort_sorter_set_parameter(sorter, name, values, count, &error)) fail_msg("%s", error.text);
}

/* Farther than the other one by more than what rounding may hide. */
static bool is_farther(const particle *a, const particle *b, const double *from)
{
  const long double ax = a->x - from[0], ay = a->y - from[1], az = a->z - from[2];
  const long double bx = b->x - from[0], by = b->y - from[1], bz = b->z - from[2];
  return ax * ax + ay * ay + az * az > (bx * bx + by * by + bz * bz) * (1 + 2 * FLT_EPSILON);
}

static void sorts_by_distance(void **state)
{
  enum { COUNT = 20000 };
  particle *const particles = calloc(COUNT, sizeof *particles);
  recsort_sorter *const sorter =
      open_sorter("  - {distance: {fields: [x, y, z], from: eye}, order: desc}\n", NULL);
  const double eyes[][3] = {{0, 0, 0}, {1, 2, 3}, {-1e6, 0.1, 1e-3}};
  uint64_t random = 1;
  (void)state;
  for (size_t e = 0; e < sizeof eyes / sizeof *eyes; e++) {
    recsort_error error = {0};
    size_t ties = 0;
    for (uint32_t i = 0; i < COUNT; i++)
      particles[i] = (particle){(float)random_below(&random, 40), (float)random_below(&random, 40),
                                (float)random_below(&random, 4), i};
    set(sorter, "eye", eyes[e], 3);
    if (recsort_sort(sorter, particles, COUNT, &error)) fail_msg("%s", error.text);
    for (size_t i = 1; i < COUNT; i++) {
      const particle *const a = &particles[i - 1], *const b = &particles[i];
      assert_false(is_farther(b, a, eyes[e]));
      if (a->x != b->x || a->y != b->y || a->z != b->z) continue;
      ties++;
      assert_true(a->id < b->id);
    }
    assert_true(ties > 100);
  }
  recsort_sorter_destroy(sorter);
  free(particles);
}

/* Sorts a few particles, and compares their numbers. */
static void expect_order(recsort_sorter *sorter, const particle *given, size_t count,
                         const uint32_t *ids)
{
  particle particles[8];
  recsort_error error = {0};
  memcpy(particles, given, count * sizeof *given);
  if (recsort_sort(sorter, particles, count, &error)) fail_msg("%s", error.text);
  for (size_t i = 0; i < count; i++)
    assert_int_equal(particles[i].id, ids[i]);
  recsort_sorter_destroy(sorter);
}

static void nans_and_large_numbers_have_a_place(void **state)
{
  static const particle some[] = {{NAN, 0, 0, 0},       {3e38f, 3e38f, 0, 1}, {1, 0, 0, 2},
                                  {-INFINITY, 0, 0, 3}, {0, -1, 0, 4},        {0, 0, -NAN, 5}};
  const size_t count = sizeof some / sizeof *some;
  (void)state;
  expect_order(open_sorter("  - {distance: {fields: [x, y, z], from: [0, 0, 0]}}\n", NULL), some,
               count, (uint32_t[]){2, 4, 1, 3, 0, 5});
  expect_order(
      open_sorter("  - {distance: {fields: [x, y, z], from: [0, 0, 0]}, order: desc}\n", NULL),
      some, count, (uint32_t[]){1, 3, 2, 4, 0, 5});
  expect_order(open_sorter("  - distance: {fields: [x, y, z], from: [0, 0, 0]}\n"
                           "    nan: first\n    order: desc\n",
                           NULL),
               some, count, (uint32_t[]){0, 5, 1, 3, 2, 4});
}

/* Of one pair of keys the codes are equal, or not. */
static void expect_codes(const char *keys, const double *a, const double *b, bool equal)
{
  char text[400];
  uint64_t codes[2];
  recsort_error error = {0};
  snprintf(text, sizeof text,
           "record: D\n" NATIVE "fields:\n  - {name: x, type: float64}\n"
           "  - {name: y, type: float64}\n  - {name: z, type: float64}\nkeys:\n%s",
           keys);
  recsort_sorter *const sorter = sorter_of(text, NULL);
  for (int i = 0; i < 2; i++)
    if (recsort_encode(sorter, i ? b : a, 1, &codes[i], &error)) fail_msg("%s", error.text);
  if ((codes[0] == codes[1]) != equal) fail_msg("%s", keys);
  recsort_sorter_destroy(sorter);
}

/* Products are rounded before they are added, from left to right; the sum is, to a float32, once.
 */
static void dot_products_are_rounded_as_said(void **state)
{
  const double e = ldexp(1, -30), square = (1 + e) * (1 + e); /* rounded: e * e is lost */
  const particle once[] = {{1, 0x1p-24f, 0x1p-48f, 0},
                           {1, 0x1p-24f, 0, 1},
                           {1, 0, 0, 2},
                           {1, 0x1p-23f, 0, 3},
                           {1, 0, 0, 4}};
  (void)state;
  expect_codes("  - dot: {fields: [x, y], with: [1, 1.000000000931322574615478515625]}\n",
               (double[]){-square, 1 + e, 0}, (double[]){0, 0, 0}, true);
  expect_codes("  - dot: {fields: [x, y, z], with: [1, 1, 1]}\n", (double[]){1, 1e17, -1e17},
               (double[]){0, 0, 0}, true);
  expect_codes("  - dot: {fields: [x, y, z], with: [1, 1, 1]}\n", (double[]){1e17, -1e17, 1},
               (double[]){0, 0, 1}, true);
  expect_codes("  - dot: {fields: [x, y, z], with: [1, 1, 1]}\n", (double[]){1e17, -1e17, 1},
               (double[]){0, 0, 0}, false);
  expect_order(open_sorter("  - {dot: {fields: [x, y, z], with: [1, 1, 1]}}\n", NULL), once, 5,
               (uint32_t[]){1, 2, 4, 0, 3});
}

static void sorts_by_depth(void **state)
{
  static const particle some[] = {{NAN, 0, 0, 0}, {0, 2, 1, 1},         {5, 0, -1, 2},
                                  {0, 0, 1, 3},   {0, -INFINITY, 1, 4}, {3, 3, 3, 5}};
  const char *const keys = "  - {dot: {fields: [x, y, z], with: forward}, order: desc}\n";
  const size_t count = sizeof some / sizeof *some;
  const double axes[][3] = {{0, 0, 1}, {1, 1, 1}, {-1, 0, -2}, {0, 0, 0}};
  static const uint32_t expected[][6] = {
      {5, 1, 3, 2, 0, 4}, {5, 2, 1, 3, 4, 0}, {1, 3, 2, 5, 0, 4}, {1, 2, 3, 5, 0, 4}};
  (void)state;
  for (size_t a = 0; a < sizeof axes / sizeof *axes; a++) {
    recsort_sorter *const sorter = open_sorter(keys, NULL);
    set(sorter, "forward", axes[a], 3);
    expect_order(sorter, some, count, expected[a]);
  }
}

/* Outside the grid is its edge; a NaN is in the last cell of the curve, or the first. */
/* Steps of columns have the codes that those of records have, and these are in the sorted order. */
static void codes_of_columns_are_those_of_records(void **state)
{
  enum { COUNT = 300, MOST_STEPS = 8 };
  particle particles[COUNT];
  uint64_t random = 1, last[MOST_STEPS] = {0};
  (void)state;
  recsort_sorter *const sorter =
      sorter_of("record: P\n" NATIVE "fields:\n  - {name: x, type: float32}\n"
                "  - {name: y, type: float32}\n  - {name: z, type: float32}\n"
                "  - {name: id, type: uint32, null: 3}\n"
                "keys:\n  - id\n  - {distance: {fields: [y, z], from: [1, 2]}}\n  - y\n",
                NULL);
  const recsort_key_program *const program = &sorter->plan.program;
  for (uint32_t i = 0; i < COUNT; i++)
    particles[i] = (particle){(float)random_below(&random, 5), (float)random_below(&random, 5),
                              (float)random_below(&random, 5), (uint32_t)random_below(&random, 5)};
  assert_int_equal(recsort_sort(sorter, particles, COUNT, NULL), RECSORT_OK);
  assert_in_range(program->step_count, 4, MOST_STEPS);
  for (size_t i = 0; i < COUNT; i++) {
    recsort_key_column columns[MOST_STEPS];
    uint64_t codes[MOST_STEPS], before = 0;
    bool valid = true;
    for (uint32_t s = 0; s < program->step_count; s++)
      columns[s] =
          (recsort_key_column){(char *)particles + program->steps[s].offset, sizeof *particles};
    for (uint32_t s = 0; s < program->step_count; s++, before = codes[s - 1]) {
      codes[s] = key_step(&program->steps[s], (unsigned char *)&particles[i], before, &valid);
      assert_true(codes[s] == key_step_in(&program->steps[s], columns + s, i, before, &valid));
    }
    assert_true(valid);
    for (uint32_t s = 0; s < program->step_count && last[s] >= codes[s]; s++)
      assert_true(last[s] == codes[s]);
    memcpy(last, codes, sizeof last);
  }
  recsort_sorter_destroy(sorter);
}

static void grids_have_edges(void **state)
{
  static const particle some[] = {{NAN, 0, 0, 0},        {9e9f, 9e9f, 0, 1},   {0.5f, 0.5f, 0, 2},
                                  {-9, -INFINITY, 0, 3}, {0.74f, 0.99f, 0, 4}, {0.75f, 1, 0, 5}};
  const size_t count = sizeof some / sizeof *some;
  (void)state;
  expect_order(open_sorter("  - {morton: {fields: [x, y], bits: 2, min: 0, max: 1}}\n", NULL), some,
               count, (uint32_t[]){3, 2, 4, 0, 1, 5});
  expect_order(
      open_sorter("  - {morton: {fields: [x, y], bits: 2, min: 0, max: 1}, nan: first}\n", NULL),
      some, count, (uint32_t[]){0, 3, 2, 4, 1, 5});
  expect_order(
      open_sorter("  - {morton: {fields: [x, y], bits: 2, min: 0, max: 1}, order: desc}\n", NULL),
      some, count, (uint32_t[]){1, 5, 4, 2, 0, 3});
}

static unsigned key_bits(const char *keys)
{
  recsort_sorter *const sorter = open_sorter(keys, NULL);
  recsort_stats stats;
  recsort_sorter_get_stats(sorter, &stats, sizeof stats);
  recsort_sorter_destroy(sorter);
  return stats.key_bits;
}

static void keys_are_as_wide_as_said(void **state)
{
  (void)state;
  assert_int_equal(key_bits("  - {distance: {fields: [x], from: a}}\n"), 32);
  assert_int_equal(key_bits("  - {distance: {fields: [x, id], from: a}}\n"), 64);
  assert_int_equal(key_bits("  - {dot: {fields: [x, y], with: a}}\n"), 32);
  assert_int_equal(key_bits("  - {dot: {fields: [x, id], with: a}}\n"), 64);
  assert_int_equal(key_bits("  - {morton: {fields: [x, y, z], bits: 21, min: 0, max: 1}}\n"), 63);
  assert_int_equal(key_bits("  - {hilbert: {fields: [x, y], bits: 32, min: 0, max: 1}}\n  - id\n"),
                   96);
}

/* ---- Parameters ---- */

static void expect_refusal(recsort_status status, const recsort_error *error, const char *text)
{
  assert_int_equal(status, RECSORT_INVALID_ARGUMENT);
  assert_string_equal(error->text, text);
}

static void a_point_is_set_first(void **state)
{
  recsort_sorter *const sorter = open_sorter("  - {distance: {fields: [x, y], from: here}}\n"
                                             "  - {distance: {fields: [z], from: there}}\n"
                                             "  - {dot: {fields: [x, y, z], with: up}}\n  - id\n",
                                             NULL);
  const double values[] = {1, 2, NAN}, up[] = {0, 0, 1};
  particle one = {0};
  size_t offsets[] = {0, 1}, disorder;
  uint32_t index;
  permutation order = {0};
  recsort_error error = {0};
  const char *const text = "parameter \"up\" of the keys has no values; set it first";
  (void)state;
  expect_refusal(recsort_sort(sorter, &one, 1, &error), &error,
                 "parameter \"here\" of the keys has no values; set it first");
  set(sorter, "here", values, 2);
  expect_refusal(recsort_sort(sorter, &one, 1, &error), &error,
                 "parameter \"there\" of the keys has no values; set it first");
  set(sorter, "there", values, 1);
  expect_refusal(recsort_sort(sorter, &one, 1, &error), &error, text);
  expect_refusal(recsort_argsort(sorter, &one, 1, &index, 32, &error), &error, text);
  expect_refusal(find_permutation(sorter, &one, 1, &order, &error), &error, text);
  expect_refusal(recsort_check(sorter, &one, 1, &disorder, &error), &error, text);
  expect_refusal(merge_in_place(sorter, &one, offsets, 1, &error), &error, text);
  expect_refusal(recsort_encode(sorter, &one, 1, &(uint64_t[4]){0}, &error), &error, text);
  expect_refusal(recsort_sorter_set_parameter(sorter, "up", up, 2, &error), &error,
                 "parameter \"up\" has 3 values, not 2");
  expect_refusal(recsort_sorter_set_parameter(sorter, "there", values, 2, &error), &error,
                 "parameter \"there\" has 1 values, not 2");
  expect_refusal(recsort_sorter_set_parameter(sorter, "there", values + 2, 1, &error), &error,
                 "value 0 of parameter \"there\" is not a finite number");
  expect_refusal(recsort_sorter_set_parameter(sorter, "nowhere", values, 2, &error), &error,
                 "no key has a parameter \"nowhere\"");
  expect_refusal(recsort_sorter_set_parameter(sorter, NULL, values, 2, &error), &error,
                 "sorter, name and values must not be NULL");
  set(sorter, "up", up, 3);
  assert_int_equal(recsort_sort(sorter, &one, 1, &error), RECSORT_OK);
  recsort_sorter_destroy(sorter);
}

static void parameters_can_be_listed(void **state)
{
  recsort_sorter *const sorter = open_sorter("  - {distance: {fields: [x, y], from: here}}\n"
                                             "  - {distance: {fields: [z], from: [1]}}\n"
                                             "  - {distance: {fields: [z], from: there}}\n",
                                             NULL);
  size_t count = 9;
  bool is_set = true;
  (void)state;
  set(sorter, "there", &(double){1}, 1);
  assert_string_equal(recsort_sorter_get_parameter(sorter, 0, &count, &is_set), "here");
  assert_true(count == 2 && !is_set);
  assert_string_equal(recsort_sorter_get_parameter(sorter, 1, &count, &is_set), "there");
  assert_true(count == 1 && is_set);
  assert_null(recsort_sorter_get_parameter(sorter, 2, NULL, NULL));
  assert_null(recsort_sorter_get_parameter(NULL, 0, NULL, NULL));
  recsort_sorter_destroy(sorter);
}

/* ---- Schemas ---- */

/* Loads a schema of x and y with `extra` more fields before them, and a key. */
static recsort_status load(const char *key, unsigned extra, const recsort_allocator *allocator,
                           recsort_schema **schema, recsort_error *error)
{
  char text[4000] = "record: P\nfields:\n";
  for (unsigned i = 0; i < extra; i++)
    sprintf(text + strlen(text), "  - {name: f%u, type: uint8}\n", i);
  sprintf(text + strlen(text),
          "  - {name: x, type: float32}\n  - {name: a_long_name_of_a_field, type: float32}\n"
          "keys:\n  - {%s}\n",
          key);
  return recsort_schema_load_memory(text, strlen(text), "p", allocator, schema, error);
}

static void numbers_have_many_spellings(void **state)
{
  static const struct {
    const char *text;
    double value; /* NaN: not a number */
  } cases[] = {{"1", 1},
               {"+1", 1},
               {"-1.", -1},
               {".5", 0.5},
               {"-.5e1", -5},
               {"1e3", 1000},
               {"1E+3", 1000},
               {"25e-2", .25},
               {"1e", NAN},
               {"1e+", NAN},
               {"1e-", NAN},
               {".", NAN},
               {"-", NAN},
               {"+.e1", NAN},
               {"0x10", NAN},
               {".inf", NAN},
               {"'1'", NAN},
               {"''", NAN},
               {"1_000", NAN},
               {"x", NAN},
               {"0.0000000000000000000000000000000000000000000000000000000000001", 1e-61},
               {"0.00000000000000000000000000000000000000000000000000000000000001", NAN}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char key[200];
    recsort_schema *schema = NULL;
    recsort_error error = {0};
    recsort_computed_desc found;
    snprintf(key, sizeof key, "distance: {fields: [x], from: [%s]}", cases[i].text);
    const recsort_status status = load(key, 0, NULL, &schema, &error);
    if (isnan(cases[i].value)) {
      assert_int_equal(status, RECSORT_INVALID_SCHEMA);
      if (!strstr(error.text, "is not a number")) fail_msg("%s: %s", cases[i].text, error.text);
      continue;
    }
    if (status) fail_msg("%s: %s", cases[i].text, error.text);
    found = *recsort_schema_describe(schema)->computed;
    if (found.origin[0] != cases[i].value) fail_msg("%s: %g", cases[i].text, found.origin[0]);
    recsort_schema_destroy(schema);
  }
}

static void wrong_schemas_are_refused(void **state)
{
  static const char *const cases[][2] = {
      {"morton: {fields: [x, x], bits: '4', min: 0, max: 1}", "bits \"4\" is not a number"},
      {"morton: {fields: [x, x], bits: '', min: 0, max: 1}", "bits \"\" is not a number"},
      {"morton: {fields: [x, x], bits: 0, min: 0, max: 1}", "bits \"0\" is not a number"},
      {"morton: {fields: [x, x], bits: 4.0, min: 0, max: 1}", "bits \"4.0\" is not a number"},
      {"morton: {fields: [x, x], min: 0, max: 1}", "it has no grid"},
      {"morton: {fields: [x, x], bits: 4, max: 1}", "it has no grid"},
      {"morton: {fields: [x, x], bits: 4, min: 0}", "it has no grid"},
      {"morton: {fields: [x, x], bits: 4, min: [0, 0, 0], max: 1}",
       "min has 3 numbers for 2 fields"},
      {"morton: {fields: [x, x], bits: 4, min: 0, max: [1]}", "max has 1 numbers for 2 fields"},
      {"distance: {fields: [x], from: [1, 2, 3, 4, 5, 6, 7, 8, 9]}",
       "from has more than 8 numbers"},
      {"distance: {fields: [x], from: [[1]]}", "from"},
      {"distance: {fields: [[x]], from: [1]}", "fields"},
      {"distance: {fields: [x], from: {x: 1}}", "from"},
      {"distance: [x]", "distance"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    recsort_schema *schema = NULL;
    recsort_error error = {0};
    assert_int_equal(load(cases[i][0], 0, NULL, &schema, &error), RECSORT_INVALID_SCHEMA);
    assert_null(schema);
    if (!strstr(error.text, cases[i][1])) fail_msg("%s: %s", cases[i][0], error.text);
  }
}

/* A key is named for what it is computed from; the name is cut when it is long, between characters.
 */
static void long_names_are_cut(void **state)
{
  char name[128] = "a"; /* so that some are cut inside a character */
  recsort_error error = {0};
  (void)state;
  for (int i = 0; i < 59; i++)
    strcat(name, "\xc3\xa9");
  for (size_t more = 0; more < 4; more++) {
    char text[900];
    recsort_schema *schema = NULL;
    recsort_computed_desc found;
    if (more) strcat(name, "x");
    const int length = snprintf(text, sizeof text,
                                "record: P\nfields: [{name: %s, type: int8}]\n"
                                "keys: [{distance: {fields: [%s, %s, %s, %s], from: 'from %s'}}]\n",
                                name, name, name, name, name, name);
    if (recsort_schema_load_memory(text, (size_t)length, "p", NULL, &schema, &error))
      fail_msg("%s", error.text);
    found = *recsort_schema_describe(schema)->computed;
    snprintf(text, sizeof text, "distance(%s, %s, %s, %s)", name, name, name, name);
    const size_t kept = strlen(found.name);
    assert_true(kept == 254 || kept == 255);
    assert_memory_equal(found.name, text, kept);
    assert_true(((unsigned char)text[kept] & 0xc0) != 0x80);
    recsort_schema_destroy(schema);
  }
  for (int coordinates = 1; coordinates <= 8; coordinates++) { /* cut inside the numbers, or not */
    char key[600] = "distance: {fields: [x", values[400] = "-1.2345678901234567e-300";
    recsort_schema *schema = NULL;
    recsort_computed_desc found;
    for (int i = 1; i < coordinates; i++) {
      strcat(key, ", a_long_name_of_a_field");
      strcat(values, ", -1.2345678901234567e-300");
    }
    sprintf(key + strlen(key), "], from: [%s]}", values);
    if (load(key, 0, NULL, &schema, &error)) fail_msg("%s", error.text);
    found = *recsort_schema_describe(schema)->computed;
    assert_int_equal(found.name[strlen(found.name) - 1] == ')', coordinates < 6);
    recsort_schema_destroy(schema);
  }
}

/* Each allocation fails in turn, wherever a block of the arena ends. */
static void survives_failing_allocations(void **state)
{
  static const char *const keys[] = {
      "distance: {fields: [x, a_long_name_of_a_field], from: a_long_name_of_a_point}",
      "hilbert: {fields: [x, a_long_name_of_a_field], bits: 5, min: [0, 1], max: 2}"};
  size_t faults = 0;
  (void)state;
  for (unsigned each = 0; each < 2 * 64; each++) {
    recsort_status status;
    size_t fail_at = 0;
    do {
      failing_allocator counted = {.fail_at = ++fail_at};
      const recsort_allocator allocator = failing_hook(&counted);
      recsort_schema *schema = NULL;
      recsort_error error = {0};
      status = load(keys[each % 2], each / 2, &allocator, &schema, &error);
      assert_true(status == RECSORT_OK || status == RECSORT_OUT_OF_MEMORY);
      assert_int_equal(error.status, status);
      faults += status != RECSORT_OK;
      recsort_schema_destroy(schema);
      assert_true(counted.blocks == 0 && counted.wrong == 0);
    } while (status);
  }
  assert_true(faults >= 500);
}

/* ---- Descriptions in C ---- */

static const recsort_field_desc fields[] = {
    {.name = "x", .type = RECSORT_FLOAT32, .offset = RECSORT_NO_OFFSET},
    {.name = "y", .type = RECSORT_INT16, .offset = RECSORT_NO_OFFSET},
    {.name = "text", .type = RECSORT_CHAR, .size = 4, .offset = RECSORT_NO_OFFSET}};

static recsort_status create(const recsort_computed_desc *computed, recsort_nan nan,
                             recsort_schema **schema, recsort_error *error)
{
  const recsort_key_desc key = {.path = "near", .nan = nan};
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "P",
                                    .fields = fields,
                                    .field_count = 3,
                                    .keys = &key,
                                    .key_count = 1,
                                    .computed = computed,
                                    .computed_count = 1};
  return recsort_schema_create(&desc, NULL, schema, error);
}

static void a_description_says_what_it_said(void **state)
{
  const double origin[] = {1, 2}, limit[] = {3, 4};
  const char *const paths[] = {"x", "y"};
  const recsort_computed_desc given = {.name = "near",
                                       .compute = RECSORT_HILBERT,
                                       .bits = 7,
                                       .coordinates = paths,
                                       .coordinate_count = 2,
                                       .origin = origin,
                                       .limit = limit};
  recsort_computed_desc found;
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  (void)state;
  if (create(&given, RECSORT_NAN_LAST, &schema, &error)) fail_msg("%s", error.text);
  found = *recsort_schema_describe(schema)->computed;
  assert_string_equal(found.name, "near");
  assert_true(found.compute == RECSORT_HILBERT && found.bits == 7 && found.coordinate_count == 2);
  assert_string_equal(found.coordinates[1], "y");
  assert_true(found.origin[1] == 2 && found.limit[0] == 3 && !found.parameter);
  assert_int_equal(recsort_schema_describe(schema)->computed_count, 1);
  recsort_schema_destroy(schema);
}

static const char *const xy[] = {"x", "y"}, *const xt[] = {"x", "text"}, *const xq[] = {"x", "q"},
                         *const xn[] = {"x", NULL};
static const double zero[] = {0, 0}, one[] = {1, 1}, far[] = {DBL_MAX, 1}, low[] = {-DBL_MAX, 0},
                    tiny[] = {DBL_TRUE_MIN, 1}, unset[] = {0, NAN};
#define CURVE(...)                                                                                 \
  {                                                                                                \
    .name = "near", .compute = RECSORT_MORTON, .coordinate_count = 2, __VA_ARGS__                  \
  }
static const struct {
  recsort_computed_desc desc;
  const char *text;
  recsort_nan order;
} wrong_descriptions[] = {
    {{.compute = RECSORT_MORTON}, "a computed value has no name", 0},
    {{.name = "x"}, "key \"x\": a field has that name", 0},
    {{.name = "near"}, "key \"near\": it is not a recsort_compute", 0},
    {{.name = "near", .compute = (recsort_compute)5},
     "key \"near\": it is not a recsort_compute",
     0},
    {CURVE(.coordinates = NULL), "key \"near\": it takes 2 to 8 fields, not 2", 0},
    {{.name = "near", .compute = RECSORT_MORTON, .coordinates = xy, .coordinate_count = 1},
     "key \"near\": it takes 2 to 8 fields, not 1",
     0},
    {{.name = "near", .compute = RECSORT_DISTANCE, .coordinates = xy, .coordinate_count = 9},
     "key \"near\": it takes 1 to 8 fields, not 9",
     0},
    {CURVE(.coordinates = xy, .bits = 33), "key \"near\": bits is 33; for 2 fields it is 1 to 32",
     0},
    {CURVE(.coordinates = xy), "key \"near\": bits is 0; for 2 fields it is 1 to 32", 0},
    {CURVE(.coordinates = xy, .bits = 3, .limit = one),
     "key \"near\": its grid needs a min and a max", 0},
    {CURVE(.coordinates = xy, .bits = 32, .origin = zero, .limit = tiny),
     "key \"near\": the min and max of x are too far apart or too close", 0},
    {{.name = "near",
      .compute = RECSORT_DISTANCE,
      .coordinates = xy,
      .coordinate_count = 2,
      .parameter = "\n"},
     "key \"near\": the name of its point is not one: a name must not hold control "
     "characters",
     0},
    {CURVE(.coordinates = xy, .bits = 3, .origin = zero),
     "key \"near\": its grid needs a min and a max", 0},
    {{.name = "near", .compute = RECSORT_DISTANCE, .coordinates = xy, .coordinate_count = 2},
     "key \"near\": its point needs a name or coordinates",
     0},
    {CURVE(.coordinates = xt, .bits = 3, .origin = zero, .limit = one),
     "key \"near\": text is char, not an integer or a float", 0},
    {CURVE(.coordinates = xq, .bits = 3, .origin = zero, .limit = one),
     "key \"q\": there is no field \"q\"; known here: x, y, text", 0},
    {CURVE(.coordinates = xn, .bits = 3, .origin = zero, .limit = one),
     "key \"near\": a field has no path", 0},
    {CURVE(.coordinates = xy, .bits = 3, .origin = zero, .limit = zero),
     "key \"near\": the max of x is not greater than its min", 0},
    {CURVE(.coordinates = xy, .bits = 3, .origin = low, .limit = far),
     "key \"near\": the min and max of x are too far apart or too close", 0},
    {CURVE(.coordinates = xy, .bits = 3, .origin = unset, .limit = one),
     "key \"near\": the min of y is not a finite number", 0},
    {{.name = "near",
      .compute = RECSORT_DISTANCE,
      .coordinates = xy,
      .coordinate_count = 2,
      .origin = unset},
     "key \"near\": the point's coordinate of y is not a finite number",
     0},
    {{.name = "near",
      .compute = RECSORT_DOT,
      .coordinates = xy,
      .coordinate_count = 2,
      .origin = unset},
     "key \"near\": the vector's coordinate of y is not a finite number",
     0},
    {{.name = "near", .compute = RECSORT_DOT, .coordinates = xy, .coordinate_count = 2},
     "key \"near\": its vector needs a name or coordinates",
     0},
    {{.name = "near", .compute = RECSORT_DOT, .coordinates = xy, .coordinate_count = 0},
     "key \"near\": it takes 1 to 8 fields, not 0",
     0},
    {{.name = "near",
      .compute = RECSORT_DOT,
      .coordinates = xy,
      .coordinate_count = 2,
      .parameter = "\n"},
     "key \"near\": the name of its vector is not one: a name must not hold control characters",
     0},
    {{.name = "near",
      .compute = RECSORT_DISTANCE,
      .coordinates = xy,
      .coordinate_count = 2,
      .origin = zero,
      .parameter = "eye"},
     "key \"near\": its point needs a name or coordinates",
     0},
    {CURVE(.coordinates = xt, .bits = 3, .origin = zero, .limit = one, .parameter = "eye"),
     "key \"near\": text is char, not an integer or a float", 0},
    {CURVE(.coordinates = xy, .bits = 3, .origin = zero, .limit = one),
     "key \"near\": nan is last or first for what is computed", RECSORT_NAN_TOTAL},
};

/* What is computed has no field. In a text a key that is computed has a name, too. */
static void computed_coordinates_are_refused(void **state)
{
  static const char *const nested[] = {"near"};
  static const char *const text = "record: P\nfields: [{name: x, type: float32}]\nkeys:\n"
                                  "  - {distance: {fields: [x], from: here}}\n"
                                  "  - {dot: {fields: ['distance(x from here)'], with: here}}\n";
  const recsort_computed_desc two[] = {{.name = "near",
                                        .compute = RECSORT_DISTANCE,
                                        .coordinates = xy,
                                        .coordinate_count = 2,
                                        .origin = zero},
                                       {.name = "nearer",
                                        .compute = RECSORT_DOT,
                                        .coordinates = nested,
                                        .coordinate_count = 1,
                                        .origin = zero}};
  const recsort_schema_desc described = {.struct_size = sizeof described,
                                         .record = "P",
                                         .fields = fields,
                                         .field_count = 3,
                                         .computed = two,
                                         .computed_count = 2};
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  (void)state;
  assert_int_equal(recsort_schema_create(&described, NULL, &schema, &error), RECSORT_INVALID_KEY);
  assert_string_equal(error.text,
                      "key \"nearer\": near is computed itself; coordinates are fields");
  assert_int_equal(recsort_schema_load_memory(text, strlen(text), NULL, NULL, &schema, &error),
                   RECSORT_INVALID_KEY);
  assert_non_null(strstr(error.text, "distance(x from here) is computed itself"));
  assert_null(schema);
}

static void wrong_descriptions_are_refused(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof wrong_descriptions / sizeof *wrong_descriptions; i++) {
    recsort_schema *schema = NULL;
    recsort_error error = {0};
    assert_int_equal(
        create(&wrong_descriptions[i].desc, wrong_descriptions[i].order, &schema, &error),
        RECSORT_INVALID_KEY);
    assert_string_equal(error.text, wrong_descriptions[i].text);
    assert_null(schema);
  }
  const recsort_schema_desc none = {.struct_size = sizeof none,
                                    .record = "P",
                                    .fields = fields,
                                    .field_count = 3,
                                    .computed_count = 1};
  REFUSED(recsort_schema_create(&none, NULL, &(recsort_schema *){NULL}, &error),
          RECSORT_INVALID_SCHEMA);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_every_short_float),
      cmocka_unit_test(reads_floats_and_integers),
      cmocka_unit_test(hilbert_visits_neighbours),
      cmocka_unit_test(morton_interleaves),
      cmocka_unit_test(sorts_by_distance),
      cmocka_unit_test(nans_and_large_numbers_have_a_place),
      cmocka_unit_test(dot_products_are_rounded_as_said),
      cmocka_unit_test(sorts_by_depth),
      cmocka_unit_test(codes_of_columns_are_those_of_records),
      cmocka_unit_test(grids_have_edges),
      cmocka_unit_test(keys_are_as_wide_as_said),
      cmocka_unit_test(a_point_is_set_first),
      cmocka_unit_test(parameters_can_be_listed),
      cmocka_unit_test(numbers_have_many_spellings),
      cmocka_unit_test(wrong_schemas_are_refused),
      cmocka_unit_test(long_names_are_cut),
      cmocka_unit_test(survives_failing_allocations),
      cmocka_unit_test(a_description_says_what_it_said),
      cmocka_unit_test(computed_coordinates_are_refused),
      cmocka_unit_test(wrong_descriptions_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
