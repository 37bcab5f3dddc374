#include "cpu/splitters.h"

#include <string.h>

#include "base/avx.h"
#include "base/bits.h"

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

/* Moves the splitters of a cell to its end if it has few words, so that words of most cells need no
 * comparison. With what comes before the cell, a bucket may have what is due to 2.5, by the sample.
 */
static void round_up(splitters *s, const uint64_t *sample, size_t count)
{
  enum { FEW = SAMPLES_A_BUCKET * 3 / 2 };
  const size_t samples = (count + 1) * SAMPLES_A_BUCKET;
  for (size_t i = 0, begin = 0, end; begin < samples; begin = end) {
    const size_t cell = cell_of(s, sample[begin]);
    for (end = begin + 1; end < samples && cell_of(s, sample[end]) == cell;)
      end++;
    for (; i < count && (i + 1) * SAMPLES_A_BUCKET < end; i++)
      if (end - begin < FEW) s->splitter[i] = cell_end(s, cell);
  }
}

/* Fills in the table, and finds how many splitters a word must be compared with at most. */
static void fill_cells(splitters *s, size_t count)
{
  size_t i = 0, most = 0;
  for (size_t cell = 0; cell < s->cells; cell++) {
    const size_t first = i;
    s->below[cell] = (uint16_t)i;
    while (i < count && s->splitter[i] < cell_end(s, cell))
      i++;
    if (i - first > most) most = i - first;
    while (i < count && s->splitter[i] == cell_end(s, cell))
      i++;
  }
  s->below[s->cells] = (uint16_t)count;
  s->steps = bits_of(most);
}

void rs_splitters_make(splitters *made, const uint64_t *sample, size_t buckets, unsigned index_bits)
{
  const size_t count = buckets - 1;
  for (size_t i = 0; i < 2 * buckets; i++)
    made->splitter[i] = i < count ? sample[(i + 1) * SAMPLES_A_BUCKET] : UINT64_MAX;
  made->low = made->splitter[0] >> index_bits << index_bits;
  made->index_bits = index_bits;
  made->cells = (uint32_t)(buckets * CELLS_A_BUCKET);
  made->below = (uint16_t *)(void *)(made->splitter + 2 * buckets);
  const unsigned bits = bits_of(made->splitter[count - 1] - made->low);
  const unsigned cell_bits = bits_of(made->cells - 1);
  made->shift = bits > cell_bits ? bits - cell_bits : 0;
  round_up(made, sample, count);
  fill_cells(made, count);
}

/* Each loop is over all words, so that the processor works on several at once. A comparison is a
 * number, as compilers made a branch of a choice. */
void rs_splitters_classify(const splitters *s, const uint64_t *words, size_t count,
                           uint16_t *buckets)
{
  for (size_t i = 0; i < count; i++)
    buckets[i] = s->below[cell_of(s, words[i])];
  for (unsigned step = s->steps; step-- > 0;)
    for (size_t i = 0; i < count; i++) {
      const size_t next = buckets[i] + ((size_t)1 << step);
      buckets[i] = (uint16_t)(buckets[i] + ((s->splitter[next - 1] < words[i]) << step));
    }
}

__attribute__((always_inline)) static inline void
classify_keys(const splitters *s, const void *keys, size_t count, uint16_t *buckets)
{
  const uint32_t low = (uint32_t)(s->low >> s->index_bits);
  const unsigned shift = s->shift - s->index_bits;
  uint32_t cells[CLASSIFY_AT_ONCE];
  for (size_t i = 0; i < count; i++) {
    uint32_t key;
    memcpy(&key, (const char *)keys + i * sizeof key, sizeof key);
    const uint32_t cell = ((key > low ? key : low) - low) >> shift;
    cells[i] = cell < s->cells ? cell : s->cells;
  }
  for (size_t i = 0; i < count; i++)
    buckets[i] = s->below[cells[i]];
}

#ifdef RS_HAS_AVX
/* Comparisons of unsigned numbers and wider vectors. */
__attribute__((target("avx2"))) static void classify_keys_avx2(const splitters *s, const void *keys,
                                                               size_t count, uint16_t *buckets)
{
  classify_keys(s, keys, count, buckets);
}
#endif

void rs_splitters_classify_keys(const splitters *s, const void *keys, size_t count,
                                uint16_t *buckets)
{
#ifdef RS_HAS_AVX
  if (__builtin_cpu_supports("avx2")) {
    classify_keys_avx2(s, keys, count, buckets);
    return;
  }
#endif
  classify_keys(s, keys, count, buckets);
}
