/* few_words.c - by ranks: a word's rank is the number of words that are less. Each is compared with
 * all others, many at once, with vectors that compilers make of any processor's.
 */
#include "cpu/few_words.h"

#include <string.h>

typedef int16_t lanes __attribute__((vector_size(32)));

enum { LANES = sizeof(lanes) / sizeof(int16_t), AT_ONCE = 4, DIGIT_BITS = 16 };

_Static_assert(FEW_WORDS <= 1 << 8 && FEW_WORDS % (AT_ONCE * LANES) == 0,
               "whole vectors, places of 8 bits");

void rs_few_words_sort(uint32_t *words, size_t count)
{
  lanes digits[FEW_WORDS / LANES], ranks[FEW_WORDS / LANES];
  int16_t *const digit = (int16_t *)(void *)digits;
  const int16_t *const rank = (const int16_t *)(const void *)ranks;
  uint32_t from[FEW_WORDS], all = 1;
  uint8_t next[FEW_WORDS];
  for (size_t i = 0; i < count; i++)
    all |= words[i];
  const unsigned bits = 32 - (unsigned)__builtin_clz(all);
  const unsigned low = bits > DIGIT_BITS ? bits - DIGIT_BITS : 0;
  for (size_t i = 0; i < count; i++)
    digit[i] = (int16_t)(words[i] >> low ^ 0x8000);
  for (size_t i = count; i % (AT_ONCE * LANES) > 0; i++)
    digit[i] = 0;
  for (size_t i = 0; i < count; i += AT_ONCE * LANES) {
    lanes below[AT_ONCE] = {{0}};
    for (size_t j = 0; j < count; j++)
      for (size_t v = 0; v < AT_ONCE; v++)
        below[v] -= digit[j] < digits[i / LANES + v];
    memcpy(ranks + i / LANES, below, sizeof below);
  }
  for (size_t i = 0; i < count; i++)
    next[i] = (uint8_t)i;
  memcpy(from, words, count * sizeof *words);
  for (size_t i = 0; i < count; i++)
    words[next[rank[i]]++] = from[i];
}
