/* example_plugin.c - a complete plugin in one file, built outside the project.
 *
 *   cc -shared -fPIC -o librecsort_example.so example_plugin.c $(pkg-config --cflags recsort)
 *   RECSORT_PLUGIN_PATH=$PWD recsort --plugin example ...
 *
 * It merges runs of 1, 2, 4 ... indices with all threads that the host offers, and also takes whole
 * records. */
#include <recsort/key_interpreter.h>
#include <recsort/plugin.h>
#include <recsort/team.h>

enum { ALIGNMENT = 64 };

typedef struct keys {
  const void *at;
  uint32_t width; /* bits of a key, as in recsort_plugin_job */
} keys;

/* ---- The sort ---- */

static bool is_less(const keys *k, uint32_t a, uint32_t b)
{
  if (k->width == 32) return ((const uint32_t *)k->at)[a] < ((const uint32_t *)k->at)[b];
  const size_t words = k->width / 64;
  const uint64_t *const x = (const uint64_t *)k->at + a * words;
  const uint64_t *const y = (const uint64_t *)k->at + b * words;
  for (size_t w = words; w-- > 0;)
    if (x[w] != y[w]) return x[w] < y[w];
  return false;
}

/* One pass: runs of `run` indices become runs of twice as many. */
typedef struct merge_pass {
  const keys *keys;
  const uint32_t *from;
  uint32_t *to;
  size_t count;
  size_t run;
} merge_pass;

static size_t least(size_t a, size_t b)
{
  return a < b ? a : b;
}

static void merge_piece(void *argument, size_t piece, unsigned slot)
{
  const merge_pass *const pass = argument;
  size_t a = piece * 2 * pass->run, b = least(a + pass->run, pass->count), out = a;
  const size_t a_end = b, b_end = least(b + pass->run, pass->count);
  (void)slot;
  while (a < a_end && b < b_end) /* of equal keys, the left one */
    pass->to[out++] =
        is_less(pass->keys, pass->from[b], pass->from[a]) ? pass->from[b++] : pass->from[a++];
  while (a < a_end)
    pass->to[out++] = pass->from[a++];
  while (b < b_end)
    pass->to[out++] = pass->from[b++];
}

/* Sorts; leaves the permutation in `order`. */
static void sort_indices(const keys *k, uint32_t *order, uint32_t *other, size_t count, team t)
{
  merge_pass pass = {k, order, other, count, 1};
  for (uint32_t i = 0; i < count; i++)
    order[i] = i;
  for (; pass.run < count; pass.run *= 2) {
    team_each(t, (count + 2 * pass.run - 1) / (2 * pass.run), merge_piece, &pass);
    pass.from = pass.to;
    pass.to = pass.from == order ? other : order;
  }
  if (pass.from != order) memcpy(order, pass.from, count * sizeof *order);
}

/* ---- The table's functions; an instance is the host ---- */

static uint32_t example_score(const recsort_host *host, char *reason, size_t reason_size)
{
  (void)host, (void)reason, (void)reason_size;
  return 50; /* less than that of "cpu", so that "auto" does not use it */
}

static recsort_status example_open(const recsort_host *host, void **instance, recsort_error *error)
{
  (void)error;
  *instance = (void *)(uintptr_t)host;
  return RECSORT_OK;
}

static void example_close(void *instance)
{
  (void)instance;
}

static void example_limits(const void *instance, recsort_plugin_limits *limits)
{
  (void)instance;
  limits->max_key_bits = UINT32_MAX;
  limits->max_index_bits = 32;
  limits->max_count = UINT32_MAX;
}

