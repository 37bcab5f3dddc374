/* resident_records.c - sorts records that are in the device's memory already: the extension
 * RECSORT_PLUGIN_DEVICE. A sort only starts work on the caller's stream: it neither waits nor
 * allocates, so the stream may be captured.
 *
 *   head      the first records, if they are few: finds their order
 *   segments  if all are short: sorts them, and moves small arrays. In a captured stream the
 *             device may find out whether they are short. Otherwise:
 *   encode    makes keys in the workspace; the number of a record's segment goes above its key
 *   sort      by the instance's algorithm. It gets no mailbox, so it does not wait. In a captured
 *             stream the device may decide what is to be done. The algorithm may make keys itself,
 *             and move an array (device_skills)
 *   check     compares neighbours, if there are many records
 *   move      the permutation, then the arrays that were not moved; those in place by way of a
 *             copy in the workspace, unless the device has found them in order
 *
 * The workspace is device->memory: the memory of the pairs, `facts` of the device's own, then that
 * of a copy. */
#include <stdio.h>
#include <string.h>

#include "gpu/device_head.h"
#include "gpu/device_segments.h"
#include "gpu/gpu_plugin.h"

/* ---- Plans ---- */

enum { MOST_KEY_BITS = 128 };

/* `number_bits`: of what is above a key. */
static recsort_plugin_job sort_job(const gpu_instance *self, const recsort_key_program *program,
                                   uint32_t number_bits, uint64_t count)
{
  const uint32_t bits = program->key_bits + number_bits;
  return (recsort_plugin_job){.size = sizeof(recsort_plugin_job),
                              .algorithm = self->resident.algorithm,
                              .count = count,
                              .key_bits = bits,
                              .key_width = gpu_pair_width(bits),
                              .index_bits = self->resident.index_bits,
                              .threads = 1};
}

static uint64_t most_pair_bytes(const gpu_instance *self, const recsort_key_program *program,
                                uint32_t number_bits, uint64_t most)
{
  const recsort_plugin_job job = sort_job(self, program, number_bits, most);
  return gpu_most_pair_bytes(self->device, &job);
}

/* Words of gpu_instance.resident.facts. */
enum { FOUND_UNCHANGED, FOUND_LENGTHS };

/* Where the copy begins in the workspace. */
static uint64_t copy_offset(const gpu_instance *self)
{
  return self->resident.pair_bytes + DEVICE_ALIGNMENT;
}

recsort_plugin_status gpu_begin_resident(gpu_instance *self, recsort_plugin_error *error)
{
  recsort_plugin_status status = RECSORT_PLUGIN_OK;
  for (unsigned i = 0; i < 2 && !status; i++)
    if (!self->resident.branches[i])
      status = runtime_open_stream(&self->resident.branches[i], error);
  memset(self->device->facts, 0, sizeof(records_facts));
  *self->device->disorder = 0;
  return status;
}

void gpu_end_resident(gpu_instance *self)
{
  for (unsigned i = 0; i < 2; i++)
    runtime_close_stream(self->resident.branches[i]);
}

/* Clears what sorts leave for each other. */
static recsort_plugin_status clear_facts(const gpu_instance *self, recsort_plugin_error *error)
{
  const recsort_plugin_status status = judge_launch(
      device_segments_begin(&self->resident.facts[FOUND_LENGTHS], self->device->stream), error);
  return status ? status : runtime_wait(self->device->stream, error);
}

