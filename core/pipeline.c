/* pipeline.c - all stages of a sort, in the order in which data flows:
 *
 *   records -> encode -> keys -> plugin -> permutation -> verify -> gather -> records
 *
 * One block of memory serves all stages. While the plugin sorts, it holds the keys and the memory
 * that the plugin asked for. Then the permutation is at its start; verification uses the rest for
 * its flags, and after that a sort in place uses it for the copy of the records:
 *
 *   | plugin's work ............ keys ... |
 *   | permutation | seen or records ...   |
 *
 * A plugin that makes the keys and moves the records itself gets the records instead:
 *
 *   records -> plugin -> records
 *
 * If only the first records are wanted and they are few, no plugin takes part:
 *
 *   records -> head -> permutation -> gather -> records
 */
#include <string.h>

#include "base/checked.h"
#include "base/platform/clock.h"
#include "head.h"
#include "key/encode.h"
#include "permute/permute.h"

/* Adds the time since *since to *total, and resets *since. */
static void lap(double *since, double *total)
{
  const double now = rs_clock_seconds();
  *total += now - *since;
  *since = now;
}

/* The plugin says where the keys go; this must be inside the memory that it asked for. */
static recsort_status check_work(const recsort_sorter *sorter, const rs_block_plan *block,
                                 recsort_error *error)
{
  const recsort_plugin_work *work = &block->work;
  size_t keys;
  if (work->keys_offset % RS_BLOCK_ALIGNMENT == 0 && work->keys_offset <= work->bytes &&
      rs_multiply((size_t)block->job.count, rs_key_size(&sorter->plan), &keys) &&
      keys <= work->bytes - work->keys_offset)
    return RECSORT_OK;
  return rs_fail(error, RECSORT_DEVICE_ERROR,
                 "plugin \"%s\": the memory it asks for does not hold the keys",
                 sorter->choice.in_use->info.name);
}

static recsort_status check_limits(const rs_plugin_instance *instance,
                                   const recsort_plugin_job *job, recsort_error *error)
{
  recsort_plugin_limits limits = {.size = sizeof limits};
  instance->plugin->limits(instance->state, &limits);
  if (job->key_width <= limits.max_key_bits && job->index_bits <= limits.max_index_bits &&
      job->count <= limits.max_count)
    return RECSORT_OK;
  return rs_fail(error, RECSORT_PLUGIN_ERROR,
                 "plugin \"%s\" cannot sort %zu records by keys of %u bits", instance->plugin->name,
                 (size_t)job->count, job->key_width);
}

static recsort_status plan_job(const recsort_sorter *sorter, size_t count, recsort_plugin_job *job,
                               recsort_error *error)
{
  const bool wide = (uint64_t)count > UINT64_C(1) << 32;
  *job = (recsort_plugin_job){.size = sizeof *job,
                              .algorithm = sorter->choice.in_use->instance.algorithm,
                              .count = count,
                              .key_bits = sorter->plan.program.key_bits,
                              .key_width = sorter->plan.program.key_width,
                              .index_bits = wide ? 64 : 32,
                              .threads = sorter->team.threads};
  return check_limits(&sorter->choice.in_use->instance, job, error);
}

/* True if the plugin sorts whole records in `bytes` of the host's memory; false: in memory of its
 * own, or it takes keys. */
static bool records_work(const recsort_sorter *sorter, const recsort_plugin_job *job, bool in_place,
                         uint64_t *bytes)
{
  const rs_plugin_instance *instance = &sorter->choice.in_use->instance;
  recsort_plugin_error reported = {.size = sizeof reported};
  *bytes = 0;
  return instance->sorts_in_host &&
         instance->records->work_size(instance->state, job, &sorter->plan.program, in_place, bytes,
                                      &reported) == RECSORT_PLUGIN_OK;
}

/* Plans for keys and for whole records: which of them it will be depends on the records, and the
 * next call should need no more memory. */
