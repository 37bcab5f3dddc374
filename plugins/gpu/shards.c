/* shards.c - sorts records in the memory of several devices: several jobs of RECSORT_PLUGIN_DEVICE.
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
 * The host waits between the steps. Until the last one the shards are as they were. All memory is
 * that of the jobs; what is opened stays open for the next sort on the same devices. */
#include "gpu/shards.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"

#ifndef SHARDS_WAY
#define SHARDS_WAY (32 << 20)
#endif

enum { WAY = SHARDS_WAY };

/* After an error: nothing may run any more when the call returns. */
static void drain(const gpu_shards *shards)
{
  recsort_error ignored = {0};
  for (uint32_t s = 0; s < shards->count; s++) {
    const runtime_device *const device = shards->seats[s].device;
    if (runtime_enter(device, NULL)) continue;
    (void)runtime_wait(device->stream, &ignored);
    runtime_leave(device);
  }
}

/* ---- Memory ---- */

static uint64_t wanted_of(const gpu_shards *shards, const recsort_job *job)
{
  return shards->has_heads ? job->head : job->count;
}

/* What is known before the devices are open. */
static gpu_shards describe(uint32_t algorithm, const recsort_key_program *program,
                           const recsort_job *jobs, size_t job_count)
{
  RS_ASSERT(job_count > 1);
  gpu_shards shards = {.count = (uint32_t)job_count,
                       .program = program,
                       .algorithm = algorithm,
                       .index_bits = 32,
                       .key_width = gpu_pair_width(program->key_bits)};
  for (size_t s = 0; s < job_count; s++) {
    const recsort_job job = gpu_read_job(jobs, s);
    shards.has_heads = shards.has_heads || job.head;
    shards.is_apart = shards.is_apart || job.device != gpu_read_job(jobs, 0).device;
    if (job.count > UINT64_C(1) << 32 || job.head > UINT64_C(1) << 32) shards.index_bits = 64;
  }
  return shards;
}

static recsort_plugin_job pair_job(const gpu_shards *shards, uint64_t count)
{
  return (recsort_plugin_job){.size = sizeof(recsort_plugin_job),
                              .algorithm = shards->algorithm,
                              .count = count,
                              .key_bits = shards->program->key_bits,
                              .key_width = shards->key_width,
                              .index_bits = shards->index_bits,
                              .threads = 1};
}

/* Whether a merge may need received keys, and memory for pairs: not of two pieces if the merge
 * makes the keys (plan_merge). The address stands for received records, which are aligned alike. */
static bool receives_keys(const gpu_shards *shards)
{
  const void *const aligned = (const void *)(uintptr_t)DEVICE_ALIGNMENT;
  const uint64_t bounds[] = {0, 1, 2};
  const device_runs two = {bounds, 2};
  const records_program own = records_program_of(shards->program, shards->key_width);
  device_words words;
  return shards->count > 2 ||
         !(device_merge_moves(&two, own.record_size) && records_words(&own, aligned, &words));
}

typedef uint64_t pair_bytes(const runtime_device *device, const recsort_plugin_job *job);

static uint64_t sort_bytes(const runtime_device *device, const recsort_plugin_job *job)
{
  return gpu_plan_pairs(device, job).bytes;
}

static uint64_t merge_bytes(const runtime_device *device, const recsort_plugin_job *job)
{
  return gpu_plan_merge(device, job).bytes;
}

static gpu_seat_rooms divide(const gpu_shards *shards, const runtime_device *device,
                             const recsort_job *job, pair_bytes *of_sort, pair_bytes *of_merge)
{
  const uint64_t count = job->count, wanted = wanted_of(shards, job);
  const recsort_plugin_job sorted = pair_job(shards, count), merged = pair_job(shards, wanted);
  const uint64_t size = shards->program->record_size,
                 leaving = count * size < WAY ? count * size : WAY;
  const bool keys = receives_keys(shards);
  if (count == 0 && wanted == 0) return (gpu_seat_rooms){0};
  gpu_seat_rooms rooms = {.pairs = keys ? device_aligned(wanted * (shards->key_width / 8)) : 0};
  const uint64_t sorting = rooms.pairs + (count ? of_sort(device, &sorted) : 0);
  const uint64_t merging = keys && wanted ? of_merge(device, &merged) : 0;
  rooms.records = device_aligned(sorting > merging ? sorting : merging);
  rooms.way = rooms.records + device_aligned(wanted * size);
  rooms.bytes =
      rooms.way + (shards->is_apart ? device_aligned(count && leaving < size ? size : leaving) : 0);
  RS_ASSERT(rooms.pairs <= rooms.records && rooms.records <= rooms.way && rooms.way <= rooms.bytes);
  return rooms;
}

