/* scripted.c - a plugin that works, with a higher score than the CPU's, until the environment
 * variable RECSORT_TEST_SCRIPT makes it fail in some way:
 *
 *   open-failed, open-memory           open fails so
 *   limit-keys, limit-count            limits are narrower than any job
 *   limit-least                        its least_count is 5
 *   size-unsupported, size-huge        work_size refuses, or asks for too much
 *   size-outside, size-unaligned       work_size puts the keys at a wrong place
 *   sort-failed, sort-memory           sort fails so
 *   sort-lost                          the same, and it must not be called again
 *   sort-foreign, sort-number          sort returns a status that plugins must not, or none at all
 *   sort-duplicate, sort-range         sort returns something else than a permutation
 *   sort-nothing                       sort writes nothing
 *   sort-unsorted, sort-ties           sort returns a permutation, unsorted, or with ties reversed
 *   sort-corrupt                       sort reports that its result is wrong
 *   whole                              whole records are sorted well, and it reports 10 s
 *   whole-size                         its table of functions for them has another size
 *   whole-failed, whole-memory, whole-lost, whole-unsupported
 *                                      the sort of records fails so, after spoiling memory
 *   whole-host                         it would sort them in the host's memory, but refuses to say
 * in how much, and must not be asked to sort whole-zeros, whole-twice, whole-flip, whole-unsorted
 *                                      zeros, a record twice, a bit flipped, the input
 *
 * It also checks that the host keeps its part of the contract, and fails with a text if not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/key_interpreter.h"
#include "recsort/plugin.h"

typedef struct instance {
  const recsort_host *host;
  int lost;
} instance;

static int script_is(const char *wanted)
{
  const char *script = getenv("RECSORT_TEST_SCRIPT");
  return script && strcmp(script, wanted) == 0;
}

static recsort_status refuse(recsort_error *error, recsort_status status, const char *text)
{
  (void)snprintf(error->text, sizeof error->text, "%s", text);
  return status;
}

static uint32_t score(const recsort_host *host, char *reason, size_t reason_size)
{
  (void)host;
  (void)reason;
  (void)reason_size;
  return 200;
}

static recsort_status open(const recsort_host *host, void **made, recsort_error *error)
{
  if (host->size != sizeof *host || host->abi != RECSORT_PLUGIN_ABI)
    return refuse(error, RECSORT_DEVICE_ERROR, "the host's table is wrong");
  if (error->status || error->line || error->column || error->text[0])
    return refuse(error, RECSORT_DEVICE_ERROR, "the error is not prepared");
  if (script_is("open-failed")) return refuse(error, RECSORT_DEVICE_ERROR, "open failed");
  if (script_is("open-memory")) return refuse(error, RECSORT_OUT_OF_MEMORY, "no memory");
  instance *self = host->allocate(host->context, sizeof *self);
  if (!self) return refuse(error, RECSORT_OUT_OF_MEMORY, "no memory for the instance");
  *self = (instance){host, 0};
  *made = self;
  return RECSORT_OK;
}

static void close(void *made)
{
  instance *self = made;
  const recsort_host *host = self->host;
  host->release(host->context, self, sizeof *self);
}

static void limits(const void *made, recsort_plugin_limits *limits)
{
  (void)made;
  limits->max_key_bits = script_is("limit-keys") ? 16 : UINT32_MAX;
  limits->max_index_bits = 64;
  limits->max_count = script_is("limit-count") ? 1 : UINT64_C(1) << 32;
  limits->least_count = script_is("limit-least") ? 5 : 0;
}

static uint64_t permutation_size(const recsort_plugin_job *job)
{
  return (job->count * (job->index_bits / 8) + 63) / 64 * 64;
}

static recsort_status work_size(const void *made, const recsort_plugin_job *job,
                                recsort_plugin_work *work, recsort_error *error)
{
  (void)made;
  if (job->size != sizeof *job || work->size != sizeof *work || job->threads == 0 ||
      job->key_bits == 0 || job->key_bits > job->key_width)
    return refuse(error, RECSORT_DEVICE_ERROR, "the job is wrong");
  if (script_is("size-unsupported"))
    return refuse(error, RECSORT_PLUGIN_ERROR, "such jobs are not done here");
  work->keys_offset = permutation_size(job);
  work->bytes = work->keys_offset + job->count * (job->key_width / 8);
  if (script_is("size-huge")) work->bytes = UINT64_MAX / 2;
  if (script_is("size-outside")) work->bytes = work->keys_offset;
  if (script_is("size-unaligned")) {
    work->keys_offset += 4;
    work->bytes += 4;
  }
  return RECSORT_OK;
}

/* Keys a and b; less than, equal to or greater than 0. */
static int compare(const recsort_plugin_job *job, const void *keys, uint64_t a, uint64_t b)
{
  if (job->key_width == 32) {
    const uint32_t x = ((const uint32_t *)keys)[a], y = ((const uint32_t *)keys)[b];
    return (x > y) - (x < y);
  }
  const size_t words = job->key_width / 64;
  for (size_t w = words; w-- > 0;) {
    const uint64_t x = ((const uint64_t *)keys)[a * words + w];
    const uint64_t y = ((const uint64_t *)keys)[b * words + w];
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

static uint64_t get(const recsort_plugin_job *job, const void *index, uint64_t i)
{
  return job->index_bits == 32 ? ((const uint32_t *)index)[i] : ((const uint64_t *)index)[i];
}

static void set(const recsort_plugin_job *job, void *index, uint64_t i, uint64_t value)
{
  if (job->index_bits == 32)
    ((uint32_t *)index)[i] = (uint32_t)value;
  else
    ((uint64_t *)index)[i] = value;
}

static void insertion_sort(const recsort_plugin_job *job, void *index, const void *keys)
{
  for (uint64_t i = 0; i < job->count; i++) {
    uint64_t j = i;
    for (; j > 0 && compare(job, keys, get(job, index, j - 1), i) > 0; j--)
      set(job, index, j, get(job, index, j - 1));
    set(job, index, j, i);
  }
}

/* The first place whose key is that of the one before; the last place if there is none. */
static uint64_t first_tie(const recsort_plugin_job *job, const void *index, const void *keys)
{
  uint64_t i = 1;
  while (i + 1 < job->count && compare(job, keys, get(job, index, i - 1), get(job, index, i)) != 0)
    i++;
  return i;
}

/* Place i and the one before it; or the first. */
static void swap(const recsort_plugin_job *job, void *index, uint64_t i, int near)
{
  const uint64_t other = near ? i - 1 : 0, kept = get(job, index, i);
  set(job, index, i, get(job, index, other));
  set(job, index, other, kept);
}

static recsort_status sort(void *made, const recsort_plugin_job *job, void *memory,
                           recsort_error *error)
{
  instance *self = made;
  if (self->lost) return refuse(error, RECSORT_DEVICE_ERROR, "called after it was lost");
  if ((uintptr_t)memory % 64)
    return refuse(error, RECSORT_DEVICE_ERROR, "the memory is not aligned to 64 bytes");
  if (script_is("sort-nothing")) return RECSORT_OK;
  insertion_sort(job, memory, (char *)memory + permutation_size(job));
  if (script_is("sort-duplicate")) set(job, memory, 0, get(job, memory, job->count - 1));
  if (script_is("sort-range")) set(job, memory, job->count - 1, job->count);
  if (script_is("sort-unsorted") && job->count > 1) swap(job, memory, job->count / 2, false);
  if (script_is("sort-ties"))
    swap(job, memory, first_tie(job, memory, (char *)memory + permutation_size(job)), true);
  if (script_is("sort-corrupt")) return refuse(error, RECSORT_CORRUPT_RESULT, "its sums differ");
  if (script_is("sort-failed")) return refuse(error, RECSORT_DEVICE_ERROR, "sort failed");
  if (script_is("sort-memory")) return refuse(error, RECSORT_OUT_OF_MEMORY, "no memory");
  if (script_is("sort-foreign"))
    return refuse(error, RECSORT_INVALID_SCHEMA, "no status of plugins");
  if (script_is("sort-number")) return refuse(error, (recsort_status)99, "no status at all");
  if (script_is("sort-lost")) {
    self->lost = 1;
    return refuse(error, RECSORT_DEVICE_LOST, "the device is gone");
  }
  return RECSORT_OK;
}

/* ---- Whole records ---- */

static int script_is_whole(void)
{
  const char *script = getenv("RECSORT_TEST_SCRIPT");
  return script && strncmp(script, "whole", 5) == 0;
}

static uint32_t suits(const void *made, const recsort_key_program *program)
{
  (void)made;
  return script_is_whole() && program->key_width <= 64;
}

static const char *reason(const void *made, const recsort_key_program *program)
{
  return suits(made, program) ? "whole, as the script says" : "keys alone, as they are wide";
}

static uint64_t key_of(const recsort_key_program *program, const unsigned char *record)
{
  uint64_t words[2] = {0, 0};
  uint64_t code = 0;
  bool valid = true;
  for (uint32_t s = 0; s < program->step_count; s++) {
    code = key_step(&program->steps[s], record, code, &valid);
    key_place(words, &program->steps[s], code);
  }
  return words[0];
}

/* What is sorted becomes what the script says. */
static void spoil(const recsort_plugin_job *job, size_t size, const void *records,
                  unsigned char *to)
{
  const size_t bytes = (size_t)job->count * size;
  if (script_is("whole-zeros")) memset(to, 0, bytes);
  if (script_is("whole-twice") && job->count > 1) memcpy(to, to + size, size);
  if (script_is("whole-flip")) to[bytes - 1] ^= 0x80;
  if (script_is("whole-unsorted")) memcpy(to, records, bytes);
}

static recsort_status sort_whole(void *made, const recsort_plugin_job *job,
                                 const recsort_key_program *program, const void *records,
                                 void *sorted, recsort_plugin_times *times, recsort_error *error)
{
  instance *self = made;
  const size_t size = (size_t)program->record_size;
  const unsigned char *from = records;
  unsigned char *const to = sorted;
  if (self->lost || !from || !to || from == to || times->size != sizeof *times || error->text[0] ||
      script_is("whole-host"))
    return refuse(error, RECSORT_DEVICE_ERROR, "the call is wrong");
  memset(to, 0xee, (size_t)job->count * size);
  if (script_is("whole-failed")) return refuse(error, RECSORT_DEVICE_ERROR, "whole failed");
  if (script_is("whole-memory")) return refuse(error, RECSORT_OUT_OF_MEMORY, "no memory");
  if (script_is("whole-unsupported")) return refuse(error, RECSORT_PLUGIN_ERROR, "not these");
  if (script_is("whole-lost")) {
    self->lost = 1;
    return refuse(error, RECSORT_DEVICE_LOST, "the device is gone");
  }
  for (uint64_t i = 0; i < job->count; i++, from += size) {
    unsigned char *at = to + i * size;
    for (; at > to && key_of(program, at - size) > key_of(program, from); at -= size)
      memcpy(at, at - size, size);
    memcpy(at, from, size);
  }
  spoil(job, size, records, to);
  times->encode = 1;
  times->sort = 2;
  times->verify = 3;
  times->permute = 4;
  return RECSORT_OK;
}

static const recsort_plugin_records whole = {
    .size = sizeof whole, .suits = suits, .reason = reason, .sort = sort_whole};

static recsort_status refuse_size(const void *made, const recsort_plugin_job *job,
                                  const recsort_key_program *program, uint32_t in_place,
                                  uint64_t *bytes, recsort_error *error)
{
  (void)made;
  (void)job;
  (void)program;
  (void)in_place;
  (void)bytes;
  return refuse(error, RECSORT_PLUGIN_ERROR, "not these");
}

static const recsort_plugin_records whole_in_host = {.size = sizeof whole_in_host,
                                                     .suits = suits,
                                                     .reason = reason,
                                                     .sort = sort_whole,
                                                     .work_size = refuse_size};

static const void *extension(const char *name)
{
  if (!script_is_whole() || strcmp(name, RECSORT_PLUGIN_RECORDS) != 0) return NULL;
  static const recsort_plugin_records longer = {
      .size = sizeof longer + 8, .suits = suits, .reason = reason, .sort = sort_whole};
  if (script_is("whole-size")) return &longer;
  return script_is("whole-host") ? &whole_in_host : &whole;
}

/* ---- The table ---- */

static const recsort_plugin_algorithm insertion = {sizeof insertion, 0, "insertion",
                                                   "insertion sort, for tests"};
static const recsort_plugin_algorithm *const algorithms[] = {&insertion};

/* An option that the CPU's plugin lacks: with it, "auto" is this plugin from the first sort on. */
static const recsort_plugin_option asked = {sizeof asked, 0, "asked", "1: nothing, for tests"};
static const recsort_plugin_option *const options[] = {&asked};

static const recsort_plugin table = {.size = sizeof table,
                                     .abi = RECSORT_PLUGIN_ABI,
                                     .name = "scripted",
                                     .version = "0",
                                     .description = "fails when it is told to",
                                     .algorithms = algorithms,
                                     .algorithm_count = 1,
                                     .options = options,
                                     .option_count = 1,
                                     .score = score,
                                     .open = open,
                                     .close = close,
                                     .limits = limits,
                                     .work_size = work_size,
                                     .sort = sort,
                                     .extension = extension};

const recsort_plugin *recsort_plugin_entry(uint32_t host_abi);

RECSORT_PLUGIN_EXPORT const recsort_plugin *recsort_plugin_entry(uint32_t host_abi)
{
  (void)host_abi;
  return &table;
}
