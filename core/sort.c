/* sort.c - a job from top to bottom:
 *
 *   recsort_sort, recsort_run -> read the job -> plan -> encode -> sort -> verify -> deliver
 *
 * The sort gives a permutation, by which records and arrays are gathered:
 *
 *   records -> encode -> keys -> plugin -> permutation -> verify -> gather -> records
 *
 * A plugin that makes the keys and moves the records itself gets the records instead, if nothing
 * but the sorted records is wanted:
 *
 *   records -> plugin -> records
 *
 * If only the first records are wanted and they are few, no plugin takes part (head.c); sorted runs
 * are merged (merge.c).
 *
 * One block of memory serves all stages. While the plugin sorts, it holds the keys and the memory
 * that the plugin asked for. Then the permutation is at its start; verification uses the rest for
 * its flags, and after that a sort in place uses it for the copy of the records:
 *
 *   | plugin's work ............ keys ... |
 *   | permutation | seen or records ...   |
 *
 * Copies of other arrays, and checks, are in the spare memory beside it.
 */
#include <string.h>

#include "base/assert.h"
#include "base/checked.h"
#include "base/struct_size.h"
#include "base/platform/clock.h"
#include "call.h"
#include "key/encode.h"
#include "permute/permute.h"

/* ---- The simple door ---- */

static recsort_status run_on_host(recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                                  recsort_error *error);

/* The sorter has the job of these calls: to fill one with zeros takes as long as some records. */
static recsort_status run_simple(recsort_sorter *sorter, const void *records, size_t count,
                                 void *sorted, void *index, unsigned index_bits,
                                 recsort_error *error)
{
  if (!sorter) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter must not be NULL");
  recsort_job *const job = &sorter->simple;
  RS_ASSERT(job->struct_size == sizeof *job && !job->array_count);
  job->count = count;
  job->records = records;
  job->sorted = sorted;
  job->permutation = index;
  job->index_bits = index_bits;
  return run_on_host(sorter, job, 1, error);
}

recsort_status recsort_sort(recsort_sorter *sorter, void *records, size_t count,
                            recsort_error *error)
{
  return run_simple(sorter, records, count, records, NULL, 0, error);
}

recsort_status recsort_sort_to(recsort_sorter *sorter, const void *records, size_t count,
                               void *sorted, recsort_error *error)
{
  if (count && (!sorted || sorted == records))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "sorted must not be NULL, nor records: recsort_sort sorts in place");
  return run_simple(sorter, records, count, sorted, NULL, 0, error);
}

recsort_status recsort_argsort(recsort_sorter *sorter, const void *records, size_t count,
                               void *index, unsigned index_bits, recsort_error *error)
{
  if ((count && !index) || (index_bits != 32 && index_bits != 64))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "index must not be NULL, of 32 or 64 bits");
  return run_simple(sorter, records, count, NULL, index, index_bits, error);
}

/* ---- Jobs ---- */

static recsort_status run(recsort_sorter *sorter, rs_call *call, recsort_error *error);
static bool is_whole(const rs_call *call);

recsort_status recsort_run(recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                           recsort_error *error)
{
  return sorter && sorter->on_device && jobs ? rs_device_run(sorter, jobs, job_count, error)
                                             : run_on_host(sorter, jobs, job_count, error);
}

static recsort_status run_on_host(recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                                  recsort_error *error)
{
  rs_call call;
  recsort_status status = rs_call_read(sorter, jobs, job_count, &call, error);
  if (status) return status;
  status = rs_call_open(sorter, &call, error);
  if (status == RECSORT_OK) status = run(sorter, &call, error);
  rs_call_close(sorter);
  return status;
}

static recsort_status take_spare(recsort_sorter *sorter, const rs_call *call, recsort_error *error);
static recsort_status find(recsort_sorter *sorter, rs_call *call, recsort_error *error);
static void deliver(recsort_sorter *sorter, const rs_call *call);

