/* refine.c - see refine.h. */
#include "refine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A round divides what is left by 16 or more, so it takes 17 at most if no record changes. */
enum { MOST_ROUNDS = 32 };

static recsort_status fail_changed(recsort_error *error)
{
  *error = (recsort_error){.status = RECSORT_CORRUPT_RESULT};
  snprintf(error->text, sizeof error->text,
           "the records were changed on their way: a disk, the network or memory is at fault");
  return error->status;
}

size_t refine_memory(size_t mark_size, size_t count)
{
  return count * (sizeof(refine_splitter) + 2 * mark_size);
}

/* See refine_read. */
static recsort_status get_records(const refine *r, const unsigned char *mark, size_t *low,
                                  size_t *high, const void **records, recsort_error *error)
{
  if (r->read) return r->read(r->context, mark, low, high, records, error);
  *records = (const char *)r->records + *low * r->record_size;
  return RECSORT_OK;
}

static unsigned char *bounds_of(const refine *r, size_t splitter)
{
  return r->marks + 2 * splitter * r->mark_size;
}

void refine_open(refine *r, uint64_t total, void *memory)
{
  recsort_stats stats;
  recsort_sorter_get_stats(r->sorter, &stats, sizeof stats);
  r->record_size = stats.record_size;
  r->mark_size = recsort_key_size(r->sorter) + RECSORT_MARK_EXTRA;
  r->splitters = memory;
  r->marks = (unsigned char *)(r->splitters + r->count);
  for (size_t i = 0; i < r->count; i++) {
    r->splitters[i] = (refine_splitter){.high = total, .high_cut = r->record_count};
    memset(bounds_of(r, i), 0, r->mark_size);
    memset(bounds_of(r, i) + r->mark_size, 0xff, r->mark_size);
  }
}

/* ---- What is left ---- */

/* Takes the low bound, or the high one, if it is near enough. */
static bool settle(const refine *r, size_t i)
{
  refine_splitter *const s = &r->splitters[i];
  if (s->low == s->high) return true;
  if (s->target - s->low <= r->tolerance) {
    s->high = s->low;
    s->high_cut = s->low_cut;
  } else if (s->high - s->target <= r->tolerance) {
    s->low = s->high;
    s->low_cut = s->high_cut;
    memcpy(bounds_of(r, i), bounds_of(r, i) + r->mark_size, r->mark_size);
  }
  return s->low == s->high;
}

size_t refine_left(const refine *r)
{
  size_t left = 0;
  for (size_t i = 0; i < r->count; i++)
    left += !settle(r, i);
  return left;
}

void refine_counts(const refine *r, uint64_t *counts)
{
  for (size_t i = 0; i < r->count; i++)
    if (!settle(r, i)) *counts++ = r->splitters[i].high_cut - r->splitters[i].low_cut;
}

/* ---- Samples ---- */

