#include "patterns.h"

#include "support/random.h"

/* Maps position `i` of `count` to [0, end); only every third step differs, so that there are
 * ties. */
static uint64_t ramp(size_t i, size_t count, uint64_t end)
{
  return (uint64_t)((double)(i / 3 * 3) / (double)(count + 1) * (double)end);
}

/* Repeats an eighth of the ranks, so that there are ties. */
static void repeat_some(uint64_t *ranks, size_t count, uint64_t *random)
{
  for (size_t i = 1; i < count; i += 8)
    ranks[i] = ranks[random_below(random, i)];
}

static void sorted(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random)
{
  (void)random;
  for (size_t i = 0; i < count; i++)
    ranks[i] = ramp(i, count, end);
}

static void reversed(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random)
{
  (void)random;
  for (size_t i = 0; i < count; i++)
    ranks[i] = ramp(count - 1 - i, count, end);
}

static void uniform(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random)
{
  for (size_t i = 0; i < count; i++)
    ranks[i] = random_below(random, end);
  repeat_some(ranks, count, random);
}

static void saws(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random)
{
  const size_t tooth = (size_t)random_below(random, count / 4 + 1) + 2;
  for (size_t i = 0; i < count; i++)
    ranks[i] = ramp(i % tooth, tooth, end);
}

static void organ_pipe(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random)
{
  (void)random;
  for (size_t i = 0; i < count; i++)
    ranks[i] = ramp(i < count / 2 ? i : count - 1 - i, count / 2 + 1, end);
}

static void few_values(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random)
{
  for (size_t i = 0; i < count; i++)
    ranks[i] = random_below(random, 5) * (end / 5);
}

static void all_equal(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random)
{
  const uint64_t rank = random_below(random, end);
  for (size_t i = 0; i < count; i++)
    ranks[i] = rank;
}

/* Rank r about as often as 1 / r. */
static void zipf(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random)
{
  for (size_t i = 0; i < count; i++) {
    const uint64_t scale = UINT64_C(1) << random_below(random, 21);
    ranks[i] = random_below(random, scale) % end;
  }
  repeat_some(ranks, count, random);
}

static void swap_some(uint64_t *ranks, size_t count, size_t swaps, uint64_t *random)
{
  for (size_t s = 0; s < swaps && count > 0; s++) {
    const size_t a = (size_t)random_below(random, count), b = (size_t)random_below(random, count);
    const uint64_t rank = ranks[a];
    ranks[a] = ranks[b];
    ranks[b] = rank;
  }
}

static void nearly_sorted(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random)
{
  sorted(ranks, count, end, random);
  swap_some(ranks, count, count / 100 + 1, random);
}

static void nearly_reversed(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random)
{
  reversed(ranks, count, end, random);
  swap_some(ranks, count, count / 100 + 1, random);
}

/* Each rank is a little off its place. */
static void sorted_noise(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random)
{
  sorted(ranks, count, end, random);
  for (size_t i = 0; i < count; i++)
    if (random_below(random, 6) == 0)
      ranks[i] = (ranks[i] + random_below(random, end / 64 + 1)) % end;
}

/* Sorted, except for an appended tail. */
static void sorted_tail(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random)
{
  sorted(ranks, count, end, random);
  for (size_t i = count - count / 16; i < count; i++)
    ranks[i] = random_below(random, end);
}

/* Sorted, but rotated, as in a ring buffer. */
static void sorted_ring(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random)
{
  const size_t first = (size_t)random_below(random, count + 1);
  for (size_t i = 0; i < count; i++)
    ranks[i] = ramp((i + first) % count, count, end);
}

/* Long runs of equal keys, in no order: longer than a block when there are many records. */
static void long_ties(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random)
{
  for (size_t i = 0; i < count;) {
    const uint64_t rank = random_below(random, 3) * (end / 3);
    for (size_t left = count / 4 + 1; left > 0 && i < count; left--)
      ranks[i++] = rank;
  }
}

/* Nearly all have the same rank, so that the first bits leave a long run of ties. */
static void one_common(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random)
{
  const uint64_t common = random_below(random, end / 64 + 1) * 64;
  for (size_t i = 0; i < count; i++)
    ranks[i] =
        (random_below(random, 10) ? common + random_below(random, 64) : next_random(random)) % end;
  repeat_some(ranks, count, random);
}

const pattern patterns[] = {{"sorted", sorted},
                            {"reversed", reversed},
                            {"uniform", uniform},
                            {"saws", saws},
                            {"organ pipe", organ_pipe},
                            {"few values", few_values},
                            {"all equal", all_equal},
                            {"zipf", zipf},
                            {"nearly sorted", nearly_sorted},
                            {"nearly reversed", nearly_reversed},
                            {"sorted with noise", sorted_noise},
                            {"sorted with a tail", sorted_tail},
                            {"sorted ring", sorted_ring},
                            {"long ties", long_ties},
                            {"one common prefix", one_common}};
const size_t pattern_count = sizeof patterns / sizeof *patterns;