/* Runs a job that has been checked. From here on the permutation of the last one is lost. Nothing
 * can fail any more once results are delivered. */
static recsort_status run(recsort_sorter *sorter, rs_call *call, recsort_error *error)
{
  RS_ASSERT(call->count == call->job->count);
  rs_sorter_begin(sorter, call->count);
  if (call->count) {
    recsort_status status = take_spare(sorter, call, error);
    if (status == RECSORT_OK) status = find(sorter, call, error);
    if (status) return status;
    RS_ASSERT(call->moved || (call->order.index && call->order.count == call->wanted));
    deliver(sorter, call);
    if (call->began > 0)
      rs_choice_note(&sorter->choice, call->count, is_whole(call),
                     rs_clock_seconds() - call->began);
  }
  if (!rs_call_keeps(call)) return RECSORT_OK;
  sorter->keeps = true;
  sorter->kept = call->order;
  sorter->made = *call->job;
  sorter->made_columns = rs_plan_columns_mark(&sorter->plan);
  return RECSORT_OK;
}

const void *recsort_sorter_permutation(const recsort_sorter *sorter, unsigned *index_bits,
                                       size_t *count)
{
  const rs_order order = sorter && sorter->keeps ? sorter->kept : (rs_order){.index_bits = 32};
  if (index_bits) *index_bits = order.index_bits;
  if (count) *count = order.count;
  return order.index;
}

/* ---- The plan ---- */

/* True if whole records may be passed to a plugin. */
static bool is_whole(const rs_call *call)
{
  return call->only_records && !call->scope.bits && !call->scope.offsets;
}

static size_t larger(size_t a, size_t b)
{
  return a > b ? a : b;
}

/* The plugin says where the keys go; this must be inside the memory that it asked for. */
static recsort_status check_work(const recsort_sorter *sorter, const rs_block_plan *block,
                                 recsort_error *error)
{
  const recsort_plugin_work *work = &block->work;
  if (work->keys_offset % RS_BLOCK_ALIGNMENT == 0 && work->keys_offset <= work->bytes &&
      rs_product((size_t)block->job.count, rs_key_size(&sorter->plan)) <=
          work->bytes - work->keys_offset)
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
  RS_ASSERT(count > 0 && sorter->choice.in_use);
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
  RS_ASSERT(instance->records || !instance->sorts_in_host);
  recsort_error reported = {0};
  *bytes = 0;
  return instance->sorts_in_host &&
         instance->records->work_size(instance->state, job, &sorter->plan.program, in_place, bytes,
                                      &reported) == RECSORT_OK;
}

/* Plans for keys and for whole records: which of them it will be depends on the records, and the
 * next call should need no more memory. */
static recsort_status plan_anew(const recsort_sorter *sorter, size_t count, size_t copy_size,
                                rs_block_plan *block, recsort_error *error)
{
  rs_plugin_instance *const instance = &sorter->choice.in_use->instance;
  recsort_error reported = {0};
  *block = (rs_block_plan){.copy_size = copy_size, .work = {.size = sizeof block->work}};
  const recsort_status within = plan_job(sorter, count, &block->job, error);
  if (within) return within;
  const recsort_status status =
      instance->plugin->work_size(instance->state, &block->job, &block->work, &reported);
  if (status) return rs_plugin_fail(instance, status, &reported, error);
  block->after = rs_round_up(rs_product(count, block->job.index_bits / 8), RS_BLOCK_ALIGNMENT);
  const size_t size = rs_sum(block->after, larger(copy_size, count));
  uint64_t records = 0;
  block->takes_records = records_work(sorter, &block->job, copy_size > 0, &records);
  block->size = size > block->work.bytes ? size : (size_t)block->work.bytes;
  if (block->takes_records && records > block->size)
    block->size = records < SIZE_MAX ? (size_t)records : SIZE_MAX;
  RS_ASSERT(block->size >= block->after);
  RS_ASSERT(block->size >= block->work.bytes || block->size == SIZE_MAX);
  if (block->size > SIZE_MAX - RS_BLOCK_ALIGNMENT) return rs_fail_memory(error, SIZE_MAX);
  return check_work(sorter, block, error);
}

