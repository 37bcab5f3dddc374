/* A schema, options and some jobs, all of whose members are drawn, on recsort.c: each call returns
 * the status that the headers promise, and afterwards every byte of every array, guards too, is
 * what a merge sort by the values of fields makes of it. */
#include "recsort.h" /* that of recsort.c, before others */

#include <string.h>

#include "drawn_schema.h"

enum { MOST_BUFFERS = 64, MOST_PARTS = 40, MOST_ARRAYS = 3, MOST_JOBS = 3, MOST_COLUMNS = 10 };
enum { GUARD_BYTES = 32, GUARD = 0x5b, LEAD = 64, MOST_BYTES = 1 << 20 };

/* ---- Memory ---- */

/* An array of a job between guards, and what all of it should be after a call. */
typedef struct buffer {
  uint8_t *memory, *before, *expected;
  size_t size; /* with guards */
} buffer;

/* The allocator counts bytes, and fails from the call on that the trial has chosen. */
typedef struct ledger {
  size_t taken;
  size_t calls_left; /* until one fails; SIZE_MAX: none does */
  bool has_failed;
} ledger;

typedef struct trial {
  drawing d;
  drawn_schema schema;
  ledger ledger;
  recsort_options options;
  recsort_sorter *sorter, *model; /* both with the same keys; `model` makes the expected codes */
  size_t key_size;
  unsigned key_bits, tasks;
  bool takes_ours; /* memory, of the allocator here */
  bool reserved;   /* no more is to be taken */
  buffer buffers[MOST_BUFFERS];
  size_t buffer_count;
  recsort_job job;
  recsort_column columns[MOST_COLUMNS];
  recsort_array arrays[MOST_ARRAYS];
  uint64_t offsets[MOST_PARTS + 2]; /* as drawn */
  size_t part_count;
  const void *runs[MOST_PARTS];
  /* What the job means. */
  uint8_t *rows; /* its records */
  uint64_t *codes, *order, *merged;
  unsigned first_bit, bits; /* of codes that are compared; 0: the values are */
  size_t wanted;
} trial;

enum { HEADER = 16 }; /* of an allocation: its size */

static void *take(void *context, size_t size)
{
  ledger *const l = context;
  if (l->calls_left == 0) l->has_failed = true;
  if (l->has_failed) return NULL;
  if (l->calls_left < SIZE_MAX) l->calls_left--;
  uint8_t *const memory = malloc(HEADER + size);
  if (!memory) return NULL;
  memcpy(memory, &size, sizeof size);
  l->taken += size;
  return memory + HEADER;
}

static void release(void *context, void *memory, size_t size)
{
  ledger *const l = context;
  size_t known;
  memcpy(&known, (uint8_t *)memory - HEADER, sizeof known);
  EXPECT(known == size && size <= l->taken);
  l->taken -= size;
  free((uint8_t *)memory - HEADER);
}

static void *room(size_t size)
{
  void *const memory = calloc(1, size ? size : 1);
  EXPECT(memory);
  return memory;
}

/* An array at a drawn address; `alignment` is the most that it has to have. */
static uint8_t *add_buffer(trial *t, size_t size, size_t alignment)
{
  const size_t lead = LEAD + (one_in(&t->d, 2) ? draw(&t->d, LEAD / alignment) * alignment : 0);
  const size_t tail = one_in(&t->d, 2) ? GUARD_BYTES : 0;
  EXPECT(t->buffer_count < MOST_BUFFERS);
  buffer *const b = &t->buffers[t->buffer_count++];
  b->size = lead + size + tail;
  b->memory = room(b->size);
  b->before = room(b->size);
  b->expected = room(b->size);
  memset(b->memory, GUARD, b->size);
  return b->memory + lead;
}

static void drop_buffers(trial *t)
{
  for (size_t b = 0; b < t->buffer_count; b++) {
    free(t->buffers[b].memory);
    free(t->buffers[b].before);
    free(t->buffers[b].expected);
  }
  t->buffer_count = 0;
}

/* The byte of the expectation for a byte of an array. */
static uint8_t *expected_at(const trial *t, const void *at)
{
  const buffer *b = t->buffers;
  while ((uintptr_t)at - (uintptr_t)b->memory >= b->size)
    b++;
  return b->expected + ((uintptr_t)at - (uintptr_t)b->memory);
}

/* ---- Options ---- */

/* Tasks run in an order of their own, in one thread. */
static void run_tasks(void *context, void (*task)(void *, size_t), void *argument, size_t count)
{
  const trial *const t = context;
  EXPECT(count <= t->tasks);
  for (size_t i = count; i-- > 0;)
    task(argument, (i + count / 2) % count);
}

static bool has_name(const char *name, const char *other)
{
  return name && strcmp(name, other) == 0;
}

/* What creating the sorter must come to; -1: that is not specified. */
static int judge_options(const trial *t)
{
  const recsort_options *const o = &t->options;
  const bool ours = has_name(o->plugin, "cpu");
  if (o->struct_size != sizeof *o || (o->key_count && !o->keys) ||
      o->verify > RECSORT_VERIFY_FULL ||
      (o->executor && (o->executor->struct_size != sizeof *o->executor || !o->executor->run)) ||
      (o->record_size && o->record_size != t->schema.record_size))
    return RECSORT_INVALID_ARGUMENT;
  if (o->on_device || has_name(o->plugin, "nobody") ||
      (ours && (has_name(o->algorithm, "nobody") || o->plugin_option_count)))
    return RECSORT_PLUGIN_ERROR;
  if (has_name(o->algorithm, "nobody") || o->plugin_option_count) return -1;
  return RECSORT_OK;
}

