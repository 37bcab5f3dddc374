/* merge_extension.c - the extension "recsort.merge/1" of the plugin that is linked in. */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "cpu/sorts.h"
#include "runs/merge.h"

static bool host_is_big_endian(void)
{
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first == 0;
}

static run_format format_of(const recsort_plugin_merge_job *job)
{
  const recsort_key_program *const program = job->program;
  const recsort_key_step *const step = program->steps;
  const bool big = step->flags & RECSORT_KEY_BIG_ENDIAN;
  run_format format = {.record_size = (size_t)program->record_size,
                       .key_size = program->key_width / 8,
                       .key_bits = program->key_bits,
                       .program = program,
                       .encode = job->encode};
  format.is_plain = program->step_count == 1 && program->record_size == 8 && step->bytes == 8 &&
                    step->width == 64 && program->key_width == 64 &&
                    (step->kind == RECSORT_KEY_UNSIGNED || step->kind == RECSORT_KEY_SIGNED) &&
                    big == host_is_big_endian();
  if (step->kind == RECSORT_KEY_SIGNED) format.flip = UINT64_C(1) << 63;
  if (step->flags & RECSORT_KEY_DESCENDING) format.flip = ~format.flip;
  return format;
}

/* How many runs a pass merges into one: fewer, if the windows of so many would be too large. */
static size_t fan_for(size_t key_size)
{
  RS_ASSERT(key_size > 0);
  enum { MOST = 512, BIG_KEYS = 1 << 22 /* bytes of keys that all runs of a tile may have */ };
  const size_t fitting = BIG_KEYS / key_size;
  return fitting < 2 ? 2 : fitting < MOST ? fitting : MOST;
}

static run_job job_of(const recsort_plugin_merge_job *job)
{
  RS_ASSERT(job->threads > 0);
  const run_format format = format_of(job);
  return (run_job){.format = format,
                   .runs = job->runs,
                   .run_count = job->run_count,
                   .count = job->count,
                   .fan = fan_for(format.key_size),
                   .threads = job->threads,
                   .index_bits = job->index_bits,
                   .in_place = job->in_place,
                   .check = true};
}

static recsort_status work_size(const void *instance, const recsort_plugin_merge_job *job,
                                uint64_t *bytes, recsort_error *error)
{
  const run_job merge_job = job_of(job);
  (void)instance;
  if (rs_run_merge_size(&merge_job, bytes)) return RECSORT_OK;
  (void)snprintf(error->text, sizeof error->text, "%llu records are more than memory can hold",
                 (unsigned long long)job->count);
  return RECSORT_OUT_OF_MEMORY;
}

static recsort_status merge(void *instance, const recsort_plugin_merge_job *job, void *memory,
                            void *result, recsort_error *error)
{
  const run_job merge_job = job_of(job);
  const team t = team_of_host(instance, job->threads);
  if (rs_run_merge(&merge_job, t, memory, result)) return RECSORT_OK;
  (void)snprintf(error->text, sizeof error->text,
                 "a run is not sorted, or a value is outside of its enum");
  return RECSORT_UNSORTED_RUN;
}

const recsort_plugin_merge rs_cpu_merge = {.work_size = work_size, .merge = merge};
