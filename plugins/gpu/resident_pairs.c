/* resident_pairs.c - sorts keys and values that are in the device's memory already: the extension
 * RECSORT_PLUGIN_DEVICE_PAIRS. A sort only starts work on the caller's stream, in the caller's
 * memory: it neither waits nor allocates, so the stream may be captured.
 *
 *   encode   codes of the keys, whose order is that of unsigned integers, of as few bits as are
 *            compared; unless the keys are such codes, and the sort can read them where they are
 *   sort     by the job's algorithm, which gets no mailbox and so does not wait. If the stream is
 *            being captured, the device may decide what is to be done. It numbers the keys itself,
 *            as equal ones differ by their numbers; so values do not move along
 *   copy     what is sorted in place and read by the next step
 *   finish   keys from their codes where these tell them; other keys, and values, by number.
 *            Many pairs are checked
 *
 * The last two are left out if all is in place and the device has found the keys in order.
 *
 * The memory: that of the sort, pair_facts, and copies that do not fit in what the sort leaves. */
#include <stdio.h>

#include "gpu/device_pairs.h"
#include "gpu/gpu_plugin.h"

/* If only some bits of so many keys are compared, it is worth to look whether the others are the
 * same in all keys: then the codes tell the keys, and none is gathered. */
#ifndef PAIRS_LEAST_LOOK
#define PAIRS_LEAST_LOOK (1 << 18)
#endif

/* What kernels find. */
typedef struct pair_facts {
  uint32_t unchanged; /* of device_unchanged */
  uint32_t differ;    /* of device_pairs_encode */
} pair_facts;

enum { FACTS_BYTES = DEVICE_ALIGNMENT };

/* ---- Memory ---- */

/* The job of the sort. */
static recsort_plugin_job code_job(const recsort_plugin_device_pairs_job *job)
{
  return (recsort_plugin_job){.size = sizeof(recsort_plugin_job),
                              .algorithm = job->algorithm,
                              .count = job->count,
                              .key_bits = job->bits,
                              .key_width = gpu_pair_width(job->bits),
                              .index_bits = job->count <= UINT64_C(1) << 32 ? 32 : 64,
                              .threads = 1};
}

static bool keys_in_place(const recsort_plugin_device_pairs_job *job)
{
  return job->keys_in == job->keys_out;
}

static bool values_in_place(const recsort_plugin_device_pairs_job *job)
{
  return job->values_in == job->values_out;
}

/* The bytes of copies, 0 if there is none. */
static uint64_t copied_keys(const recsort_plugin_device_pairs_job *job)
{
  return keys_in_place(job) && device_pairs_reads_keys(job) ? job->count * (job->key_width / 8) : 0;
}

static uint64_t copied_values(const recsort_plugin_device_pairs_job *job)
{
  return values_in_place(job) ? job->count * (job->value_width / 8) : 0;
}

/* Room for copies: the keys and indices of a side of the sort's buffers, and what is behind all. */
typedef struct copy_room {
  char *side, *behind;
  uint64_t side_bytes, behind_bytes; /* left, and taken */
} copy_room;

static char *take_room(copy_room *room, uint64_t size)
{
  const uint64_t bytes = device_aligned(size);
  const bool fits = bytes <= room->side_bytes;
  char **const from = fits ? &room->side : &room->behind;
  char *const taken = *from;
  if (taken) *from += bytes;
  if (fits)
    room->side_bytes -= bytes;
  else
    room->behind_bytes += bytes;
  return taken;
}

/* Both sides have as many bytes. */
static uint64_t side_bytes(const recsort_plugin_job *job)
{
  return device_aligned(job->count * (job->key_width / 8)) +
         device_aligned(job->count * (job->index_bits / 8));
}

/* The bytes that copies take behind all else. */
static uint64_t bytes_behind(const recsort_plugin_device_pairs_job *job,
                             const recsort_plugin_job *codes)
{
  copy_room room = {.side_bytes = side_bytes(codes)};
  (void)take_room(&room, copied_values(job));
  (void)take_room(&room, copied_keys(job));
  return room.behind_bytes;
}

static bool is_possible(const recsort_plugin_device_pairs_job *job, recsort_plugin_error *error)
{
  enum { MOST_COUNT_BITS = 40 }; /* more than any device has memory for; no product overflows */
  if (job->count >> MOST_COUNT_BITS == 0) return true;
  (void)snprintf(error->text, sizeof error->text, "%llu pairs are too many",
                 (unsigned long long)job->count);
  return false;
}

static recsort_plugin_status work_size(const void *instance,
                                       const recsort_plugin_device_pairs_job *job, uint64_t *bytes,
                                       recsort_plugin_error *error)
{
  const gpu_instance *const self = instance;
  const recsort_plugin_job codes = code_job(job);
  if (!is_possible(job, error)) return RECSORT_PLUGIN_UNSUPPORTED;
  *bytes = device_aligned(gpu_most_pair_bytes(self->device, &codes)) + FACTS_BYTES +
           bytes_behind(job, &codes);
  return RECSORT_PLUGIN_OK;
}

/* ---- A sort ---- */

typedef struct pairs_sort {
  recsort_plugin_device_pairs_job job;
  gpu_pairs pairs;
  device_buffers buffers;
  unsigned side; /* that has the sorted codes */
  copy_room room;
  device_unchanged unchanged;
  uint32_t *differ; /* NULL: nothing looks */
  recsort_plugin_error *error;
  recsort_plugin_status status; /* of start_finish */
} pairs_sort;

