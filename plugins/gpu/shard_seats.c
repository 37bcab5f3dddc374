/* shard_seats.c - what shards.c and shard_cuts.c do with each seat: see shards.h. */
#include <stdio.h>

#include "base/assert.h"
#include "gpu/shards.h"

void gpu_name_shard(uint32_t s, recsort_error *error)
{
  const recsort_error text = *error;
  (void)snprintf(error->text, sizeof error->text, "shard %u: %.470s", s, text.text);
}

recsort_status gpu_each_seat(gpu_shards *shards, seat_step *step, void *context,
                             recsort_error *error)
{
  RS_ASSERT(shards->count > 0);
  recsort_status status = RECSORT_OK;
  uint32_t s = 0;
  for (; s < shards->count && !status; s++) {
    const runtime_device *const device = shards->seats[s].device;
    status = runtime_enter(device, error);
    if (status) continue;
    status = step(shards, s, context, error);
    runtime_leave(device);
  }
  if (status) gpu_name_shard(s - 1, error);
  return status;
}

static recsort_status wait_for_seat(gpu_shards *shards, uint32_t s, void *context,
                                    recsort_error *error)
{
  (void)context;
  const recsort_status status = runtime_wait(shards->seats[s].streams[0], error);
  return status ? status : runtime_wait(shards->seats[s].streams[1], error);
}

recsort_status gpu_wait_for_seats(gpu_shards *shards, recsort_error *error)
{
  return gpu_each_seat(shards, wait_for_seat, NULL, error);
}