static recsort_status plan_anew(const recsort_sorter *sorter, size_t count, size_t copy_size,
                                rs_block_plan *block, recsort_error *error)
{
  const rs_plugin_instance *instance = &sorter->choice.in_use->instance;
  recsort_plugin_error reported = {.size = sizeof reported};
  size_t size;
  *block = (rs_block_plan){.copy_size = copy_size, .work = {.size = sizeof block->work}};
  const recsort_status within = plan_job(sorter, count, &block->job, error);
  if (within) return within;
  const recsort_plugin_status status =
      instance->plugin->work_size(instance->state, &block->job, &block->work, &reported);
  if (status) return rs_plugin_fail(instance, status, &reported, error);
  if (!rs_multiply(count, block->job.index_bits / 8, &size) ||
      !rs_round_up(size, RS_BLOCK_ALIGNMENT, &block->after) ||
      !rs_add(block->after, copy_size > count ? copy_size : count, &size))
    return rs_fail_memory(error, SIZE_MAX);
  uint64_t records = 0;
  block->takes_records = records_work(sorter, &block->job, copy_size > 0, &records);
  block->size = size > block->work.bytes ? size : (size_t)block->work.bytes;
  if (block->takes_records && records > block->size)
    block->size = records < SIZE_MAX ? (size_t)records : SIZE_MAX;
  if (block->size > SIZE_MAX - RS_BLOCK_ALIGNMENT) return rs_fail_memory(error, SIZE_MAX);
  return check_work(sorter, block, error);
}

/* Makes sorter->planned the plan of a call. That of the last call is often the same, and to make it
 * takes a good part of the time that a hundred records take. */
static recsort_status plan_block(recsort_sorter *sorter, size_t count, size_t copy_size,
                                 recsort_error *error)
{
  rs_block_plan *const block = &sorter->planned;
  if (block->plugin == sorter->choice.in_use && block->job.count == count &&
      block->copy_size == copy_size)
    return RECSORT_OK;
  const recsort_status status = plan_anew(sorter, count, copy_size, block, error);
  if (status == RECSORT_OK) block->plugin = sorter->choice.in_use;
  return status;
}

static recsort_status choose_plugin(recsort_sorter *sorter, size_t count, recsort_error *error)
{
  const recsort_status status = rs_choice_for(&sorter->choice, count, error);
  if (status || sorter->choice.in_use) return status;
  return rs_fail(error, RECSORT_PLUGIN_ERROR, "every plugin has failed: %s",
                 sorter->choice.fallback);
}

recsort_status recsort_memory_needed(recsort_sorter *sorter, size_t count, bool in_place,
                                     size_t *bytes, recsort_error *error)
{
  size_t copy_size = 0, size = 0;
  if (!sorter || !bytes)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter and bytes must not be NULL");
  if (in_place && !rs_multiply(count, (size_t)sorter->plan.program.record_size, &copy_size))
    return rs_fail_memory(error, SIZE_MAX);
  recsort_status status =
      in_place ? rs_sorter_wants_all(sorter, "recsort_sort", error) : RECSORT_OK;
  if (status) return status;
  if (rs_head_suits(sorter, count)) {
    status = rs_head_memory(sorter, count, &size, error);
  } else if (count) {
    status = choose_plugin(sorter, count, error);
    if (status == RECSORT_OK) status = plan_block(sorter, count, copy_size, error);
    size = sorter->planned.size;
  }
  if (status) return status;
  *bytes = rs_sorter_block_bytes(size);
  if (*bytes < sorter->allocation_size) *bytes = sorter->allocation_size;
  return RECSORT_OK;
}

recsort_status recsort_sorter_reserve(recsort_sorter *sorter, size_t count, recsort_error *error)
{
  size_t bytes = 0, most = 0;
  if (!sorter) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter must not be NULL");
  const size_t counts[] = {count, rs_head_most_sorted(sorter, count)};
  for (unsigned way = 0; way < (sorter->head ? 2 : 4); way++) { /* with a head none is in place */
    const recsort_status status =
        recsort_memory_needed(sorter, counts[way % 2], way > 1, &bytes, error);
    if (status) return status;
    if (bytes > most) most = bytes;
  }
  if (most <= sorter->allocation_size) return RECSORT_OK;
  rs_sorter_begin(sorter, 0);
  return rs_sorter_reserve(sorter, most - (rs_sorter_block_bytes(1) - 1), error);
}

