/* cuts.c - where pieces begin. A splitter is a record; how many records of each run come before
 * it is found by binary search, in the stable order of all records. Runs that are not sorted give
 * cuts that mean nothing, but are within the runs. */
#include "base/assert.h"
#include "runs/runs.h"

/* The top 64 bits of a key, or all if it has fewer. */
static uint64_t prefix_of(const run_format *format, const unsigned char *key)
{
  RS_ASSERT(format->key_bits > 0);
  const uint64_t *const words = (const void *)key;
  if (format->key_size == 4) return *(const uint32_t *)(const void *)key;
  if (format->key_size == 8) return words[0];
  const unsigned top = (format->key_bits - 1) / 64, used = format->key_bits - 64 * top;
  if (used == 64 || top == 0) return words[top];
  return words[top] << (64 - used) | words[top - 1] >> used;
}

static const unsigned char *record_of(const run_pass *pass, const run_sample *sample)
{
  RS_ASSERT(sample->at < pass->runs[sample->run].count);
  return (const unsigned char *)pass->runs[sample->run].records +
         sample->at * pass->format.record_size;
}

/* ---- Samples ---- */

/* Whether a comes before b. Invalid values have been seen by then. */
static bool comes_first(const run_pass *pass, const run_sample *a, const run_sample *b,
                        unsigned char *scratch)
{
  const size_t key_size = pass->format.key_size;
  if (a->prefix != b->prefix) return a->prefix < b->prefix;
  if (key_size > 8) {
    (void)rs_run_read_keys(&pass->format, record_of(pass, a), 1, scratch);
    (void)rs_run_read_keys(&pass->format, record_of(pass, b), 1, scratch + key_size);
    const int order = run_compare(key_size, scratch, scratch + key_size);
    if (order) return order < 0;
  }
  return a->run != b->run ? a->run < b->run : a->at < b->at;
}

static void sift_down(const run_pass *pass, run_sample *heap, size_t place, size_t count,
                      unsigned char *scratch)
{
  RS_ASSERT(place < count);
  const run_sample moved = heap[place];
  for (size_t child; (child = 2 * place + 1) < count; place = child) {
    if (child + 1 < count && comes_first(pass, &heap[child], &heap[child + 1], scratch)) child++;
    if (!comes_first(pass, &moved, &heap[child], scratch)) break;
    heap[place] = heap[child];
  }
  heap[place] = moved;
}

static void heap_sort(const run_pass *pass, run_sample *samples, size_t count,
                      unsigned char *scratch)
{
  for (size_t i = count / 2; i-- > 0;)
    sift_down(pass, samples, i, count, scratch);
  for (size_t end = count; end-- > 1;) {
    const run_sample last = samples[end];
    samples[end] = samples[0];
    samples[0] = last;
    sift_down(pass, samples, 0, end, scratch);
  }
}

/* A place in a stratum of `width` records: those of neighbouring strata are spread evenly by the
 * golden ratio (Knuth, vol. 3, sect. 6.4). All at the same place would be the first records of
 * every second run where each stratum has two runs, and then no splitter would divide anything. */
static uint64_t place_in_stratum(size_t stratum, uint64_t width)
{
  const uint64_t spread = (uint64_t)stratum * UINT64_C(0x9e3779b97f4a7c15) >> 48;
  RS_ASSERT(width == 0 || width * spread >> 16 < width);
  return width * spread >> 16;
}

bool rs_run_sample_group(const run_pass *pass, size_t group, run_sample *samples, size_t count,
                         unsigned char *scratch)
{
  const size_t begin = group * pass->fan, end = begin + run_group_size(pass, group);
  const uint64_t before = pass->first[begin], total = pass->first[end] - before;
  RS_ASSERT(count > 0);
  size_t run = begin;
  for (size_t i = 0; i < count; i++) {
    const team_range stratum = team_cut((size_t)total, i, count);
    const uint64_t at = before + stratum.begin + place_in_stratum(i, stratum.end - stratum.begin);
    while (at >= pass->first[run + 1])
      run++;
    RS_ASSERT(run < end);
    samples[i] = (run_sample){.run = run, .at = at - pass->first[run]};
    if (!rs_run_read_keys(&pass->format, record_of(pass, &samples[i]), 1, scratch)) return false;
    samples[i].prefix = prefix_of(&pass->format, scratch);
  }
  heap_sort(pass, samples, count, scratch);
  return true;
}

/* ---- Cuts ---- */

/* The records of a run whose keys are less than that at `scratch`, or `or_equal`. SIZE_MAX: a value
 * is invalid. */
static uint64_t search(const run_pass *pass, size_t run, bool or_equal, unsigned char *scratch)
{
  const size_t key_size = pass->format.key_size;
  const unsigned char *const records = pass->runs[run].records;
  uint64_t low = 0, high = pass->runs[run].count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (!rs_run_read_keys(&pass->format, records + middle * pass->format.record_size, 1,
                          scratch + key_size))
      return UINT64_MAX;
    const int order = run_compare(key_size, scratch + key_size, scratch);
    if (order < 0 || (or_equal && order == 0))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool rs_run_cut(const run_pass *pass, size_t group, const run_sample *splitter, uint64_t *cut,
                unsigned char *scratch)
{
  const size_t begin = group * pass->fan, count = run_group_size(pass, group);
  if (!rs_run_read_keys(&pass->format, record_of(pass, splitter), 1, scratch)) return false;
  for (size_t r = 0; r < count; r++) {
    cut[r] = begin + r == splitter->run
                 ? splitter->at
                 : search(pass, begin + r, begin + r < splitter->run, scratch);
    if (cut[r] == UINT64_MAX) return false;
    RS_ASSERT(cut[r] <= pass->runs[begin + r].count);
  }
  return true;
}