/* Draws options, and makes the sorter. */
static bool open_sorter(trial *t, const recsort_schema *schema)
{
  static const char *const plugins[] = {NULL, "cpu", "auto", "nobody"};
  static const char *const algorithms[] = {NULL, "parallel", "sequential", "nobody"};
  static const char *const extra[] = {"nothing=1", "memory=1K"};
  drawing *const d = &t->d;
  const bool given = t->schema.key_counts[1] > 0, wild = one_in(d, 8);
  const recsort_allocator allocator = {&t->ledger, take, release};
  recsort_executor executor = {sizeof executor, t, run_tasks, (unsigned)draw(d, 5)};
  if (wild && one_in(d, 4)) executor.struct_size--;
  if (wild && one_in(d, 4)) executor.run = NULL;
  t->options = (recsort_options){wild && one_in(d, 6) ? sizeof t->options - 8 * draw(d, 3)
                                                      : sizeof t->options,
                                 given || !wild ? t->schema.key_descs[1] : NULL,
                                 wild && one_in(d, 6) ? 1 : t->schema.key_counts[1],
                                 one_in(d, 4),
                                 plugins[draw(d, 3 + wild)],
                                 algorithms[draw(d, 3 + wild)],
                                 (unsigned)draw(d, 6),
                                 one_in(d, 2) ? &allocator : NULL,
                                 one_in(d, 2) ? &executor : NULL,
                                 extra,
                                 wild && one_in(d, 4) ? 1 + draw(d, 2) : 0,
                                 wild && one_in(d, 4) ? draw(d, 100)
                                 : one_in(d, 2)       ? t->schema.record_size
                                                      : 0,
                                 (recsort_verify)draw(d, 3 + wild),
                                 wild && one_in(d, 8)};
  if (!t->schema.key_counts[1] && t->options.key_count) t->options.keys = NULL;
  t->tasks = executor.threads ? executor.threads : 1024;
  const int judged = judge_options(t);
  t->takes_ours = t->options.allocator;
  if (t->takes_ours && one_in(d, 16)) t->ledger.calls_left = draw(d, 40);
  const recsort_status status = recsort_sorter_create(schema, &t->options, &t->sorter, NULL);
  EXPECT((status == RECSORT_OK) == (t->sorter != NULL));
  EXPECT(judged < 0 || status == (recsort_status)judged ||
         (status == RECSORT_OUT_OF_MEMORY && t->ledger.has_failed));
  if (status) return false;
  const recsort_options plain = {.struct_size = sizeof plain,
                                 .keys = t->options.keys,
                                 .key_count = t->options.key_count,
                                 .reverse = t->options.reverse,
                                 .threads = 1};
  EXPECT(recsort_sorter_create(schema, &plain, &t->model, NULL) == RECSORT_OK);
  t->schema.chosen = t->schema.keys[t->options.key_count > 0];
  t->schema.chosen_count = t->options.key_count ? t->options.key_count : t->schema.key_counts[0];
  recsort_stats stats;
  recsort_sorter_get_stats(t->sorter, &stats, sizeof stats);
  t->key_size = recsort_key_size(t->sorter);
  t->key_bits = stats.key_bits;
  return true;
}

static bool is_compared(const trial *t, const computed *c)
{
  for (size_t k = 0; k < t->schema.chosen_count; k++)
    if (t->schema.chosen[k].value == c) return true;
  return false;
}

/* Sets the points and vectors, and tries what must not set one. */
static void set_parameters(trial *t)
{
  drawing *const d = &t->d;
  for (size_t n = 0; n < t->schema.computed_count; n++) {
    computed *const c = &t->schema.computed[n];
    const double none[1] = {NAN};
    if (!c->parameter[0] || (c->is_set && one_in(d, 2)) || one_in(d, 16)) continue;
    double values[MOST_COORDINATES];
    for (size_t i = 0; i < c->count; i++)
      values[i] = draw_number(d);
    const bool wild = one_in(d, 8), used = is_compared(t, c);
    const size_t count = wild && one_in(d, 2) ? draw(d, MOST_COORDINATES + 1) : c->count;
    const char *const name = wild && one_in(d, 4) ? "nobody" : c->parameter;
    const double *const from = wild && c->count == 1 && one_in(d, 4) ? none : values;
    const bool right = used && count == c->count && name == c->parameter && from == values;
    EXPECT(recsort_sorter_bind_parameter(t->sorter, name, values, count, NULL) ==
           RECSORT_INVALID_ARGUMENT); /* which is for devices */
    EXPECT(recsort_sorter_set_parameter(t->sorter, name, from, count, NULL) ==
           (right ? RECSORT_OK : RECSORT_INVALID_ARGUMENT));
    if (!right) continue;
    EXPECT(recsort_sorter_set_parameter(t->model, name, from, count, NULL) == RECSORT_OK);
    memcpy(c->origin, values, sizeof values);
    c->is_set = true;
  }
}

static bool is_ready(const trial *t)
{
  for (size_t k = 0; k < t->schema.chosen_count; k++) {
    const computed *const c = t->schema.chosen[k].value;
    if (c && c->parameter[0] && !c->is_set) return false;
  }
  return true;
}

/* ---- The oracle ---- */

static uint8_t *row(const trial *t, size_t number)
{
  return t->rows + number * t->schema.record_size;
}

static int compare_rows(const trial *t, size_t a, size_t b)
{
  if (!t->bits) return compare_records(&t->schema, t->options.reverse, row(t, a), row(t, b));
  const uint64_t mask = t->bits < 64 ? (UINT64_C(1) << t->bits) - 1 : UINT64_MAX;
  const uint64_t x = t->codes[a] >> t->first_bit & mask, y = t->codes[b] >> t->first_bit & mask;
  return (x > y) - (x < y);
}

/* A stable merge sort of the numbers of records. */
static void sort_numbers(const trial *t, uint64_t *numbers, size_t count)
{
  if (count < 2) return;
  const size_t half = count / 2;
  size_t left = 0, right = half;
  sort_numbers(t, numbers, half);
  sort_numbers(t, numbers + half, count - half);
  for (size_t i = 0; i < count; i++)
    t->merged[i] = right == count || (left < half && compare_rows(t, (size_t)numbers[left],
                                                                  (size_t)numbers[right]) <= 0)
                       ? numbers[left++]
                       : numbers[right++];
  memcpy(numbers, t->merged, count * sizeof *numbers);
}

