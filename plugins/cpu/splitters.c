#include "cpu/splitters.h"

#include <string.h>

#include "base/assert.h"
#include "base/avx.h"
#include "base/bits.h"
#include "cpu/wide_order.h"

enum {
  FEW = SAMPLES_A_BUCKET * 3 / 2,     /* in a cell: its splitters move to its end */
  FREQUENT = SAMPLES_A_BUCKET * 5 / 2 /* samples of a key that gets its own bucket */
};

size_t rs_splitters_size(size_t buckets, size_t words)
{
  const size_t wide = words > 1 ? (buckets + 1) * words : 0;
  return sizeof(splitters) + (2 * buckets + wide) * sizeof(uint64_t) +
         (buckets * CELLS_A_BUCKET + 1) * sizeof(uint16_t) + buckets;
}

static const uint64_t *sample_key(const key_sample *sample, size_t i)
{
  return sample->keys + sample->order[i] * sample->words;
}

static bool same_key(const key_sample *sample, size_t i, size_t j)
{
  return memcmp(sample_key(sample, i), sample_key(sample, j), sample->words * sizeof(uint64_t)) ==
         0;
}

/* The word of a key. A key that differs above the window goes before or after all others. */
__attribute__((always_inline)) static inline uint64_t word_of(const key_window *window,
                                                              const uint64_t *key)
{
  RS_ASSERT(window->high > 0 && window->high <= 64 * window->words);
  const size_t top = (window->high - 1) / 64;
  const unsigned bits = (window->high - 1) % 64 + 1;
  uint64_t above = bits < 64 ? (key[top] ^ window->like[top]) >> bits : 0;
  for (size_t w = top + 1; w < window->words; w++)
    above |= key[w] ^ window->like[w];
  if (above) return wide_is_less(key, window->like, window->words) ? 0 : UINT64_MAX;
  return wide_bits(key, window->high);
}

/* ---- Splitters ---- */

static void add(splitters *s, const uint64_t *key, bool equal)
{
  s->equal[s->count] = equal;
  s->splitter[s->count] = s->window.words == 1 ? *key : word_of(&s->window, key);
  RS_ASSERT(s->count == 0 || s->splitter[s->count - 1] <= s->splitter[s->count]);
  if (s->window.words > 1)
    memcpy(s->keys + s->count * s->window.words, key, s->window.words * sizeof *key);
  s->count++;
}

/* The key before a key that gets a bucket of its own. */
static void add_before(splitters *s, const uint64_t *key)
{
  const size_t words = s->window.words;
  uint64_t *const before = s->keys + s->count * words; /* for wide keys */
  size_t w = 0;
  if (words == 1) {
    const uint64_t less = *key - 1;
    if (*key > 0 && (s->count == 0 || s->splitter[s->count - 1] != less)) add(s, &less, false);
    return;
  }
  memcpy(before, key, words * sizeof *key);
  while (w < words && before[w]-- == 0)
    w++;
  if (w == words) return; /* the key is 0 */
  if (s->count > 0 && memcmp(before - words, before, words * sizeof *key) == 0) return;
  s->equal[s->count] = 0;
  s->splitter[s->count++] = word_of(&s->window, before);
}

/* If there are about as many buckets as values, each value gets one: keys are counted. */
static bool choose_each(splitters *s, size_t buckets, uint64_t first, uint64_t last)
{
  RS_ASSERT(first <= last && buckets >= 2);
  if (last - first >= buckets - 2) return false;
  if (first > 0) add(s, &(uint64_t){first - 1}, false);
  for (uint64_t value = first; value - first <= last - first; value++)
    add(s, &value, true);
  return true;
}

_Static_assert(FREQUENT > 2 * SAMPLES_A_BUCKET, "two splitters of a frequent key leave one over");

/* Takes at most buckets - 1 splitters from the sample: one for each SAMPLES_A_BUCKET keys, and two
 * for a frequent one, which are more. */
static void choose(splitters *s, const key_sample *sample, size_t samples)
{
  size_t held = 0; /* samples since the last splitter */
  for (size_t begin = 0, end; begin < samples; begin = end) {
    for (end = begin + 1; end < samples && same_key(sample, begin, end);)
      end++;
    const bool frequent = end - begin >= FREQUENT;
    held += end - begin;
    if (frequent) add_before(s, sample_key(sample, begin));
    if (frequent || (held >= SAMPLES_A_BUCKET && end < samples)) {
      add(s, sample_key(sample, begin), frequent);
      held = 0;
    }
  }
}