/* The permutation, the keys, and the other array of indices. */
static uint64_t order_bytes(const recsort_plugin_job *job)
{
  return (job->count * sizeof(uint32_t) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static recsort_status example_work_size(const void *instance, const recsort_plugin_job *job,
                                        recsort_plugin_work *work, recsort_error *error)
{
  (void)instance, (void)error;
  work->keys_offset = 2 * order_bytes(job);
  work->bytes = work->keys_offset + job->count * (job->key_width / 8);
  return RECSORT_OK;
}

static recsort_status example_sort(void *instance, const recsort_plugin_job *job, void *memory,
                                   recsort_error *error)
{
  char *const block = memory;
  const keys k = {block + 2 * order_bytes(job), job->key_width};
  (void)error;
  sort_indices(&k, memory, (uint32_t *)(void *)(block + order_bytes(job)), (size_t)job->count,
               team_of_host(instance, job->threads));
  return RECSORT_OK;
}

/* ---- Whole records, whose keys have at most 64 bits ---- */

static uint32_t example_suits(const void *instance, const recsort_key_program *program)
{
  (void)instance;
  return program->key_width <= 64;
}

static const char *example_reason(const void *instance, const recsort_key_program *program)
{
  return example_suits(instance, program) ? "whole records, as an example"
                                          : "keys alone, as they have more than 64 bits";
}

static bool make_keys(const recsort_key_program *program, const unsigned char *records,
                      size_t count, uint64_t *made)
{
  bool valid = true;
  for (size_t i = 0; i < count; i++, records += program->record_size) {
    uint64_t code = 0;
    made[i] = 0;
    for (uint32_t s = 0; s < program->step_count; s++) {
      code = key_step(&program->steps[s], records, code, &valid);
      key_place(&made[i], &program->steps[s], code);
    }
  }
  return valid;
}

static recsort_status example_sort_records(void *instance, const recsort_plugin_job *job,
                                           const recsort_key_program *program, const void *records,
                                           void *sorted, recsort_plugin_times *times,
                                           recsort_error *error)
{
  const recsort_host *const host = instance;
  const size_t count = (size_t)job->count, size = (size_t)program->record_size;
  const size_t bytes = count * (sizeof(uint64_t) + 2 * sizeof(uint32_t));
  uint64_t *const made = host->allocate(host->context, bytes);
  (void)times, (void)error;
  if (!made) return RECSORT_PLUGIN_ERROR;
  uint32_t *const order = (uint32_t *)(made + count);
  const bool valid = make_keys(program, records, count, made);
  if (valid) {
    sort_indices(&(keys){made, 64}, order, order + count, count, team_of_host(host, job->threads));
    for (size_t i = 0; i < count; i++)
      memcpy((char *)sorted + i * size, (const char *)records + order[i] * size, size);
  }
  host->release(host->context, made, bytes);
  return valid ? RECSORT_OK : RECSORT_PLUGIN_ERROR;
}

static const void *example_extension(const char *name)
{
  static const recsort_plugin_records whole = {.size = sizeof whole,
                                               .suits = example_suits,
                                               .reason = example_reason,
                                               .sort = example_sort_records};
  return strcmp(name, RECSORT_PLUGIN_RECORDS) == 0 ? &whole : NULL;
}

/* ---- The table ---- */

static const recsort_plugin_algorithm merge = {sizeof merge, 0, "merge", "merge sort of indices"};
static const recsort_plugin_algorithm *const algorithms[] = {&merge};

static const recsort_plugin table = {.size = sizeof table,
                                     .abi = RECSORT_PLUGIN_ABI,
                                     .name = "example",
                                     .version = "1.0",
                                     .description = "an example",
                                     .algorithms = algorithms,
                                     .algorithm_count = 1,
                                     .score = example_score,
                                     .open = example_open,
                                     .close = example_close,
                                     .limits = example_limits,
                                     .work_size = example_work_size,
                                     .sort = example_sort,
                                     .extension = example_extension};

const recsort_plugin *recsort_plugin_entry(uint32_t host_abi);

RECSORT_PLUGIN_EXPORT const recsort_plugin *recsort_plugin_entry(uint32_t host_abi)
{
  return host_abi == RECSORT_PLUGIN_ABI ? &table : NULL;
}