/* Makes sorter->planned the plan of a call. That of the last call is often the same, and to make it
 * takes a good part of the time that a hundred records take. */
static recsort_status plan_block(recsort_sorter *sorter, const rs_call *call, recsort_error *error)
{
  rs_block_plan *const block = &sorter->planned;
  const size_t copy_size = call->in_place ? call->bytes : 0;
  if (block->plugin == sorter->choice.in_use && block->job.count == call->count &&
      block->copy_size == copy_size && block->job.key_bits == sorter->plan.program.key_bits)
    return RECSORT_OK;
  const recsort_status status = plan_anew(sorter, call->count, copy_size, block, error);
  block->plugin = status == RECSORT_OK ? sorter->choice.in_use : NULL;
  return status;
}

/* `loads`: others may be loaded, as the job is done now. */
static recsort_status choose_plugin(recsort_sorter *sorter, const rs_call *call, bool loads,
                                    recsort_error *error)
{
  rs_choice_for(&sorter->choice, call->count, is_whole(call), loads);
  if (sorter->choice.in_use) return RECSORT_OK;
  return rs_fail(error, RECSORT_PLUGIN_ERROR, "every plugin has failed: %s",
                 sorter->choice.fallback);
}

/* The size of the block for a job. */
static recsort_status block_for(recsort_sorter *sorter, const rs_call *call, size_t *size,
                                recsort_error *error)
{
  *size = 0;
  if (call->count == 0) return RECSORT_OK;
  if (call->merges) return rs_merge_memory(sorter, call, size, error);
  if (rs_head_suits(sorter, call)) return rs_head_memory(sorter, call, size, error);
  recsort_status status = choose_plugin(sorter, call, false, error);
  if (status == RECSORT_OK) status = plan_block(sorter, call, error);
  *size = sorter->planned.size;
  return status;
}

/* The size of the block for whichever plugin "auto" may choose, of the ones that are loaded. */
static recsort_status block_for_any(recsort_sorter *sorter, const rs_call *call, size_t *size,
                                    recsort_error *error)
{
  size_t most = 0;
  if (call->count && !call->merges && !rs_head_suits(sorter, call))
    for (size_t n = 0; n < sorter->choice.plugins->count; n++)
      if (rs_choice_take(&sorter->choice, n, call->count) &&
          plan_block(sorter, call, NULL) == RECSORT_OK)
        most = larger(most, sorter->planned.size);
  const recsort_status status = block_for(sorter, call, size, error);
  if (most > 0) *size = status == RECSORT_OK ? larger(*size, most) : most;
  return most > 0 ? RECSORT_OK : status;
}

/* The size of the memory beside it: a copy of the largest array that is moved in place, or what a
 * check takes. */
static size_t spare_for(const recsort_sorter *sorter, const rs_call *call)
{
  const recsort_job *const job = call->job;
  const bool checked =
      !call->merges && call->count && (sorter->verify || job->parts == RECSORT_RUNS);
  size_t most = checked ? rs_check_memory(sorter) : 0;
  for (size_t a = 0; a < job->array_count; a++) {
    const size_t bytes = call->count * job->arrays[a].element_size;
    if (job->arrays[a].from == job->arrays[a].to && bytes > most) most = bytes;
  }
  return most;
}

static recsort_status take_spare(recsort_sorter *sorter, const rs_call *call, recsort_error *error)
{
  const size_t size = spare_for(sorter, call);
  return size == 0 || rs_sorter_spare(sorter, size) ? RECSORT_OK : rs_fail_memory(error, size);
}