static recsort_plugin_status reserve(void *instance, const recsort_key_program *program,
                                     const recsort_plugin_device_limits *limits, uint64_t *bytes,
                                     recsort_plugin_error *error)
{
  gpu_instance *const self = instance;
  if (!records_encodable(program))
    return refuse(error, "on a device, keys have at most 128 bits and 16 parts");
  const uint32_t bits = limits->most_segments ? records_segment_bits(limits->most_segments) : 0;
  if (program->key_bits + bits > MOST_KEY_BITS)
    return refuse(error, "keys and the numbers of segments have more than 128 bits together");
  self->resident.segment_bits = bits;
  self->resident.algorithm = limits->algorithm;
  self->resident.index_bits = limits->index_bits;
  self->resident.most = limits->most_records;
  self->resident.most_in_place = limits->most_in_place;
  self->resident.most_in_segment = limits->most_in_segment;
  const uint64_t plain = most_pair_bytes(self, program, 0, limits->most_records);
  const uint64_t above = most_pair_bytes(self, program, bits, limits->most_records);
  self->resident.pair_bytes = device_aligned(plain > above ? plain : above);
  *bytes = copy_offset(self) + limits->most_records * limits->most_in_place;
  recsort_plugin_status status = runtime_enter(self->device, error);
  if (status) return status;
  status = gpu_begin_resident(self, error);
  if (!status) status = runtime_reserve(self->device, *bytes, error);
  if (!status) {
    self->resident.facts = (uint32_t *)(void *)(self->device->memory + self->resident.pair_bytes);
    status = clear_facts(self, error);
  }
  runtime_leave(self->device);
  return status;
}

/* ---- A sort ---- */

static device_segments segments_of(const gpu_instance *self, const recsort_plugin_device_job *job)
{
  return (device_segments){job->offsets, job->segment_count, job->offset_bits,
                           self->resident.most_in_segment};
}

static device_status start_encode(const gpu_instance *self, const recsort_key_program *program,
                                  const recsort_plugin_device_job *job, uint32_t key_width,
                                  void *keys)
{
  records_facts *const facts = self->device->facts;
  const device_segments segments = segments_of(self, job);
  const records_program own = records_program_of(program, key_width);
  return job->offsets
             ? records_encode_segments(&own, job->records, job->count, &segments, program->key_bits,
                                       keys, facts, job->stream)
             : records_encode(&own, job->records, job->count, keys, false, facts, job->stream);
}

/* A sort of the keys, which has been started. */
typedef struct resident_sort {
  const gpu_instance *self;
  const recsort_key_program *program;
  const recsort_plugin_device_job *job;
  gpu_pairs pairs;
  device_buffers buffers;
  records_order order;
  device_segment_sort segments; /* what it has moved, if they are short */
  device_unchanged unchanged;
  device_words words;                       /* if the sort makes keys of them */
  device_move move;                         /* what it moves, */
  const recsort_plugin_device_array *moved; /* of this array; NULL: none */
  recsort_plugin_error *error;
  recsort_plugin_status status; /* of what a branch starts */
} resident_sort;

static recsort_plugin_status start_sort(resident_sort *s)
{
  const gpu_instance *const self = s->self;
  const recsort_plugin_device_job *const job = s->job;
  const gpu_pairs *const pairs = &s->pairs;
  device_status started = 0;
  unsigned side = 0;
  if (!s->buffers.words)
    started = start_encode(self, s->program, job, pairs->job.key_width, s->buffers.keys[0]);
  if (!started) started = pairs->algorithm->sort(&pairs->job, &s->buffers, &side);
  s->order = gpu_order_of(pairs, &s->buffers, side);
  return judge_launch(started, s->error);
}

/* Starts the search for the first records. Memory for all pairs is more than enough for it. */
static recsort_plugin_status start_head(resident_sort *s)
{
  const gpu_instance *const self = s->self;
  const recsort_plugin_device_job *const job = s->job;
  const records_program own = records_program_of(s->program, s->program->key_width);
  const device_head wanted = {.program = &own,
                              .records = job->records,
                              .count = job->count,
                              .head = job->head,
                              .index_bits = self->resident.index_bits,
                              .memory = self->device->memory,
                              .order =
                                  self->device->memory + device_head_bytes(job->count, job->head),
                              .facts = self->device->facts,
                              .stream = job->stream};
  s->order = (records_order){
      .indices = wanted.order, .count = job->head, .index_bits = self->resident.index_bits};
  return judge_launch(device_head_find(&wanted), s->error);
}

