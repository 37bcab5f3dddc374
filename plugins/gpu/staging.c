#include "gpu/staging.h"

#include <string.h>

#include "base/assert.h"

/* ---- Memory and streams ---- */

static uint64_t piece_of(uint64_t element)
{
  RS_ASSERT(element > 0 && element <= STAGING_PIECE);
  return STAGING_PIECE / element;
}

static uint64_t pieces_of(uint64_t count, uint64_t element)
{
  const uint64_t each = piece_of(element);
  return count / each + (count % each != 0);
}

unsigned staging_couriers(uint64_t count, uint64_t element, unsigned threads)
{
  const uint64_t pieces = pieces_of(count, element);
  const unsigned most = threads < STAGING_MAX_COURIERS ? threads : STAGING_MAX_COURIERS;
  return pieces < most ? (unsigned)pieces : most;
}

uint64_t staging_room(uint64_t count, uint64_t element, unsigned threads)
{
  return (uint64_t)staging_couriers(count, element, threads) * STAGING_SLOTS * STAGING_PIECE;
}

void staging_close(staging *ring)
{
  for (unsigned courier = 0; courier < STAGING_MAX_COURIERS; courier++)
    for (unsigned s = 0; s < STAGING_SLOTS; s++)
      runtime_close_stream(ring->slots[courier][s].stream);
  runtime_unpin(ring->memory);
  *ring = (staging){.device = ring->device};
}

static recsort_status open_streams(staging *ring, unsigned couriers, recsort_error *error)
{
  recsort_status status = RECSORT_OK;
  for (unsigned i = 0; i < couriers * STAGING_SLOTS && status == RECSORT_OK; i++) {
    staging_slot *const slot = &ring->slots[i / STAGING_SLOTS][i % STAGING_SLOTS];
    slot->pinned = (char *)ring->memory + (uint64_t)i * STAGING_PIECE;
    status = runtime_open_stream(&slot->stream, error);
  }
  return status;
}

recsort_status staging_reserve(staging *ring, unsigned couriers, recsort_error *error)
{
  RS_ASSERT(couriers <= STAGING_MAX_COURIERS);
  if (couriers <= ring->couriers) return RECSORT_OK;
  staging_close(ring);
  recsort_status status =
      runtime_pin(&ring->memory, (uint64_t)couriers * STAGING_SLOTS * STAGING_PIECE, error);
  if (status == RECSORT_OK) status = open_streams(ring, couriers, error);
  if (status)
    staging_close(ring);
  else
    ring->couriers = couriers;
  return status;
}

/* ---- Couriers of the ring ---- */

/* Elements in a slot, or on their way to it. */
typedef struct piece {
  uint64_t first;
  uint64_t count;
} piece;

static piece piece_at(const staging_copy *copy, uint64_t number)
{
  const uint64_t each = piece_of(copy->element), first = number * each;
  RS_ASSERT(first < copy->count);
  return (piece){first, copy->count - first < each ? copy->count - first : each};
}

static recsort_status take_step(const staging_copy *copy, piece p, void *at, void *stream,
                                recsort_error *error)
{
  if (!copy->step) return RECSORT_OK;
  return judge_launch(copy->step(copy->context, p.first, p.count, at, stream), error);
}

/* Waits for work that a failure has left in progress. */
static void abandon(staging_slot slots[STAGING_SLOTS])
{
  recsort_error ignored = {0};
  for (unsigned s = 0; s < STAGING_SLOTS; s++)
    (void)runtime_wait(slots[s].stream, &ignored);
}

static recsort_status send(const staging_copy *copy, const staging_slot *slot, piece p,
                           recsort_error *error)
{
  char *const at = (char *)copy->to + p.first * copy->element;
  RS_ASSERT(p.count * copy->element <= STAGING_PIECE);
  recsort_status status = runtime_wait(slot->stream, error);
  if (status) return status;
  memcpy(slot->pinned, (const char *)copy->from + p.first * copy->element, p.count * copy->element);
  status = runtime_start_up(slot->stream, at, slot->pinned, p.count * copy->element, error);
  return status ? status : take_step(copy, p, at, slot->stream, error);
}

static recsort_status send_pieces(staging *ring, const staging_copy *copy, unsigned courier,
                                  unsigned couriers, recsort_error *error)
{
  staging_slot *const slots = ring->slots[courier];
  RS_ASSERT(courier < couriers && couriers <= ring->couriers);
  const uint64_t pieces = pieces_of(copy->count, copy->element);
  recsort_status status = RECSORT_OK;
  for (uint64_t p = courier, turn = 0; p < pieces && status == RECSORT_OK; p += couriers, turn++)
    status = send(copy, &slots[turn % STAGING_SLOTS], piece_at(copy, p), error);
  for (unsigned s = 0; s < STAGING_SLOTS && status == RECSORT_OK; s++)
    status = runtime_wait(slots[s].stream, error);
  if (status) abandon(slots);
  return status;
}