recsort_status recsort_plan(recsort_sorter *sorter, const recsort_job *jobs, size_t job_count,
                            recsort_needs *needs, recsort_error *error)
{
  rs_call call;
  size_t block = 0;
  if (!needs) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "needs must not be NULL");
  if (sorter && sorter->on_device && jobs)
    return rs_device_plan(sorter, jobs, job_count, needs, error);
  recsort_status status = rs_call_read(sorter, jobs, job_count, &call, error);
  if (status) return status;
  status = rs_check_size(needs, recsort_needs, RECSORT_NEEDS_INIT, error);
  if (status) return status;
  rs_plan_set_scope(&sorter->plan, &call.scope);
  status = block_for(sorter, &call, &block, error);
  const size_t spare = spare_for(sorter, &call);
  rs_call_close(sorter);
  if (status) return status;
  const size_t host = rs_sum(larger(rs_sorter_block_bytes(block), sorter->allocation_size),
                             larger(spare, sorter->spare_size));
  if (host == SIZE_MAX) return rs_fail_memory(error, SIZE_MAX);
  needs->host = host;
  needs->device = 0;
  return RECSORT_OK;
}

/* If only the first records are wanted, fewer records may need more memory: all of them are sorted.
 */
static recsort_status reserve(recsort_sorter *sorter, const rs_call *call, recsort_error *error)
{
  size_t block = 0, other = 0;
  rs_call fewer = *call;
  fewer.count = rs_head_most_sorted(sorter, call);
  RS_ASSERT(fewer.count <= call->count);
  recsort_status status = block_for_any(sorter, call, &block, error);
  if (status == RECSORT_OK && fewer.count < call->count)
    status = block_for_any(sorter, &fewer, &other, error);
  if (status) return status;
  block = larger(block, other);
  if (block > sorter->block_size) {
    rs_sorter_begin(sorter, 0);
    status = rs_sorter_reserve(sorter, block, error);
  }
  return status ? status : take_spare(sorter, call, error);
}

recsort_status recsort_sorter_reserve(recsort_sorter *sorter, const recsort_job *job,
                                      recsort_error *error)
{
  rs_call call;
  if (sorter && !job) {
    rs_sorter_begin(sorter, 0);
    rs_sorter_release_block(sorter);
    rs_sorter_release_spare(sorter);
    return RECSORT_OK;
  }
  recsort_status status = rs_call_read(sorter, job, 1, &call, error);
  if (status) return status;
  rs_sorter_count_threads(sorter);
  rs_plan_set_scope(&sorter->plan, &call.scope);
  status = reserve(sorter, &call, error);
  rs_call_close(sorter);
  return status;
}

/* ---- The order, or sorted records ---- */

static recsort_status find_by_plugin(recsort_sorter *sorter, rs_call *call, recsort_error *error);
static recsort_status move_by_plugin(recsort_sorter *sorter, rs_call *call, recsort_error *error);
static recsort_status order_by_plugin(recsort_sorter *sorter, rs_call *call, recsort_error *error);
static bool another_may_do(recsort_status status);

/* Finds the order of the records. If it is automatic, the choice falls on the next plugin until one
 * succeeds. */
static recsort_status find(recsort_sorter *sorter, rs_call *call, recsort_error *error)
{
  recsort_status status = RECSORT_OK;
  RS_ASSERT(call->count > 0);
  if (call->merges) return rs_merge(sorter, call, error);
  if (rs_head_suits(sorter, call)) return rs_head_find(sorter, call, error);
  if (call->job->parts == RECSORT_RUNS) status = rs_merge_check(sorter, call, error);
  if (status == RECSORT_OK) status = choose_plugin(sorter, call, true, error);
  if (status) return status;
  for (;;) {
    recsort_error cause; /* not filled with zeros: hundreds of bytes take as long as some records */
    RS_ASSERT(sorter->choice.in_use && !call->moved);
    if (rs_choice_is_timed(&sorter->choice, call->count)) call->began = rs_clock_seconds();
    status = find_by_plugin(sorter, call, &cause);
    if (status == RECSORT_OK) return status;
    sorter->planned.plugin = NULL; /* a plugin that has failed is asked again */
    if (call->began > 0) rs_choice_note_failure(&sorter->choice, rs_clock_seconds() - call->began);
    sorter->stats = (recsort_stats){.records = call->count};
    if (!another_may_do(status) || !rs_choice_replace(&sorter->choice, call->count, &cause)) {
      if (error) *error = cause;
      return status;
    }
  }
}