/* The key of a row, as recsort_encode makes it; false: a value is ruled out. */
static bool encode(const trial *t, size_t number, void *key)
{
  const recsort_status status = recsort_encode(t->model, row(t, number), 1, key, NULL);
  EXPECT(status ==
         (is_ruled_out(&t->schema, row(t, number)) ? RECSORT_INVALID_RECORD : RECSORT_OK));
  return status == RECSORT_OK;
}

/* Numbers of which some bits can be compared. */
static void make_codes(const trial *t, size_t count)
{
  for (size_t i = 0; i < count && t->bits; i++) {
    uint32_t narrow = 0;
    t->codes[i] = 0;
    (void)encode(t, i, t->key_size == 4 ? (void *)&narrow : &t->codes[i]);
    if (t->key_size == 4) t->codes[i] = narrow;
  }
}

/* ---- Records ---- */

static size_t draw_count(trial *t)
{
  drawing *const d = &t->d;
  const size_t count = !one_in(d, 16)   ? draw(d, 48)
                       : !one_in(d, 16) ? draw(d, 1500)
                                        : draw(d, 40000);
  const size_t most = MOST_BYTES / t->schema.record_size;
  return count < most ? count : most;
}

static void fill_rows(trial *t, size_t count)
{
  drawing *const d = &t->d;
  const size_t size = t->schema.record_size, kinds = 1 + draw(d, 12), noise = 1 + draw(d, 8);
  const bool named = !one_in(d, 8);
  uint8_t *const models = room(kinds * size);
  generate_bytes(d, models, kinds * size);
  for (size_t i = 0; i < 3 * size && i < kinds * size; i++)
    if (d->at < d->end) models[i] = *d->at++;
  for (size_t i = 0; i < count; i++) {
    memcpy(row(t, i), models + generate(d) % kinds * size, size);
    if (generate(d) % noise == 0) generate_bytes(d, row(t, i) + generate(d) % size, 1);
    for (size_t e = 0; e < t->schema.enum_count; e++)
      if (named || generate(d) % 256) give_name(&t->schema.enums[e], row(t, i));
  }
  free(models);
}

/* Brings rows into order, but for some of them. */
static void sort_rows(trial *t, size_t first, size_t count)
{
  const size_t size = t->schema.record_size;
  uint8_t *const copy = room(count * size);
  for (size_t i = 0; i < count; i++)
    t->order[i] = first + i;
  sort_numbers(t, t->order, count);
  for (size_t i = 0; i < count; i++)
    memcpy(copy + i * size, row(t, (size_t)t->order[i]), size);
  if (count) memcpy(row(t, first), copy, count * size);
  free(copy);
  if (count && one_in(&t->d, 16)) memcpy(row(t, first + draw(&t->d, count)), row(t, first), size);
}

/* ---- A job ---- */

/* The value, or once in a while one that may contradict the others. */
static size_t vary(trial *t, size_t value, size_t other)
{
  return one_in(&t->d, 64) ? other : value;
}

/* The pointer, or NULL, or one to `size` bytes of another array. */
static void *vary_pointer(trial *t, const void *pointer, size_t size)
{
  drawing *const d = &t->d;
  if (!one_in(d, 64) || t->buffer_count == 0) return (void *)(uintptr_t)pointer;
  const buffer *const b = &t->buffers[draw(d, t->buffer_count)];
  const size_t lead = LEAD + draw(d, 16);
  if (one_in(d, 4) || b->size < lead || b->size - lead < size) return NULL;
  return b->memory + lead;
}

static void draw_parts(trial *t, size_t count, recsort_parts parts)
{
  drawing *const d = &t->d;
  const bool outside = parts == RECSORT_SEGMENTS && one_in(d, 2), wild = one_in(d, 32);
  t->part_count = parts == RECSORT_ONE_PART ? 0 : 1 + draw(d, MOST_PARTS);
  t->offsets[0] = outside || wild ? draw(d, count + 1) / 2 : 0;
  for (size_t p = 1; p <= t->part_count; p++) {
    const size_t left = count - (size_t)t->offsets[p - 1];
    const size_t step = one_in(d, 4) ? 0 : draw(d, 2 * left / (t->part_count - p + 1) + 1);
    t->offsets[p] = t->offsets[p - 1] + (step < left ? step : left);
  }
  if (!outside) t->offsets[t->part_count] = count;
  if (wild) t->offsets[draw(d, t->part_count + 1)] = draw(d, count + 3);
  for (size_t p = 0; parts == RECSORT_RUNS && !wild && p < t->part_count; p++)
    sort_rows(t, (size_t)t->offsets[p], (size_t)(t->offsets[p + 1] - t->offsets[p]));
}

/* Room for so many offsets of 64 bits, and one more. */
static void *write_offsets(trial *t, unsigned bits)
{
  const size_t count = t->part_count + 1;
  uint8_t *const at = add_buffer(t, (count + 1) * sizeof(uint64_t), sizeof(uint64_t));
  memset(at, 0, (count + 1) * sizeof(uint64_t));
  for (size_t i = 0; i < count; i++) {
    const uint32_t narrow = (uint32_t)t->offsets[i];
    if (bits == 32)
      memcpy(at + i * sizeof narrow, &narrow, sizeof narrow);
    else
      memcpy(at + i * sizeof *t->offsets, &t->offsets[i], sizeof *t->offsets);
  }
  return at;
}

static const void *write_records(trial *t, size_t count)
{
  const size_t bytes = count * t->schema.record_size;
  uint8_t *const at = add_buffer(t, bytes, 1);
  if (bytes) memcpy(at, t->rows, bytes);
  return at;
}