void recsort_sorter_trim(recsort_sorter *sorter)
{
  if (!sorter) return;
  rs_sorter_begin(sorter, 0);
  rs_sorter_release_block(sorter);
  rs_sorter_release_spare(sorter);
}

/* What a call asks for: an order, or sorted records at `sorted`, or in the block for a sort in
 * place. */
typedef struct request {
  const void *records;
  size_t count;
  size_t bytes; /* bytes of the records; 0: only the order, or only the first records */
  void *sorted;
  void *in_place;            /* the records, if they are sorted in place; else NULL */
  bool moved;                /* the plugin has moved the records */
  recsort_permutation order; /* the order, if it has not */
} request;

/* The encoder for plugins. */
static uint32_t encode(const recsort_key_program *program, const void *records, uint64_t count,
                       void *keys)
{
  return rs_key_encode_some(program, records, 0, (size_t)count, keys);
}

/* Passes whole records to the plugin. request->moved stays false if it has no room for them, or a
 * value is invalid. */
static recsort_status move_once(recsort_sorter *sorter, request *r, recsort_error *error)
{
  rs_plugin_instance *const instance = &sorter->choice.in_use->instance;
  recsort_plugin_error reported = {.size = sizeof reported};
  recsort_plugin_times times = {.size = sizeof times};
  const size_t copy_size = r->in_place ? r->bytes : 0;
  recsort_plugin_job job;
  recsort_status status = instance->sorts_in_host ? plan_block(sorter, r->count, copy_size, error)
                                                  : plan_job(sorter, r->count, &job, error);
  if (status == RECSORT_OK)
    status = rs_sorter_reserve(sorter, instance->sorts_in_host ? sorter->planned.size : copy_size,
                               error);
  if (status || (instance->sorts_in_host && !sorter->planned.takes_records)) return status;
  if (r->in_place) r->sorted = instance->sorts_in_host ? r->in_place : sorter->block;
  if (instance->sorts_in_host) {
    job = sorter->planned.job;
    job.memory = sorter->block;
    job.encode = encode;
  }
  const recsort_plugin_status sorted = instance->records->sort(
      instance->state, &job, &sorter->plan.program, r->records, r->sorted, &times, &reported);
  instance->lost = sorted == RECSORT_PLUGIN_LOST;
  if (sorted == RECSORT_PLUGIN_UNSUPPORTED) return RECSORT_OK;
  if (sorted) return rs_plugin_fail(instance, sorted, &reported, error);
  sorter->stats = (recsort_stats){.records = r->count,
                                  .index_bits = job.index_bits,
                                  .whole_records = true,
                                  .encode_seconds = times.encode,
                                  .sort_seconds = times.sort,
                                  .verify_seconds = times.verify,
                                  .permute_seconds = times.permute};
  if (sorter->verify == RECSORT_VERIFY_FULL) {
    double clock = rs_clock_seconds();
    status = rs_sorter_check_moved(sorter, r->records, r->sorted, r->count, error);
    lap(&clock, &sorter->stats.verify_seconds);
  }
  r->moved = status == RECSORT_OK;
  return status;
}

