/* shards.c - records in the memory of several devices: a sorter whose plugin sorts them there (see
 * recsort_plugin_shards). The host's part is the key program, the sizes of the shards after the
 * sort, and the checks of what it is given. */
#include "recsort/shards.h"

#include "base/checked.h"
#include "base/struct_size.h"
#include "key/encode.h"
#include "sorter.h"

enum { MOST_SHARDS = 256 };

struct recsort_shards_sorter {
  recsort_sorter *own; /* its plan and its plugin; it has no records */
  size_t bytes;        /* of this struct and its arrays */
  size_t count;
  bool balance;
  int32_t *devices;
  uint64_t *most;
  uint64_t *memory;
  recsort_plugin_shard *shards; /* of a sort */
  void *record;                 /* an invalid one, */
  void *key;                    /* and what was made of its key */
};

static rs_plugin_instance *instance_of(const recsort_shards_sorter *sorter)
{
  return &sorter->own->choice.in_use->instance;
}

/* ---- Creation ---- */

static recsort_status read_limits(const recsort_shards_limits *given, recsort_shards_limits *limits,
                                  recsort_error *error)
{
  const recsort_status status =
      rs_check_size(given, recsort_shards_limits, RECSORT_SHARDS_LIMITS_INIT, error);
  if (status) return status;
  *limits = *given;
  if (limits->shard_count == 0 || limits->shard_count > MOST_SHARDS)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "shard_count is %zu, not 1 to %d",
                   limits->shard_count, MOST_SHARDS);
  if (!limits->devices || !limits->most_records)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "devices and most_records must not be NULL");
  if (limits->balance > 1)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "balance is %u, not 0 or 1", limits->balance);
  for (size_t s = 0; s < limits->shard_count; s++)
    if (limits->devices[s] < 0 || limits->most_records[s] == 0)
      return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                     "shard %zu: its device is %d, and it has at most %zu records", s,
                     limits->devices[s], limits->most_records[s]);
  return RECSORT_OK;
}

/* Allocates a sorter with its arrays, those with the strictest alignment first. */
static recsort_shards_sorter *allocate(recsort_sorter *own, const recsort_shards_limits *limits)
{
  recsort_shards_sorter *made = NULL;
  const size_t count = limits->shard_count, size = (size_t)own->plan.program.record_size;
  const size_t fixed = sizeof *made + count * (sizeof *made->shards + sizeof *made->most +
                                               sizeof *made->memory + sizeof *made->devices);
  const size_t key = (size_t)own->plan.program.key_width / 8;
  size_t bytes;
  if (!rs_round_up(fixed, sizeof(uint64_t), &bytes) || !rs_add(bytes, key, &bytes) ||
      !rs_add(bytes, size, &bytes))
    return NULL;
  made = rs_allocate(&own->allocator, bytes);
  if (!made) return NULL;
  *made = (recsort_shards_sorter){
      .own = own, .bytes = bytes, .count = count, .balance = limits->balance};
  made->shards = (recsort_plugin_shard *)(void *)(made + 1);
  made->most = (uint64_t *)(void *)(made->shards + count);
  made->memory = made->most + count;
  made->devices = (int32_t *)(void *)(made->memory + count);
  made->record = (char *)made + bytes - size;
  made->key = (char *)made->record - key;
  for (size_t s = 0; s < count; s++) {
    made->devices[s] = limits->devices[s];
    made->most[s] = limits->most_records[s];
  }
  return made;
}

static recsort_status reserve(recsort_shards_sorter *sorter, recsort_error *error)
{
  rs_plugin_instance *const instance = instance_of(sorter);
  const recsort_plugin_shards_limits limits = {.size = sizeof limits,
                                               .algorithm = instance->algorithm,
                                               .devices = sorter->devices,
                                               .most_records = sorter->most,
                                               .shard_count = (uint32_t)sorter->count};
  recsort_plugin_error reported = {.size = sizeof reported};
  const recsort_plugin_status status = instance->shards->reserve(
      instance->state, &sorter->own->plan.program, &limits, sorter->memory, &reported);
  return status ? rs_plugin_fail(instance, status, &reported, error) : RECSORT_OK;
}

recsort_status recsort_shards_sorter_create(const recsort_schema *schema,
                                            const recsort_options *options,
                                            const recsort_shards_limits *limits,
                                            recsort_shards_sorter **sorter, recsort_error *error)
{
  recsort_shards_limits own = {0};
  recsort_sorter *made = NULL;
  if (!limits || !sorter)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "limits and sorter must not be NULL");
  recsort_status status = read_limits(limits, &own, error);
  if (!status) status = recsort_sorter_create(schema, options, &made, error);
  if (!status) status = rs_sorter_wants_all(made, "recsort_sort_shards", error);
  recsort_shards_sorter *const shards = status ? NULL : allocate(made, &own);
  if (!status && !shards) status = rs_fail_memory(error, sizeof *shards);
  if (!shards) {
    recsort_sorter_destroy(made);
    return status;
  }
  status = rs_choice_for_device(&made->choice, RS_RESIDENT_SHARDS, error);
  if (!status) status = reserve(shards, error);
  if (status)
    recsort_shards_sorter_destroy(shards);
  else
    *sorter = shards;
  return status;
}