/* Starts a piece on its way to a slot; `number` counts the slots of all couriers. */
static recsort_status request(const staging_copy *copy, const staging_slot *slot, unsigned number,
                              piece p, recsort_error *error)
{
  RS_ASSERT(number < STAGING_MAX_COURIERS * STAGING_SLOTS);
  char *const at = copy->from ? (char *)copy->from + p.first * copy->element
                              : copy->room + (uint64_t)number * STAGING_PIECE;
  const recsort_status status = take_step(copy, p, at, slot->stream, error);
  if (status) return status;
  return runtime_start_down(slot->stream, slot->pinned, at, p.count * copy->element, error);
}

static recsort_status receive(const staging_copy *copy, const staging_slot *slot, piece p,
                              recsort_error *error)
{
  if (p.count == 0) return RECSORT_OK;
  const recsort_status status = runtime_wait(slot->stream, error);
  if (status) return status;
  memcpy((char *)copy->to + p.first * copy->element, slot->pinned, p.count * copy->element);
  return status;
}

/* Copies pieces down. A slot is emptied only when it is needed again, or at the end. */
static recsort_status receive_pieces(staging *ring, const staging_copy *copy, unsigned courier,
                                     unsigned couriers, recsort_error *error)
{
  staging_slot *const slots = ring->slots[courier];
  RS_ASSERT(courier < couriers && couriers <= ring->couriers);
  const uint64_t pieces = pieces_of(copy->count, copy->element);
  recsort_status status = RECSORT_OK;
  piece held[STAGING_SLOTS] = {{0, 0}};
  uint64_t turn = 0;
  for (uint64_t p = courier; p < pieces && status == RECSORT_OK; p += couriers, turn++) {
    const unsigned s = (unsigned)(turn % STAGING_SLOTS);
    status = receive(copy, &slots[s], held[s], error);
    held[s] = piece_at(copy, p);
    if (status == RECSORT_OK)
      status = request(copy, &slots[s], courier * STAGING_SLOTS + s, held[s], error);
  }
  for (unsigned i = 0; i < STAGING_SLOTS && status == RECSORT_OK; i++, turn++)
    status = receive(copy, &slots[turn % STAGING_SLOTS], held[turn % STAGING_SLOTS], error);
  if (status) abandon(slots);
  return status;
}

/* Copies a courier's pieces up. A courier may run on any thread, so it enters the device itself. */
static recsort_status courier_up(staging *ring, const staging_copy *copy, unsigned courier,
                                 unsigned couriers, recsort_error *error)
{
  recsort_status status = runtime_enter(ring->device, error);
  if (status) return status;
  status = send_pieces(ring, copy, courier, couriers, error);
  runtime_leave(ring->device);
  return status;
}

static recsort_status courier_down(staging *ring, const staging_copy *copy, unsigned courier,
                                   unsigned couriers, recsort_error *error)
{
  recsort_status status = runtime_enter(ring->device, error);
  if (status) return status;
  status = receive_pieces(ring, copy, courier, couriers, error);
  runtime_leave(ring->device);
  return status;
}

typedef recsort_status courier_work(staging *ring, const staging_copy *copy, unsigned courier,
                                    unsigned couriers, recsort_error *error);

typedef struct courier_result {
  recsort_status status;
  recsort_error error;
} courier_result;

typedef struct courier_job {
  courier_work *work;
  staging *ring;
  const staging_copy *copy;
  unsigned couriers;
  courier_result results[STAGING_MAX_COURIERS];
} courier_job;

static void run_courier(void *argument, size_t courier, unsigned slot)
{
  courier_job *const job = argument;
  courier_result *const result = &job->results[courier];
  (void)slot;
  result->status =
      job->work(job->ring, job->copy, (unsigned)courier, job->couriers, &result->error);
}

/* Runs all couriers. If one fails, the copy fails; the others go on until they finish or fail too.
 * DEVICE_LOST takes precedence over other failures. */
static recsort_status run_couriers(courier_work *work, staging *ring, const staging_copy *copy,
                                   team t, recsort_error *error)
{
  const unsigned useful = staging_couriers(copy->count, copy->element, t.threads);
  courier_job job = {.work = work, .ring = ring, .copy = copy};
  const courier_result *worst = &job.results[0];
  job.couriers = useful < ring->couriers ? useful : ring->couriers;
  RS_ASSERT(job.couriers <= STAGING_MAX_COURIERS);
  team_each(t, job.couriers, run_courier, &job);
  for (unsigned courier = 0; courier < job.couriers; courier++)
    if (job.results[courier].status > worst->status) worst = &job.results[courier];
  if (worst->status) memcpy(error->text, worst->error.text, sizeof error->text);
  return worst->status;
}

recsort_status staging_up(staging *ring, const staging_copy *copy, team t, recsort_error *error)
{
  return run_couriers(courier_up, ring, copy, t, error);
}

recsort_status staging_down(staging *ring, const staging_copy *copy, team t, recsort_error *error)
{
  return run_couriers(courier_down, ring, copy, t, error);
}
