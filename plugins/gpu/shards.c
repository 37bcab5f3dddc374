/* shards.c - sorts records in the memory of several devices: the extension RECSORT_PLUGIN_SHARDS.
 *
 *   sort      each device sorts the keys of its shard, as resident_records.c does
 *   cut       the host finds where each sorted shard is cut (shard_cuts.c)
 *   exchange  each device gathers the records of its shard in their order: each piece straight to
 *             the memory of the device where it goes; or, where kernels cannot write, to memory of
 *             its own from where it is copied. The keys go with them if the merge reads them
 *   merge     each device merges the keys of the pieces that it got, which are in the order of
 *             shards, and gathers the records to its shard. Of two pieces with small records it
 *             moves these as it merges, and makes keys of them that are single words
 *
 * The random reads of the first gather take longer than the way to another device, so the exchange
 * is hidden behind them. The second gather reads as many neighbouring places as there are pieces.
 *
 * The host waits between the steps. Until the last one the shards are as they were.
 *
 * The memory of a seat: the keys that it receives, if it can, the pairs of the sort, the records
 * that it receives, room. The pairs of the merge begin where the keys do, over those of the sort,
 * which are not needed any more. */
#include "gpu/shards.h"

#include <stdio.h>
#include <string.h>

#ifndef SHARDS_ROOM
#define SHARDS_ROOM (32 << 20)
#endif

enum { ROOM = SHARDS_ROOM, MOST_SHARDS = 256 };

/* ---- Seats ---- */

/* After an error: nothing may run any more when the call returns. */
static void drain(const gpu_shards *shards)
{
  recsort_plugin_error ignored = {.size = sizeof ignored};
  for (uint32_t s = 0; s < shards->count; s++) {
    const gpu_instance *const own = &shards->seats[s].own;
    if (runtime_enter(own->device, NULL)) continue;
    (void)runtime_wait(own->device->stream, &ignored);
    runtime_leave(own->device);
  }
}

/* ---- Memory ---- */

static recsort_plugin_job pair_job(const gpu_shards *shards, const recsort_key_program *program,
                                   uint64_t count)
{
  return (recsort_plugin_job){.size = sizeof(recsort_plugin_job),
                              .algorithm = shards->algorithm,
                              .count = count,
                              .key_bits = program->key_bits,
                              .key_width = gpu_pair_width(program->key_bits),
                              .index_bits = shards->index_bits,
                              .threads = 1};
}

static uint64_t key_bytes(const recsort_key_program *program)
{
  return gpu_pair_width(program->key_bits) / 8;
}

/* Whether a merge may need received keys, and memory for pairs: not with one shard, nor with two if
 * the merge makes the keys (plan_merge). The pinned block stands for received records, as both are
 * aligned alike. */
static bool receives_keys(const gpu_shards *shards, const gpu_seat *seat,
                          const recsort_key_program *program)
{
  const uint64_t bounds[] = {0, 1, 2};
  const device_runs two = {bounds, 2};
  const records_program own = records_program_of(program, shards->key_width);
  device_words words;
  return shards->count > 2 || (shards->count == 2 && !(device_merge_moves(&two, own.record_size) &&
                                                       records_words(&own, seat->pinned, &words)));
}

/* What each seat is reserved with. */
typedef struct reserving {
  const recsort_key_program *program;
  uint64_t *bytes;
} reserving;

static recsort_plugin_status find_reach(gpu_shards *shards, uint32_t s, bool *all,
                                        recsort_plugin_error *error)
{
  const gpu_seat *const seat = &shards->seats[s];
  recsort_plugin_status status = RECSORT_PLUGIN_OK;
  *all = true;
  for (uint32_t d = 0; d < shards->count && !status; d++) {
    status = runtime_reach(seat->own.device, shards->seats[d].own.device, &seat->reaches[d], error);
    *all = *all && seat->reaches[d];
  }
  return status;
}

