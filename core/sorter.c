/* sorter.c - creates and destroys sorters. A sorter has a plan, a plugin and a block of memory,
 * which the first sort allocates. */
#include "sorter.h"

#include <string.h>

#include "base/assert.h"
#include "base/checked.h"
#include "base/struct_size.h"
#include "key/encode.h"

const char *recsort_version(void)
{
  return RS_VERSION;
}

/* Each option must be "key=value"; the plugin checks keys and values. */
static recsort_status check_plugin_options(const recsort_options *options, recsort_error *error)
{
  if (options->plugin_option_count && !options->plugin_options)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "plugin_option_count of the options is %zu, plugin_options is NULL",
                   options->plugin_option_count);
  for (size_t i = 0; i < options->plugin_option_count; i++) {
    const char *const text = options->plugin_options[i];
    const size_t key = text ? strcspn(text, "=") : 0;
    if (key == 0 || !text[key])
      return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                     "plugin option \"%s\" is not of the form KEY=VALUE", text ? text : "");
  }
  return RECSORT_OK;
}

/* Refuses options that are wrong for any schema and any plugin. */
static recsort_status check_options(const recsort_options *options, recsort_error *error)
{
  recsort_status status = rs_check_size(options, recsort_options, RECSORT_OPTIONS_INIT, error);
  if (!status && options->executor)
    status = rs_check_size(options->executor, recsort_executor, RECSORT_EXECUTOR_INIT, error);
  if (status) return status;
  if (options->key_count && !options->keys)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "key_count of the options is %zu, keys is NULL",
                   options->key_count);
  if ((unsigned)options->verify > RECSORT_VERIFY_FULL)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "verify of the options is %u",
                   (unsigned)options->verify);
  if (options->executor && !options->executor->run)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "the executor has no run");
  status = check_plugin_options(options, error);
  return status ? status : rs_check_allocator(options->allocator, error);
}

static recsort_status check_record_size(const recsort_schema *schema, size_t size,
                                        recsort_error *error)
{
  const size_t actual = recsort_schema_describe(schema)->size;
  if (size == 0 || size == actual) return RECSORT_OK;
  return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                 "record_size of the options is %zu, but the schema's record %s has %zu bytes",
                 size, recsort_schema_describe(schema)->record, actual);
}

/* Copies texts, which then live as long as the sorter. */
static recsort_status copy_texts(rs_arena *arena, const char *const *texts, size_t count,
                                 const char *const **copies, recsort_error *error)
{
  const char **const made = rs_arena_array(arena, count, sizeof *made);
  if (!made) return rs_fail_memory(error, count * sizeof *made);
  for (size_t i = 0; i < count; i++) {
    made[i] = rs_arena_text(arena, texts[i]);
    if (!made[i]) return rs_fail_memory(error, strlen(texts[i]));
  }
  *copies = made;
  return RECSORT_OK;
}

static recsort_status set_up_keys(recsort_sorter *sorter, const recsort_schema *schema,
                                  const recsort_options *options, recsort_error *error)
{
  const recsort_status status =
      rs_plan_create(schema, options->keys, options->key_count, options->reverse, &sorter->arena,
                     &sorter->plan, error);
  if (sorter->arena.is_full)
    return rs_fail(
        error, RECSORT_INVALID_KEY,
        "the keys take more than the %d MiB of memory that they may; sort by fewer of them",
        RS_ARENA_MAX_MIB);
  return status;
}

void rs_sorter_count_threads(recsort_sorter *sorter)
{
  const recsort_executor executor = {.run = sorter->team.run, .context = sorter->team.context};
  if (!sorter->usual_team) return;
  sorter->team = rs_team(sorter->own_team ? NULL : &executor, 0);
  RS_ASSERT(sorter->team.threads > 0 && sorter->team.run);
  sorter->choice.plugins->team = sorter->team;
  sorter->planned.plugin = NULL; /* the plan of the last call was for as many threads as then */
}

static recsort_status set_up_plugin(recsort_sorter *sorter, const recsort_options *options,
                                    recsort_error *error)
{
  const char *const *told = NULL;
  const char *algorithm = NULL;
  if (options->algorithm) {
    algorithm = rs_arena_text(&sorter->arena, options->algorithm);
    if (!algorithm) return rs_fail_memory(error, strlen(options->algorithm));
  }
  recsort_status status = copy_texts(&sorter->arena, options->plugin_options,
                                     options->plugin_option_count, &told, error);
  if (status) return status;
  sorter->team = rs_team(options->executor, options->threads);
  RS_ASSERT(sorter->team.threads > 0 && sorter->team.run);
  sorter->own_team = !options->executor;
  sorter->usual_team =
      options->threads == 0 && (sorter->own_team || options->executor->threads == 0);
  sorter->verify = options->verify == RECSORT_VERIFY_FULL;
  rs_registry *plugins = NULL;
  status = rs_registry_create(&sorter->allocator, &sorter->team, told, options->plugin_option_count,
                              &plugins, error);
  if (status) return status;
  plugins->host.verify = (uint32_t)options->verify;
  return rs_choice_open(&sorter->choice, plugins, options, algorithm,
                        sorter->plan.program.key_width, error);
}

