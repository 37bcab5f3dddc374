/* shard_cuts.c - finds where sorted shards are cut, so that parts of given sizes come out.
 *
 * The cut before the record of rank t in the order of all is found digit by digit of its key, from
 * the most significant one: in each shard, the keys that begin with the digits found so far are a
 * range. A device finds where each value of the next digit ends in the range of its shard; the host
 * adds up these ends over all shards, and takes the value at which they exceed t. After the last
 * digit, the ranges hold all records with that key, and the cut goes through them in the order of
 * shards. This is a radix selection (Alabi et al., "Fast k-selection algorithms for graphics
 * processing units", 2012) whose buckets are found by searches, as keys are sorted: it is exact,
 * for any keys, and few bytes come to the host. */
#include "base/assert.h"
#include "gpu/shards.h"

enum { MOST_BITS = 11, MOST_ENDS = 1 << 15, MOST_PARTS = 8 };

uint32_t gpu_most_parts(uint32_t shards)
{
  RS_ASSERT(shards > 0);
  return shards * (shards <= DEVICE_MOVED_RUNS ? MOST_PARTS : 1);
}

/* Bits of a digit: more of them take fewer rounds. */
static uint32_t digit_bits(uint32_t parts)
{
  RS_ASSERT(parts > 0);
  uint32_t bits = MOST_BITS;
  while ((uint64_t)parts << bits > MOST_ENDS)
    bits--;
  RS_ASSERT(bits > 0);
  return bits;
}

static uint64_t range_bytes(uint32_t shards)
{
  return gpu_most_parts(shards) * sizeof(device_range);
}

uint64_t gpu_cuts_bytes(uint32_t shards)
{
  return range_bytes(shards) + (MOST_ENDS + 1) * sizeof(uint64_t);
}

static uint32_t all_parts(const gpu_shards *shards)
{
  return shards->count * shards->parts;
}

void gpu_divide_cuts(gpu_seat *seat, uint32_t shards)
{
  seat->ranges = seat->pinned;
  seat->status = (uint32_t *)(void *)((char *)seat->pinned + range_bytes(shards));
  seat->ends = (uint64_t *)(void *)seat->status + 1;
}

/* A round looks at one digit. */
typedef struct round {
  uint32_t shift, bits;
} round;

static recsort_status start_round(gpu_shards *shards, uint32_t number, void *context,
                                  recsort_error *error)
{
  const round *const r = context;
  const gpu_seat *const seat = &shards->seats[number];
  if (seat->sorted.count == 0) return RECSORT_OK;
  return judge_launch(device_find_ends(&seat->sorted, seat->ranges, all_parts(shards) - 1, r->shift,
                                       r->bits, seat->ends, seat->device->stream),
                      error);
}

static uint64_t end_of(const gpu_seat *seat, const round *r, uint32_t cut, uint64_t value)
{
  return seat->sorted.count ? seat->ends[((uint64_t)cut << r->bits) + value] : 0;
}

/* Narrows the ranges of a cut to the least value of the digit at which the ends exceed the rank. */
static void narrow(gpu_shards *shards, const round *r, uint32_t cut, uint64_t rank)
{
  uint64_t low = 0, high = (UINT64_C(1) << r->bits) - 1;
  while (low < high) {
    const uint64_t value = low + (high - low) / 2;
    uint64_t sum = 0;
    for (uint32_t s = 0; s < shards->count; s++)
      sum += end_of(&shards->seats[s], r, cut, value);
    if (sum > rank)
      high = value;
    else
      low = value + 1;
  }
  for (uint32_t s = 0; s < shards->count; s++) {
    device_range *const range = &shards->seats[s].ranges[cut];
    if (low) range->low = end_of(&shards->seats[s], r, cut, low - 1);
    range->high = end_of(&shards->seats[s], r, cut, low);
    RS_ASSERT(range->low <= range->high);
  }
}

/* The records with the key of a cut, as far as it is known. */
static uint64_t in_ranges(const gpu_shards *shards, uint32_t cut)
{
  uint64_t sum = 0;
  for (uint32_t s = 0; s < shards->count; s++)
    sum += shards->seats[s].ranges[cut].high - shards->seats[s].ranges[cut].low;
  return sum;
}

/* The cut goes through the records with its key. */
static void finish(gpu_shards *shards, uint32_t cut, uint64_t rank)
{
  uint64_t *const cuts = shards->cuts + (uint64_t)(cut + 1) * shards->count;
  for (uint32_t s = 0; s < shards->count; s++)
    rank -= shards->seats[s].ranges[cut].low;
  for (uint32_t s = 0; s < shards->count; s++) {
    const device_range range = shards->seats[s].ranges[cut];
    const uint64_t length = range.high - range.low, taken = rank < length ? rank : length;
    cuts[s] = range.low + taken;
    rank -= taken;
  }
  RS_ASSERT(rank == 0);
}

/* Sets the first row of cuts, the last one, and the ranges; returns the number of all records. */
static uint64_t begin(gpu_shards *shards)
{
  const uint32_t count = shards->count, parts = all_parts(shards);
  uint64_t all = 0;
  for (uint32_t s = 0; s < count; s++) {
    const uint64_t own = shards->seats[s].job.count;
    shards->cuts[s] = 0;
    shards->cuts[(uint64_t)parts * count + s] = own;
    all += own;
    for (uint32_t cut = 0; cut + 1 < parts; cut++)
      shards->seats[s].ranges[cut] = (device_range){0, own};
  }
  return all;
}

recsort_status gpu_find_cuts(gpu_shards *shards, recsort_error *error)
{
  const uint64_t all = begin(shards);
  const uint32_t parts = all_parts(shards);
  recsort_status status = RECSORT_OK;
  round r = {.shift = shards->program->key_bits, .bits = digit_bits(parts)};
  for (bool open = parts > 1; open && r.shift && !status;) {
    if (r.bits > r.shift) r.bits = r.shift;
    r.shift -= r.bits;
    status = gpu_each_seat(shards, start_round, &r, error);
    if (!status) status = gpu_wait_for_seats(shards, error);
    open = false;
    for (uint32_t cut = 0; cut + 1 < parts && !status; cut++) {
      const uint64_t rank = gpu_part_first(shards, cut + 1);
      RS_ASSERT(rank <= all);
      if (rank >= all) continue; /* no record comes after it */
      narrow(shards, &r, cut, rank);
      open = open || in_ranges(shards, cut) > 1;
    }
  }
  for (uint32_t cut = 0; cut + 1 < parts && !status; cut++)
    finish(shards, cut, gpu_part_first(shards, cut + 1));
  return status;
}