static void write_runs(trial *t, size_t count)
{
  for (size_t p = t->part_count; p-- > 0;) {
    const bool good = t->offsets[p] <= t->offsets[p + 1] && t->offsets[p + 1] <= count;
    const size_t records = good ? (size_t)(t->offsets[p + 1] - t->offsets[p]) : 0;
    const size_t bytes = records * t->schema.record_size;
    uint8_t *const at = bytes ? add_buffer(t, bytes, 1) : NULL;
    if (bytes) memcpy(at, row(t, (size_t)t->offsets[p]), bytes);
    t->runs[p] = vary_pointer(t, at, bytes);
  }
}

static size_t bytes_of(const recsort_field_desc *field)
{
  return field->size * elements_of(field);
}

static size_t write_columns(trial *t, size_t count)
{
  drawing *const d = &t->d;
  size_t made = 0;
  for (size_t f = 0; f < t->schema.outer.count; f++) {
    const recsort_field_desc *const field = &t->schema.outer.at[f];
    const bool is_bitfield = field->type == RECSORT_BITFIELD;
    if (is_bitfield ? !one_in(d, 64) : one_in(d, 64)) continue;
    const size_t bytes = bytes_of(field), gap = one_in(d, 3) ? draw(d, 20) : 0;
    uint8_t *const at = add_buffer(t, count * (bytes + gap), 1);
    for (size_t i = 0; i < count; i++)
      memcpy(at + i * (bytes + gap), row(t, i) + field->offset, bytes);
    const char *const name = one_in(d, 128)           ? "nobody"
                             : made && one_in(d, 128) ? t->columns[0].name
                             : one_in(d, 128)         ? NULL
                                                      : field->name;
    t->columns[made++] =
        (recsort_column){name, one_in(d, 128) ? NULL : at,
                         gap && bytes > 1 ? vary(t, bytes + gap, 1 + draw(d, bytes) / 2)
                         : gap            ? bytes + gap
                                          : 0};
  }
  return made;
}

static void draw_arrays(trial *t, size_t count, bool in_place)
{
  drawing *const d = &t->d;
  for (size_t a = 0; a < MOST_ARRAYS; a++) {
    static const size_t usual[] = {4, 8, 1, 2, 16, 12};
    const size_t size = one_in(d, 3) ? 1 + draw(d, 70) : usual[draw(d, 6)];
    uint8_t *const from = add_buffer(t, count * size, 1);
    generate_bytes(d, from, count * size);
    void *const to = in_place && one_in(d, 2) ? from : add_buffer(t, count * size, 1);
    t->arrays[a] = (recsort_array){vary_pointer(t, from, count * size),
                                   vary_pointer(t, to, count * size), vary(t, size, 0)};
  }
}

static size_t vary_count(trial *t, size_t count)
{
  static const size_t overflowing[] = {SIZE_MAX, SIZE_MAX / 8 + 1};
  return vary(t, count, one_in(&t->d, 4) ? overflowing[draw(&t->d, 2)] : draw(&t->d, count + 1));
}

static size_t vary_part_count(trial *t, size_t count, recsort_parts parts)
{
  const size_t many = parts == RECSORT_RUNS ? RECSORT_MOST_RUNS + 1 : SIZE_MAX;
  return vary(t, count, one_in(&t->d, 4) ? many : draw(&t->d, count + 1));
}

/* Draws a job of `count` records. */
static void draw_job(trial *t, size_t count)
{
  enum { RECORDS, COLUMNS, APART };
  drawing *const d = &t->d;
  const recsort_parts parts = (recsort_parts)draw(d, 3);
  const size_t kind = draw(d, 2 + (parts == RECSORT_RUNS));
  const bool in_place = one_in(d, 2);
  const bool some_bits = t->key_bits <= 64 && t->key_bits && is_ready(t) && one_in(d, 4);
  const unsigned offset_bits = 32 * (unsigned)draw(d, 3);
  t->first_bit = some_bits ? (unsigned)draw(d, t->key_bits) : 0;
  const unsigned bits = some_bits ? (unsigned)draw(d, t->key_bits - t->first_bit + 1) : 0;
  t->bits = bits || !some_bits ? bits : t->key_bits - t->first_bit;
  fill_rows(t, count);
  make_codes(t, count);
  if (parts == RECSORT_ONE_PART && one_in(d, 8)) sort_rows(t, 0, count);
  draw_parts(t, count, parts);
  const void *const records = kind == RECORDS || one_in(d, 128) ? write_records(t, count) : NULL;
  const size_t columns = kind == COLUMNS || one_in(d, 128) ? write_columns(t, count) : 0;
  const bool has_runs = kind == APART || (parts && one_in(d, 128));
  const bool has_parts = parts || one_in(d, 128);
  const void *const offsets = has_parts ? write_offsets(t, offset_bits) : NULL;
  if (has_runs) write_runs(t, count);
  const size_t head = parts == RECSORT_SEGMENTS || one_in(d, 2) ? 0
                      : one_in(d, 2)                            ? draw(d, count / 16 + 2)
                                                                : draw(d, count + 2);
  const bool cut = head && head < count;
  draw_arrays(t, count, in_place && !cut);
  const size_t longest = parts != RECSORT_SEGMENTS || one_in(d, 2) ? 0
                         : one_in(d, 4)                            ? draw(d, count + 1)
                                                                   : count;
  const bool all = one_in(d, 2);
  void *sorted = NULL;
  if ((kind != COLUMNS && (all || one_in(d, 2))) || one_in(d, 128))
    sorted = in_place && !cut && kind == RECORDS ? (void *)(uintptr_t)records
                                                 : add_buffer(t, count * t->schema.record_size, 1);
  void *const keys_out = !all && one_in(d, 3) ? add_buffer(t, count * t->key_size, 8) : NULL;
  void *const permutation = !all && one_in(d, 2) ? add_buffer(t, count * 8, 8) : NULL;
  static uint64_t device_memory[2];
  t->job = (recsort_job){vary(t, sizeof t->job, sizeof t->job - 8 + 16 * draw(d, 2)),
                         vary_count(t, count),
                         vary(t, 0, one_in(d, 4)) ? device_memory : NULL,
                         vary_pointer(t, records, count * t->schema.record_size),
                         columns ? t->columns : NULL,
                         vary(t, columns, draw(d, columns + 1)),
                         (recsort_parts)vary(t, parts, draw(d, 4)),
                         vary_pointer(t, offsets, (t->part_count + 2) * sizeof(uint64_t)),
                         vary_part_count(t, t->part_count, parts),
                         (unsigned)vary(t, offset_bits, draw(d, 80)),
                         (unsigned)vary(t, 32 * draw(d, 3), draw(d, 80)),
                         has_runs ? t->runs : NULL,
                         vary(t, longest, draw(d, count + 1)),
                         (unsigned)vary(t, t->first_bit, draw(d, 300)),
                         (unsigned)vary(t, bits, draw(d, 300)),
                         vary_pointer(t, sorted, count * t->schema.record_size),
                         vary_pointer(t, keys_out, count * t->key_size),
                         vary_pointer(t, permutation, count * sizeof(uint64_t)),
                         vary(t, 1, 0) ? t->arrays : NULL,
                         all ? 0 : draw(d, MOST_ARRAYS + 1),
                         vary(t, head, draw(d, count + 2)),
                         vary(t, 0, one_in(d, 4)) ? device_memory : NULL, /* stream */
                         vary(t, 0, one_in(d, 4)) ? device_memory : NULL, /* workspace */
                         vary(t, 0, draw(d, 4)),                          /* workspace_size */
                         vary(t, 0, one_in(d, 4)) ? device_memory : NULL, /* status */
                         (int)vary(t, 0, draw(d, 4)) - (int)vary(t, 0, draw(d, 4))};
}