static recsort_plugin_status reserve_seat(gpu_shards *shards, uint32_t s, void *context,
                                          recsort_plugin_error *error)
{
  const reserving *const r = context;
  gpu_seat *const seat = &shards->seats[s];
  runtime_device *const device = seat->own.device;
  const recsort_plugin_job job = pair_job(shards, r->program, seat->most);
  const uint64_t size = r->program->record_size;
  bool all = false;
  recsort_plugin_status status = find_reach(shards, s, &all, error);
  if (!status) status = gpu_begin_resident(&seat->own, error);
  if (!status) status = runtime_pin(&seat->pinned, gpu_cuts_bytes(shards->count), error);
  if (status) return status;
  gpu_divide_cuts(seat, shards->count);
  seat->pair_bytes = gpu_most_pair_bytes(device, &job);
  const bool keys = receives_keys(shards, seat, r->program);
  seat->pairs = keys ? device_aligned(seat->most * key_bytes(r->program)) : 0;
  const uint64_t sorting = seat->pairs + seat->pair_bytes;
  const uint64_t merging = keys ? gpu_most_merge_bytes(device, &job) : 0;
  seat->front = device_aligned(sorting > merging ? sorting : merging);
  const uint64_t room = seat->front + device_aligned(seat->most * size);
  r->bytes[s] = room + (all ? 0 : device_aligned(size > ROOM ? size : ROOM));
  status = runtime_reserve(device, r->bytes[s], error);
  if (!status) seat->room = device->memory + room;
  return status;
}

/* ---- Opening and closing ---- */

static gpu_shards *allocate(const recsort_host *host, uint32_t count)
{
  const uint64_t square = (uint64_t)count * count, cuts = square + count, bounds = count + 1;
  const uint64_t bytes = sizeof(gpu_shards) + count * sizeof(gpu_seat) +
                         (cuts + bounds) * sizeof(uint64_t) + square * sizeof(bool);
  gpu_shards *const shards = host->allocate(host->context, (size_t)bytes);
  if (!shards) return NULL;
  memset(shards, 0, (size_t)bytes);
  shards->bytes = bytes;
  shards->count = count;
  shards->seats = (gpu_seat *)(void *)(shards + 1);
  shards->cuts = (uint64_t *)(void *)(shards->seats + count);
  shards->bounds = shards->cuts + cuts;
  shards->reaches = (bool *)(void *)(shards->bounds + bounds);
  return shards;
}

void gpu_close_shards(gpu_instance *self)
{
  gpu_shards *const shards = self->shards;
  for (uint32_t s = 0; shards && s < shards->count; s++) {
    gpu_seat *const seat = &shards->seats[s];
    if (!seat->own.device) continue;
    const recsort_plugin_status entered = runtime_enter(seat->own.device, NULL);
    staging_close(&seat->own.ring);
    gpu_end_resident(&seat->own);
    runtime_unpin(seat->pinned);
    if (!entered) runtime_leave(seat->own.device);
    runtime_close_other(self->host, seat->own.device);
  }
  if (shards) self->host->release(self->host->context, shards, (size_t)shards->bytes);
  self->shards = NULL;
}

static recsort_plugin_status open_seats(gpu_instance *self,
                                        const recsort_plugin_shards_limits *limits,
                                        recsort_plugin_error *error)
{
  gpu_shards *const shards = self->shards;
  recsort_plugin_status status = RECSORT_PLUGIN_OK;
  shards->algorithm = limits->algorithm;
  shards->index_bits = 32;
  for (uint32_t s = 0; s < shards->count && !status; s++) {
    gpu_seat *const seat = &shards->seats[s];
    seat->own.host = self->host;
    seat->most = limits->most_records[s];
    seat->reaches = shards->reaches + (uint64_t)s * shards->count;
    if (seat->most > (uint64_t)UINT32_MAX + 1) shards->index_bits = 64;
    status =
        runtime_open_other(self->host, self->device, limits->devices[s], &seat->own.device, error);
    seat->own.ring.device = seat->own.device;
    if (status) gpu_name_shard(s, error);
  }
  return status;
}

static recsort_plugin_status reserve(void *instance, const recsort_key_program *program,
                                     const recsort_plugin_shards_limits *limits, uint64_t *bytes,
                                     recsort_plugin_error *error)
{
  gpu_instance *const self = instance;
  reserving r = {program, bytes};
  if (!records_encodable(program))
    return refuse(error, "on a device, keys have at most 128 bits and 16 parts");
  if (limits->shard_count == 0 || limits->shard_count > MOST_SHARDS)
    return refuse(error, "there are at most 256 shards, and at least one");
  gpu_close_shards(self);
  self->shards = allocate(self->host, limits->shard_count);
  if (!self->shards) {
    (void)snprintf(error->text, sizeof error->text, "no memory for %u shards", limits->shard_count);
    return RECSORT_PLUGIN_OUT_OF_MEMORY;
  }
  self->shards->key_width = gpu_pair_width(program->key_bits);
  self->shards->record_size = program->record_size;
  const recsort_plugin_status status = open_seats(self, limits, error);
  return status ? status : gpu_each_seat(self->shards, reserve_seat, &r, error);
}