static uint64_t mix(uint64_t x)
{
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* The samples between two bounds with `between` records: one in each of so many parts of them. */
static uint64_t sample_count(uint64_t between)
{
  return between < REFINE_SAMPLES ? between : REFINE_SAMPLES;
}

/* The place of a sample among the records between the bounds: at random in its part. */
static uint64_t place_of(const refine *r, size_t splitter, uint64_t sample, uint64_t between)
{
  const uint64_t parts = sample_count(between), each = between / parts, rest = between % parts;
  const uint64_t begin = sample * each + (sample < rest ? sample : rest);
  const uint64_t number = ((uint64_t)r->round << 32 | splitter) * REFINE_SAMPLES + sample;
  return begin + mix(number + UINT64_C(0x9e3779b97f4a7c15)) % (each + (sample < rest));
}

/* The samples of one splitter, `before` of whose records are of the ranks before. */
static recsort_status sample_one(refine *r, size_t splitter, uint64_t before,
                                 unsigned char *samples, recsort_error *error)
{
  const refine_splitter *const s = &r->splitters[splitter];
  const uint64_t between = s->high - s->low, own = s->high_cut - s->low_cut;
  for (uint64_t k = 0; k < REFINE_SAMPLES; k++) {
    unsigned char *const sample = samples + k * r->mark_size;
    if (k >= sample_count(between)) { /* too few records: the low bound, which changes nothing */
      memcpy(sample, bounds_of(r, splitter), r->mark_size);
      continue;
    }
    const uint64_t place = place_of(r, splitter, k, between);
    if (place - before >= own) continue; /* also of a rank before: the difference wraps around */
    size_t at = s->low_cut + (size_t)(place - before), end = at + 1;
    const void *record;
    recsort_status status = get_records(r, NULL, &at, &end, &record, error);
    if (!status)
      status = recsort_partition_sample(r->sorter, record, 1, r->first + at, 1, sample, error);
    if (status) return status;
  }
  return RECSORT_OK;
}

recsort_status refine_sample(refine *r, const uint64_t *before, unsigned char *samples,
                             recsort_error *error)
{
  recsort_status status = RECSORT_OK;
  memset(samples, 0, refine_left(r) * REFINE_SAMPLES * r->mark_size);
  if (r->round++ == MOST_ROUNDS) return fail_changed(error);
  for (size_t i = 0; i < r->count && status == RECSORT_OK; i++) {
    if (settle(r, i)) continue;
    status = sample_one(r, i, *before++, samples, error);
    samples += REFINE_SAMPLES * r->mark_size;
  }
  return status;
}

/* Counts this rank's records before each of `count` marks, which cut them between low and high. */
static recsort_status cut_part(const refine *r, size_t low, size_t high, const unsigned char *marks,
                               size_t count, uint64_t *cuts, recsort_error *error)
{
  size_t own[REFINE_SAMPLES];
  const void *records;
  recsort_status status = get_records(r, count == 1 ? marks : NULL, &low, &high, &records, error);
  if (!status)
    status = recsort_partition_sorted(r->sorter, records, high - low, r->first + low, marks, count,
                                      own, error);
  for (size_t k = 0; k < count && !status; k++)
    cuts[k] = low + own[k];
  return status;
}

recsort_status refine_cut(refine *r, const unsigned char *samples, uint64_t *cuts,
                          recsort_error *error)
{
  const size_t each = r->read ? 1 : REFINE_SAMPLES; /* other records are read for each */
  for (size_t i = 0; i < r->count; i++) {
    const refine_splitter *const s = &r->splitters[i];
    if (settle(r, i)) continue;
    for (size_t k = 0; k < REFINE_SAMPLES; k += each) {
      const recsort_status status =
          cut_part(r, s->low_cut, s->high_cut, samples, each, cuts, error);
      if (status) return status;
      samples += each * r->mark_size;
      cuts += each;
    }
  }
  return RECSORT_OK;
}

/* ---- Bounds ---- */

static int compare_sums(const void *a, const void *b)
{
  const uint64_t x = ((const refine_sum *)a)->sum, y = ((const refine_sum *)b)->sum;
  return (x > y) - (x < y);
}

/* The number of samples that fewer than `target` records come before. */
static size_t count_below(const refine_sum *sorted, size_t count, uint64_t target)
{
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (sorted[middle].sum < target)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void refine_narrow(refine *r, const unsigned char *samples, size_t count, const uint64_t *cuts,
                   const uint64_t *sums, refine_sum *sorted)
{
  for (size_t k = 0; k < count; k++)
    sorted[k] = (refine_sum){sums[k], k};
  qsort(sorted, count, sizeof *sorted, compare_sums);
  for (size_t i = 0; i < r->count; i++) {
    refine_splitter *const s = &r->splitters[i];
    if (settle(r, i)) continue;
    const size_t above = count_below(sorted, count, s->target);
    if (above > 0 && sorted[above - 1].sum > s->low) {
      const size_t k = sorted[above - 1].sample;
      s->low = sums[k];
      s->low_cut = (size_t)cuts[k];
      memcpy(bounds_of(r, i), samples + k * r->mark_size, r->mark_size);
    }
    if (above < count && sorted[above].sum < s->high) {
      const size_t k = sorted[above].sample;
      s->high = sums[k];
      s->high_cut = (size_t)cuts[k];
      memcpy(bounds_of(r, i) + r->mark_size, samples + k * r->mark_size, r->mark_size);
    }
  }
}

recsort_status refine_check(const refine *r, recsort_error *error)
{
  for (size_t i = 0; i < r->count; i++) {
    uint64_t cut;
    const recsort_status status = cut_part(r, 0, r->record_count, bounds_of(r, i), 1, &cut, error);
    if (status) return status;
    if (cut != r->splitters[i].low_cut) return fail_changed(error);
  }
  return RECSORT_OK;
}