/* True for a failure of the plugin that another one may not have. */
static bool another_may_do(recsort_status status)
{
  return status == RECSORT_DEVICE_ERROR || status == RECSORT_DEVICE_LOST ||
         status == RECSORT_PLUGIN_ERROR || status == RECSORT_CORRUPT_RESULT ||
         status == RECSORT_OUT_OF_MEMORY;
}

/* True if whole records are passed to the plugin in use. Not if they are sorted in place and the
 * result is to be checked in full: then a plugin would overwrite the records before. */
static bool takes_records(const recsort_sorter *sorter, const rs_call *call)
{
  const bool lost_if_wrong =
      sorter->verify && call->in_place && sorter->choice.in_use->instance.sorts_in_host;
  return is_whole(call) && !lost_if_wrong &&
         rs_choice_moves(&sorter->choice, &sorter->plan.program);
}

/* With the plugin in use: whole records, if it takes them; else their keys. */
static recsort_status find_by_plugin(recsort_sorter *sorter, rs_call *call, recsort_error *error)
{
  recsort_status status = rs_plugin_check_lost(&sorter->choice.in_use->instance, error);
  if (status) return status;
  if (takes_records(sorter, call)) status = move_by_plugin(sorter, call, error);
  return status || call->moved ? status : order_by_plugin(sorter, call, error);
}

/* Adds the time since *since to *total, and resets *since. */
static void lap(double *since, double *total)
{
  const double now = rs_clock_seconds();
  RS_ASSERT(now >= *since);
  *total += now - *since;
  *since = now;
}

/* The plugin's report, zeroed: of hundreds of bytes only if one was written, as that takes as long
 * as some records. */
static recsort_error *report_to(recsort_sorter *sorter)
{
  if (sorter->reported.text[0]) memset(&sorter->reported, 0, sizeof sorter->reported);
  return &sorter->reported;
}

/* Passes whole records to the plugin. call->moved stays NULL if it has no room for them, or a value
 * is invalid. */
static recsort_status move_by_plugin(recsort_sorter *sorter, rs_call *call, recsort_error *error)
{
  rs_plugin_instance *const instance = &sorter->choice.in_use->instance;
  recsort_stats *const stats = &sorter->stats;
  const bool in_host = instance->sorts_in_host;
  recsort_plugin_times times = {.size = sizeof times};
  const size_t copy_size = call->in_place ? call->bytes : 0;
  RS_ASSERT(is_whole(call));
  recsort_plugin_job job;
  recsort_status status =
      in_host ? plan_block(sorter, call, error) : plan_job(sorter, call->count, &job, error);
  if (status == RECSORT_OK)
    status = rs_sorter_reserve(sorter, in_host ? sorter->planned.size : copy_size, error);
  if (status || (in_host && !sorter->planned.takes_records)) return status;
  void *const sorted = call->in_place && !in_host ? sorter->block : call->job->sorted;
  RS_ASSERT(sorted);
  if (in_host) {
    job = sorter->planned.job;
    job.memory = sorter->block;
    job.encode = rs_key_encode_for_plugin;
  }
  const recsort_status done =
      instance->records->sort(instance->state, &job, &sorter->plan.program, call->job->records,
                              sorted, &times, report_to(sorter));
  if (done == RECSORT_PLUGIN_ERROR) return RECSORT_OK;
  if (done) return rs_plugin_fail(instance, done, &sorter->reported, error);
  stats->index_bits = job.index_bits;
  stats->whole_records = true;
  stats->encode_seconds = times.encode;
  stats->sort_seconds = times.sort;
  stats->verify_seconds = times.verify;
  stats->permute_seconds = times.permute;
  if (sorter->verify) {
    double clock = rs_clock_seconds();
    status = rs_check_moved(sorter, call, sorted, error);
    lap(&clock, &stats->verify_seconds);
  }
  if (status == RECSORT_OK) call->moved = sorted;
  return status;
}

