/* sorter.c - a sorter is a plan, a plugin and a block of memory that the first sort takes. */
#include "sorter.h"

#include <string.h>

#include "base/checked.h"

const char *recsort_version(void)
{
  return RS_VERSION;
}

/* Pairs key=value with commas between; which keys and values there are the plugin knows. */
static bool is_plugin_options(const char *text)
{
  for (const char *at = text; *at;) {
    const size_t key = strcspn(at, "=,"), length = strcspn(at, ",");
    if (key == 0 || key == length) return false;
    at += length;
    if (*at == ',' && !*++at) return false;
  }
  return true;
}

/* What no schema and no plugin could make right. */
static recsort_status check_options(const recsort_options *options, recsort_error *error)
{
  const recsort_executor *const executor = options->executor;
  if (options->struct_size != sizeof *options)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "struct_size of the options is %zu, not sizeof(recsort_options)",
                   options->struct_size);
  if (options->key_count && !options->keys)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "key_count of the options is %zu, keys is NULL",
                   options->key_count);
  if (options->plugin_options && !is_plugin_options(options->plugin_options))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "plugin_options \"%s\" is not of the form KEY=VALUE,KEY=VALUE",
                   options->plugin_options);
  if (options->verify < RECSORT_VERIFY_DEFAULT || options->verify > RECSORT_VERIFY_FULL)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "verify of the options is no recsort_verify");
  if (executor && (executor->struct_size < sizeof *executor || !executor->run))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "the executor has no run, or its struct_size is not sizeof(recsort_executor)");
  return rs_check_allocator(options->allocator, error);
}

static recsort_status set_up(recsort_sorter *sorter, const recsort_schema *schema,
                             const recsort_options *options, recsort_error *error)
{
  recsort_status status = rs_plan_create(schema, options->keys, options->key_count,
                                         options->reverse, &sorter->arena, &sorter->plan, error);
  if (sorter->arena.is_full)
    return rs_fail(error, RECSORT_INVALID_KEY,
                   "the keys take more than the %d MiB of memory that they may", RS_ARENA_MAX_MIB);
  if (status) return status;
  const char *algorithm = NULL;
  if (options->algorithm) {
    algorithm = rs_arena_text(&sorter->arena, options->algorithm);
    if (!algorithm) return rs_fail_memory(error, strlen(options->algorithm));
  }
  const char *told = NULL;
  if (options->plugin_options && *options->plugin_options) {
    told = rs_arena_text(&sorter->arena, options->plugin_options);
    if (!told) return rs_fail_memory(error, strlen(options->plugin_options));
  }
  sorter->team = rs_team(options->executor, options->threads);
  sorter->verify = options->verify;
  recsort_plugin_list *plugins = NULL;
  status = rs_registry_create(&sorter->allocator, &sorter->team, told, &plugins, error);
  if (status) return status;
  return rs_choice_open(&sorter->choice, plugins, options->plugin, algorithm, error);
}

recsort_status recsort_sorter_create(const recsort_schema *schema, const recsort_options *options,
                                     recsort_sorter **sorter, recsort_error *error)
{
  const recsort_options defaults = {.struct_size = sizeof defaults};
  if (!options) options = &defaults;
  if (!schema || !sorter)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "schema and sorter must not be NULL");
  recsort_status status = check_options(options, error);
  if (status) return status;
  const recsort_allocator memory = rs_allocator(options->allocator);
  recsort_sorter *made = rs_allocate(&memory, sizeof *made);
  if (!made) return rs_fail_memory(error, sizeof *made);
  memset(made, 0, sizeof *made);
  made->allocator = memory;
  rs_arena_init(&made->arena, &memory);
  status = set_up(made, schema, options, error);
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
  if (!records && count)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "records must not be NULL");
  if (!rs_multiply(count, (size_t)sorter->plan.program.record_size, bytes))
    return rs_fail_memory(error, SIZE_MAX);
  return RECSORT_OK;
}

bool rs_sorter_holds(const recsort_sorter *sorter, const recsort_permutation *order)
{
  const recsort_permutation *const own = &sorter->order;
  return order->sorting != 0 && order->sorting == own->sorting && order->index == own->index &&
         order->index_bits == own->index_bits && order->count == own->count;
}

void rs_sorter_release_block(recsort_sorter *sorter)
{
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
  rs_arena_free(&sorter->arena);
  rs_release(&memory, sorter, sizeof *sorter);
}

/* ---- What it does and did ---- */

size_t recsort_sorter_key_count(const recsort_sorter *sorter)
{
  return sorter ? sorter->plan.key_count : 0;
}

recsort_key_info recsort_sorter_key(const recsort_sorter *sorter, size_t key)
{
  return sorter && key < sorter->plan.key_count ? sorter->plan.keys[key] : (recsort_key_info){0};
}

recsort_stats recsort_sorter_stats(const recsort_sorter *sorter)
{
  if (!sorter) return (recsort_stats){0};
  recsort_stats stats = sorter->stats;
  stats.record_size = (size_t)sorter->plan.program.record_size;
  stats.key_bits = sorter->plan.program.key_bits;
  stats.key_width = sorter->plan.program.key_width;
  stats.threads = sorter->team.threads;
  stats.memory = sorter->allocation_size;
  rs_choice_describe(&sorter->choice, &sorter->plan.program, &stats);
  return stats;
}