/* ---- Cells ---- */

/* The number of a word's cell. */
static size_t cell_of(const splitters *s, uint64_t word)
{
  const uint64_t cell = (word > s->low ? word - s->low : 0) >> s->shift;
  return cell < s->cells ? (size_t)cell : s->cells;
}

/* The last word of a cell. */
static uint64_t cell_end(const splitters *s, size_t cell)
{
  const uint64_t last = ((uint64_t)cell << s->shift) | ((UINT64_C(1) << s->shift) - 1);
  return last > UINT64_MAX - s->low ? UINT64_MAX : s->low + last;
}

static void cut_cells(splitters *s, size_t buckets)
{
  const uint64_t low = s->splitter[0];
  const unsigned bits = s->count ? bits_of(s->splitter[s->count - 1] - low) : 0;
  s->low = low;
  s->cells = (uint32_t)(buckets * CELLS_A_BUCKET);
  const unsigned cell_bits = bits_of(s->cells - 1);
  s->shift = bits > cell_bits ? bits - cell_bits : 0;
  RS_ASSERT(s->shift < 64);
}

/* Moves the splitters of a cell to its end if it has few keys, or no frequent one and no other, so
 * that keys of most cells need no comparison. With what comes before the cell, a bucket may have
 * what is due to 3.4, by the sample. */
static void round_up(splitters *s, const key_sample *sample, size_t samples)
{
  for (size_t i = 0, begin = 0, end; begin < samples; begin = end) {
    const size_t cell = cell_of(s, word_of(&s->window, sample_key(sample, begin)));
    for (end = begin + 1;
         end < samples && cell_of(s, word_of(&s->window, sample_key(sample, end))) == cell;)
      end++;
    const bool one_key = same_key(sample, begin, end - 1);
    while (i < s->count && cell_of(s, s->splitter[i]) < cell)
      i++;
    if (end - begin >= (one_key ? FREQUENT : FEW)) continue;
    for (; i < s->count && cell_of(s, s->splitter[i]) == cell; i++)
      s->splitter[i] = cell_end(s, cell);
  }
}

/* Fills in the table, and finds how many splitters a word must be compared with at most. */
static void fill_cells(splitters *s)
{
  size_t i = 0, most = 0;
  for (size_t cell = 0; cell < s->cells; cell++) {
    const size_t first = i;
    s->below[cell] = (uint16_t)i;
    while (i < s->count && s->splitter[i] < cell_end(s, cell))
      i++;
    if (i - first > most) most = i - first;
    while (i < s->count && s->splitter[i] == cell_end(s, cell))
      i++;
  }
  RS_ASSERT(i == s->count);
  s->below[s->cells] = (uint16_t)s->count;
  s->steps = bits_of(most);
}

/* The window below which the sample's keys differ. */
static key_window window_of(const key_sample *sample, size_t samples, uint64_t *like)
{
  const uint64_t *const first = sample_key(sample, 0), *const last =
                                                           sample_key(sample, samples - 1);
  size_t w = sample->words - 1;
  while (w > 0 && first[w] == last[w])
    w--;
  const unsigned bits = bits_of(first[w] ^ last[w]);
  if (sample->words > 1) memcpy(like, first, sample->words * sizeof *like);
  return (key_window){sample->words, sample->words == 1 ? 64 : 64 * (unsigned)w + (bits ? bits : 1),
                      sample->words == 1 ? first : like};
}

void rs_splitters_make(splitters *made, size_t buckets, const key_sample *sample)
{
  const size_t samples = buckets * SAMPLES_A_BUCKET;
  RS_ASSERT(buckets >= 2 && buckets <= MOST_BUCKETS && (buckets & (buckets - 1)) == 0);
  made->count = 0;
  made->keys = made->splitter + 2 * buckets;
  uint64_t *const like = made->keys + buckets * sample->words;
  made->below = (uint16_t *)(void *)(sample->words > 1 ? like + sample->words : made->keys);
  made->equal = (uint8_t *)(made->below + buckets * CELLS_A_BUCKET + 1);
  made->window = window_of(sample, samples, like);
  memset(made->splitter, 0xff, 2 * buckets * sizeof *made->splitter);
  memset(made->equal, 0, buckets);
  if (sample->words > 1 ||
      !choose_each(made, buckets, *sample_key(sample, 0), *sample_key(sample, samples - 1)))
    choose(made, sample, samples);
  RS_ASSERT(made->count < buckets);
  cut_cells(made, buckets);
  round_up(made, sample, samples);
  fill_cells(made);
}

