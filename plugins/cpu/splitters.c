#include "cpu/splitters.h"

#include <stdbool.h>

#include "base/bits.h"

/* The number of a cell between the first and the last splitter. */
static size_t cell_of(const splitters *s, uint64_t word)
{
  return (size_t)((word - s->low) >> s->shift);
}

/* The last word of a cell. */
static uint64_t cell_end(const splitters *s, size_t cell)
{
  const uint64_t last = ((uint64_t)cell << s->shift) | ((UINT64_C(1) << s->shift) - 1);
  return last > UINT64_MAX - s->low ? UINT64_MAX : s->low + last;
}

/* Moves splitter `i` to the end of its cell if that is less than a bucket away. So a bucket may
 * have what is due to two, and words of most cells need no comparison. */
static void round_up(splitters *s, const uint64_t *sample, size_t i)
{
  const uint64_t *const at = sample + (i + 1) * SAMPLES_A_BUCKET;
  const size_t cell = cell_of(s, *at);
  const uint64_t before = at[1 - SAMPLES_A_BUCKET], after = at[SAMPLES_A_BUCKET - 1];
  const bool begins = before < s->low || cell_of(s, before) < cell;
  if (begins && after > cell_end(s, cell)) s->splitter[i] = cell_end(s, cell);
}

/* Fills in the table, and finds how many splitters a word must be compared with at most. */
static void fill_cells(splitters *s, size_t count)
{
  size_t i = 0, most = 0;
  s->below[0] = 0;
  for (size_t cell = 0; cell < CELLS; cell++) {
    const size_t first = i;
    s->below[cell + 1] = (uint16_t)i;
    while (i < count && s->splitter[i] < cell_end(s, cell))
      i++;
    if (i - first > most) most = i - first;
    while (i < count && s->splitter[i] == cell_end(s, cell))
      i++;
  }
  s->below[CELLS + 1] = (uint16_t)count;
  s->steps = bits_of(most);
}

void rs_splitters_make(splitters *made, const uint64_t *sample, size_t buckets)
{
  const size_t count = buckets - 1;
  for (size_t i = 0; i < 2 * MOST_BUCKETS; i++)
    made->splitter[i] = i < count ? sample[(i + 1) * SAMPLES_A_BUCKET] : UINT64_MAX;
  const unsigned bits = bits_of(made->splitter[count - 1] - made->splitter[0]);
  const unsigned cell_bits = bits_of(CELLS - 1);
  made->low = made->splitter[0];
  made->shift = bits > cell_bits ? bits - cell_bits : 0;
  for (size_t i = 0; i < count; i++)
    round_up(made, sample, i);
  fill_cells(made, count);
}

/* Each loop is over all words, so that the processor works on several at once. A comparison is a
 * number, as compilers made a branch of a choice. */
void rs_splitters_classify(const splitters *s, const uint64_t *words, size_t count,
                           uint16_t *buckets)
{
  for (size_t i = 0; i < count; i++) {
    const uint64_t inside = (words[i] - s->low) >> s->shift;
    const size_t cell = words[i] < s->low ? 0 : inside < CELLS ? inside + 1 : CELLS + 1;
    buckets[i] = s->below[cell];
  }
  for (unsigned step = s->steps; step-- > 0;)
    for (size_t i = 0; i < count; i++) {
      const size_t next = buckets[i] + ((size_t)1 << step);
      buckets[i] = (uint16_t)(buckets[i] + ((s->splitter[next - 1] < words[i]) << step));
    }
}
