/* whole_records.c - sends records to the device, sorts them there and brings them back.
 *
 *   up       sends pieces of the records through the ring, and makes the keys of each on arrival
 *   sort     sorts pairs of key and index
 *   check    checks that the order is a permutation, before any record moves
 *   down     gathers pieces of the sorted records and brings them back through the ring
 *   confirm  checks that the records of each piece have the sorted keys, and at the end that the
 *            sums of all hashes are those of the records that were sent
 *
 * The device's memory:  | pairs and memory to sort them | records | pieces | facts |
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "gpu/gpu_plugin.h"
#include "gpu/records.h"

/* ---- Memory ---- */

/* Arrays on the device, and the work on them. */
typedef struct whole_sort {
  gpu_instance *self;
  const recsort_plugin_job *job;
  gpu_pairs pairs;
  device_buffers buffers;
  records_program program;
  char *records;
  char *room;
  records_facts *facts;
  const void *order;
  const void *keys; /* sorted */
  bool verified;
  uint64_t bytes;
} whole_sort;

static whole_sort plan_sort(gpu_instance *self, const recsort_plugin_job *job,
                            const recsort_key_program *program)
{
  RS_ASSERT(records_encodable(program));
  const gpu_pairs pairs = gpu_plan_pairs(self->device, job);
  whole_sort s = {.self = self,
                  .job = job,
                  .pairs = pairs,
                  .verified = runtime_verifies(self->device),
                  .program = {.record_size = program->record_size,
                              .key_width = program->key_width,
                              .step_count = program->step_count}};
  memcpy(s.program.steps, program->steps, program->step_count * sizeof *program->steps);
  s.bytes = device_aligned(pairs.bytes) + device_aligned(job->count * program->record_size) +
            staging_room(job->count, program->record_size, job->threads) + sizeof *s.facts;
  return s;
}

static void divide(whole_sort *s)
{
  char *const memory = s->self->device->memory;
  const uint64_t record_bytes = s->job->count * s->program.record_size;
  s->buffers = device_divide(&s->pairs.job, memory, s->pairs.extra_bytes);
  s->records = memory + device_aligned(s->pairs.bytes);
  s->room = s->records + device_aligned(record_bytes);
  s->facts = (records_facts *)(void *)(memory + s->bytes - sizeof *s->facts);
  RS_ASSERT((char *)s->facts >= s->room);
}

/* Allocates all memory before anything starts. PLUGIN_ERROR: the device has too little. */
static recsort_status reserve(whole_sort *s, recsort_error *error)
{
  const recsort_plugin_job *const job = s->job;
  const unsigned couriers = staging_couriers(job->count, s->program.record_size, job->threads);
  bool room = false;
  recsort_status status = gpu_has_room(s->self->device, s->bytes, &room, error);
  if (status) return status;
  if (!room) {
    (void)snprintf(error->text, sizeof error->text,
                   "the device has too little memory for the records");
    return RECSORT_PLUGIN_ERROR;
  }
  status = runtime_reserve(s->self->device, s->bytes, error);
  if (status == RECSORT_OK) status = staging_reserve(&s->self->ring, couriers, error);
  if (status == RECSORT_OK) divide(s);
  return status;
}

/* ---- Up ---- */

static device_status encode_piece(const void *context, uint64_t first, uint64_t count, void *at,
                                  void *stream)
{
  const whole_sort *const s = context;
  RS_ASSERT(first <= s->job->count && count <= s->job->count - first);
  char *const keys = (char *)s->buffers.keys[0] + first * (s->program.key_width / 8);
  return records_encode(&s->program, at, count, keys, s->verified, s->facts, stream);
}

static recsort_status send(whole_sort *s, const void *records, recsort_error *error)
{
  void *const stream = s->self->device->stream;
  const staging_copy up = {.from = records,
                           .to = s->records,
                           .count = s->job->count,
                           .element = s->program.record_size,
                           .step = encode_piece,
                           .context = s};
  recsort_status status =
      runtime_judge(records_begin(s->facts, stream), "clearing device memory", error);
  if (status == RECSORT_OK) status = runtime_wait(stream, error);
  return status ? status : staging_up(&s->self->ring, &up, gpu_team(s->self, s->job), error);
}

/* ---- Checks ---- */

