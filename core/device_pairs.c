/* device_pairs.c - keys and values in a device's memory: the plugin sorts them there (see
 * recsort_plugin_device_pairs). The host's part is the checks of what it is given. */
#include "recsort/device_pairs.h"

#include "base/checked.h"
#include "base/platform/threads.h"
#include "base/struct_size.h"
#include "sorter.h"

enum { WORKSPACE_ALIGNMENT = 256 };

struct recsort_device_pairs {
  recsort_sorter *own; /* its plugin; it has neither keys nor records */
  rs_mutex lock;       /* around calls of the plugin that take one thread */
};

static rs_plugin_instance *instance_of(const recsort_device_pairs *pairs)
{
  return &pairs->own->choice.in_use->instance;
}

static recsort_status judge(const recsort_device_pairs *pairs, recsort_plugin_status status,
                            const recsort_plugin_error *reported, recsort_error *error)
{
  return status ? rs_plugin_fail(instance_of(pairs), status, reported, error) : RECSORT_OK;
}

/* ---- Creation ---- */

static recsort_status begin(recsort_device_pairs *pairs, recsort_error *error)
{
  recsort_plugin_error reported = {.size = sizeof reported};
  const rs_plugin_instance *const instance = instance_of(pairs);
  return judge(pairs, instance->pairs->begin(instance->state, &reported), &reported, error);
}

recsort_status recsort_device_pairs_create(const recsort_options *options,
                                           recsort_device_pairs **pairs, recsort_error *error)
{
  recsort_sorter *own = NULL;
  if (!pairs) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "pairs must not be NULL");
  recsort_status status = rs_sorter_create(NULL, options, &own, error);
  if (status) return status;
  recsort_device_pairs *const made = rs_allocate(&own->allocator, sizeof *made);
  if (!made) {
    recsort_sorter_destroy(own);
    return rs_fail_memory(error, sizeof *made);
  }
  made->own = own;
  rs_mutex_init(&made->lock);
  status = rs_choice_for_device(&own->choice, RS_RESIDENT_PAIRS, error);
  if (!status) status = begin(made, error);
  if (status)
    recsort_device_pairs_destroy(made);
  else
    *pairs = made;
  return status;
}

void recsort_device_pairs_destroy(recsort_device_pairs *pairs)
{
  if (!pairs) return;
  recsort_sorter *const own = pairs->own;
  rs_release(&own->allocator, pairs, sizeof *pairs);
  recsort_sorter_destroy(own);
}

/* ---- Jobs ---- */

/* The kinds of key. */
static bool find_kind(recsort_type type, recsort_plugin_device_pairs_job *job)
{
  static const struct {
    recsort_type type;
    uint32_t kind, width;
  } kinds[] = {
      {RECSORT_UINT32, RECSORT_KEY_UNSIGNED, 32},   {RECSORT_INT32, RECSORT_KEY_SIGNED, 32},
      {RECSORT_FLOAT32, RECSORT_KEY_FLOAT, 32},     {RECSORT_UINT64, RECSORT_KEY_UNSIGNED, 64},
      {RECSORT_INT64, RECSORT_KEY_SIGNED, 64},      {RECSORT_FLOAT64, RECSORT_KEY_FLOAT, 64},
      {RECSORT_UINT128, RECSORT_KEY_UNSIGNED, 128}, {RECSORT_INT128, RECSORT_KEY_SIGNED, 128}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (kinds[i].type != type) continue;
    job->kind = kinds[i].kind;
    job->key_width = kinds[i].width;
    return true;
  }
  return false;
}

/* Translates a job and checks it without its arrays. */
static recsort_status read_job(const recsort_device_pairs *pairs,
                               const recsort_device_pairs_job *given,
                               recsort_plugin_device_pairs_job *job, recsort_error *error)
{
  if (!pairs || !given)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "pairs and job must not be NULL");
  const recsort_status status =
      rs_check_size(given, recsort_device_pairs_job, RECSORT_DEVICE_PAIRS_JOB_INIT, error);
  if (status) return status;
  *job = (recsort_plugin_device_pairs_job){
      .size = sizeof *job,
      .algorithm = instance_of(pairs)->algorithm,
      .stream = given->stream,
      .count = given->count,
      .flags = (given->order == RECSORT_DESCENDING ? RECSORT_KEY_DESCENDING : 0) |
               (given->nan == RECSORT_NAN_FIRST   ? RECSORT_KEY_NAN_FIRST
                : given->nan == RECSORT_NAN_TOTAL ? RECSORT_KEY_NAN_TOTAL
                                                  : 0),
      .value_width = given->value_bits,
      .keys_in = given->keys_in,
      .keys_out = given->keys_out,
      .values_in = given->values_in,
      .values_out = given->values_out};
  if (!find_kind(given->type, job))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "keys of pairs are integers of 32, 64 or 128 bits or floats of 32 or 64");
  if (given->order > RECSORT_DESCENDING || given->nan > RECSORT_NAN_TOTAL)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "order or nan of the job is none");
  const unsigned end = given->end_bit ? given->end_bit : job->key_width;
  if (given->begin_bit >= end || end > job->key_width)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "keys of %u bits have no bits [%u, %u)",
                   job->key_width, given->begin_bit, end);
  job->first_bit = given->begin_bit;
  job->bits = end - given->begin_bit;
  if (given->value_bits != 0 && given->value_bits != 32 && given->value_bits != 64)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "value_bits is %u, not 0, 32 or 64",
                   given->value_bits);
  if (given->value_bits == 0 && (given->values_in || given->values_out))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "value_bits is 0, but there are values");
  return RECSORT_OK;
}