/* ---- What the job must come to ---- */

/* A region that a job reads or writes. */
typedef struct region {
  const uint8_t *at;
  size_t size;
  bool is_column;
} region;

typedef struct verdict {
  bool invalid, overflows, unclear;
  bool bad_record, unsorted;
} verdict;

static uint64_t number_in(const void *array, unsigned bits, size_t i)
{
  return bits == 32 ? ((const uint32_t *)array)[i] : ((const uint64_t *)array)[i];
}

static uint64_t offset_at(const recsort_job *j, size_t part)
{
  return number_in(j->offsets, j->offset_bits == 32 ? 32 : 64, part);
}

static unsigned index_bits(const recsort_job *j)
{
  return j->index_bits ? j->index_bits : 32;
}

static bool is_aligned(const void *at, size_t alignment)
{
  return (uintptr_t)at % alignment == 0;
}

static bool has_columns(const recsort_job *j)
{
  return j->columns || j->column_count;
}

/* The numbers of the job contradict each other. */
static bool is_contradictory(const trial *t, const recsort_job *j)
{
  const bool few = j->head && j->head < j->count;
  const bool lists = (j->column_count && !j->columns) || (j->array_count && !j->arrays);
  const bool one_part = j->parts == RECSORT_ONE_PART;
  return j->struct_size != sizeof *j || j->device_count || j->stream || j->workspace ||
         j->workspace_size || j->status || j->device ||
         (j->records != NULL) + has_columns(j) + (j->part_records != NULL) > 1 ||
         (j->count && !j->records && !has_columns(j) && !j->part_records) || lists ||
         (has_columns(j) && j->sorted) || j->parts > RECSORT_RUNS ||
         (one_part && (j->offsets || j->part_count)) || (!one_part && !j->offsets) ||
         (j->part_records && j->parts != RECSORT_RUNS) ||
         (j->longest_part && j->parts != RECSORT_SEGMENTS) ||
         (j->parts == RECSORT_RUNS && j->part_count > RECSORT_MOST_RUNS) ||
         (j->offset_bits && j->offset_bits != 32 && j->offset_bits != 64) ||
         (j->index_bits && j->index_bits != 32 && j->index_bits != 64) ||
         (few && (j->parts == RECSORT_SEGMENTS || (j->sorted && j->sorted == j->records))) ||
         ((j->first_bit || j->bits) &&
          (j->first_bit >= t->key_bits || j->bits > t->key_bits - j->first_bit ||
           (t->key_size > 8 && (j->first_bit || j->bits < t->key_bits))));
}

static bool is_misaligned(const trial *t, const recsort_job *j)
{
  return !is_aligned(j->permutation, index_bits(j) / 8) ||
         !is_aligned(j->keys_out, t->key_size == 4 ? 4 : 8) ||
         !is_aligned(j->offsets, j->offset_bits == 32 ? 4 : 8);
}

static bool has_bad_array(const recsort_job *j)
{
  const bool few = j->head && j->head < j->count;
  for (size_t a = 0; a < j->array_count; a++) {
    const recsort_array *const array = &j->arrays[a];
    if (array->element_size == 0 || (j->count && (!array->from || !array->to)) ||
        (few && array->from == array->to))
      return true;
  }
  return false;
}

static bool has_bad_offsets(const recsort_job *j)
{
  uint64_t end = j->parts ? offset_at(j, 0) : 0;
  if (j->parts == RECSORT_ONE_PART) return false;
  if (j->parts == RECSORT_RUNS && end != 0) return true;
  for (size_t p = 0; p < j->part_count; p++) {
    const uint64_t begin = end;
    end = offset_at(j, p + 1);
    if (end < begin || (j->longest_part && end - begin > j->longest_part) ||
        (j->part_records && !j->part_records[p] && end > begin))
      return true;
  }
  return j->parts == RECSORT_RUNS ? end != j->count : end > j->count;
}