/* A plugin that cannot make such keys refuses a job without records, too. */
static recsort_status set_up_device(recsort_sorter *sorter, recsort_error *error)
{
  const recsort_job nothing = RECSORT_JOB_INIT;
  recsort_needs needs = RECSORT_NEEDS_INIT;
  sorter->on_device = true;
  return rs_device_ask(sorter, &nothing, 1, &needs, error);
}

recsort_status recsort_sorter_create(const recsort_schema *schema, const recsort_options *options,
                                     recsort_sorter **sorter, recsort_error *error)
{
  static const recsort_options none = {.struct_size = sizeof none};
  if (!schema || !sorter)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "schema and sorter must not be NULL");
  if (!options) options = &none;
  recsort_status status = check_options(options, error);
  if (!status) status = check_record_size(schema, options->record_size, error);
  if (status) return status;
  const recsort_allocator memory = rs_allocator(options->allocator);
  recsort_sorter *made = rs_allocate(&memory, sizeof *made);
  if (!made) return rs_fail_memory(error, sizeof *made);
  memset(made, 0, sizeof *made);
  made->allocator = memory;
  made->simple.struct_size = sizeof made->simple;
  rs_arena_init(&made->arena, &memory);
  status = set_up_keys(made, schema, options, error);
  if (!status) status = set_up_plugin(made, options, error);
  if (!status && options->on_device) status = set_up_device(made, error);
  if (status)
    recsort_sorter_destroy(made);
  else
    *sorter = made;
  return status;
}

/* ---- Calls ---- */

recsort_status rs_sorter_check(const recsort_sorter *sorter, const void *records, size_t count,
                               size_t *bytes, recsort_error *error)
{
  if (!sorter) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter must not be NULL");
  if (sorter->on_device)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "the sorter is for records in a device's memory, which recsort_run sorts");
  if (!records && count)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "records must not be NULL");
  *bytes = rs_product(count, (size_t)sorter->plan.program.record_size);
  if (*bytes == SIZE_MAX) return rs_fail_memory(error, SIZE_MAX);
  return rs_plan_check_parameters(&sorter->plan, error);
}

size_t rs_sorter_block_bytes(size_t block_size)
{
  return block_size ? rs_sum(block_size, RS_BLOCK_ALIGNMENT - 1) : 0;
}

/* Frees the old block first: there may not be enough memory for two. */
recsort_status rs_sorter_reserve(recsort_sorter *sorter, size_t size, recsort_error *error)
{
  if (size <= sorter->block_size) return RECSORT_OK;
  rs_sorter_release_block(sorter);
  const size_t whole = rs_sorter_block_bytes(size);
  char *const allocation = rs_allocate(&sorter->allocator, whole);
  if (!allocation) return rs_fail_memory(error, whole);
  sorter->allocation = allocation;
  sorter->allocation_size = whole;
  sorter->block = allocation + -(uintptr_t)allocation % RS_BLOCK_ALIGNMENT;
  sorter->block_size = size;
  RS_ASSERT((uintptr_t)sorter->block % RS_BLOCK_ALIGNMENT == 0);
  RS_ASSERT((char *)sorter->block + size <= allocation + whole);
  return RECSORT_OK;
}

void *rs_sorter_spare(recsort_sorter *sorter, size_t size)
{
  if (size <= sorter->spare_size) return sorter->spare;
  rs_sorter_release_spare(sorter);
  sorter->spare = rs_allocate(&sorter->allocator, size);
  if (sorter->spare) sorter->spare_size = size;
  return sorter->spare;
}

void rs_sorter_release_spare(recsort_sorter *sorter)
{
  RS_ASSERT(!sorter->spare == !sorter->spare_size);
  rs_release(&sorter->allocator, sorter->spare, sorter->spare_size);
  sorter->spare = NULL;
  sorter->spare_size = 0;
}

void rs_sorter_begin(recsort_sorter *sorter, size_t count)
{
  sorter->keeps = false;
  memset(&sorter->stats, 0, sizeof sorter->stats);
  sorter->stats.records = count;
  sorter->selected = false;
}

