/* shards.c - sorts records in the memory of several devices: several jobs of RECSORT_PLUGIN_DEVICE.
 *
 *   sort      each device sorts its shard to its workspace, as a job of its own (resident.c)
 *   cut       the host finds where each sorted shard is cut (shard_cuts.c)
 *   exchange  each device gets the pieces that belong to its shard from the others. A shard is
 *             divided into parts, which take turns on two streams: one comes while another merges
 *   merge     each device merges the pieces of a part to its shard, in the order of shards. Small
 *             records of a few pieces move as they are merged; otherwise their keys are merged, and
 *             the records gathered
 *
 * The host waits for the callers' streams, behind the sort, in the search for cuts, and in the end.
 * Until the exchange begins the shards are as they were. All device memory is that of the jobs;
 * what is opened stays open for the next sort on the same devices. */
#include "gpu/shards.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"

/* So many records are worth a part of their own. */
#ifndef SHARDS_PART
#define SHARDS_PART (1 << 22)
#endif

/* After an error: nothing may run any more when the call returns. */
static void drain(const gpu_shards *shards)
{
  recsort_error ignored = {0};
  for (uint32_t s = 0; s < shards->count; s++) {
    const gpu_seat *const seat = &shards->seats[s];
    if (runtime_enter(seat->device, NULL)) continue;
    for (unsigned i = 0; i < 2; i++)
      (void)runtime_wait(seat->streams[i], &ignored);
    runtime_leave(seat->device);
  }
}

/* ---- Memory ---- */

/* What is known before the devices are open. */
static gpu_shards describe(uint32_t algorithm, const recsort_key_program *program,
                           const recsort_job *jobs, size_t job_count)
{
  RS_ASSERT(job_count > 1);
  /* The address stands for sorted records and received ones, which are aligned alike. */
  const void *const aligned = (const void *)(uintptr_t)DEVICE_ALIGNMENT;
  gpu_shards shards = {.count = (uint32_t)job_count,
                       .program = program,
                       .algorithm = algorithm,
                       .index_bits = 32,
                       .key_width = gpu_pair_width(program->key_bits)};
  const records_program own = records_program_of(program, shards.key_width);
  device_words words;
  shards.are_words = records_words(&own, aligned, &words);
  for (size_t s = 0; s < job_count; s++) {
    const recsort_job job = gpu_read_job(jobs, s);
    shards.has_heads = shards.has_heads || job.head;
    if (job.count > UINT64_C(1) << 32 || job.head > UINT64_C(1) << 32) shards.index_bits = 64;
  }
  return shards;
}