/* ---- Sort ---- */

typedef struct shards_sort {
  const recsort_key_program *program;
  recsort_plugin_shards_job *job;
} shards_sort;

/* The algorithm may make the keys itself. */
static device_status start_pairs(const shards_sort *s, const gpu_pairs *pairs, const void *records,
                                 records_facts *facts, device_buffers buffers, unsigned *side)
{
  const records_program own = records_program_of(s->program, pairs->job.key_width);
  const device_algorithm *const algorithm = pairs->algorithm;
  device_words words;
  if (algorithm->skills && algorithm->skills(&pairs->job).reads_words &&
      records_words(&own, records, &words))
    buffers.words = &words;
  const device_status started =
      buffers.words ? 0
                    : records_encode(&own, records, pairs->job.count, buffers.keys[0], false, facts,
                                     pairs->job.stream);
  return started ? started : algorithm->sort(&pairs->job, &buffers, side);
}

static recsort_plugin_status sort_seat(gpu_shards *shards, uint32_t number, void *context,
                                       recsort_plugin_error *error)
{
  const shards_sort *const s = context;
  const recsort_plugin_shard *const shard = &s->job->shards[number];
  gpu_seat *const seat = &shards->seats[number];
  runtime_device *const device = seat->own.device;
  const recsort_plugin_job job = pair_job(shards, s->program, shard->count);
  const gpu_pairs pairs = gpu_plan_resident(&seat->own, &job, device->stream);
  unsigned side = 0;
  memset(device->facts, 0, sizeof(records_facts));
  *device->disorder = 0;
  seat->sorted = (device_sorted_keys){.key_width = job.key_width};
  if (shard->count > seat->most || shard->wanted > seat->most)
    return refuse(error, "there are more records than the most");
  if (pairs.bytes > seat->pair_bytes)
    return refuse(error, "the plan of this count needs more memory than was allocated");
  recsort_plugin_status status = runtime_wait(shard->stream, error);
  if (status || shard->count == 0) return status;
  const device_buffers buffers =
      device_divide(&pairs.job, device->memory + seat->pairs, pairs.extra_bytes);
  status =
      judge_launch(start_pairs(s, &pairs, shard->records, device->facts, buffers, &side), error);
  seat->order = gpu_order_of(&pairs, &buffers, side);
  seat->sorted.keys = seat->order.keys;
  seat->sorted.count = shard->count;
  return status;
}

/* Finds out which record holds an invalid value, by halves: the first ones without it are known. */
static recsort_plugin_status locate_invalid(gpu_shards *shards, uint32_t number, void *context,
                                            recsort_plugin_error *error)
{
  const shards_sort *const s = context;
  const gpu_seat *const seat = &shards->seats[number];
  runtime_device *const device = seat->own.device;
  records_facts *const facts = device->facts;
  const records_program own = records_program_of(s->program, seat->sorted.key_width);
  const uint64_t size = s->program->record_size;
  const char *const records = s->job->shards[number].records;
  uint64_t low = 0, high = seat->sorted.count;
  recsort_plugin_status status = RECSORT_PLUGIN_OK;
  void *pinned = NULL;
  if (s->job->found_invalid || high == 0 || !facts->invalid) return RECSORT_PLUGIN_OK;
  if (!s->job->invalid) {
    s->job->found_invalid = 1;
    return RECSORT_PLUGIN_OK;
  }
  while (high - low > 1 && !status) {
    const uint64_t middle = low + (high - low) / 2;
    facts->invalid = 0;
    status = judge_launch(records_encode(&own, records + low * size, middle - low, device->memory,
                                         false, facts, device->stream),
                          error);
    if (!status) status = runtime_wait(device->stream, error);
    if (facts->invalid)
      high = middle;
    else
      low = middle;
  }
  if (!status) status = runtime_pin(&pinned, size, error);
  if (!status)
    status = runtime_start_down(device->stream, pinned, records + low * size, size, error);
  if (!status) status = runtime_wait(device->stream, error);
  if (!status) {
    memcpy(s->job->invalid, pinned, (size_t)size);
    s->job->invalid_shard = number;
    s->job->invalid_record = low;
    s->job->found_invalid = 1;
  }
  runtime_unpin(pinned);
  return status;
}