/* Encodes, sorts and verifies, with the plugin that is open. */
static recsort_status order_once(recsort_sorter *sorter, request *r, recsort_error *error)
{
  rs_plugin_instance *const instance = &sorter->choice.in_use->instance;
  recsort_stats *stats = &sorter->stats;
  recsort_plugin_error reported = {.size = sizeof reported};
  const rs_block_plan *const block = &sorter->planned;
  recsort_status status = plan_block(sorter, r->count, r->in_place ? r->bytes : 0, error);
  if (status == RECSORT_OK) status = rs_sorter_reserve(sorter, block->size, error);
  if (status) return status;

  double clock = rs_clock_seconds();
  char *keys = (char *)sorter->block + block->work.keys_offset;
  status = rs_key_encode(&sorter->plan, r->records, r->count, keys, sorter->team, 0, error);
  if (status) return status;
  lap(&clock, &stats->encode_seconds);

  const recsort_plugin_status sorted =
      instance->plugin->sort(instance->state, &block->job, sorter->block, &reported);
  instance->lost = sorted == RECSORT_PLUGIN_LOST;
  if (sorted) return rs_plugin_fail(instance, sorted, &reported, error);
  lap(&clock, &stats->sort_seconds);

  const recsort_permutation found = {
      .index = sorter->block, .index_bits = block->job.index_bits, .count = r->count};
  status = rs_permutation_verify(&found, (char *)sorter->block + block->after, sorter->team, error);
  if (status == RECSORT_OK && sorter->verify == RECSORT_VERIFY_FULL)
    status = rs_sorter_check_order(sorter, r->records, &found, error);
  if (status) return status;
  lap(&clock, &stats->verify_seconds);
  stats->index_bits = block->job.index_bits;
  r->order = found;
  r->order.count = rs_head_count(sorter, r->count);
  return RECSORT_OK;
}

/* True if the result is to be checked in full, and a plugin would overwrite the records before. */
static bool is_checked_first(const recsort_sorter *sorter, const request *r)
{
  return sorter->verify == RECSORT_VERIFY_FULL && r->in_place &&
         sorter->choice.in_use->instance.sorts_in_host;
}

/* Whole records, if the plugin in use takes them; else their keys. */
static recsort_status do_once(recsort_sorter *sorter, request *r, recsort_error *error)
{
  const rs_choice *const choice = &sorter->choice;
  recsort_status status = RECSORT_OK;
  if (choice->in_use->instance.lost)
    return rs_fail(error, RECSORT_DEVICE_ERROR, "plugin \"%s\" has lost its device",
                   choice->in_use->info.name);
  if (r->bytes && !is_checked_first(sorter, r) && rs_choice_moves(choice, &sorter->plan.program))
    status = move_once(sorter, r, error);
  return status || r->moved ? status : order_once(sorter, r, error);
}

/* True for a failure of the plugin that another one may not have. */
static bool another_may_do(recsort_status status)
{
  return status == RECSORT_DEVICE_ERROR || status == RECSORT_PLUGIN_ERROR ||
         status == RECSORT_CORRUPT_RESULT || status == RECSORT_OUT_OF_MEMORY;
}

/* Runs a request with the plugin in use and, if the choice is automatic, with the next ones until
 * one succeeds. The call has been checked; from here on the previous order is lost. */
static recsort_status serve(recsort_sorter *sorter, request *r, recsort_error *error)
{
  rs_sorter_begin(sorter, r->count);
  r->order = sorter->order;
  if (r->count == 0) return RECSORT_OK;
  if (rs_head_suits(sorter, r->count))
    return rs_head_find(sorter, r->records, r->count, &r->order, error);
  const recsort_status chosen = choose_plugin(sorter, r->count, error);
  if (chosen) return chosen;
  for (;;) {
    recsort_error cause; /* not filled with zeros: hundreds of bytes take as long as some records */
    const recsort_status status = do_once(sorter, r, &cause);
    if (status == RECSORT_OK) return status;
    sorter->planned.plugin = NULL; /* a plugin that has failed is asked again */
    if (!another_may_do(status) || !rs_choice_replace(&sorter->choice, r->count, &cause)) {
      if (error) *error = cause;
      return status;
    }
  }
}