static device_segment_sort plan_segments(const resident_sort *s)
{
  return (device_segment_sort){.key_bits = s->program->key_bits,
                               .records = s->job->records,
                               .count = s->job->count,
                               .segments = segments_of(s->self, s->job),
                               .shared_bytes = s->pairs.job.shared_bytes,
                               .index_bits = s->self->resident.index_bits,
                               .disorder = s->pairs.disorder,
                               .facts = s->self->device->facts,
                               .stream = s->job->stream};
}

/* Has the sort of segments move the small arrays that are sorted in place, or the others. Returns
 * whether these are all of them. */
static bool add_moved(resident_sort *s, bool in_place)
{
  device_segment_sort *const to = &s->segments;
  bool all = true;
  for (uint32_t a = 0; a < s->job->array_count; a++) {
    const recsort_plugin_device_array *const array = &s->job->arrays[a];
    const uint64_t aligned = (uintptr_t)array->from | (uintptr_t)array->to | array->element_size;
    if ((array->from == array->to) != in_place) continue;
    if (aligned % 4 || array->element_size > 4 * DEVICE_MOST_MOVED_WORDS ||
        to->moved_count == DEVICE_MOST_MOVED)
      all = false;
    else
      to->moved[to->moved_count++] =
          (device_moved){array->from, array->to, (uint32_t)(array->element_size / 4)};
  }
  return all;
}

static bool is_moved(const resident_sort *s, const recsort_plugin_device_array *array)
{
  if (array == s->moved) return true;
  for (uint32_t m = 0; m < s->segments.moved_count; m++)
    if (s->segments.moved[m].from == array->from && s->segments.moved[m].to == array->to)
      return true;
  return false;
}

/* Starts the sort of short segments. Nothing may be moved in place before the other arrays have
 * been moved, as these may begin there: so it moves arrays in place only if all arrays are. */
static recsort_plugin_status start_segments(resident_sort *s)
{
  const records_program own = records_program_of(s->program, s->program->key_width);
  s->segments.program = &own;
  const bool others = add_moved(s, false), alone = s->segments.moved_count == 0;
  const bool moved = others && alone && add_moved(s, true);
  s->order = (records_order){.indices = s->buffers.indices[0],
                             .count = s->job->count,
                             .index_bits = s->self->resident.index_bits};
  if (!moved || s->job->permutation) s->segments.order = s->buffers.indices[0];
  return judge_launch(device_segments_sort(&s->segments), s->error);
}

static bool head_suits(const gpu_instance *self, const recsort_plugin_device_job *job)
{
  return job->head && device_head_suits(job->count, job->head) &&
         device_head_bytes(job->count, job->head) + job->head * sizeof(uint64_t) <=
             self->resident.pair_bytes;
}

/* The first array that moves takes the check along. */
static recsort_plugin_status start_check(resident_sort *s, void *stream)
{
  return s->order.disorder ? judge_launch(records_ordered(&s->order, stream), s->error)
                           : RECSORT_PLUGIN_OK;
}

static recsort_plugin_status start_move(resident_sort *s, const recsort_plugin_device_array *array,
                                        void *stream)
{
  const uint64_t size = array->element_size;
  const void *from = array->from;
  if (from == array->to) {
    char *const copy = s->self->device->memory + copy_offset(s->self);
    const recsort_plugin_status status =
        runtime_start_across(stream, copy, from, s->job->count * size, s->error);
    if (status) return status;
    from = copy;
  }
  const device_status started = records_gather(from, size, &s->order, array->to, stream);
  s->order.disorder = NULL; /* it is checked */
  return judge_launch(started, s->error);
}

/* Moves the arrays that are sorted in place, or the others. */
static recsort_plugin_status start_moves(resident_sort *s, bool in_place, void *stream)
{
  recsort_plugin_status status = RECSORT_PLUGIN_OK;
  for (uint32_t a = 0; !status && a < s->job->array_count; a++)
    if ((s->job->arrays[a].from == s->job->arrays[a].to) == in_place &&
        !is_moved(s, &s->job->arrays[a]))
      status = start_move(s, &s->job->arrays[a], stream);
  return status;
}