static uint64_t shards_bytes(uint64_t count)
{
  const uint64_t square = count * count, numbers = square + count + (count + 1);
  return sizeof(gpu_shards) + count * sizeof(gpu_seat) + numbers * sizeof(uint64_t) +
         count * sizeof(int) + square * sizeof(bool);
}

static recsort_status check_program(const recsort_key_program *program, recsort_error *error)
{
  return records_encodable(program)
             ? RECSORT_OK
             : refuse(error, "on a device, keys have at most 128 bits and 16 parts");
}

recsort_status gpu_plan_shards(const gpu_instance *self, uint32_t algorithm,
                               const recsort_key_program *program, const recsort_job *jobs,
                               size_t job_count, recsort_needs *needs, recsort_error *error)
{
  const gpu_shards shards = describe(algorithm, program, jobs, job_count);

  recsort_status status = check_program(program, error);
  for (uint32_t s = 0; s < job_count && !status; s++) {
    const recsort_job job = gpu_read_job(jobs, s);
    recsort_needs *const need = needs + s;
    runtime_device device;
    status = runtime_look(self->device, job.device, &device, error);
    if (status) {
      gpu_name_shard(s, error);
      break;
    }
    need->device =
        (size_t)divide(&shards, &device, &job, gpu_most_pair_bytes, gpu_most_merge_bytes).bytes;
    need->host = (size_t)(runtime_other_bytes() + (s ? 0 : shards_bytes(job_count)));
  }
  return status;
}

/* ---- Opening and closing ---- */

static gpu_shards *allocate(const recsort_host *host, uint32_t count)
{
  RS_ASSERT(count > 0);
  const uint64_t bytes = shards_bytes(count), square = (uint64_t)count * count;
  gpu_shards *const shards = host->allocate(host->context, (size_t)bytes);
  if (!shards) return NULL;
  memset(shards, 0, (size_t)bytes);
  shards->bytes = bytes;
  shards->count = count;
  shards->seats = (gpu_seat *)(void *)(shards + 1);
  shards->cuts = (uint64_t *)(void *)(shards->seats + count);
  shards->bounds = shards->cuts + square + count;
  shards->devices = (int *)(void *)(shards->bounds + count + 1);
  shards->reaches = (bool *)(void *)(shards->devices + count);
  RS_ASSERT((char *)(shards->reaches + square) <= (char *)shards + bytes);
  return shards;
}

void gpu_close_shards(gpu_instance *self)
{
  gpu_shards *const shards = self->shards;
  for (uint32_t s = 0; shards && s < shards->count; s++) {
    const gpu_seat *const seat = &shards->seats[s];
    if (!seat->device) continue;
    const recsort_status entered = runtime_enter(seat->device, NULL);
    runtime_unpin(seat->pinned);
    if (!entered) runtime_leave(seat->device);
    runtime_close_other(self->host, seat->device);
  }
  if (shards) self->host->release(self->host->context, shards, (size_t)shards->bytes);
  self->shards = NULL;
}

static recsort_status open_seat(gpu_shards *shards, uint32_t s, void *context, recsort_error *error)
{
  gpu_seat *const seat = &shards->seats[s];
  recsort_status status = runtime_pin(&seat->pinned, gpu_cuts_bytes(shards->count), error);
  (void)context;
  seat->reaches = shards->reaches + (uint64_t)s * shards->count;
  for (uint32_t d = 0; d < shards->count && !status; d++)
    status = runtime_reach(seat->device, shards->seats[d].device, &seat->reaches[d], error);
  if (!status) gpu_divide_cuts(seat, shards->count);
  return status;
}