/* ---- Pieces ---- */

/* How many records go from shard s to shard d. */
static uint64_t piece_count(const gpu_shards *shards, uint32_t s, uint32_t d)
{
  return shards->cuts[(uint64_t)(d + 1) * shards->count + s] -
         shards->cuts[(uint64_t)d * shards->count + s];
}

/* How a shard's pieces are merged. */
typedef struct piece_merge {
  device_runs runs;
  uint32_t piece_count; /* of those that are not empty */
  bool moves;           /* by device_merge_records */
  bool reads_keys;      /* false: it makes them of `words`, or needs none */
  device_words words;
} piece_merge;

/* The runs are those of the last one that was planned. */
static piece_merge plan_merge(const gpu_shards *shards, const shards_sort *s, uint32_t d)
{
  const gpu_seat *const seat = &shards->seats[d];
  piece_merge merge = {.runs = {shards->bounds, shards->count}};
  shards->bounds[0] = 0;
  for (uint32_t p = 0; p < shards->count; p++) {
    const uint64_t count = piece_count(shards, p, d);
    shards->bounds[p + 1] = shards->bounds[p] + count;
    merge.piece_count += count > 0;
  }
  merge.reads_keys = merge.piece_count > 1;
  merge.moves = device_merge_moves(&merge.runs, s->program->record_size);
  if (!merge.moves) return merge;
  const records_program own = records_program_of(s->program, shards->key_width);
  if (records_words(&own, seat->own.device->memory + seat->front, &merge.words))
    merge.reads_keys = false;
  return merge;
}

/* ---- Exchange ---- */

/* Copies a piece's keys, and sends the records through this seat's room, part by part. */
static recsort_plugin_status send_through_room(const gpu_seat *from, const gpu_seat *to,
                                               const void *records, uint64_t size,
                                               records_piece piece, recsort_plugin_error *error)
{
  const uint64_t part = size < ROOM ? ROOM / size : 1;
  const uint32_t width = from->order.index_bits / 8, key = from->sorted.key_width / 8;
  void *const stream = from->own.device->stream;
  recsort_plugin_status status = RECSORT_PLUGIN_OK;
  if (piece.keys_to)
    status = runtime_start_over(from->own.device, stream, piece.keys_to, to->own.device,
                                (const char *)from->sorted.keys + piece.first * key,
                                piece.count * key, error);
  for (uint64_t at = 0; at < piece.count && !status; at += part) {
    const uint64_t rest = piece.count - at;
    const records_order order = {.indices =
                                     (const char *)from->order.indices + (piece.first + at) * width,
                                 .count = rest < part ? rest : part,
                                 .index_bits = from->order.index_bits};
    status = judge_launch(records_gather(records, size, &order, from->room, stream), error);
    if (!status)
      status = runtime_start_over(from->own.device, stream, (char *)piece.to + at * size,
                                  to->own.device, from->room, order.count * size, error);
  }
  return status;
}

static recsort_plugin_status exchange_seat(gpu_shards *shards, uint32_t number, void *context,
                                           recsort_plugin_error *error)
{
  const shards_sort *const s = context;
  const gpu_seat *const from = &shards->seats[number];
  const uint64_t size = s->program->record_size;
  const void *const records = s->job->shards[number].records;
  void *const stream = from->own.device->stream;
  records_piece pieces[RECORDS_MOST_PIECES];
  recsort_plugin_status status = RECSORT_PLUGIN_OK;
  uint32_t waiting = 0;
  for (uint32_t d = 0; d < shards->count && !status; d++) {
    const gpu_seat *const to = &shards->seats[d];
    const piece_merge merge = plan_merge(shards, s, d);
    const uint64_t place = shards->bounds[number];
    char *const memory = to->own.device->memory, *const keys =
                                                     memory + place * key_bytes(s->program);
    const records_piece piece = {.to = memory + to->front + place * size,
                                 .keys_to = merge.reads_keys ? keys : NULL,
                                 .first = shards->cuts[(uint64_t)d * shards->count + number],
                                 .count = piece_count(shards, number, d)};
    if (piece.count == 0) continue;
    if (!from->reaches[d])
      status = send_through_room(from, to, records, size, piece, error);
    else
      pieces[waiting++] = piece;
    if (status || waiting < RECORDS_MOST_PIECES) continue;
    status = judge_launch(
        records_gather_pieces(records, size, &from->order, pieces, waiting, stream), error);
    waiting = 0;
  }
  if (status || waiting == 0) return status;
  return judge_launch(records_gather_pieces(records, size, &from->order, pieces, waiting, stream),
                      error);
}