/* Starts what the device leaves out if the keys are in order. */
static device_status start_in_place(void *context, void *stream)
{
  resident_sort *const s = context;
  s->status = start_moves(s, true, stream);
  if (!s->status) s->status = start_check(s, stream);
  return (device_status)s->status;
}

/* Starts the permutation and the moves to other arrays. */
static recsort_plugin_status start_results(resident_sort *s)
{
  recsort_plugin_status status = RECSORT_PLUGIN_OK;
  if (s->job->permutation)
    status = runtime_start_across(s->job->stream, s->job->permutation, s->order.indices,
                                  s->order.count * (s->order.index_bits / 8), s->error);
  return status ? status : start_moves(s, false, s->job->stream);
}

/* The array that the sort moves: the first one that goes to another place. In place, nothing may be
 * moved before the other arrays have been. NULL: none. */
static const recsort_plugin_device_array *first_moved(const recsort_plugin_device_job *job)
{
  for (uint32_t a = 0; a < job->array_count; a++)
    if (job->arrays[a].from != job->arrays[a].to) return &job->arrays[a];
  return job->array_count ? job->arrays : NULL;
}

/* True if `size` bytes at `in` hold all words. */
static bool holds(const void *in, uint64_t size, const device_words *words, uint64_t count)
{
  const uint64_t offset = (uint64_t)((uintptr_t)words->data - (uintptr_t)in);
  return offset < size && (count - 1) * words->stride < size - offset;
}

static bool overlap(const void *a, uint64_t a_bytes, const void *b, uint64_t b_bytes)
{
  return (uintptr_t)a < (uintptr_t)b + b_bytes && (uintptr_t)b < (uintptr_t)a + a_bytes;
}

/* Has the sort move an array. If it makes the keys itself, the array must not go where these are
 * made from: in place, they are made from its copy. */
static recsort_plugin_status plan_move(resident_sort *s, const recsort_plugin_device_array *array)
{
  device_words *const words = &s->words;
  const uint64_t count = s->job->count, bytes = count * array->element_size;
  char *const copy = s->self->device->memory + copy_offset(s->self);
  const bool in_place = array->from == array->to;
  if (s->buffers.words && in_place && holds(array->from, bytes, words, count))
    words->data = copy + ((const char *)words->data - (const char *)array->from);
  else if (s->buffers.words && overlap(array->to, bytes, words->data, count * words->stride))
    return RECSORT_PLUGIN_OK;
  s->move = (device_move){in_place ? copy : array->from, array->to, array->element_size};
  s->moved = array;
  s->pairs.job.move = &s->move;
  return in_place ? runtime_start_across(s->job->stream, copy, array->from, bytes, s->error)
                  : RECSORT_PLUGIN_OK;
}

/* Leaves to the sort what it can do besides. Few records take as many other kernels as it has. */
static recsort_plugin_status plan_skills(resident_sort *s)
{
  const recsort_plugin_device_job *const job = s->job;
  const records_program own = records_program_of(s->program, s->program->key_width);
  const recsort_plugin_device_array *const array = first_moved(job);
  const device_algorithm *const algorithm = s->pairs.algorithm;
  const device_skills skills =
      algorithm->skills ? algorithm->skills(&s->pairs.job) : (device_skills){0};
  if (skills.reads_words && !job->offsets && records_words(&own, job->records, &s->words))
    s->buffers.words = &s->words;
  return skills.moves && array && !job->head ? plan_move(s, array) : RECSORT_PLUGIN_OK;
}

static recsort_plugin_status start_with_skills(resident_sort *s)
{
  const recsort_plugin_status status = plan_skills(s);
  return status ? status : start_sort(s);
}

/* True if the arrays that are sorted in place, or the check, are left. */
static bool has_rest(const resident_sort *s)
{
  bool rest = s->order.disorder != NULL;
  for (uint32_t a = 0; a < s->job->array_count; a++)
    rest |= s->job->arrays[a].from == s->job->arrays[a].to && !is_moved(s, &s->job->arrays[a]);
  return rest;
}