/* ---- Arrays ---- */

/* An array of a sort, or the workspace. */
typedef struct area {
  const char *name;
  const void *at;
  size_t size;
  size_t element;
  bool written;
} area;

enum { KEYS_IN, KEYS_OUT, VALUES_IN, VALUES_OUT, WORKSPACE, AREAS };

/* keys_in and keys_out may be equal, and so may values_in and values_out. */
static bool may_meet(const area *areas, unsigned a, unsigned b)
{
  return (!areas[a].written && !areas[b].written) ||
         (areas[a].at == areas[b].at && b != WORKSPACE && a / 2 == b / 2);
}

static recsort_status check_areas(const area areas[AREAS], recsort_error *error)
{
  for (unsigned a = 0; a < AREAS; a++)
    if ((uintptr_t)areas[a].at % areas[a].element)
      return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%s is not at a multiple of %zu bytes",
                     areas[a].name, areas[a].element);
  for (unsigned b = 0; b < AREAS; b++)
    for (unsigned a = 0; a < b; a++)
      if (areas[a].at && areas[b].at && !may_meet(areas, a, b) &&
          rs_overlap(areas[a].at, areas[a].size, areas[b].at, areas[b].size))
        return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%s and %s overlap", areas[a].name,
                       areas[b].name);
  return RECSORT_OK;
}

static recsort_status check_arrays(const recsort_plugin_device_pairs_job *job,
                                   const void *workspace, size_t bytes, recsort_error *error)
{
  const size_t key = job->key_width / 8, value = job->value_width ? job->value_width / 8 : 1;
  size_t keys, values;
  if (!job->keys_in || !workspace)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "keys_in and workspace must not be NULL");
  if (!job->values_out && job->value_width)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "value_bits is %u, but values_out is NULL",
                   job->value_width);
  if (!job->values_out && !job->keys_out)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "neither keys_out nor values_out is given");
  if (job->value_width == 32 && !job->values_in && job->count > (uint64_t)UINT32_MAX + 1)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%llu positions need 64 bits, not 32",
                   (unsigned long long)job->count);
  if (!rs_multiply((size_t)job->count, key, &keys) ||
      !rs_multiply((size_t)job->count, value, &values))
    return rs_fail_memory(error, SIZE_MAX);
  const area areas[AREAS] = {
      [KEYS_IN] = {"keys_in", job->keys_in, keys, key, false},
      [KEYS_OUT] = {"keys_out", job->keys_out, keys, key, true},
      [VALUES_IN] = {"values_in", job->values_in, values, value, false},
      [VALUES_OUT] = {"values_out", job->values_out, values, value, true},
      [WORKSPACE] = {"workspace", workspace, bytes, WORKSPACE_ALIGNMENT, true}};
  return check_areas(areas, error);
}

/* ---- Calls ---- */

recsort_status recsort_device_pairs_workspace(const recsort_device_pairs *pairs,
                                              const recsort_device_pairs_job *job, size_t *bytes,
                                              recsort_error *error)
{
  recsort_plugin_device_pairs_job own;
  recsort_plugin_error reported = {.size = sizeof reported};
  uint64_t needed = 0;
  if (!bytes) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "bytes must not be NULL");
  recsort_status status = read_job(pairs, job, &own, error);
  if (status) return status;
  const rs_plugin_instance *const instance = instance_of(pairs);
  status = judge(pairs, instance->pairs->work_size(instance->state, &own, &needed, &reported),
                 &reported, error);
  if (!status) *bytes = (size_t)needed;
  return status;
}

recsort_status recsort_device_pairs_sort(recsort_device_pairs *pairs,
                                         const recsort_device_pairs_job *job, void *workspace,
                                         size_t bytes, recsort_error *error)
{
  recsort_plugin_device_pairs_job own;
  recsort_plugin_error reported = {.size = sizeof reported};
  recsort_status status = read_job(pairs, job, &own, error);
  if (!status && own.count) status = check_arrays(&own, workspace, bytes, error);
  if (status || own.count == 0) return status;
  rs_plugin_instance *const instance = instance_of(pairs);
  rs_mutex_lock(&pairs->lock);
  status = judge(pairs, instance->pairs->sort(instance->state, &own, workspace, bytes, &reported),
                 &reported, error);
  rs_mutex_unlock(&pairs->lock);
  return status;
}

recsort_status recsort_device_pairs_check(recsort_device_pairs *pairs, recsort_error *error)
{
  recsort_plugin_error reported = {.size = sizeof reported};
  if (!pairs) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "pairs must not be NULL");
  const rs_plugin_instance *const instance = instance_of(pairs);
  rs_mutex_lock(&pairs->lock);
  const recsort_status status =
      judge(pairs, instance->pairs->judge(instance->state, &reported), &reported, error);
  rs_mutex_unlock(&pairs->lock);
  return status;
}