static const recsort_field_desc *find_field(const trial *t, const char *name)
{
  for (size_t f = 0; f < t->schema.outer.count && name; f++)
    if (strcmp(t->schema.outer.at[f].name, name) == 0) return &t->schema.outer.at[f];
  return NULL;
}

static bool has_column(const trial *t, size_t top)
{
  const recsort_field_desc *const field = &t->schema.outer.at[top];
  for (size_t c = 0; c < t->job.column_count; c++)
    if (t->columns[c].name && strcmp(t->columns[c].name, field->name) == 0) return true;
  return false;
}

static bool has_bad_column(const trial *t, const recsort_job *j)
{
  for (size_t c = 0; c < j->column_count; c++) {
    const recsort_column *const column = &j->columns[c];
    const recsort_field_desc *const field = find_field(t, column->name);
    if (!field || field->type == RECSORT_BITFIELD || (j->count && !column->data) ||
        (column->stride && column->stride < bytes_of(field)))
      return true;
    for (size_t before = 0; before < c; before++)
      if (strcmp(j->columns[before].name, column->name) == 0) return true;
  }
  for (size_t k = 0; k < t->schema.chosen_count; k++) {
    const ordering *const key = &t->schema.chosen[k];
    if (!key->value && !has_column(t, key->field.top)) return true;
    for (size_t i = 0; key->value && i < key->value->count; i++)
      if (!has_column(t, key->value->coordinates[i].top)) return true;
  }
  return false;
}

static bool overlaps(region a, region b)
{
  return a.at && b.at && a.size && b.size && a.at < b.at + b.size && b.at < a.at + a.size;
}

/* What is written overlaps something else. What stands in a column beside the values that keys read
 * may be written to. */
static void judge_overlaps(const trial *t, const recsort_job *j, verdict *v)
{
  region in[2 + MOST_ARRAYS + MOST_PARTS + MOST_COLUMNS], out[3 + MOST_ARRAYS];
  size_t ins = 0, outs = 0;
  const size_t size = t->schema.record_size;
  in[ins++] = (region){j->records, j->count * size, false};
  if (j->parts)
    in[ins++] = (region){j->offsets, (j->part_count + 1) * (j->offset_bits == 32 ? 4 : 8), false};
  for (size_t a = 0; a < j->array_count; a++)
    in[ins++] = (region){j->arrays[a].from, j->count * j->arrays[a].element_size, false};
  for (size_t p = 0; j->part_records && p < j->part_count; p++)
    in[ins++] =
        (region){j->part_records[p], (size_t)(offset_at(j, p + 1) - offset_at(j, p)) * size, false};
  for (size_t c = 0; c < j->column_count; c++) {
    const size_t bytes = bytes_of(find_field(t, j->columns[c].name));
    const size_t stride = j->columns[c].stride ? j->columns[c].stride : bytes;
    in[ins++] = (region){j->columns[c].data, j->count * stride, true};
  }
  for (size_t a = 0; a < j->array_count; a++)
    out[outs++] = (region){j->arrays[a].to, t->wanted * j->arrays[a].element_size, false};
  out[outs++] = (region){j->sorted, t->wanted * size, false};
  out[outs++] = (region){j->keys_out, t->wanted * t->key_size, false};
  out[outs++] = (region){j->permutation, t->wanted * (index_bits(j) / 8), false};
  for (size_t o = 0; o < outs; o++) {
    for (size_t i = 0; i < ins; i++) {
      const bool own =
          o < j->array_count ? i == o + (j->parts ? 2 : 1) : o == j->array_count && i == 0;
      if ((own && out[o].at == in[i].at) || !overlaps(out[o], in[i])) continue;
      if (in[i].is_column)
        v->unclear = true;
      else
        v->invalid = true;
    }
    for (size_t before = 0; before < o; before++)
      if (overlaps(out[o], out[before])) v->invalid = true;
  }
}

/* Whether the call is wrong. Looks at as little as it can, as the job may say anything. */
static verdict judge_job(trial *t)
{
  const recsort_job *const j = &t->job;
  const size_t widest = t->schema.record_size > t->key_size ? t->schema.record_size : t->key_size;
  verdict v = {.overflows =
                   j->count > SIZE_MAX / (widest < 8 ? 8 : widest) || j->part_count > SIZE_MAX / 16,
               .invalid = is_contradictory(t, j) || !is_ready(t)};
  for (size_t a = 0; j->arrays && a < j->array_count; a++)
    v.overflows = v.overflows ||
                  (j->arrays[a].element_size && j->count > SIZE_MAX / j->arrays[a].element_size);
  if (v.invalid || v.overflows) return v;
  t->wanted = j->head && j->head < j->count ? j->head : j->count;
  v.invalid = is_misaligned(t, j) || has_bad_array(j) || has_bad_offsets(j) ||
              (j->columns && has_bad_column(t, j));
  if (!v.invalid) judge_overlaps(t, j, &v);
  return v;
}

/* The records that the job names become the rows. */
static void read_rows(trial *t)
{
  const recsort_job *const j = &t->job;
  const size_t size = t->schema.record_size;
  if (j->records && j->count) memcpy(t->rows, j->records, j->count * size);
  for (size_t p = 0; j->part_records && p < j->part_count; p++) {
    const size_t bytes = (size_t)(offset_at(j, p + 1) - offset_at(j, p)) * size;
    if (bytes) memcpy(row(t, (size_t)offset_at(j, p)), j->part_records[p], bytes);
  }
  t->first_bit = j->first_bit;
  t->bits = !j->first_bit && !j->bits ? 0 : j->bits ? j->bits : t->key_bits - j->first_bit;
  if (t->key_size > 8) t->bits = 0;
  make_codes(t, j->count);
}