static uint64_t wanted_of(const gpu_shards *shards, const recsort_job *job)
{
  return shards->has_heads ? job->head : job->count;
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

/* True if each merge moves records. */
static bool moves_all(const gpu_shards *shards)
{
  return device_merge_moves(shards->count, shards->program->record_size);
}

/* The job that sorts a shard. While it is only planned, there is no memory yet: other addresses
 * stand for it. */
static recsort_job own_job(const gpu_shards *shards, const recsort_job *job, char *memory,
                           const gpu_seat_rooms *rooms)
{
  char *const other = (char *)(uintptr_t)DEVICE_ALIGNMENT, *const at = memory ? memory : other;
  recsort_job own = *job;
  own.head = 0;
  own.records = job->records ? job->records : other + DEVICE_ALIGNMENT;
  own.sorted = at;
  own.keys_out = shards->are_words ? NULL : at + rooms->keys;
  own.workspace = at + rooms->work;
  own.workspace_size =
      job->workspace_size > rooms->work ? job->workspace_size - (size_t)rooms->work : 0;
  return own;
}

typedef uint64_t merge_bytes(const runtime_device *device, const recsort_plugin_job *job);

static uint64_t planned_merge_bytes(const runtime_device *device, const recsort_plugin_job *job)
{
  return gpu_plan_merge(device, job).bytes;
}

/* Divides the memory; `sorting` is what the shard's own job takes. */
static gpu_seat_rooms divide(const gpu_shards *shards, const runtime_device *device,
                             const recsort_job *job, merge_bytes *of_merge)
{
  const uint64_t size = shards->program->record_size, wanted = wanted_of(shards, job);
  const uint64_t key = shards->are_words ? 0 : shards->key_width / 8;
  const recsort_plugin_job merged = pair_job(shards, wanted);
  gpu_seat_rooms rooms = {.keys = device_aligned(job->count * size)};
  rooms.work = rooms.keys + device_aligned(job->count * key);
  rooms.received_keys = rooms.work + device_aligned(wanted * size);
  rooms.bytes = rooms.received_keys + device_aligned(wanted * key);
  if (wanted && !moves_all(shards)) rooms.bytes = rooms.received_keys + of_merge(device, &merged);
  RS_ASSERT(rooms.keys <= rooms.work && rooms.work <= rooms.bytes);
  return rooms;
}

static uint64_t shards_bytes(uint64_t count)
{
  const uint64_t cuts = (gpu_most_parts((uint32_t)count) + UINT64_C(1)) * count;
  return sizeof(gpu_shards) + count * sizeof(gpu_seat) + cuts * sizeof(uint64_t) +
         count * sizeof(int);
}

/* What is refused before sizes are computed, which might overflow. */
static recsort_status check_jobs(const recsort_key_program *program, const recsort_job *jobs,
                                 size_t job_count, recsort_error *error)
{
  enum { MOST_COUNT_BITS = 40 /* more than any device has memory for */ };
  if (!records_encodable(program))
    return refuse(error, "on a device, keys have at most 128 bits and 16 parts");
  for (uint32_t s = 0; s < job_count; s++) {
    const recsort_job job = gpu_read_job(jobs, s);
    if (!(((uint64_t)job.count | (uint64_t)job.head) >> MOST_COUNT_BITS)) continue;
    const recsort_status status = refuse(error, "there are too many records for a device");
    gpu_name_shard(s, error);
    return status;
  }
  return RECSORT_OK;
}

static recsort_status plan_seat(const gpu_instance *self, const gpu_shards *shards,
                                const recsort_job *job, recsort_needs *need, recsort_error *error)
{
  runtime_device device;
  recsort_status status = runtime_look(self->device, job->device, &device, error);
  if (status) return status;
  const gpu_instance on = {.host = self->host, .device = &device};
  const gpu_seat_rooms rooms = divide(shards, &device, job, gpu_most_merge_bytes);
  const recsort_job own = own_job(shards, job, NULL, &rooms);
  recsort_needs sorting = {.struct_size = sizeof sorting};
  if (job->count)
    status = gpu_plan_job(&on, shards->algorithm, shards->program, &own, &sorting, error);
  const uint64_t bytes = rooms.work + sorting.device;
  need->device = (size_t)(bytes > rooms.bytes ? bytes : rooms.bytes);
  return status;
}

recsort_status gpu_plan_shards(const gpu_instance *self, uint32_t algorithm,
                               const recsort_key_program *program, const recsort_job *jobs,
                               size_t job_count, recsort_needs *needs, recsort_error *error)
{
  const gpu_shards shards = describe(algorithm, program, jobs, job_count);

  recsort_status status = check_jobs(program, jobs, job_count, error);
  if (status) return status;
  for (uint32_t s = 0; s < job_count && !status; s++) {
    const recsort_job job = gpu_read_job(jobs, s);
    status = plan_seat(self, &shards, &job, needs + s, error);
    if (status) gpu_name_shard(s, error);
    needs[s].host = (size_t)(runtime_other_bytes() + (s ? 0 : shards_bytes(job_count)));
  }
  return status;
}

/* ---- Opening and closing ---- */

static gpu_shards *allocate(const recsort_host *host, uint32_t count)
{
  RS_ASSERT(count > 0);
  const uint64_t bytes = shards_bytes(count);
  gpu_shards *const shards = host->allocate(host->context, (size_t)bytes);
  if (!shards) return NULL;
  memset(shards, 0, (size_t)bytes);
  shards->bytes = bytes;
  shards->count = count;
  shards->seats = (gpu_seat *)(void *)(shards + 1);
  shards->cuts = (uint64_t *)(void *)(shards->seats + count);
  shards->devices = (int *)(void *)(shards->cuts + (gpu_most_parts(count) + UINT64_C(1)) * count);
  RS_ASSERT((char *)(shards->devices + count) <= (char *)shards + bytes);
  return shards;
}

void gpu_close_shards(gpu_instance *self)
{
  gpu_shards *const shards = self->shards;
  for (uint32_t s = 0; shards && s < shards->count; s++) {
    const gpu_seat *const seat = &shards->seats[s];
    if (!seat->device) continue;
    const recsort_status entered = runtime_enter(seat->device, NULL);
    runtime_close_stream(seat->streams[1]);
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
  if (!status) status = runtime_open_stream(&seat->streams[1], error);
  for (uint32_t other = 0; other < shards->count && !status; other++)
    status = runtime_reach(seat->device, shards->seats[other].device, error);
  seat->streams[0] = seat->device->stream;
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

/* ---- What each seat has to do ---- */

/* Parts are of use if records come from another device, and if merges work in no memory. */
static uint32_t parts_of(const gpu_shards *shards)
{
  const uint32_t most = gpu_most_parts(shards->count) / shards->count;
  uint64_t largest = 0;
  bool is_apart = false;
  for (uint32_t s = 0; s < shards->count; s++) {
    is_apart = is_apart || shards->devices[s] != shards->devices[0];
    if (shards->seats[s].wanted > largest) largest = shards->seats[s].wanted;
  }
  const uint64_t parts = largest / SHARDS_PART;
  return !is_apart || !moves_all(shards) || parts < 2 ? 1 : parts < most ? (uint32_t)parts : most;
}

/* Checks the workspace for all steps. */
static recsort_status check_seat(gpu_instance *on, const gpu_shards *shards, gpu_seat *seat,
                                 recsort_error *error)
{
  const recsort_job own = own_job(shards, &seat->job, seat->memory, &seat->rooms);
  uint64_t sorting = 0;
  recsort_status status = RECSORT_OK;
  on->device = seat->device;
  if (seat->job.count)
    status = gpu_job_bytes(on, shards->algorithm, shards->program, &own, &sorting, error);
  const uint64_t bytes = seat->rooms.work + sorting;
  return status ? status
                : gpu_check_workspace(&seat->job,
                                      bytes > seat->rooms.bytes ? bytes : seat->rooms.bytes, error);
}

/* Gives the seats their part of a sort. */
static recsort_status seat_jobs(gpu_instance *self, uint32_t algorithm,
                                const recsort_key_program *program, const recsort_job *jobs,
                                recsort_error *error)
{
  gpu_shards *const shards = self->shards;
  const gpu_shards now = describe(algorithm, program, jobs, shards->count);
  gpu_instance on = {.host = self->host};
  uint64_t first = 0;

  recsort_status status = check_jobs(program, jobs, shards->count, error);
  shards->program = program;
  shards->algorithm = algorithm;
  shards->index_bits = now.index_bits;
  shards->key_width = now.key_width;
  shards->are_words = now.are_words;
  shards->has_heads = now.has_heads;
  for (uint32_t s = 0; s < shards->count && !status; s++) {
    gpu_seat *const seat = &shards->seats[s];
    seat->job = gpu_read_job(jobs, s);
    seat->first = first;
    seat->wanted = wanted_of(shards, &seat->job);
    seat->memory = seat->job.workspace;
    seat->rooms = divide(shards, seat->device, &seat->job, planned_merge_bytes);
    if (seat->job.count || seat->wanted) status = check_seat(&on, shards, seat, error);
    if (status) gpu_name_shard(s, error);
    first += seat->wanted;
  }
  if (!status) shards->parts = parts_of(shards);
  return status;
}

/* ---- Sort ---- */

/* Makes the key of a record, where the host can read it. */
static recsort_status start_key(const gpu_shards *shards, const gpu_seat *seat, const void *record,
                                void *key, void *stream, recsort_error *error)
{
  const records_program own = records_program_of(shards->program, shards->key_width);
  return judge_launch(records_encode(&own, record, 1, key, false, seat->device->facts, stream),
                      error);
}

/* Makes a key in the end, too: the driver may take memory for the code of that kernel, and there
 * may be none. It is asked before any record moves. */
static recsort_status sort_seat(gpu_shards *shards, uint32_t number, void *context,
                                recsort_error *error)
{
  gpu_seat *const seat = &shards->seats[number];
  gpu_instance on = {.host = ((const gpu_instance *)context)->host, .device = seat->device};
  recsort_job job = own_job(shards, &seat->job, seat->memory, &seat->rooms);
  const records_program own = records_program_of(shards->program, shards->key_width);
  seat->sorted = (device_sorted_keys){
      .keys = job.keys_out, .count = job.count, .key_width = shards->key_width};
  *seat->status = RECSORT_OK;
  *seat->device->disorder = 0;
  recsort_status status = runtime_wait(seat->job.stream, error);
  if (status || job.count == 0) return status;
  if (shards->are_words) (void)records_words(&own, job.sorted, &seat->sorted.words);
  job.stream = seat->device->stream;
  job.status = seat->status;
  status = gpu_run_job(&on, shards->algorithm, shards->program, &job, error);
  if (status || !runtime_verifies(seat->device)) return status;
  return start_key(shards, seat, job.sorted, seat->ends, job.stream, error);
}

/* Finds out which record holds an invalid value, by halves: the first ones without it are known. */
static recsort_status locate_invalid(const gpu_shards *shards, const gpu_seat *seat,
                                     recsort_error *error)
{
  runtime_device *const device = seat->device;
  records_facts *const facts = device->facts;
  const records_program own = records_program_of(shards->program, seat->sorted.key_width);
  const char *const records = seat->job.records;
  uint64_t low = 0, high = seat->sorted.count;
  recsort_status status = RECSORT_OK;
  RS_ASSERT(high > 0);
  memset(facts, 0, sizeof *facts);
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

static recsort_status refuse_order(recsort_error *error)
{
  (void)snprintf(error->text, sizeof error->text, "the records that it sorted are not in order");
  return RECSORT_CORRUPT_RESULT;
}

/* What the sort of a shard has found. */
static recsort_status judge_sort(gpu_shards *shards, uint32_t number, void *context,
                                 recsort_error *error)
{
  const gpu_seat *const seat = &shards->seats[number];
  (void)context;
  if (*seat->status == RECSORT_OK) return RECSORT_OK;
  return *seat->status == RECSORT_INVALID_RECORD ? locate_invalid(shards, seat, error)
                                                 : refuse_order(error);
}

/* ---- Exchange and merge ---- */

/* A part of a shard, where its pieces are merged. */
typedef struct part {
  const gpu_seat *seat;
  uint32_t seat_number, number; /* the latter among all parts */
  void *stream;
  uint64_t at, count; /* records of the shard */
  device_piece pieces[DEVICE_MOVED_RUNS];
  uint32_t piece_count; /* of those that are not empty */
  bool moves;           /* the merge moves the records */
} part;

static part part_of(const gpu_shards *shards, uint32_t seat, uint32_t turn)
{
  const uint32_t number = seat * shards->parts + turn;
  part made = {.seat = &shards->seats[seat],
               .seat_number = seat,
               .number = number,
               .stream = shards->seats[seat].streams[turn % 2]};
  made.at = gpu_part_first(shards, number) - made.seat->first;
  made.count = gpu_part_first(shards, number + 1) - gpu_part_first(shards, number);
  for (uint32_t s = 0; s < shards->count; s++)
    made.piece_count += gpu_piece_count(shards, s, number) > 0;
  made.moves = device_merge_moves(made.piece_count, shards->program->record_size);
  return made;
}

static recsort_status start_copy(const part *of, void *to, const gpu_seat *from, const void *data,
                                 uint64_t bytes, recsort_error *error)
{
  return runtime_start_over(of->seat->device, of->stream, to, from->device, data, bytes, error);
}

/* Has the pieces come: to the shard if there is one, and otherwise to where they are merged. Those
 * that a merge moves may stay where they are on this device. */
static recsort_status receive_pieces(const gpu_shards *shards, part *of, recsort_error *error)
{
  const uint64_t size = shards->program->record_size,
                 key = shards->are_words ? 0 : shards->key_width / 8;
  const gpu_seat *const seat = of->seat;
  char *const keys_to = seat->memory + seat->rooms.received_keys;
  char *const records_to =
      of->piece_count == 1 ? seat->job.sorted : seat->memory + seat->rooms.work;
  uint64_t at = of->at;
  uint32_t found = 0;
  recsort_status status = RECSORT_OK;
  for (uint32_t s = 0; s < shards->count && !status; s++) {
    const gpu_seat *const from = &shards->seats[s];
    const uint64_t count = gpu_piece_count(shards, s, of->number);
    if (count == 0) continue;
    const uint64_t first = shards->cuts[(uint64_t)of->number * shards->count + s];
    const char *records = from->memory + first * size,
               *keys = from->memory + from->rooms.keys + first * key;
    const bool stays =
        of->moves && of->piece_count > 1 && shards->devices[s] == shards->devices[of->seat_number];
    if (!stays) {
      status = start_copy(of, records_to + at * size, from, records, count * size, error);
      if (!status && key && of->piece_count > 1)
        status = start_copy(of, keys_to + at * key, from, keys, count * key, error);
      records = records_to + at * size;
      keys = keys_to + at * key;
    }
    if (of->moves) of->pieces[found++] = (device_piece){key ? keys : records, records, count};
    at += count;
  }
  return status;
}

/* Merges keys, and gathers the records. This part is the whole shard. */
static recsort_status merge_keys(const gpu_shards *shards, const part *of, recsort_error *error)
{
  const gpu_seat *const seat = of->seat;
  runtime_device *const device = seat->device;
  const recsort_plugin_job job = pair_job(shards, of->count);
  const records_program own = records_program_of(shards->program, shards->key_width);
  const char *const received = seat->memory + seat->rooms.work;
  uint64_t *const bounds = seat->ends;
  unsigned side = 0;
  RS_ASSERT(shards->parts == 1);
  bounds[0] = 0;
  for (uint32_t s = 0; s < shards->count; s++)
    bounds[s + 1] = bounds[s] + gpu_piece_count(shards, s, of->number);
  const device_runs runs = {bounds, shards->count};
  gpu_pairs pairs = gpu_plan_merge(device, &job);
  pairs.job.mailbox = NULL;
  const device_buffers buffers =
      device_divide(&pairs.job, seat->memory + seat->rooms.received_keys, pairs.extra_bytes);
  device_status started = 0;
  if (shards->are_words)
    started = records_encode(&own, received, of->count, buffers.keys[0], false, device->facts,
                             device->stream);
  if (!started) started = device_merge(&pairs.job, &runs, &buffers, &side);
  const records_order order = gpu_order_of(&pairs, &buffers, side);
  if (!started)
    started = records_gather(received, own.record_size, &order, seat->job.sorted, device->stream);
  return judge_launch(started, error);
}

static recsort_status merge_part(gpu_shards *shards, uint32_t number, void *context,
                                 recsort_error *error)
{
  const uint64_t size = shards->program->record_size;
  part of = part_of(shards, number, *(const uint32_t *)context);
  const recsort_plugin_job job = pair_job(shards, of.count);
  if (of.piece_count == 0) return RECSORT_OK;
  const recsort_status status = receive_pieces(shards, &of, error);
  if (status || of.piece_count == 1) return status;
  if (!of.moves) return merge_keys(shards, &of, error);
  gpu_pairs pairs = gpu_plan_merge(of.seat->device, &job);
  pairs.job.stream = of.stream;
  device_words words = {0};
  const records_program own = records_program_of(shards->program, shards->key_width);
  if (shards->are_words) {
    const char *const first = of.pieces[0].records;
    (void)records_words(&own, first, &words);
    for (uint32_t p = 0; p < of.piece_count; p++)
      of.pieces[p].keys = (const char *)of.pieces[p].records + ((const char *)words.data - first);
  }
  const runtime_device *const device = of.seat->device;
  const device_merge_move move = {(char *)of.seat->job.sorted + of.at * size, size,
                                  runtime_verifies(device) ? device->disorder : NULL,
                                  shards->are_words ? &words : NULL};
  return judge_launch(device_merge_records(&pairs.job, of.pieces, of.piece_count, &move), error);
}

/* ---- What merges do not look at: from one part to the next ---- */

/* Makes the keys at both ends of each part, where the host can read them. */
static recsort_status read_borders(gpu_shards *shards, uint32_t number, void *context,
                                   recsort_error *error)
{
  const gpu_seat *const seat = &shards->seats[number];
  const uint64_t size = shards->program->record_size;
  char *to = (char *)seat->ends;
  recsort_status status = RECSORT_OK;
  (void)context;
  if (!runtime_verifies(seat->device)) return RECSORT_OK;
  for (uint32_t turn = 0; turn < shards->parts; turn++) {
    const part of = part_of(shards, number, turn);
    const uint64_t ends[] = {of.at, of.at + of.count - 1};
    for (uint32_t e = 0; e < 2 && of.count > 0 && !status; e++, to += shards->key_width / 8)
      status = start_key(shards, seat, (const char *)seat->job.sorted + ends[e] * size, to,
                         of.stream, error);
  }
  return status;
}

static bool is_less(const char *a, const char *b, uint32_t key_width)
{
  uint64_t x[2] = {0}, y[2] = {0};
  if (key_width == 32)
    return *(const uint32_t *)(const void *)a < *(const uint32_t *)(const void *)b;
  memcpy(x, a, key_width / 8);
  memcpy(y, b, key_width / 8);
  return x[1] < y[1] || (x[1] == y[1] && x[0] < y[0]);
}

/* What the merge of a shard has found, and whether the keys at the ends of its parts ascend.
 * `context` is where the last key of all is noted. */
static recsort_status judge_merge(gpu_shards *shards, uint32_t number, void *context,
                                  recsort_error *error)
{
  const gpu_seat *const seat = &shards->seats[number];
  const char **const last = context, *key = (const char *)seat->ends;
  bool wrong = *seat->device->disorder != 0;
  for (uint32_t turn = 0; turn < shards->parts && runtime_verifies(seat->device); turn++)
    for (uint32_t e = 0; e < 2 && part_of(shards, number, turn).count > 0; e++) {
      wrong |= *last && is_less(key, *last, shards->key_width);
      *last = key;
      key += shards->key_width / 8;
    }
  return wrong ? refuse_order(error) : RECSORT_OK;
}

/* ---- A sort ---- */

static recsort_status sort_all(gpu_instance *self, recsort_error *error)
{
  gpu_shards *const shards = self->shards;
  const char *last = NULL;
  recsort_status status = gpu_each_seat(shards, sort_seat, self, error);
  if (!status) status = gpu_wait_for_seats(shards, error);
  if (!status) status = gpu_each_seat(shards, judge_sort, NULL, error);
  if (!status) status = gpu_find_cuts(shards, error);
  for (uint32_t turn = 0; turn < shards->parts && !status; turn++)
    status = gpu_each_seat(shards, merge_part, &turn, error);
  if (!status) status = gpu_each_seat(shards, read_borders, NULL, error);
  if (!status) status = gpu_wait_for_seats(shards, error);
  return status ? status : gpu_each_seat(shards, judge_merge, &last, error);
}

recsort_status gpu_sort_shards(gpu_instance *self, uint32_t algorithm,
                               const recsort_key_program *program, const recsort_job *jobs,
                               size_t job_count, recsort_error *error)
{
  recsort_status status = open_seats(self, jobs, (uint32_t)job_count, error);
  if (!status) status = seat_jobs(self, algorithm, program, jobs, error);
  if (status) return status;
  status = sort_all(self, error);
  if (status) drain(self->shards);
  return status;
}
