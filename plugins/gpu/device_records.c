#include "gpu/device_records.h"

#include <stdio.h>
#include <string.h>

enum { MAX_KEY_WIDTH = 128 };

bool device_records_encodable(const recsort_key_program *program)
{
  return program->key_width <= MAX_KEY_WIDTH && program->step_count <= RECORDS_MOST_STEPS;
}

/* ---- Memory ---- */

device_records device_records_plan(gpu_instance *self, const recsort_plugin_job *job,
                                   const recsort_key_program *program, gpu_pairs pairs,
                                   uint64_t bound_count)
{
  device_records s = {.self = self,
                      .job = job,
                      .pairs = pairs,
                      .bound_count = bound_count,
                      .verified = job->count >= self->device->verify_least,
                      .program = {.record_size = program->record_size,
                                  .key_width = program->key_width,
                                  .step_count = program->step_count}};
  memcpy(s.program.steps, program->steps, program->step_count * sizeof *program->steps);
  s.bytes = device_aligned(pairs.bytes) + device_aligned(job->count * program->record_size) +
            staging_room(job->count, program->record_size, job->threads) +
            bound_count * sizeof *s.bounds + sizeof *s.facts;
  return s;
}

static void divide(device_records *s)
{
  char *const memory = s->self->device->memory;
  const uint64_t record_bytes = s->job->count * s->program.record_size;
  s->buffers = device_divide(&s->pairs.job, memory, s->pairs.extra_bytes);
  s->records = memory + device_aligned(s->pairs.bytes);
  s->room = s->records + device_aligned(record_bytes);
  s->facts = (records_facts *)(void *)(memory + s->bytes - sizeof *s->facts);
  s->bounds = (uint64_t *)(void *)s->facts - s->bound_count;
}

recsort_plugin_status device_records_reserve(device_records *s, recsort_plugin_error *error)
{
  const recsort_plugin_job *const job = s->job;
  const unsigned lanes = staging_lanes(job->count, s->program.record_size, job->threads);
  bool room = false;
  recsort_plugin_status status = gpu_has_room(s->self->device, s->bytes, &room, error);
  if (status) return status;
  if (!room) {
    (void)snprintf(error->text, sizeof error->text,
                   "the device has too little memory for the records");
    return RECSORT_PLUGIN_UNSUPPORTED;
  }
  status = runtime_reserve(s->self->device, s->bytes, error);
  if (status == RECSORT_PLUGIN_OK) status = staging_reserve(&s->self->ring, lanes, error);
  if (status == RECSORT_PLUGIN_OK) divide(s);
  return status;
}

/* ---- Up ---- */

static device_status encode_piece(const void *context, uint64_t first, uint64_t count, void *at,
                                  void *stream)
{
  const device_records *const s = context;
  char *const keys = (char *)s->buffers.keys[0] + first * (s->program.key_width / 8);
  return records_encode(&s->program, at, count, keys, s->verified, s->facts, stream);
}

recsort_plugin_status device_records_send(device_records *s, const void *records,
                                          staging_read *read, const void *context,
                                          recsort_plugin_error *error)
{
  void *const stream = s->self->device->stream;
  const staging_copy up = {.from = records,
                           .read = read,
                           .read_context = context,
                           .to = s->records,
                           .count = s->job->count,
                           .element = s->program.record_size,
                           .step = encode_piece,
                           .context = s};
  recsort_plugin_status status =
      runtime_judge(records_begin(s->facts, stream), "clearing device memory", error);
  if (status == RECSORT_PLUGIN_OK) status = runtime_wait(stream, error);
  return status ? status : staging_up(&s->self->ring, &up, gpu_team(s->self, s->job), error);
}

/* ---- Checks ---- */

static recsort_plugin_status read_facts(const device_records *s, records_facts *facts,
                                        recsort_plugin_error *error)
{
  return runtime_judge(records_end(s->facts, facts, s->self->device->stream),
                       "a copy from the device", error);
}

recsort_plugin_status device_records_judge(const device_records *s, recsort_plugin_error *error)
{
  records_facts facts = {0};
  const recsort_plugin_status status = read_facts(s, &facts, error);
  if (status) return status;
  const char *const wrong = facts.broken     ? "the order it found is no permutation"
                            : facts.invalid  ? "a record holds an invalid value"
                            : facts.unsorted ? "a run is not sorted"
                                             : NULL;
  if (!wrong) return RECSORT_PLUGIN_OK;
  (void)snprintf(error->text, sizeof error->text, "%s", wrong);
  return facts.broken ? RECSORT_PLUGIN_CORRUPT : RECSORT_PLUGIN_UNSUPPORTED;
}

/* Keeps the flags of the indices where the other buffer of keys was. */
recsort_plugin_status device_records_check(device_records *s, unsigned result,
                                           recsort_plugin_error *error)
{
  s->order = s->buffers.indices[result];
  s->keys = s->buffers.keys[result];
  const recsort_plugin_status status =
      runtime_judge(records_check(s->order, s->job->index_bits, s->job->count,
                                  s->buffers.keys[1 - result], s->facts, s->self->device->stream),
                    "a kernel's launch", error);
  return status ? status : device_records_judge(s, error);
}

/* ---- Down ---- */

static device_status gather_piece(const void *context, uint64_t first, uint64_t count, void *at,
                                  void *stream)
{
  const device_records *const s = context;
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
static recsort_plugin_status confirm(const device_records *s, recsort_plugin_error *error)
{
  records_facts facts = {0};
  if (!s->verified) return RECSORT_PLUGIN_OK;
  const recsort_plugin_status status = read_facts(s, &facts, error);
  if (status) return status;
  const char *const wrong =
      facts.came.low != facts.left.low || facts.came.high != facts.left.high
          ? "the sorted records are not those that came: their checksums differ"
      : facts.strayed ? "a sorted record does not have the key of its place"
                      : NULL;
  if (!wrong) return RECSORT_PLUGIN_OK;
  (void)snprintf(error->text, sizeof error->text, "%s", wrong);
  return RECSORT_PLUGIN_CORRUPT;
}

recsort_plugin_status device_records_receive(device_records *s, void *sorted,
                                             recsort_plugin_error *error)
{
  const staging_copy down = {.to = sorted,
                             .count = s->job->count,
                             .element = s->program.record_size,
                             .room = s->room,
                             .step = gather_piece,
                             .context = s};
  const recsort_plugin_status status =
      staging_down(&s->self->ring, &down, gpu_team(s->self, s->job), error);
  return status ? status : confirm(s, error);
}