/* Sorts, and finds what is wrong with the records. */
static void judge_records(trial *t, verdict *v)
{
  const recsort_job *const j = &t->job;
  const size_t parts = j->parts ? j->part_count : 1;
  for (size_t i = 0; i < j->count; i++)
    t->order[i] = i;
  for (size_t p = 0; p < parts; p++) {
    const size_t begin = j->parts ? (size_t)offset_at(j, p) : 0;
    const size_t end = j->parts ? (size_t)offset_at(j, p + 1) : j->count;
    for (size_t i = begin; i < end; i++) {
      v->bad_record = v->bad_record || is_ruled_out(&t->schema, row(t, i));
      v->unsorted =
          v->unsorted || (j->parts == RECSORT_RUNS && i > begin && compare_rows(t, i - 1, i) > 0);
    }
    if (j->parts == RECSORT_SEGMENTS) sort_numbers(t, t->order + begin, end - begin);
  }
  if (j->parts != RECSORT_SEGMENTS) sort_numbers(t, t->order, j->count);
}

static void expect_arrays(const trial *t)
{
  for (size_t a = 0; a < t->job.array_count; a++) {
    const recsort_array *const array = &t->job.arrays[a];
    const size_t size = array->element_size;
    for (size_t i = 0; i < t->wanted; i++)
      memcpy(expected_at(t, array->to) + i * size,
             (const uint8_t *)array->from + t->order[i] * size, size);
  }
}

/* Keys, which compare as their records do. */
static void expect_keys(const trial *t)
{
  const size_t size = t->key_size;
  uint8_t *const keys = room(2 * size);
  uint8_t *const to = t->job.keys_out && t->wanted ? expected_at(t, t->job.keys_out) : NULL;
  bool last = false;
  for (size_t i = 0; i < t->wanted && t->wanted < 2000; i++) {
    const bool known = encode(t, (size_t)t->order[i], keys + i % 2 * size);
    if (known && last && !t->bits && t->job.parts != RECSORT_SEGMENTS) {
      const int order =
          recsort_key_compare(t->model, keys + (i + 1) % 2 * size, keys + i % 2 * size);
      EXPECT(order <= 0);
      EXPECT((order == 0) == (compare_rows(t, (size_t)t->order[i - 1], (size_t)t->order[i]) == 0));
    }
    last = known;
  }
  for (size_t i = 0; to && i < t->wanted; i++)
    if (encode(t, (size_t)t->order[i], keys)) memcpy(to + i * size, keys, size);
  free(keys);
}

/* Writes what the job is to give to the expectations. */
static void expect_results(const trial *t)
{
  const recsort_job *const j = &t->job;
  const size_t size = t->schema.record_size;
  if (j->sorted && t->wanted)
    for (size_t i = 0; i < t->wanted; i++)
      memcpy(expected_at(t, j->sorted) + i * size, row(t, (size_t)t->order[i]), size);
  for (size_t i = 0; j->permutation && i < t->wanted; i++) {
    const uint32_t narrow = (uint32_t)t->order[i];
    if (index_bits(j) == 32)
      memcpy(expected_at(t, j->permutation) + i * 4, &narrow, 4);
    else
      memcpy(expected_at(t, j->permutation) + i * 8, &t->order[i], 8);
  }
  if (t->wanted) expect_arrays(t);
  expect_keys(t);
}

/* ---- Calls ---- */

/* What is not specified is as it is. */
static void accept(const trial *t, const void *at, size_t size)
{
  if (at && size) memcpy(expected_at(t, at), at, size);
}

/* Keys of records outside all segments, if they have none. */
static void accept_keys(const trial *t)
{
  uint8_t *const key = room(t->key_size);
  for (size_t i = 0; t->job.keys_out && i < t->wanted; i++)
    if (!encode(t, (size_t)t->order[i], key))
      accept(t, (uint8_t *)t->job.keys_out + i * t->key_size, t->key_size);
  free(key);
}

/* After a failure, results that are not in place are unspecified. */
static void accept_results(const trial *t)
{
  const recsort_job *const j = &t->job;
  if (j->sorted != j->records) accept(t, j->sorted, t->wanted * t->schema.record_size);
  accept(t, j->keys_out, t->wanted * t->key_size);
  accept(t, j->permutation, t->wanted * (index_bits(j) / 8));
  for (size_t a = 0; a < j->array_count; a++)
    if (j->arrays[a].to != j->arrays[a].from)
      accept(t, j->arrays[a].to, t->wanted * j->arrays[a].element_size);
}

static void note_buffers(const trial *t)
{
  for (size_t b = 0; b < t->buffer_count; b++)
    memcpy(t->buffers[b].before, t->buffers[b].memory, t->buffers[b].size);
}

static void expect_unchanged(const trial *t)
{
  for (size_t b = 0; b < t->buffer_count; b++)
    memcpy(t->buffers[b].expected, t->buffers[b].before, t->buffers[b].size);
}

static void check_buffers(const trial *t)
{
  for (size_t b = 0; b < t->buffer_count; b++)
    EXPECT(memcmp(t->buffers[b].memory, t->buffers[b].expected, t->buffers[b].size) == 0);
}

static bool wants_nothing(const recsort_job *j)
{
  return !j->sorted && !j->keys_out && !j->permutation && !j->array_count;
}

/* The segment of a record; `part_count`: it is outside all. */
static size_t segment_of(const recsort_job *j, uint64_t record)
{
  size_t s = 0;
  if (j->parts != RECSORT_SEGMENTS) return 0;
  while (s < j->part_count && !(offset_at(j, s) <= record && record < offset_at(j, s + 1)))
    s++;
  return s;
}

