/* sequential.c - bottom-up merge sort on one thread: the baseline and the oracle of the other
 * sorts.
 *
 * An element is a key of `words` 64-bit words, least significant first, followed by its index. Runs
 * of one element are merged into runs of two, of four ... from one array to the other. (Kirk and
 * Hwu, "Programming Massively Parallel Processors", ch. 12, fig. 12.2.) It shares no code with the
 * other algorithms, not even the packing of a key and its index.
 */
#include <string.h>

#include "base/assert.h"
#include "base/work_size.h"
#include "cpu/sorts.h"

static size_t key_words(const recsort_plugin_job *job)
{
  RS_ASSERT(job->key_width == 32 || job->key_width % 64 == 0);
  return job->key_width == 32 ? 1 : job->key_width / 64;
}

bool rs_sequential_work_size(const recsort_host *host, const recsort_plugin_job *job,
                             recsort_plugin_work *work)
{
  (void)host;
  const uint64_t element = (key_words(job) + 1) * sizeof(uint64_t);
  uint64_t bytes = 0;
  work_add(&bytes, job->count, element);
  work_add(&bytes, job->count, element);
  work->keys_offset = bytes;
  work_add(&bytes, job->count, job->key_width / 8);
  work->bytes = bytes;
  return work_fits(bytes);
}

static void load_elements(const recsort_plugin_job *job, const void *keys, uint64_t *elements)
{
  const size_t words = key_words(job);
  for (size_t i = 0; i < job->count; i++) {
    uint64_t *element = elements + i * (words + 1);
    if (job->key_width == 32)
      element[0] = ((const uint32_t *)keys)[i];
    else
      memcpy(element, (const uint64_t *)keys + i * words, words * sizeof *element);
    element[words] = i;
  }
}

/* The tie rule: b's element goes first only if its key is strictly less. */
static inline bool right_goes_first(const uint64_t *a, const uint64_t *b, size_t words)
{
  for (size_t w = words; w-- > 0;)
    if (a[w] != b[w]) return b[w] < a[w];
  return false;
}

/* Merges elements [begin, middle) and [middle, end) of `from` to the same places in `to`. */
static inline void merge_pair(const uint64_t *from, uint64_t *to, size_t begin, size_t middle,
                              size_t end, size_t words)
{
  const size_t size = words + 1;
  RS_ASSERT(begin <= middle && middle <= end);
  size_t a = begin, b = middle;
  for (size_t k = begin; k < end; k++) {
    const bool take_b =
        a == middle || (b < end && right_goes_first(from + a * size, from + b * size, words));
    const size_t taken = take_b ? b++ : a++;
    memcpy(to + k * size, from + taken * size, size * sizeof *to);
  }
  RS_ASSERT(a == middle && b == end);
}

static inline void merge_pass(const uint64_t *from, uint64_t *to, size_t count, size_t run,
                              size_t words)
{
  RS_ASSERT(run > 0);
  for (size_t begin = 0; begin < count; begin += 2 * run) {
    const size_t middle = count - begin > run ? begin + run : count;
    const size_t end = count - middle > run ? middle + run : count;
    merge_pair(from, to, begin, middle, end, words);
  }
}

/* Sorts, and returns the array that holds the result. `words` is a constant in the calls that
 * matter. */
static inline uint64_t *sort_elements(uint64_t *elements, uint64_t *other, size_t count,
                                      size_t words)
{
  for (size_t run = 1; run < count; run *= 2) {
    merge_pass(elements, other, count, run, words);
    uint64_t *const swap = elements;
    elements = other;
    other = swap;
  }
  return elements;
}

/* True if keys ascend, and equal ones by index. */
static bool ascend(const uint64_t *sorted, size_t count, size_t words)
{
  const size_t size = words + 1;
  for (size_t i = 1; i < count; i++) {
    const uint64_t *const element = sorted + i * size, *const before = element - size;
    if (right_goes_first(before, element, words)) return false;
    if (element[words] <= before[words] && !right_goes_first(element, before, words)) return false;
  }
  return true;
}

/* An index only moves towards the start, so a copy from front to back is safe in place. */
static void store_permutation(const recsort_plugin_job *job, const uint64_t *sorted, size_t words,
                              void *permutation)
{
  for (size_t i = 0; i < job->count; i++) {
    const uint64_t index = sorted[i * (words + 1) + words];
    if (job->index_bits == 32)
      ((uint32_t *)permutation)[i] = (uint32_t)index;
    else
      ((uint64_t *)permutation)[i] = index;
  }
}

recsort_status rs_sequential_sort(const recsort_host *host, const recsort_plugin_job *job,
                                  void *memory)
{
  const size_t words = key_words(job), count = (size_t)job->count;
  recsort_plugin_work work = {0};
  (void)rs_sequential_work_size(host, job, &work);
  RS_ASSERT(work.keys_offset % (2 * sizeof(uint64_t)) == 0);
  uint64_t *elements = memory, *other = elements + work.keys_offset / 2 / sizeof *elements;
  load_elements(job, (const char *)memory + work.keys_offset, elements);
  const uint64_t *sorted = words == 1   ? sort_elements(elements, other, count, 1)
                           : words == 2 ? sort_elements(elements, other, count, 2)
                                        : sort_elements(elements, other, count, words);
  if (!ascend(sorted, count, words)) return RECSORT_CORRUPT_RESULT;
  store_permutation(job, sorted, words, memory);
  return RECSORT_OK;
}