static recsort_plugin_status start_planned(resident_sort *s, recsort_plugin_device_job *job)
{
  s->pairs.job.unchanged = &s->unchanged;
  recsort_plugin_status status = head_suits(s->self, job) ? start_head(s)
                                 : job->offsets && device_segments_suit(&s->segments)
                                     ? start_segments(s)
                                     : start_with_skills(s);
  if (job->head) job->count = s->order.count = job->head; /* so many are moved */
  if (!status) status = start_results(s);
  if (status || !has_rest(s)) return status;
  const device_status started =
      s->unchanged.looks ? device_start_unless_unchanged(&s->pairs.job, start_in_place, s)
                         : start_in_place(s, job->stream);
  return s->status ? s->status : judge_launch(started, s->error);
}

/* ---- A sort of segments that the device measures ---- */

/* Starts a branch. */
static device_status start_measured(void *context, uint64_t longest, const device_job *inner)
{
  resident_sort *const s = context;
  resident_sort own = *s;
  recsort_plugin_device_job job = *s->job;
  job.stream = inner->stream;
  own.job = &job;
  own.pairs.job = *inner;
  own.segments = plan_segments(&own);
  own.segments.segments.most = longest;
  s->status = start_planned(&own, &job);
  return (device_status)s->status;
}

static recsort_plugin_status start_measuring(resident_sort *s)
{
  const device_status started = device_segments_measure(
      &s->segments, &s->pairs.job, &s->self->resident.facts[FOUND_LENGTHS], start_measured, s);
  return s->status ? s->status : judge_launch(started, s->error);
}

/* ---- The extension ---- */

static recsort_plugin_status start_all(const gpu_instance *self, const recsort_key_program *program,
                                       recsort_plugin_device_job *job, recsort_plugin_error *error)
{
  const recsort_plugin_job keys =
      sort_job(self, program, job->offsets ? self->resident.segment_bits : 0, job->count);
  resident_sort s = {.self = self,
                     .program = program,
                     .job = job,
                     .pairs = gpu_plan_resident(self, &keys, job->stream),
                     .unchanged.found = &self->resident.facts[FOUND_UNCHANGED],
                     .error = error};
  if (s.pairs.bytes > self->resident.pair_bytes)
    return refuse(error, "the plan of this count needs more memory than was allocated");
  s.buffers = device_divide(&s.pairs.job, self->device->memory, s.pairs.extra_bytes);
  s.segments = plan_segments(&s);
  return job->offsets && device_segments_measurable(&s.segments, &s.pairs.job)
             ? start_measuring(&s)
             : start_planned(&s, job);
}

static recsort_plugin_status sort(void *instance, const recsort_key_program *program,
                                  const recsort_plugin_device_job *job, recsort_plugin_error *error)
{
  const gpu_instance *const self = instance;
  if (job->count > self->resident.most)
    return refuse(error, "there are more records than the most");
  if (job->count == 0) return RECSORT_PLUGIN_OK;
  recsort_plugin_status status = runtime_enter(self->device, error);
  if (status) return status;
  recsort_plugin_device_job own = *job;
  status = start_all(self, program, &own, error);
  runtime_leave(self->device);
  return status;
}

/* Kernels write the facts to pinned memory, and the caller has waited for them. */
recsort_plugin_status gpu_judge_resident(void *instance, recsort_plugin_error *error)
{
  const gpu_instance *const self = instance;
  records_facts *const facts = self->device->facts;
  uint32_t *const disorder = self->device->disorder;
  const char *const corrupt = facts->overlong ? "a segment is longer than most_in_segment"
                              : *disorder     ? "the keys that it sorted are not in order"
                                              : NULL;
  const bool invalid = facts->invalid;
  facts->invalid = facts->overlong = *disorder = 0;
  if (!corrupt)
    return invalid ? refuse(error, "a record holds an invalid value") : RECSORT_PLUGIN_OK;
  (void)snprintf(error->text, sizeof error->text, "%s", corrupt);
  return RECSORT_PLUGIN_CORRUPT;
}

const recsort_plugin_device gpu_resident_records = {.size = sizeof gpu_resident_records,
                                                    .reserve = reserve,
                                                    .sort = sort,
                                                    .judge = gpu_judge_resident};