/* The permutation that is left in the sorter, and recsort_unique of it or of the job's own. */
static void check_permutation(trial *t)
{
  const recsort_job *const j = &t->job;
  const bool keeps = wants_nothing(j);
  unsigned bits = 0;
  size_t count = 0, firsts = 0, found = 0;
  const void *const own = recsort_sorter_permutation(t->sorter, &bits, &count);
  EXPECT(count == (keeps ? t->wanted : 0) && (own != NULL) == (keeps && t->wanted > 0));
  for (size_t i = 0; i < count; i++)
    EXPECT(number_in(own, bits, i) == t->order[i]);
  bool moves = j->sorted && j->sorted == j->records;
  for (size_t a = 0; a < j->array_count; a++)
    moves = moves || j->arrays[a].from == j->arrays[a].to;
  if (moves || (!keeps && !j->permutation) || one_in(&t->d, 2)) return;
  for (size_t i = 0; i < t->wanted; i++) {
    const size_t segment = segment_of(j, t->order[i]);
    const bool same = i > 0 && segment == segment_of(j, t->order[i - 1]) &&
                      (j->parts != RECSORT_SEGMENTS || segment < j->part_count) &&
                      compare_rows(t, (size_t)t->order[i - 1], (size_t)t->order[i]) == 0;
    if (!same) t->merged[firsts++] = t->order[i];
  }
  const recsort_status status = recsort_unique(t->sorter, j, &found, NULL);
  if (status == RECSORT_OUT_OF_MEMORY && t->ledger.has_failed) return;
  EXPECT(status == RECSORT_OK && found == firsts);
  const void *const index = keeps ? own : j->permutation;
  for (size_t i = 0; i < firsts; i++)
    EXPECT(number_in(index, keeps ? bits : index_bits(j), i) == t->merged[i]);
}

static void check_status(const trial *t, const verdict *v, recsort_status status)
{
  if (t->ledger.has_failed && status == RECSORT_OUT_OF_MEMORY) return;
  if (v->invalid || v->overflows)
    EXPECT((v->invalid && status == RECSORT_INVALID_ARGUMENT) ||
           (v->overflows && status == RECSORT_OUT_OF_MEMORY));
  else if (v->unclear && status == RECSORT_INVALID_ARGUMENT)
    return;
  else if (v->bad_record || v->unsorted)
    EXPECT((v->bad_record && status == RECSORT_INVALID_RECORD) ||
           (v->unsorted && status == RECSORT_UNSORTED_RUN));
  else
    EXPECT(status == RECSORT_OK);
}

/* recsort_sorter_reserve takes now what the job does, and recsort_plan says what that is. */
static void prepare(trial *t, const verdict *v, recsort_needs *needs)
{
  const bool right = !v->invalid && !v->overflows && !v->unclear;
  if (one_in(&t->d, 4)) {
    const recsort_status reserved = recsort_sorter_reserve(t->sorter, &t->job, NULL);
    if (right)
      EXPECT(reserved == RECSORT_OK || (reserved == RECSORT_OUT_OF_MEMORY && t->ledger.has_failed));
    t->reserved = reserved == RECSORT_OK && t->takes_ours && t->ledger.calls_left == SIZE_MAX;
    if (t->reserved) t->ledger.calls_left = 0;
  }
  recsort_needs found = {vary(t, sizeof found, 8), 0, 0};
  const recsort_status planned = recsort_plan(t->sorter, &t->job, 1, &found, NULL);
  if (right) EXPECT((planned == RECSORT_OK) == (found.struct_size == sizeof found));
  *needs = found;
  if (planned) needs->host = SIZE_MAX;
}

static void run_job(trial *t)
{
  recsort_needs needs;
  recsort_stats stats;
  verdict v = judge_job(t);
  prepare(t, &v, &needs);
  const size_t job_count = vary(t, 1, 2 * draw(&t->d, 2));
  if (job_count != 1) v.invalid = true;
  note_buffers(t);
  expect_unchanged(t);
  if (!v.invalid && !v.overflows) {
    read_rows(t);
    judge_records(t, &v);
    if (!v.bad_record && !v.unsorted) expect_results(t);
  }
  const recsort_status status = recsort_run(t->sorter, &t->job, job_count, NULL);
  check_status(t, &v, status);
  if (status == RECSORT_OK) {
    recsort_sorter_get_stats(t->sorter, &stats, sizeof stats);
    EXPECT(stats.memory <= needs.host);
    accept_keys(t);
  } else {
    expect_unchanged(t);
    if (!v.invalid && !v.overflows && status != RECSORT_INVALID_ARGUMENT) accept_results(t);
  }
  check_buffers(t);
  const bool fails = t->job.parts == RECSORT_RUNS && (v.bad_record || v.unsorted);
  EXPECT(!t->reserved || !t->ledger.has_failed || fails); /* which looks for the record */
  if (t->reserved || t->ledger.has_failed) t->ledger.calls_left = SIZE_MAX;
  t->reserved = t->ledger.has_failed = false;
  if (status == RECSORT_OK) check_permutation(t);
}

static void try_job(trial *t)
{
  const size_t count = draw_count(t);
  t->rows = room(count * t->schema.record_size);
  t->codes = room(count * sizeof *t->codes);
  t->order = room(count * sizeof *t->order);
  t->merged = room(count * sizeof *t->merged);
  set_parameters(t);
  draw_job(t, count);
  run_job(t);
  drop_buffers(t);
  free(t->rows);
  free(t->codes);
  free(t->order);
  free(t->merged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static trial t;
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  memset(&t, 0, sizeof t);
  t.d = begin_drawing(data, size);
  t.ledger.calls_left = SIZE_MAX;
  draw_schema(&t.schema, &t.d);
  if (recsort_schema_create(&t.schema.desc, NULL, &schema, &error) != RECSORT_OK) {
    (void)fprintf(stderr, "%s\n", error.text);
    abort();
  }
  EXPECT(recsort_schema_describe(schema)->size == t.schema.record_size);
  if (open_sorter(&t, schema))
    for (size_t j = 0; j < MOST_JOBS && (j == 0 || t.d.at < t.d.end); j++)
      try_job(&t);
  recsort_sorter_destroy(t.sorter);
  recsort_sorter_destroy(t.model);
  recsort_schema_destroy(schema);
  EXPECT(t.ledger.taken == 0);
  return 0;
}
