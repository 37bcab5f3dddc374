/* few_words.h - sorts up to a few thousand words of 32 bits without tables, and with no branch on
 * them. Needs AVX2. */
#ifndef RECSORT_CPU_FEW_WORDS_H
#define RECSORT_CPU_FEW_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/avx.h"

enum { FEW_WORDS = 1 << 12 };

/* Sorts `count` words, from 1 to FEW_WORDS, in place. Takes as long as for the next multiple of 64.
 * No word may be UINT32_MAX, as that is what fills up rows. */
void rs_few_words_sort(uint32_t *words, size_t count);

#endif