/* Writes the keys of all records, which may be runs in several arrays. */
static recsort_status encode_all(recsort_sorter *sorter, const rs_call *call, char *keys,
                                 recsort_error *error)
{
  const recsort_job *const job = call->job;
  recsort_status status = RECSORT_OK;
  if (!job->part_records)
    return rs_key_encode(&sorter->plan, job->records, call->count, keys, sorter->team, 0, error);
  for (size_t r = 0; r < job->part_count && !status; r++) {
    const size_t first = rs_call_offset(call, r);
    RS_ASSERT(first <= call->count);
    status = rs_key_encode(&sorter->plan, job->part_records[r], rs_call_offset(call, r + 1) - first,
                           keys + first * rs_key_size(&sorter->plan), sorter->team, first, error);
  }
  return status;
}

/* Encodes, sorts and verifies. */
static recsort_status order_by_plugin(recsort_sorter *sorter, rs_call *call, recsort_error *error)
{
  rs_plugin_instance *const instance = &sorter->choice.in_use->instance;
  recsort_stats *stats = &sorter->stats;
  const rs_block_plan *const block = &sorter->planned;
  recsort_status status = plan_block(sorter, call, error);
  if (status == RECSORT_OK) status = rs_sorter_reserve(sorter, block->size, error);
  if (status) return status;
  RS_ASSERT(sorter->block_size >= block->size && block->job.count == call->count);

  double clock = rs_clock_seconds();
  status = encode_all(sorter, call, (char *)sorter->block + block->work.keys_offset, error);
  if (status) return status;
  lap(&clock, &stats->encode_seconds);

  const recsort_status sorted =
      instance->plugin->sort(instance->state, &block->job, sorter->block, report_to(sorter));
  if (sorted) return rs_plugin_fail(instance, sorted, &sorter->reported, error);
  lap(&clock, &stats->sort_seconds);

  const rs_order order = {sorter->block, block->job.index_bits, call->count};
  RS_ASSERT(block->after >= call->count * (order.index_bits / 8));
  RS_ASSERT(block->after <= sorter->block_size);
  status = rs_order_verify(&order, (char *)sorter->block + block->after, sorter->team, error);
  if (status == RECSORT_OK && sorter->verify) status = rs_check_order(sorter, call, &order, error);
  if (status) return status;
  lap(&clock, &stats->verify_seconds);
  stats->index_bits = order.index_bits;
  call->order = order;
  call->order.count = call->wanted;
  return RECSORT_OK;
}

/* ---- What is wanted ---- */

static void write_records(recsort_sorter *sorter, const rs_call *call);
static void write_keys(recsort_sorter *sorter, const rs_call *call);
static void write_arrays(recsort_sorter *sorter, const rs_call *call);

/* Keys are made before arrays move, which may be the columns. */
static void deliver(recsort_sorter *sorter, const rs_call *call)
{
  const recsort_job *const job = call->job;
  if (call->moved == job->sorted && !job->keys_out && (call->moved || rs_call_keeps(call))) return;
  if (job->permutation)
    rs_order_copy(&call->order, job->permutation, call->index_bits, sorter->team);
  if (!job->sorted && !job->keys_out && !job->array_count) return;
  double clock = rs_clock_seconds();
  if (call->moved != job->sorted) write_records(sorter, call);
  if (job->keys_out) write_keys(sorter, call);
  write_arrays(sorter, call);
  lap(&clock, &sorter->stats.permute_seconds);
}

typedef struct one_by_one {
  recsort_sorter *sorter;
  const rs_call *call;
  size_t pieces;
} one_by_one;