static bool is_open_for(const gpu_shards *shards, const recsort_job *jobs, size_t job_count)
{
  bool same = shards && shards->count == job_count;
  for (uint32_t s = 0; same && s < job_count; s++)
    same = shards->devices[s] == gpu_read_job(jobs, s).device;
  return same;
}

static recsort_status open_seats(gpu_instance *self, const recsort_job *jobs, uint32_t count,
                                 recsort_error *error)
{
  recsort_status status = RECSORT_OK;
  if (is_open_for(self->shards, jobs, count)) return status;
  gpu_close_shards(self);
  gpu_shards *const shards = self->shards = allocate(self->host, count);
  if (!shards) {
    (void)snprintf(error->text, sizeof error->text, "no memory for %u shards", count);
    return RECSORT_OUT_OF_MEMORY;
  }
  for (uint32_t s = 0; s < count && !status; s++) {
    shards->devices[s] = gpu_read_job(jobs, s).device;
    status = runtime_open_other(self->host, self->device, shards->devices[s],
                                &shards->seats[s].device, error);
    if (status) gpu_name_shard(s, error);
  }
  if (!status) status = gpu_each_seat(shards, open_seat, NULL, error);
  if (status) gpu_close_shards(self);
  return status;
}

/* Gives the seats their part of a sort. */
static recsort_status seat_jobs(gpu_shards *shards, uint32_t algorithm,
                                const recsort_key_program *program, const recsort_job *jobs,
                                recsort_error *error)
{
  const gpu_shards now = describe(algorithm, program, jobs, shards->count);

  recsort_status status = check_program(program, error);
  shards->program = program;
  shards->algorithm = algorithm;
  shards->index_bits = now.index_bits;
  shards->key_width = now.key_width;
  shards->is_apart = now.is_apart;
  shards->has_heads = now.has_heads;
  for (uint32_t s = 0; s < shards->count && !status; s++) {
    gpu_seat *const seat = &shards->seats[s];
    seat->job = gpu_read_job(jobs, s);
    seat->wanted = wanted_of(shards, &seat->job);
    seat->memory = seat->job.workspace;
    seat->rooms = divide(shards, seat->device, &seat->job, sort_bytes, merge_bytes);
    status = gpu_check_workspace(&seat->job, seat->rooms.bytes, error);
    if (status) gpu_name_shard(s, error);
  }
  return status;
}

/* ---- Sort ---- */