/* ---- Merge ---- */

static recsort_plugin_status merge_seat(gpu_shards *shards, uint32_t number, void *context,
                                        recsort_plugin_error *error)
{
  const shards_sort *const s = context;
  const recsort_plugin_shard *const shard = &s->job->shards[number];
  const gpu_seat *const seat = &shards->seats[number];
  runtime_device *const device = seat->own.device;
  const uint64_t size = s->program->record_size;
  const char *const received = device->memory + seat->front;
  const recsort_plugin_job job = pair_job(shards, s->program, shard->wanted);
  unsigned side = 0;
  const piece_merge merge = plan_merge(shards, s, number);
  if (merge.piece_count == 0) return RECSORT_PLUGIN_OK;
  if (merge.piece_count == 1)
    return judge_launch(
        records_copy(shard->records, received, shard->wanted * size, device->stream), error);
  gpu_pairs pairs = gpu_plan_merge(device, &job);
  pairs.job.mailbox = NULL;
  const device_buffers buffers = device_divide(&pairs.job, device->memory, pairs.extra_bytes);
  const device_merge_move move = {received, shard->records, size, pairs.disorder,
                                  merge.reads_keys ? NULL : &merge.words};
  if (merge.moves)
    return judge_launch(device_merge_records(&pairs.job, &merge.runs, &buffers, &move), error);
  if (pairs.bytes > seat->front)
    return refuse(error, "the plan of this merge needs more memory than was allocated");
  const recsort_plugin_status status =
      judge_launch(device_merge(&pairs.job, &merge.runs, &buffers, &side), error);
  const records_order order = gpu_order_of(&pairs, &buffers, side);
  return status
             ? status
             : judge_launch(records_gather(received, size, &order, shard->records, device->stream),
                            error);
}

/* ---- A sort ---- */

static recsort_plugin_status judge_seat(gpu_shards *shards, uint32_t number, void *context,
                                        recsort_plugin_error *error)
{
  (void)context;
  if (!*shards->seats[number].own.device->disorder) return RECSORT_PLUGIN_OK;
  (void)snprintf(error->text, sizeof error->text, "the keys that it sorted are not in order");
  return RECSORT_PLUGIN_CORRUPT;
}

/* Has each seat take a step, and waits until all have. */
static recsort_plugin_status take_step(gpu_shards *shards, seat_step *step, shards_sort *s,
                                       recsort_plugin_error *error)
{
  recsort_plugin_status status = gpu_each_seat(shards, step, s, error);
  if (!status) status = gpu_wait_for_seats(shards, error);
  if (!status) status = gpu_each_seat(shards, judge_seat, NULL, error);
  return status;
}

static recsort_plugin_status sort(void *instance, const recsort_key_program *program,
                                  recsort_plugin_shards_job *job, recsort_plugin_error *error)
{
  const gpu_instance *const self = instance;
  gpu_shards *const shards = self->shards;
  shards_sort s = {program, job};
  if (job->shard_count != shards->count)
    return refuse(error, "there are more or fewer shards than were reserved");
  recsort_plugin_status status = take_step(shards, sort_seat, &s, error);
  if (!status) status = gpu_each_seat(shards, locate_invalid, &s, error);
  if (!status && job->found_invalid) return refuse(error, "a record holds an invalid value");
  if (!status) status = gpu_find_cuts(shards, job->shards, program->key_bits, error);
  if (!status) status = take_step(shards, exchange_seat, &s, error);
  if (!status) status = take_step(shards, merge_seat, &s, error);
  if (status) drain(shards);
  return status;
}

const recsort_plugin_shards gpu_shard_sorts = {
    .size = sizeof gpu_shard_sorts, .reserve = reserve, .sort = sort};
