/* computed.c - sorts by computed keys through the public functions, and compares with an oracle
 * that compares distances and dot products as numbers, and cells by the highest bit in which they
 * differ. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "recsort/key_interpreter.h"
#include "recsort/tools.h"
#include "support/columns.h"
#include "support/jobs.h"
#include "support/random.h"

/* The fields of a record: X to D, in the order of its bytes, then its number. */
enum { X, Y, I, H, D, FIELDS, RECORD = 24, MOST_COORDINATES = 3, MOST_RECORDS = 40000 };
static const char record_text[] =
    "record: C\nlayout: packed\nfields:\n  - {name: x, type: float32}\n"
    "  - {name: y, type: float32, endian: big}\n  - {name: i, type: int16, endian: big}\n"
    "  - {name: h, type: float16}\n  - {name: d, type: float64}\n"
    "  - {name: id, type: uint32}\nkeys:\n";

/* A key, and its description for the oracle. */
typedef struct computed_kind {
  const char *key;
  recsort_compute compute;
  unsigned bits; /* of a coordinate's cell, or of a sum */
  size_t count;
  unsigned fields[MOST_COORDINATES];
  double origin[MOST_COORDINATES]; /* the point, the vector, or the least corner of the grid */
  double side;                     /* of the grid */
  bool descending, nan_first, by_id;
} computed_kind;

static const computed_kind computed_kinds[] = {
    {"  - {distance: {fields: [x, y], from: here}}\n",
     RECSORT_DISTANCE,
     32,
     2,
     {X, Y},
     {1, -2},
     0,
     false,
     false,
     false},
    {"  - {distance: {fields: [x, h], from: here}, order: desc, nan: first}\n",
     RECSORT_DISTANCE,
     32,
     2,
     {X, H},
     {0.25, 3},
     0,
     true,
     true,
     false},
    {"  - {distance: {fields: [d, i, y], from: [0.1, 7, 1e-3]}, order: desc}\n",
     RECSORT_DISTANCE,
     64,
     3,
     {D, I, Y},
     {0.1, 7, 1e-3},
     0,
     true,
     false,
     false},
    {"  - {distance: {fields: [d], from: [0.3]}}\n",
     RECSORT_DISTANCE,
     64,
     1,
     {D},
     {0.3},
     0,
     false,
     false,
     false},
    {"  - {distance: {fields: [i], from: [0]}}\n  - {field: id, order: desc}\n",
     RECSORT_DISTANCE,
     64,
     1,
     {I},
     {0},
     0,
     false,
     false,
     true},
    {"  - {dot: {fields: [x, y, h], with: here}, order: desc}\n",
     RECSORT_DOT,
     32,
     3,
     {X, Y, H},
     {0.6, -0.3, 0.7},
     0,
     true,
     false,
     false},
    {"  - {dot: {fields: [d, i], with: [0.1, 3]}, nan: first}\n",
     RECSORT_DOT,
     64,
     2,
     {D, I},
     {0.1, 3},
     0,
     false,
     true,
     false},
    {"  - {dot: {fields: [x, y], with: [0, -0]}}\n", /* all numbers are equal */
     RECSORT_DOT,
     32,
     2,
     {X, Y},
     {0, -0.0},
     0,
     false,
     false,
     false},
    {"  - {morton: {fields: [x, y], bits: 16, min: -20, max: 12}}\n",
     RECSORT_MORTON,
     16,
     2,
     {X, Y},
     {-20, -20},
     32,
     false,
     false,
     false},
    {"  - {morton: {fields: [x, d, i], bits: 21, min: [-9, 0, -3], max: [-1, 8, 5]}, order: "
     "desc}\n",
     RECSORT_MORTON,
     21,
     3,
     {X, D, I},
     {-9, 0, -3},
     8,
     true,
     false,
     false},
    {"  - {hilbert: {fields: [x, y, i], bits: 10, min: -16, max: 16}, nan: first}\n",
     RECSORT_HILBERT,
     10,
     3,
     {X, Y, I},
     {-16, -16, -16},
     32,
     false,
     true,
     false},
    {"  - {hilbert: {fields: [d, h], bits: 32, min: 0, max: 64}, order: desc}\n"
     "  - {field: id, order: desc}\n",
     RECSORT_HILBERT,
     32,
     2,
     {D, H},
     {0, 0},
     64,
     true,
     false,
     true}};
enum { KINDS = sizeof computed_kinds / sizeof *computed_kinds };

/* What a record's coordinates are, as the oracle sees them. */
typedef struct computed_value {
  bool is_nan;
  double sum; /* a squared distance, or a dot product */
  uint64_t cells[MOST_COORDINATES];
} computed_value;

/* ---- Records ---- */

/* Few values, so that there are ties, of which short floats have all; and some that are special. */
static double make_number(unsigned field, uint64_t *random)
{
  static const double special[] = {NAN, INFINITY, -INFINITY, 3e38, -0.0};
  const uint64_t choice = random_below(random, 40);
  if (field == I) return (double)random_below(random, 50) - 25;
  if (choice < 5) return field == H && choice == 3 ? 0 : special[choice];
  return ((double)random_below(random, 200) - 100) / (field == D ? 3 : 4);
}

