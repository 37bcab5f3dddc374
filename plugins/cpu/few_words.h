/* few_words.h - sorts a few hundred words of 32 bits without tables, and with no branch on them. */
#ifndef RECSORT_CPU_FEW_WORDS_H
#define RECSORT_CPU_FEW_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/avx.h"

enum { FEW_WORDS = 256 };

/* Sorts `count` words, from 1 to FEW_WORDS, in place and stably, by at least the upper 16 of
 * the bits that the largest word has. */
void rs_few_words_sort(uint32_t *words, size_t count);

/* The same by all bits, with AVX2. Takes as long as for the next power of two, from 64 on. */
void rs_few_words_sort_avx2(uint32_t *words, size_t count);

#endif