/* ---- Classification ---- */

__attribute__((always_inline)) static inline uint64_t key_at(const void *keys, unsigned width,
                                                             size_t i)
{
  return width == 32 ? ((const uint32_t *)keys)[i] : ((const uint64_t *)keys)[i];
}

/* Each loop is over all keys, so that the processor works on several at once. A comparison is a
 * number, as compilers made a branch of a choice. `width`, 32 or 64, is a constant in each call. */
__attribute__((always_inline)) static inline void
classify(const splitters *s, const void *keys, unsigned width, size_t count, uint16_t *buckets)
{
  uint32_t cells[CLASSIFY_AT_ONCE];
  RS_ASSERT(count <= CLASSIFY_AT_ONCE);
  if (width == 32) {
    const uint32_t low = (uint32_t)s->low;
    for (size_t i = 0; i < count; i++) {
      const uint32_t key = (uint32_t)key_at(keys, 32, i);
      const uint32_t cell = ((key > low ? key : low) - low) >> s->shift;
      cells[i] = cell < s->cells ? cell : s->cells;
    }
  } else {
    for (size_t i = 0; i < count; i++)
      cells[i] = (uint32_t)cell_of(s, key_at(keys, 64, i));
  }
  for (size_t i = 0; i < count; i++)
    buckets[i] = s->below[cells[i]];
  for (unsigned step = s->steps; step-- > 0;)
    for (size_t i = 0; i < count; i++) {
      const size_t next = buckets[i] + ((size_t)1 << step);
      buckets[i] =
          (uint16_t)(buckets[i] + ((s->splitter[next - 1] < key_at(keys, width, i)) << step));
    }
  RS_ASSERT(count == 0 || buckets[0] <= s->count);
}

static void classify_words(const splitters *s, const uint64_t *words, size_t count,
                           uint16_t *buckets)
{
  classify(s, words, 64, count, buckets);
}

static void classify_32(const splitters *s, const void *keys, size_t count, uint16_t *buckets)
{
  classify(s, keys, 32, count, buckets);
}

#ifdef RS_HAS_AVX
/* Comparisons of unsigned numbers and wider vectors. */
__attribute__((target("avx2"))) static void classify_32_avx2(const splitters *s, const void *keys,
                                                             size_t count, uint16_t *buckets)
{
  classify(s, keys, 32, count, buckets);
}
#endif

/* True if splitter `i` has the same word as a key, but is less. */
static bool is_tied_below(const splitters *s, size_t i, uint64_t word, const uint64_t *key)
{
  return i < s->count && s->splitter[i] == word &&
         wide_is_less(s->keys + i * s->window.words, key, s->window.words);
}

/* The bucket of a key from bucket `b` on, whose splitter has the same word: a search by steps that
 * double, as few splitters are tied most often. */
static size_t tied_bucket(const splitters *s, size_t b, uint64_t word, const uint64_t *key)
{
  size_t step = 1;
  for (; is_tied_below(s, b + step - 1, word, key); step *= 2)
    b += step;
  for (step /= 2; step > 0; step /= 2)
    if (is_tied_below(s, b + step - 1, word, key)) b += step;
  RS_ASSERT(b <= s->count);
  return b;
}

static void classify_wide(const splitters *s, const uint64_t *keys, size_t count, uint16_t *buckets)
{
  const size_t words = s->window.words;
  RS_ASSERT(words > 1 && count <= CLASSIFY_AT_ONCE);
  uint64_t each[CLASSIFY_AT_ONCE] = {0};
  for (size_t i = 0; i < count; i++)
    each[i] = word_of(&s->window, keys + i * words);
  classify_words(s, each, count, buckets);
  for (size_t i = 0; i < count; i++)
    if (s->splitter[buckets[i]] == each[i])
      buckets[i] = (uint16_t)tied_bucket(s, buckets[i], each[i], keys + i * words);
}

void rs_splitters_classify(const splitters *s, const void *keys, unsigned width, size_t count,
                           uint16_t *buckets)
{
  RS_ASSERT(width == 32 || width % 64 == 0);
  if (width > 64)
    classify_wide(s, keys, count, buckets);
  else if (width == 64)
    classify_words(s, keys, count, buckets);
#ifdef RS_HAS_AVX
  else if (__builtin_cpu_supports("avx2"))
    classify_32_avx2(s, keys, count, buckets);
#endif
  else
    classify_32(s, keys, count, buckets);
}