/* Copies an array whose elements are read after others have been written. */
static recsort_plugin_status start_copy(pairs_sort *s, const void **array, uint64_t bytes)
{
  const void *const from = *array;
  if (bytes == 0) return RECSORT_PLUGIN_OK;
  char *const copy = take_room(&s->room, bytes);
  *array = copy;
  return runtime_start_across(s->job.stream, copy, from, bytes, s->error);
}

/* Starts what the device leaves out if the keys are in order, on a stream that may be a branch's.
 */
static device_status start_finish(void *context, void *stream)
{
  pairs_sort *const s = context;
  const device_job *const codes = &s->pairs.job;
  const device_pairs_sorted sorted = {s->buffers.keys[s->side],
                                      s->buffers.indices[s->side],
                                      codes->key_width,
                                      codes->index_bits,
                                      s->differ,
                                      s->pairs.disorder};
  const uint64_t keys = copied_keys(&s->job), values = copied_values(&s->job);
  s->job.stream = stream;
  s->status = start_copy(s, &s->job.values_in, values);
  if (!s->status) s->status = start_copy(s, &s->job.keys_in, keys);
  if (!s->status) s->status = judge_launch(device_pairs_finish(&s->job, &sorted), s->error);
  return (device_status)s->status;
}

/* True if the keys are their own codes, where a sort can read them: nothing is encoded. */
static bool are_codes(const recsort_plugin_device_pairs_job *job)
{
  return (uintptr_t)job->keys_in % DEVICE_INPUT_ALIGNMENT == 0 &&
         job->kind == RECSORT_KEY_UNSIGNED && !(job->flags & RECSORT_KEY_DESCENDING) &&
         job->bits == job->key_width;
}

static recsort_plugin_status start_all(pairs_sort *s)
{
  const gpu_pairs *const pairs = &s->pairs;
  device_status started = 0;
  if (are_codes(&s->job))
    s->buffers.input = s->job.keys_in;
  else
    started = device_pairs_encode(&s->job, s->buffers.keys[0], pairs->job.key_width, s->differ);
  if (!started) started = pairs->algorithm->sort(&pairs->job, &s->buffers, &s->side);
  if (started) return judge_launch(started, s->error);
  s->room.side = s->side ? s->buffers.keys[0] : s->buffers.indices[1];
  started = s->unchanged.looks ? device_start_unless_unchanged(&pairs->job, start_finish, s)
                               : start_finish(s, s->job.stream);
  return s->status ? s->status : judge_launch(started, s->error);
}

static recsort_plugin_status sort_within(const gpu_instance *self, pairs_sort *s, char *memory,
                                         uint64_t bytes)
{
  const recsort_plugin_job codes = code_job(&s->job);
  s->pairs = gpu_plan_resident(self, &codes, s->job.stream);
  const uint64_t pair_bytes = device_aligned(s->pairs.bytes);
  const uint64_t needed = pair_bytes + FACTS_BYTES + bytes_behind(&s->job, &codes);
  if (needed > bytes) {
    (void)snprintf(s->error->text, sizeof s->error->text,
                   "the workspace has %llu bytes; this sort takes %llu", (unsigned long long)bytes,
                   (unsigned long long)needed);
    return RECSORT_PLUGIN_UNSUPPORTED;
  }
  s->buffers = device_divide(&s->pairs.job, memory, s->pairs.extra_bytes);
  s->room =
      (copy_room){.behind = memory + pair_bytes + FACTS_BYTES, .side_bytes = side_bytes(&codes)};
  pair_facts *const facts = (pair_facts *)(void *)(memory + pair_bytes);
  s->unchanged.found = &facts->unchanged;
  if (s->job.bits < s->job.key_width && s->job.count >= PAIRS_LEAST_LOOK)
    s->differ = &facts->differ;
  if (keys_in_place(&s->job) && values_in_place(&s->job)) s->pairs.job.unchanged = &s->unchanged;
  return start_all(s);
}

static recsort_plugin_status sort(void *instance, const recsort_plugin_device_pairs_job *job,
                                  void *memory, uint64_t bytes, recsort_plugin_error *error)
{
  const gpu_instance *const self = instance;
  if (job->count == 0) return RECSORT_PLUGIN_OK;
  if (!is_possible(job, error)) return RECSORT_PLUGIN_UNSUPPORTED;
  recsort_plugin_status status = runtime_enter(self->device, error);
  if (status) return status;
  pairs_sort s = {.job = *job, .error = error};
  status = sort_within(self, &s, memory, bytes);
  runtime_leave(self->device);
  return status;
}

static recsort_plugin_status begin(void *instance, recsort_plugin_error *error)
{
  gpu_instance *const self = instance;
  recsort_plugin_status status = runtime_enter(self->device, error);
  if (status) return status;
  status = gpu_begin_resident(self, error);
  runtime_leave(self->device);
  return status;
}

const recsort_plugin_device_pairs gpu_resident_pairs = {.size = sizeof gpu_resident_pairs,
                                                        .begin = begin,
                                                        .work_size = work_size,
                                                        .sort = sort,
                                                        .judge = gpu_judge_resident};
