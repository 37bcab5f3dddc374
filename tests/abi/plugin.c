/* A plugin of the first plugin interface, built with the header in first/. An insertion sort of
 * keys or, with RECORDS defined, of whole records. With LATER defined it is built with today's
 * header and acts as if its tables had grown since. */
#include <stdlib.h>
#include <string.h>

#include "recsort/plugin.h"

#ifdef LATER
#define TABLE(type)                                                                                \
  struct {                                                                                         \
    type it;                                                                                       \
    unsigned char later[24];                                                                       \
  }
#define MORE , "members of a later one"
#else
#define TABLE(type)                                                                                \
  struct {                                                                                         \
    type it;                                                                                       \
  }
#define MORE
#endif

typedef struct instance {
  const recsort_host *host;
} instance;

static uint32_t score(const recsort_host *host, char *reason, size_t reason_size)
{
  (void)reason, (void)reason_size;
  return host->size >= sizeof *host && host->abi >> 16 == RECSORT_PLUGIN_ABI_MAJOR ? 90 : 0;
}

static recsort_plugin_status open(const recsort_host *host, void **made,
                                  recsort_plugin_error *error)
{
  if (error->size < sizeof *error) return RECSORT_PLUGIN_FAILED;
  instance *const self = host->allocate(host->context, sizeof *self);
  if (!self) return RECSORT_PLUGIN_OUT_OF_MEMORY;
  self->host = host;
  *made = self;
  return RECSORT_PLUGIN_OK;
}

static void close(void *made)
{
  const recsort_host *const host = ((instance *)made)->host;
  host->release(host->context, made, sizeof(instance));
}

static void limits(const void *made, recsort_plugin_limits *limits)
{
  (void)made;
  limits->max_key_bits = UINT32_MAX;
  limits->max_index_bits = 32;
  limits->max_count = 1 << 20;
  limits->least_count = 0;
}

static recsort_plugin_status work_size(const void *made, const recsort_plugin_job *job,
                                       recsort_plugin_work *work, recsort_plugin_error *error)
{
  (void)made, (void)error;
  work->keys_offset = (job->count * 4 + 63) / 64 * 64;
  work->bytes = work->keys_offset + job->count * (job->key_width / 8);
  return RECSORT_PLUGIN_OK;
}

static recsort_plugin_status sort(void *made, const recsort_plugin_job *job, void *memory,
                                  recsort_plugin_error *error)
{
  (void)made, (void)error;
  if (job->key_width != 64 || job->index_bits != 32) return RECSORT_PLUGIN_UNSUPPORTED;
  uint32_t *const index = memory;
  const uint64_t *const keys =
      (const uint64_t *)((const char *)memory + (job->count * 4 + 63) / 64 * 64);
  for (uint32_t i = 0; i < job->count; i++) {
    uint32_t j = i;
    for (; j > 0 && keys[index[j - 1]] > keys[i]; j--)
      index[j] = index[j - 1];
    index[j] = i;
  }
  return RECSORT_PLUGIN_OK;
}

/* ---- Whole records: enough of the key program for an enum and a descending float32 ---- */

static uint32_t suits(const void *made, const recsort_key_program *program)
{
  (void)made;
  return program->size >= sizeof *program && program->step_count == 2 &&
                 program->steps[0].kind == RECSORT_KEY_OFFSET &&
                 program->steps[1].kind == RECSORT_KEY_FLOAT
             ? RECSORT_SUITS
             : RECSORT_SUITS_NOT;
}

static const char *reason(const void *made, const recsort_key_program *program)
{
  (void)made, (void)program;
  return "whole records";
}

static int is_before(const recsort_key_step *steps, const char *a, const char *b)
{
  const unsigned char x = (unsigned char)a[steps[0].offset], y = (unsigned char)b[steps[0].offset];
  float v, w;
  memcpy(&v, a + steps[1].offset, sizeof v);
  memcpy(&w, b + steps[1].offset, sizeof w);
  return x != y ? x < y : v > w;
}

static recsort_plugin_status sort_records(void *made, const recsort_plugin_job *job,
                                          const recsort_key_program *program, const void *records,
                                          void *sorted, recsort_plugin_times *times,
                                          recsort_plugin_error *error)
{
  const size_t size = (size_t)program->record_size;
  (void)made, (void)error;
  if (times->size < sizeof *times) return RECSORT_PLUGIN_FAILED;
  for (size_t i = 0; i < job->count; i++) {
    const char *const record = (const char *)records + i * size;
    char *at = (char *)sorted + i * size;
    for (; at > (char *)sorted && is_before(program->steps, record, at - size); at -= size)
      memcpy(at, at - size, size);
    memcpy(at, record, size);
  }
  times->sort = 1;
  return RECSORT_PLUGIN_OK;
}

static const TABLE(recsort_plugin_records) whole = {
    {.size = sizeof whole, .suits = suits, .reason = reason, .sort = sort_records} MORE};

static const void *extension(const char *name)
{
#ifdef RECORDS
  return strcmp(name, RECSORT_PLUGIN_RECORDS) == 0 ? &whole : NULL;
#else
  (void)name, (void)whole;
  return NULL;
#endif
}

static const TABLE(recsort_plugin_algorithm) insertion = {
    {sizeof insertion, 0, "insertion", "for tests"} MORE};
static const recsort_plugin_algorithm *const algorithms[] = {&insertion.it};

static const TABLE(recsort_plugin) table = {{.size = sizeof table,
                                             .abi = RECSORT_PLUGIN_ABI,
                                             .name = NAME,
                                             .version = "1",
                                             .description = "for tests of versions",
                                             .algorithms = algorithms,
                                             .algorithm_count = 1,
                                             .score = score,
                                             .open = open,
                                             .close = close,
                                             .limits = limits,
                                             .work_size = work_size,
                                             .sort = sort,
                                             .extension = extension} MORE};

__attribute__((visibility("default"))) const recsort_plugin *recsort_plugin_entry(uint32_t host_abi)
{
  return host_abi >> 16 == RECSORT_PLUGIN_ABI_MAJOR ? &table.it : NULL;
}