/* Finds the order of records, or of the columns that the program has. */
static recsort_status find(recsort_sorter *sorter, const void *records, size_t count,
                           recsort_permutation *permutation, recsort_error *error)
{
  request r = {.records = records, .count = count};
  recsort_status status = rs_check_permutation(permutation, error);
  if (status == RECSORT_OK) status = serve(sorter, &r, error);
  if (status) return status;
  r.order.sorting = sorter->sortings;
  r.order.struct_size = sizeof r.order;
  sorter->order = *permutation = r.order;
  return status;
}

static recsort_status find_index(recsort_sorter *sorter, const void *records, size_t count,
                                 void *index, unsigned index_bits, recsort_error *error)
{
  recsort_permutation order = {.struct_size = sizeof order};
  const recsort_status status = find(sorter, records, count, &order, error);
  if (status == RECSORT_OK) rs_permutation_copy(&order, index, index_bits, sorter->team);
  return status;
}

static recsort_status check_index(const recsort_sorter *sorter, size_t count, const void *index,
                                  unsigned index_bits, size_t *bytes, recsort_error *error)
{
  if ((index_bits != 32 && index_bits != 64) || (!index && count))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "index must not be NULL, of 32 or 64 bits");
  if (index_bits == 32 && (uint64_t)count > UINT64_C(1) << 32)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%zu records need an index of 64 bits", count);
  if ((uintptr_t)index % (index_bits / 8))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "index is not aligned to its elements");
  if (!rs_multiply(rs_head_count(sorter, count), index_bits / 8, bytes))
    return rs_fail_memory(error, SIZE_MAX);
  return RECSORT_OK;
}

recsort_status recsort_find_permutation(recsort_sorter *sorter, const void *records, size_t count,
                                        recsort_permutation *permutation, recsort_error *error)
{
  size_t bytes;
  if (!permutation) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "permutation must not be NULL");
  const recsort_status status = rs_sorter_check(sorter, records, count, &bytes, error);
  return status ? status : find(sorter, records, count, permutation, error);
}

recsort_status recsort_argsort(recsort_sorter *sorter, const void *records, size_t count,
                               void *index, unsigned index_bits, recsort_error *error)
{
  size_t bytes, index_bytes = 0;
  recsort_status status = rs_sorter_check(sorter, records, count, &bytes, error);
  if (status == RECSORT_OK)
    status = check_index(sorter, count, index, index_bits, &index_bytes, error);
  if (status) return status;
  if (rs_overlap(records, bytes, index, index_bytes))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "records and index overlap");
  return find_index(sorter, records, count, index, index_bits, error);
}

/* ---- Columns ---- */

recsort_status recsort_find_permutation_columns(recsort_sorter *sorter,
                                                const recsort_column *columns, size_t column_count,
                                                size_t count, recsort_permutation *permutation,
                                                recsort_error *error)
{
  if (!permutation) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "permutation must not be NULL");
  recsort_status status = rs_sorter_set_columns(sorter, columns, column_count, count, error);
  if (status) return status;
  status = find(sorter, NULL, count, permutation, error);
  sorter->plan.program.columns = NULL;
  return status;
}

recsort_status recsort_argsort_columns(recsort_sorter *sorter, const recsort_column *columns,
                                       size_t column_count, size_t count, void *index,
                                       unsigned index_bits, recsort_error *error)
{
  size_t bytes = 0;
  recsort_status status = rs_sorter_set_columns(sorter, columns, column_count, count, error);
  if (status) return status;
  status = check_index(sorter, count, index, index_bits, &bytes, error);
  if (!status && rs_plan_reads(&sorter->plan, count, index, bytes))
    status = rs_fail(error, RECSORT_INVALID_ARGUMENT, "a column and index overlap");
  if (!status) status = find_index(sorter, NULL, count, index, index_bits, error);
  sorter->plan.program.columns = NULL;
  return status;
}