static void store(unsigned char *at, unsigned field, double number)
{
  static const struct {
    unsigned offset, bytes;
    bool big;
  } places[FIELDS] = {{0, 4, false}, {4, 4, true}, {8, 2, true}, {10, 2, false}, {12, 8, false}};
  const recsort_field_desc half = {
      .type = RECSORT_FLOAT16, .endian = RECSORT_LITTLE_ENDIAN, .size = 2};
  const recsort_value value = {.kind = RECSORT_VALUE_REAL, .as.real = number};
  const uint64_t raw = field == D   ? key_double_bits(number)
                       : field == I ? (uint64_t)(int64_t)number
                                    : key_float_bits((float)number);
  if (field == H)
    recsort_field_set(&half, at + places[field].offset, 0, &value, sizeof value);
  else
    key_store(at + places[field].offset, places[field].bytes, places[field].big, raw);
}

static bool is_curve(const computed_kind *k)
{
  return k->compute == RECSORT_MORTON || k->compute == RECSORT_HILBERT;
}

static computed_value judge_value(const computed_kind *k, const double *numbers)
{
  computed_value value = {.is_nan = false};
  for (size_t c = 0; c < k->count; c++) {
    const double number = numbers[k->fields[c]], from = number - k->origin[c];
    const double cells = (double)(UINT64_C(1) << k->bits % 64), place = from * (cells / k->side);
    if (isnan(number)) value.is_nan = true;
    value.sum += k->compute == RECSORT_DOT ? number * k->origin[c] : from * from;
    value.cells[c] = place < 0 || isnan(place) ? 0
                     : place < cells           ? (uint64_t)place
                                               : (UINT64_C(1) << k->bits % 64) - 1;
  }
  if (k->compute == RECSORT_DOT) value.is_nan = isnan(value.sum); /* such as infinity * 0 */
  if (k->bits == 32) value.sum = (double)(float)value.sum;
  if (k->compute == RECSORT_HILBERT) key_hilbert(value.cells, (unsigned)k->count, k->bits, 1);
  if (is_curve(k) && value.is_nan) /* it shares the last cell, or the first */
    for (size_t c = 0; c < k->count; c++)
      value.cells[c] = k->nan_first != k->descending ? 0 : (UINT64_C(1) << k->bits) - 1;
  return value;
}

/* ---- The oracle's order; static, as qsort has no context ---- */

static const computed_kind *judged;
static const computed_value *judged_values;

/* By the coordinate that differs in the highest bit; of several, by the first one. */
static int compare_cells(const uint64_t *a, const uint64_t *b)
{
  size_t deciding = 0;
  uint64_t most = 0;
  for (size_t c = 0; c < judged->count; c++) {
    const uint64_t differing = a[c] ^ b[c];
    if (most < differing && most < (most ^ differing)) {
      most = differing;
      deciding = c;
    }
  }
  return a[deciding] < b[deciding] ? -1 : a[deciding] > b[deciding];
}

static int compare_values(const computed_value *a, const computed_value *b)
{
  const int sign = judged->descending ? -1 : 1;
  if (is_curve(judged)) return sign * compare_cells(a->cells, b->cells);
  if (a->is_nan || b->is_nan) return (judged->nan_first ? -1 : 1) * (a->is_nan - b->is_nan);
  return sign * ((a->sum > b->sum) - (a->sum < b->sum));
}

static int compare_indices(const void *x, const void *y)
{
  const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  const int order = compare_values(&judged_values[a], &judged_values[b]);
  const int later = (a > b) - (a < b);
  return order ? order : judged->by_id ? -later : later;
}

/* ---- Cases ---- */

typedef struct computed_case {
  const computed_kind *kind;
  size_t count, ties;
  unsigned char *records, *sorted, *work, *columns;
  computed_value *values;
  uint32_t *expected, *index;
} computed_case;

static void make_case(computed_case *c, uint64_t *random)
{
  for (uint32_t i = 0; i < c->count; i++) {
    double numbers[FIELDS];
    unsigned char *const record = c->records + (size_t)i * RECORD;
    for (unsigned field = 0; field < FIELDS; field++) {
      numbers[field] = make_number(field, random);
      store(record, field, numbers[field]);
      if (field == X || field == Y) numbers[field] = (double)(float)numbers[field];
    }
    key_store(record + RECORD - 4, 4, false, i);
    c->values[i] = judge_value(c->kind, numbers);
    c->expected[i] = i;
  }
  judged = c->kind;
  judged_values = c->values;
  qsort(c->expected, c->count, sizeof *c->expected, compare_indices);
  c->ties = 0;
  for (size_t i = 0; i < c->count; i++) {
    memcpy(c->sorted + i * RECORD, c->records + c->expected[i] * (size_t)RECORD, RECORD);
    c->ties += i > 0 && !compare_values(&c->values[c->expected[i - 1]], &c->values[c->expected[i]]);
  }
}