/* The algorithm may make the keys itself. */
static device_status start_pairs(const gpu_shards *shards, const gpu_pairs *pairs,
                                 const void *records, records_facts *facts, device_buffers buffers,
                                 unsigned *side)
{
  const records_program own = records_program_of(shards->program, pairs->job.key_width);
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

static recsort_status sort_seat(gpu_shards *shards, uint32_t number, void *context,
                                recsort_error *error)
{
  gpu_seat *const seat = &shards->seats[number];
  runtime_device *const device = seat->device;
  const recsort_plugin_job job = pair_job(shards, seat->job.count);
  gpu_pairs pairs = gpu_plan_pairs(device, &job);
  unsigned side = 0;
  (void)context;
  pairs.job.mailbox = NULL;
  memset(device->facts, 0, sizeof(records_facts));
  *device->disorder = 0;
  seat->sorted = (device_sorted_keys){.key_width = job.key_width};
  recsort_status status = runtime_wait(seat->job.stream, error);
  if (status || job.count == 0) return status;
  const device_buffers buffers =
      device_divide(&pairs.job, seat->memory + seat->rooms.pairs, pairs.extra_bytes);
  status = judge_launch(
      start_pairs(shards, &pairs, seat->job.records, device->facts, buffers, &side), error);
  seat->order = gpu_order_of(&pairs, &buffers, side);
  seat->sorted.keys = seat->order.keys;
  seat->sorted.count = job.count;
  return status;
}

/* Finds out which record holds an invalid value, by halves: the first ones without it are known. */
static recsort_status locate_invalid(gpu_shards *shards, uint32_t number, void *context,
                                     recsort_error *error)
{
  const gpu_seat *const seat = &shards->seats[number];
  runtime_device *const device = seat->device;
  records_facts *const facts = device->facts;
  const records_program own = records_program_of(shards->program, seat->sorted.key_width);
  const char *const records = seat->job.records;
  uint64_t low = 0, high = seat->sorted.count;
  recsort_status status = RECSORT_OK;
  (void)context;
  if (high == 0 || !facts->invalid) return status;
  while (high - low > 1 && !status) {
    const uint64_t middle = low + (high - low) / 2;
    facts->invalid = 0;
    status = judge_launch(records_encode(&own, records + low * own.record_size, middle - low,
                                         seat->memory, false, facts, device->stream),
                          error);
    if (!status) status = runtime_wait(device->stream, error);
    if (facts->invalid)
      high = middle;
    else
      low = middle;
  }
  if (status) return status;
  RS_ASSERT(high - low == 1);
  (void)snprintf(error->text, sizeof error->text, "record %llu holds an invalid value of an enum",
                 (unsigned long long)low);
  return RECSORT_INVALID_RECORD;
}

/* ---- Pieces ---- */

/* How many records go from shard s to shard d. */
static uint64_t piece_count(const gpu_shards *shards, uint32_t s, uint32_t d)
{
  RS_ASSERT(s < shards->count && d < shards->count);
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
static piece_merge plan_merge(const gpu_shards *shards, uint32_t d)
{
  const gpu_seat *const seat = &shards->seats[d];
  piece_merge merge = {.runs = {shards->bounds, shards->count}};
  shards->bounds[0] = 0;
  for (uint32_t p = 0; p < shards->count; p++) {
    const uint64_t count = piece_count(shards, p, d);
    shards->bounds[p + 1] = shards->bounds[p] + count;
    merge.piece_count += count > 0;
  }
  RS_ASSERT(shards->bounds[shards->count] == seat->wanted);
  merge.reads_keys = merge.piece_count > 1;
  merge.moves = device_merge_moves(&merge.runs, shards->program->record_size);
  if (!merge.moves) return merge;
  const records_program own = records_program_of(shards->program, shards->key_width);
  if (records_words(&own, seat->memory + seat->rooms.records, &merge.words))
    merge.reads_keys = false;
  return merge;
}

/* ---- Exchange ---- */

/* Copies a piece's keys, and sends the records through memory of this seat, part by part. */
static recsort_status send_in_parts(const gpu_seat *from, const gpu_seat *to, const void *records,
                                    uint64_t size, records_piece piece, recsort_error *error)
{
  RS_ASSERT(piece.count > 0 && size > 0);
  const uint64_t part = size < WAY ? WAY / size : 1;
  char *const way = from->memory + from->rooms.way;
  const uint32_t width = from->order.index_bits / 8, key = from->sorted.key_width / 8;
  void *const stream = from->device->stream;
  recsort_status status = RECSORT_OK;
  if (piece.keys_to)
    status = runtime_start_over(from->device, stream, piece.keys_to, to->device,
                                (const char *)from->sorted.keys + piece.first * key,
                                piece.count * key, error);
  for (uint64_t at = 0; at < piece.count && !status; at += part) {
    const uint64_t rest = piece.count - at;
    const records_order order = {.indices =
                                     (const char *)from->order.indices + (piece.first + at) * width,
                                 .count = rest < part ? rest : part,
                                 .index_bits = from->order.index_bits};
    status = judge_launch(records_gather(records, size, &order, way, stream), error);
    if (!status)
      status = runtime_start_over(from->device, stream, (char *)piece.to + at * size, to->device,
                                  way, order.count * size, error);
  }
  return status;
}

static recsort_status exchange_seat(gpu_shards *shards, uint32_t number, void *context,
                                    recsort_error *error)
{
  const gpu_seat *const from = &shards->seats[number];
  const uint64_t size = shards->program->record_size;
  const void *const records = from->job.records;
  void *const stream = from->device->stream;
  records_piece pieces[RECORDS_MOST_PIECES];
  recsort_status status = RECSORT_OK;
  uint32_t waiting = 0;
  (void)context;
  for (uint32_t d = 0; d < shards->count && !status; d++) {
    const gpu_seat *const to = &shards->seats[d];
    const piece_merge merge = plan_merge(shards, d);
    const uint64_t place = shards->bounds[number];
    char *const keys = to->memory + place * (shards->key_width / 8);
    const records_piece piece = {.to = to->memory + to->rooms.records + place * size,
                                 .keys_to = merge.reads_keys ? keys : NULL,
                                 .first = shards->cuts[(uint64_t)d * shards->count + number],
                                 .count = piece_count(shards, number, d)};
    if (piece.count == 0) continue;
    RS_ASSERT(waiting < RECORDS_MOST_PIECES);
    if (!from->reaches[d])
      status = send_in_parts(from, to, records, size, piece, error);
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

static recsort_status merge_seat(gpu_shards *shards, uint32_t number, void *context,
                                 recsort_error *error)
{
  const gpu_seat *const seat = &shards->seats[number];
  runtime_device *const device = seat->device;
  const uint64_t size = shards->program->record_size;
  const char *const received = seat->memory + seat->rooms.records;
  void *const sorted = seat->job.sorted;
  const recsort_plugin_job job = pair_job(shards, seat->wanted);
  unsigned side = 0;
  const piece_merge merge = plan_merge(shards, number);
  (void)context;
  if (merge.piece_count == 0) return RECSORT_OK;
  if (merge.piece_count == 1)
    return judge_launch(records_copy(sorted, received, seat->wanted * size, device->stream), error);
  gpu_pairs pairs = gpu_plan_merge(device, &job);
  pairs.job.mailbox = NULL;
  const device_buffers buffers = device_divide(&pairs.job, seat->memory, pairs.extra_bytes);
  const device_merge_move move = {received, sorted, size, pairs.certificate.disorder,
                                  merge.reads_keys ? NULL : &merge.words};
  if (merge.moves)
    return judge_launch(device_merge_records(&pairs.job, &merge.runs, &buffers, &move), error);
  const recsort_status status =
      judge_launch(device_merge(&pairs.job, &merge.runs, &buffers, &side), error);
  const records_order order = gpu_order_of(&pairs, &buffers, side);
  return status
             ? status
             : judge_launch(records_gather(received, size, &order, sorted, device->stream), error);
}

/* ---- A sort ---- */

static recsort_status judge_seat(gpu_shards *shards, uint32_t number, void *context,
                                 recsort_error *error)
{
  (void)context;
  if (!*shards->seats[number].device->disorder) return RECSORT_OK;
  (void)snprintf(error->text, sizeof error->text, "the keys that it sorted are not in order");
  return RECSORT_CORRUPT_RESULT;
}

/* Has each seat take a step, and waits until all have. */
static recsort_status take_step(gpu_shards *shards, seat_step *step, recsort_error *error)
{
  recsort_status status = gpu_each_seat(shards, step, NULL, error);
  if (!status) status = gpu_wait_for_seats(shards, error);
  if (!status) status = gpu_each_seat(shards, judge_seat, NULL, error);
  return status;
}

recsort_status gpu_sort_shards(gpu_instance *self, uint32_t algorithm,
                               const recsort_key_program *program, const recsort_job *jobs,
                               size_t job_count, recsort_error *error)
{
  recsort_status status = open_seats(self, jobs, (uint32_t)job_count, error);
  gpu_shards *const shards = self->shards;
  recsort_key_program keys = *program;
  if (status) return status;
  status = seat_jobs(shards, algorithm, &keys, jobs, error);
  if (status) return status;
  status = take_step(shards, sort_seat, error);
  if (!status) status = gpu_each_seat(shards, locate_invalid, NULL, error);
  if (!status) status = gpu_find_cuts(shards, error);
  if (!status) status = take_step(shards, exchange_seat, error);
  if (!status) status = take_step(shards, merge_seat, error);
  if (status) drain(shards);
  return status;
}