recsort_status recsort_sort_to(recsort_sorter *sorter, const void *records, size_t count,
                               void *sorted, recsort_error *error)
{
  request r = {.records = records, .count = count, .sorted = sorted};
  if (!sorted && count) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorted must not be NULL");
  recsort_status status = rs_sorter_check(sorter, records, count, &r.bytes, error);
  if (status) return status;
  const size_t size = (size_t)sorter->plan.program.record_size;
  const size_t wanted = rs_head_count(sorter, count);
  if (rs_overlap(records, r.bytes, sorted, wanted * size))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "records and sorted overlap; recsort_sort sorts in place");
  if (wanted < count) r.bytes = 0;
  status = serve(sorter, &r, error);
  if (status) return status;
  if (!r.moved) {
    double clock = rs_clock_seconds();
    rs_gather(&r.order, 0, wanted, records, size, sorted, sorter->team);
    lap(&clock, &sorter->stats.permute_seconds);
  }
  return RECSORT_OK;
}

/* Moves what a sort in place has found over the records. */
static void put_in_place(recsort_sorter *sorter, const request *r, void *records)
{
  const size_t size = (size_t)sorter->plan.program.record_size;
  double clock = rs_clock_seconds();
  if (r->moved) {
    rs_copy(records, r->sorted, r->bytes, sorter->team);
  } else if (!rs_permutation_is_identity(&r->order)) {
    char *copy = (char *)sorter->block +
                 (sorter->block_size - r->bytes) / RS_BLOCK_ALIGNMENT * RS_BLOCK_ALIGNMENT;
    rs_gather(&r->order, 0, r->count, records, size, copy, sorter->team);
    rs_copy(records, copy, r->bytes, sorter->team);
  }
  lap(&clock, &sorter->stats.permute_seconds);
}

recsort_status recsort_sort(recsort_sorter *sorter, void *records, size_t count,
                            recsort_error *error)
{
  request r = {.records = records, .count = count, .in_place = records};
  recsort_status status = rs_sorter_check(sorter, records, count, &r.bytes, error);
  if (status == RECSORT_OK) status = rs_sorter_wants_all(sorter, "recsort_sort", error);
  if (status == RECSORT_OK) status = serve(sorter, &r, error);
  if (status) return status;
  if (!r.moved || r.sorted != records) put_in_place(sorter, &r, records);
  return RECSORT_OK;
}

/* Checks an order that the caller made; the sorter's own is known to be good. `seen` is memory for
 * order->count bytes. */
static recsort_status check_order(const recsort_sorter *sorter, const recsort_permutation *order,
                                  void *seen, recsort_error *error)
{
  if (rs_sorter_holds(sorter, order)) return RECSORT_OK;
  if (order->sorting)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "the permutation is not what the sorter's last call gave");
  if (rs_permutation_verify(order, seen, sorter->team, NULL) == RECSORT_OK) return RECSORT_OK;
  return rs_fail(error, RECSORT_INVALID_ARGUMENT, "order is not a permutation of %zu elements",
                 order->count);
}

recsort_status recsort_permutation_apply(recsort_sorter *sorter, const recsort_permutation *order,
                                         void *array, size_t element_size, recsort_error *error)
{
  size_t bytes;
  if (!sorter || !order || element_size == 0 || (!array && order->count))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "sorter, permutation and array must not be NULL, nor element_size 0");
  recsort_status status = rs_check_permutation(order, error);
  if (status) return status;
  if (order->count && (!order->index || (order->index_bits != 32 && order->index_bits != 64)))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "a permutation's index must not be NULL, of 32 or 64 bits");
  if (!rs_multiply(order->count, element_size, &bytes)) return rs_fail_memory(error, SIZE_MAX);
  if (bytes == 0) return RECSORT_OK;
  if (rs_overlap(array, bytes, order->index, order->count * (order->index_bits / 8)))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "the permutation and array overlap");
  void *const copy = rs_sorter_spare(sorter, bytes);
  if (!copy) return rs_fail_memory(error, bytes);
  status = check_order(sorter, order, copy, error);
  if (status == RECSORT_OK) {
    rs_gather(order, 0, order->count, array, element_size, copy, sorter->team);
    rs_copy(array, copy, bytes, sorter->team);
  }
  return status;
}