static void copy_record_piece(void *argument, size_t piece, unsigned slot)
{
  const one_by_one *const each = argument;
  const size_t size = (size_t)each->sorter->plan.program.record_size;
  const team_range range = team_cut(each->call->wanted, piece, each->pieces);
  RS_ASSERT(piece < each->pieces);
  (void)slot;
  for (size_t i = range.begin; i < range.end; i++) {
    const size_t index = (size_t)rs_order_at(&each->call->order, i);
    memcpy((char *)each->call->job->sorted + i * size,
           rs_call_record(each->sorter, each->call, index), size);
  }
}

/* Calls `body` for pieces of the result. */
static void each_record(recsort_sorter *sorter, const rs_call *call, team_body *body)
{
  enum { WORTH_A_THREAD = 1 << 14 };
  const team t = team_of_at_most(sorter->team, call->wanted / WORTH_A_THREAD + 1);
  one_by_one each = {sorter, call, team_pieces(t)};
  team_each(t, each.pieces, body, &each);
}

static void write_records(recsort_sorter *sorter, const rs_call *call)
{
  const recsort_job *const job = call->job;
  const size_t size = (size_t)sorter->plan.program.record_size;
  if (call->moved) {
    rs_copy(job->sorted, call->moved, call->bytes, sorter->team);
  } else if (job->part_records) {
    each_record(sorter, call, copy_record_piece);
  } else if (!call->in_place) {
    rs_gather(&call->order, 0, call->wanted, job->records, size, job->sorted, sorter->team);
  } else if (!rs_order_is_identity(&call->order)) {
    RS_ASSERT(sorter->block_size >= call->bytes);
    char *copy = (char *)sorter->block +
                 (sorter->block_size - call->bytes) / RS_BLOCK_ALIGNMENT * RS_BLOCK_ALIGNMENT;
    RS_ASSERT((size_t)(copy - (char *)sorter->block) >= call->count * (call->order.index_bits / 8));
    rs_gather(&call->order, 0, call->count, job->records, size, copy, sorter->team);
    rs_copy(job->sorted, copy, call->bytes, sorter->team);
  }
}

static void encode_piece(void *argument, size_t piece, unsigned slot)
{
  const one_by_one *const each = argument;
  const rs_call *const call = each->call;
  const rs_plan *const plan = &each->sorter->plan;
  const size_t size = rs_key_size(plan);
  const team_range range = team_cut(call->wanted, piece, each->pieces);
  RS_ASSERT(piece < each->pieces);
  (void)slot;
  for (size_t i = range.begin; i < range.end; i++) {
    const size_t index = (size_t)rs_order_at(&call->order, i);
    (void)rs_key_encode_part(plan, rs_call_record(each->sorter, call, index), index, 1,
                             (char *)call->job->keys_out + i * size);
  }
}

/* Whole keys: of the sorted records, if there are any. All values that were compared are valid; a
 * record outside all segments may hold another, whose key does not matter. */
static void write_keys(recsort_sorter *sorter, const rs_call *call)
{
  const recsort_job *const job = call->job;
  rs_plan_clear_scope(&sorter->plan);
  if (job->sorted)
    (void)rs_key_encode(&sorter->plan, job->sorted, call->wanted, job->keys_out, sorter->team, 0,
                        NULL);
  else
    each_record(sorter, call, encode_piece);
}

static void write_arrays(recsort_sorter *sorter, const rs_call *call)
{
  const recsort_job *const job = call->job;
  const bool identity = job->array_count && rs_order_is_identity(&call->order);
  for (size_t a = 0; a < job->array_count; a++) {
    const recsort_array *const array = &job->arrays[a];
    const size_t size = array->element_size;
    if (array->from != array->to) {
      rs_gather(&call->order, 0, call->wanted, array->from, size, array->to, sorter->team);
    } else if (!identity) {
      RS_ASSERT(sorter->spare_size >= call->count * size);
      rs_gather(&call->order, 0, call->count, array->from, size, sorter->spare, sorter->team);
      rs_copy(array->to, sorter->spare, call->count * size, sorter->team);
    }
  }
}