void rs_sorter_release_block(recsort_sorter *sorter)
{
  RS_ASSERT(!sorter->allocation == !sorter->allocation_size);
  rs_release(&sorter->allocator, sorter->allocation, sorter->allocation_size);
  sorter->block = sorter->allocation = NULL;
  sorter->block_size = sorter->allocation_size = 0;
}

void recsort_sorter_destroy(recsort_sorter *sorter)
{
  if (!sorter) return;
  const recsort_allocator memory = sorter->allocator;
  rs_choice_close(&sorter->choice);
  rs_sorter_release_block(sorter);
  rs_sorter_release_spare(sorter);
  rs_arena_free(&sorter->arena);
  rs_release(&memory, sorter, sizeof *sorter);
}

/* ---- Keys and figures ---- */

void recsort_sorter_get_key(const recsort_sorter *sorter, size_t key, recsort_key_info *info,
                            size_t size)
{
  const bool there = sorter && key < sorter->plan.key_count;
  const recsort_key_info found = there ? sorter->plan.keys[key] : (recsort_key_info){0};
  rs_fill_struct(info, size, &found, sizeof found);
}

recsort_status recsort_sorter_set_parameter(recsort_sorter *sorter, const char *name,
                                            const double *values, size_t count,
                                            recsort_error *error)
{
  if (!sorter || !name || !values)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter, name and values must not be NULL");
  return rs_plan_set_parameter(&sorter->plan, name, values, count, error);
}

recsort_status recsort_sorter_bind_parameter(recsort_sorter *sorter, const char *name,
                                             const double *values, size_t count,
                                             recsort_error *error)
{
  if (!sorter || !name || !values)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter, name and values must not be NULL");
  if (!sorter->on_device)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "parameters are bound to a device's memory, but the sorter works in the host's");
  return rs_plan_bind_parameter(&sorter->plan, name, values, count, error);
}

const char *recsort_sorter_get_parameter(const recsort_sorter *sorter, size_t number, size_t *count,
                                         bool *is_set)
{
  const bool there = sorter && number < sorter->plan.parameter_count;
  const rs_parameter found = there ? sorter->plan.parameters[number] : (rs_parameter){0};
  if (count) *count = found.count;
  if (is_set) *is_set = found.is_set;
  return found.name;
}

size_t recsort_key_size(const recsort_sorter *sorter)
{
  return sorter ? rs_key_size(&sorter->plan) : 0;
}

recsort_status recsort_encode(recsort_sorter *sorter, const void *records, size_t count, void *keys,
                              recsort_error *error)
{
  size_t bytes = 0;
  const recsort_status status = rs_sorter_check(sorter, records, count, &bytes, error);
  if (status) return status;
  const size_t key_size = rs_key_size(&sorter->plan);
  if (count && (!keys || (uintptr_t)keys % (key_size < 8 ? key_size : 8)))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "keys must not be NULL, and aligned to 8 bytes, or 4 if they have 4");
  const size_t key_bytes = rs_product(count, key_size);
  if (key_bytes == SIZE_MAX) return rs_fail_memory(error, SIZE_MAX);
  if (rs_overlap(records, bytes, keys, key_bytes))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "records and keys overlap");
  return rs_key_encode(&sorter->plan, records, count, keys, sorter->team, 0, error);
}

int recsort_key_compare(const recsort_sorter *sorter, const void *a, const void *b)
{
  return rs_key_compare(&sorter->plan, a, b);
}

void recsort_gather(const recsort_sorter *sorter, const void *index, unsigned index_bits,
                    size_t count, const void *from, size_t element_size, void *to)
{
  RS_ASSERT(index_bits == 32 || index_bits == 64);
  const rs_order order = {index, index_bits, count};
  rs_gather(&order, 0, count, from, element_size, to, sorter->team);
}

static recsort_stats describe_stats(const recsort_sorter *sorter)
{
  recsort_stats stats = sorter->stats;
  stats.record_size = (size_t)sorter->plan.program.record_size;
  stats.key_bits = sorter->plan.program.key_bits;
  stats.key_width = sorter->plan.program.key_width;
  stats.threads = sorter->team.threads;
  stats.memory = sorter->allocation_size + sorter->spare_size;
  rs_choice_describe(&sorter->choice, &sorter->plan.program, &stats);
  if (sorter->selected) {
    stats.plugin = "cpu";
    stats.algorithm = "selection";
    stats.choice = "few records are wanted; the CPU selects them, whatever the plugin";
  }
  return stats;
}

void recsort_sorter_get_stats(const recsort_sorter *sorter, recsort_stats *stats, size_t size)
{
  const recsort_stats found = sorter ? describe_stats(sorter) : (recsort_stats){0};
  rs_fill_struct(stats, size, &found, sizeof found);
}