static recsort_sorter *open_sorter(const computed_kind *k, const way *w, unsigned threads,
                                   recsort_schema **schema)
{
  char text[sizeof record_text + 200];
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin = w->plugin,
                                   .algorithm = w->algorithm,
                                   .threads = threads};
  recsort_sorter *sorter = NULL;
  (void)snprintf(text, sizeof text, "%s%s", record_text, k->key);
  if (recsort_schema_load_memory(text, strlen(text), "computed", NULL, schema, NULL) == RECSORT_OK)
    (void)recsort_sorter_create(*schema, &options, &sorter, NULL);
  if (sorter && recsort_sorter_get_parameter(sorter, 0, NULL, NULL) &&
      recsort_sorter_set_parameter(sorter, "here", k->origin, k->count, NULL) != RECSORT_OK) {
    recsort_sorter_destroy(sorter);
    sorter = NULL;
  }
  return sorter;
}

/* Sorts three runs, and merges them. */
static bool merge_runs(recsort_sorter *sorter, const computed_case *c)
{
  const size_t third = c->count / 3, offsets[] = {0, third, 2 * third, c->count};
  memcpy(c->work, c->records, c->count * RECORD);
  for (size_t r = 0; r < 3; r++)
    if (recsort_sort(sorter, c->work + offsets[r] * RECORD, offsets[r + 1] - offsets[r], NULL))
      return false;
  return merge_in_place(sorter, c->work, offsets, 3, NULL) == RECSORT_OK &&
         memcmp(c->work, c->sorted, c->count * RECORD) == 0;
}

static bool sort_columns(recsort_sorter *sorter, const recsort_schema *schema,
                         const computed_case *c, uint64_t *random)
{
  recsort_column columns[COLUMNS_MOST];
  const size_t count = columns_split(schema, c->records, c->count, c->columns, random, columns);
  memset(c->index, 0xa5, c->count * sizeof *c->index);
  return argsort_columns(sorter, columns, count, c->count, c->index, 32, NULL) == RECSORT_OK &&
         memcmp(c->index, c->expected, c->count * sizeof *c->index) == 0;
}

static void check_way(const computed_case *c, const way *w, unsigned threads, uint64_t *random,
                      tally *t)
{
  recsort_schema *schema = NULL;
  recsort_sorter *const sorter = open_sorter(c->kind, w, threads, &schema);
  const size_t bytes = c->count * RECORD;
  bool good = sorter != NULL;
  memset(c->index, 0xa5, c->count * sizeof *c->index);
  good = good && recsort_argsort(sorter, c->records, c->count, c->index, 32, NULL) == RECSORT_OK &&
         memcmp(c->index, c->expected, c->count * sizeof *c->index) == 0;
  memset(c->work, 0xa5, bytes);
  good = good && recsort_sort_to(sorter, c->records, c->count, c->work, NULL) == RECSORT_OK &&
         memcmp(c->work, c->sorted, bytes) == 0;
  good = good && merge_runs(sorter, c) && sort_columns(sorter, schema, c, random);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
  count_case(t, good, "%s %s, %u threads, %zu records: %s", w->plugin, w->algorithm, threads,
             c->count, c->kind->key);
}

void test_computed(const way *ways, size_t way_count, bool few, tally *t)
{
  static const size_t counts[] = {0, 1, 2, 70, 3001, MOST_RECORDS};
  computed_case c = {.records = malloc((size_t)MOST_RECORDS * RECORD),
                     .sorted = malloc((size_t)MOST_RECORDS * RECORD),
                     .work = malloc((size_t)MOST_RECORDS * RECORD),
                     .columns = malloc(columns_bytes(RECORD, MOST_RECORDS)),
                     .values = malloc(MOST_RECORDS * sizeof *c.values),
                     .expected = malloc(MOST_RECORDS * sizeof *c.expected),
                     .index = malloc(MOST_RECORDS * sizeof *c.index)};
  const bool have_memory =
      c.records && c.sorted && c.work && c.columns && c.values && c.expected && c.index;
  uint64_t random = 1;
  count_case(t, have_memory, "no memory for the records");
  for (size_t k = 0; k < KINDS && have_memory; k++)
    for (size_t n = 0; n < sizeof counts / sizeof *counts - few; n++) {
      c.kind = &computed_kinds[k];
      c.count = counts[n];
      make_case(&c, &random);
      count_case(t, c.count < 3000 || c.ties > 100, "%s: no ties", c.kind->key);
      for (size_t w = 0; w < way_count; w++)
        check_way(&c, &ways[w], thread_counts[(k + n) % THREAD_COUNTS], &random, t);
    }
  free(c.records);
  free(c.sorted);
  free(c.work);
  free(c.columns);
  free(c.values);
  free(c.expected);
  free(c.index);
}