static recsort_status read_facts(const whole_sort *s, records_facts *facts, recsort_error *error)
{
  return runtime_judge(records_end(s->facts, facts, s->self->device->stream),
                       "a copy from the device", error);
}

static recsort_status judge(const whole_sort *s, recsort_error *error)
{
  records_facts facts = {0};
  const recsort_status status = read_facts(s, &facts, error);
  if (status) return status;
  const char *const wrong = facts.broken    ? "the order it found is no permutation"
                            : facts.invalid ? "a record holds an invalid value"
                                            : NULL;
  if (!wrong) return RECSORT_OK;
  (void)snprintf(error->text, sizeof error->text, "%s", wrong);
  return facts.broken ? RECSORT_CORRUPT_RESULT : RECSORT_PLUGIN_ERROR;
}

/* Keeps the flags of the indices where the other buffer of keys was. */
static recsort_status check(whole_sort *s, unsigned result, recsort_error *error)
{
  RS_ASSERT(result < 2);
  s->order = s->buffers.indices[result];
  s->keys = s->buffers.keys[result];
  const recsort_status status =
      judge_launch(records_check(s->order, s->job->index_bits, s->job->count,
                                 s->buffers.keys[1 - result], s->facts, s->self->device->stream),
                   error);
  return status ? status : judge(s, error);
}

/* ---- Down ---- */

static device_status gather_piece(const void *context, uint64_t first, uint64_t count, void *at,
                                  void *stream)
{
  const whole_sort *const s = context;
  RS_ASSERT(first <= s->job->count && count <= s->job->count - first);
  const records_order order = {.indices = (const char *)s->order + first * (s->job->index_bits / 8),
                               .count = count,
                               .index_bits = s->job->index_bits};
  const char *const keys = (const char *)s->keys + first * (s->program.key_width / 8);
  const device_status status =
      records_gather(s->records, s->program.record_size, &order, at, stream);
  if (status || !s->verified) return status;
  return records_confirm(&s->program, at, count, keys, s->facts, stream);
}

/* After all records have come back: checks that they are the input's, each in its place. */
static recsort_status confirm(const whole_sort *s, recsort_error *error)
{
  records_facts facts = {0};
  if (!s->verified) return RECSORT_OK;
  const recsort_status status = read_facts(s, &facts, error);
  if (status) return status;
  const char *const wrong =
      facts.came.low != facts.left.low || facts.came.high != facts.left.high
          ? "the sorted records are not those that came: their checksums differ"
      : facts.strayed ? "a sorted record does not have the key of its place"
                      : NULL;
  if (!wrong) return RECSORT_OK;
  (void)snprintf(error->text, sizeof error->text, "%s", wrong);
  return RECSORT_CORRUPT_RESULT;
}

static recsort_status receive(whole_sort *s, void *sorted, recsort_error *error)
{
  const staging_copy down = {.to = sorted,
                             .count = s->job->count,
                             .element = s->program.record_size,
                             .room = s->room,
                             .step = gather_piece,
                             .context = s};
  const recsort_status status =
      staging_down(&s->self->ring, &down, gpu_team(s->self, s->job), error);
  return status ? status : confirm(s, error);
}

/* ---- The sort ---- */

static double seconds_now(void)
{
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the seconds since *since, and resets it. */
static double lap(double *since)
{
  const double now = seconds_now(), passed = now - *since;
  RS_ASSERT(passed >= 0);
  *since = now;
  return passed;
}

recsort_status gpu_sort_whole(gpu_instance *self, const recsort_plugin_job *job,
                              const recsort_key_program *program, const void *records, void *sorted,
                              recsort_plugin_times *times, recsort_error *error)
{
  whole_sort s = plan_sort(self, job, program);
  unsigned result = 0;
  recsort_status status = reserve(&s, error);
  double clock = seconds_now();
  if (status == RECSORT_OK) status = send(&s, records, error);
  times->encode = lap(&clock);
  if (status == RECSORT_OK) status = gpu_sort_pairs(&s.pairs, &s.buffers, &result, error);
  times->sort = lap(&clock);
  if (status == RECSORT_OK) status = check(&s, result, error);
  times->verify = lap(&clock);
  if (status == RECSORT_OK) status = receive(&s, sorted, error);
  times->permute = lap(&clock);
  return status;
}