void recsort_shards_sorter_destroy(recsort_shards_sorter *sorter)
{
  if (!sorter) return;
  recsort_sorter *const own = sorter->own;
  rs_release(&own->allocator, sorter, sorter->bytes);
  recsort_sorter_destroy(own);
}

size_t recsort_shards_sorter_memory(const recsort_shards_sorter *sorter, size_t shard)
{
  return sorter && shard < sorter->count ? (size_t)sorter->memory[shard] : 0;
}

/* ---- Sorts ---- */

/* The number of records that a shard has after the sort. */
static uint64_t wanted_of(const recsort_shards_sorter *sorter, const recsort_device_shard *shards,
                          uint64_t all, size_t s)
{
  return sorter->balance ? all / sorter->count + (s < all % sorter->count) : shards[s].count;
}

/* The bytes of a shard before or after the sort, whichever are more. Both have at most the most
 * records, of which the device has had memory for. */
static size_t bytes_of(const recsort_shards_sorter *sorter, size_t s)
{
  const recsort_plugin_shard *const shard = &sorter->shards[s];
  const uint64_t most = shard->count > shard->wanted ? shard->count : shard->wanted;
  return (size_t)(most * sorter->own->plan.program.record_size);
}

static recsort_status check_shard(const recsort_shards_sorter *sorter, size_t s,
                                  recsort_error *error)
{
  const recsort_plugin_shard *const shard = &sorter->shards[s];
  if (shard->count > sorter->most[s])
    return rs_fail(error, RECSORT_PLUGIN_ERROR,
                   "shard %zu: %llu records; the sorter is for at most %llu", s,
                   (unsigned long long)shard->count, (unsigned long long)sorter->most[s]);
  if (shard->wanted > sorter->most[s])
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "shard %zu: %llu records are to go there; it has room for %llu", s,
                   (unsigned long long)shard->wanted, (unsigned long long)sorter->most[s]);
  if (!shard->records && (shard->count || shard->wanted))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "shard %zu: records must not be NULL", s);
  for (size_t before = 0; before < s; before++)
    if (rs_overlap(sorter->shards[before].records, bytes_of(sorter, before), shard->records,
                   bytes_of(sorter, s)))
      return rs_fail(error, RECSORT_INVALID_ARGUMENT, "shards %zu and %zu overlap", before, s);
  return RECSORT_OK;
}

/* Takes over the caller's shards. */
static recsort_status read_shards(recsort_shards_sorter *sorter, const recsort_device_shard *shards,
                                  recsort_error *error)
{
  uint64_t all = 0;
  for (size_t s = 0; s < sorter->count; s++)
    if (__builtin_add_overflow(all, shards[s].count, &all)) all = UINT64_MAX;
  for (size_t s = 0; s < sorter->count; s++) {
    sorter->shards[s] = (recsort_plugin_shard){.records = shards[s].records,
                                               .count = shards[s].count,
                                               .wanted = wanted_of(sorter, shards, all, s),
                                               .stream = shards[s].stream};
    const recsort_status status = check_shard(sorter, s, error);
    if (status) return status;
  }
  return RECSORT_OK;
}

/* The host's encoder says what is wrong with the record that the plugin found. */
static recsort_status fail_record(const recsort_shards_sorter *sorter,
                                  const recsort_plugin_shards_job *job, recsort_error *error)
{
  recsort_error found = {0};
  (void)rs_key_encode(&sorter->own->plan, sorter->record, 1, sorter->key,
                      team_of_at_most(sorter->own->team, 1), (size_t)job->invalid_record, &found);
  const int length = (int)sizeof found.text - 32;
  return rs_fail(error, RECSORT_INVALID_RECORD, "shard %llu: %.*s",
                 (unsigned long long)job->invalid_shard, length,
                 found.text[0] ? found.text : "a record holds an invalid value");
}

recsort_status recsort_sort_shards(recsort_shards_sorter *sorter, recsort_device_shard *shards,
                                   size_t count, recsort_error *error)
{
  if (!sorter || !shards)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter and shards must not be NULL");
  if (count != sorter->count)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%zu shards; the sorter is for %zu", count,
                   sorter->count);
  recsort_status status = rs_plan_check_parameters(&sorter->own->plan, error);
  if (!status) status = read_shards(sorter, shards, error);
  if (status) return status;
  const rs_plugin_instance *const instance = instance_of(sorter);
  recsort_plugin_shards_job job = {.size = sizeof job,
                                   .shard_count = (uint32_t)count,
                                   .shards = sorter->shards,
                                   .invalid = sorter->record};
  recsort_plugin_error reported = {.size = sizeof reported};
  const recsort_plugin_status sorted =
      instance->shards->sort(instance->state, &sorter->own->plan.program, &job, &reported);
  if (job.found_invalid) return fail_record(sorter, &job, error);
  if (sorted) return rs_plugin_fail(instance, sorted, &reported, error);
  for (size_t s = 0; s < count; s++)
    shards[s].count = (size_t)sorter->shards[s].wanted;
  return RECSORT_OK;
}

recsort_status recsort_shards_sorter_set_parameter(recsort_shards_sorter *sorter, const char *name,
                                                   const double *values, size_t count,
                                                   recsort_error *error)
{
  return recsort_sorter_set_parameter(sorter ? sorter->own : NULL, name, values, count, error);
}
