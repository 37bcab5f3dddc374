/* few_words.c - by sorting networks, eight words at a time.
 *
 * Eight rows of eight words are sorted in registers. A network sorts the columns. Then sorted
 * columns are merged: 1 with 1, 2 with 2, and 4 with 4. At last eight rows are merged with eight,
 * 16 with 16, and so on.
 *
 * Each merge compares the first word of one half with the last one of the other, the second one
 * with the last but one, and so on: what is less goes to the upper rows, and what is greater to the
 * lower ones. Both are again halved and compared like this, until only words of the same row are
 * left to compare (the bitonic sorter of K. Batcher, AFIPS 1968; J. Wassenberg et al., "Vectorized
 * and performance-portable Quicksort", 2022, merge columns by it).
 */
#include "cpu/few_words.h"

#ifdef RS_HAS_AVX
#include <string.h>

#include "base/assert.h"

#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE __attribute__((target("avx2"), always_inline)) static inline

typedef __m256i row;

enum { WIDTH = sizeof(row) / sizeof(uint32_t), ROWS = 8 /* that registers hold */ };

AVX2_INLINE void exchange(row *a, row *b)
{
  const row least = _mm256_min_epu32(*a, *b);
  *b = _mm256_max_epu32(*a, *b);
  *a = least;
}

/* Each 2, 4 or 8 words in reverse order. */
AVX2_INLINE row reversed_2(row v)
{
  return _mm256_shuffle_epi32(v, 0xb1);
}

AVX2_INLINE row reversed_4(row v)
{
  return _mm256_shuffle_epi32(v, 0x1b);
}

AVX2_INLINE row reversed_8(row v)
{
  return _mm256_permute4x64_epi64(reversed_4(v), 0x4e);
}

/* Sorts each 2, 4 or 8 words that are bitonic: compares those of two halves, then of quarters, and
 * then of eighths. Of `other`, each word is the one that it is to be compared with. */
AVX2_INLINE void within_2(row *v, row other)
{
  *v = _mm256_blend_epi32(_mm256_min_epu32(*v, other), _mm256_max_epu32(*v, other), 0xaa);
}

AVX2_INLINE void within_4(row *v, row other)
{
  *v = _mm256_blend_epi32(_mm256_min_epu32(*v, other), _mm256_max_epu32(*v, other), 0xcc);
  within_2(v, reversed_2(*v));
}

AVX2_INLINE void within_8(row *v, row other)
{
  *v = _mm256_blend_epi32(_mm256_min_epu32(*v, other), _mm256_max_epu32(*v, other), 0xf0);
  within_4(v, _mm256_shuffle_epi32(*v, 0x4e));
}

AVX2_INLINE void sort_row(row *v)
{
  within_2(v, reversed_2(*v));
  within_4(v, reversed_4(*v));
  within_8(v, reversed_8(*v));
}

/* The optimal network of 19 comparators for 8 elements (Knuth, vol. 3, sect. 5.3.4). Written out,
 * not looped over, so that compilers keep the elements in registers. */
#define NETWORK_OF_EIGHT(C)                                                                        \
  C(0, 2)                                                                                          \
  C(1, 3)                                                                                          \
  C(4, 6)                                                                                          \
  C(5, 7)                                                                                          \
  C(0, 4)                                                                                          \
  C(1, 5)                                                                                          \
  C(2, 6)                                                                                          \
  C(3, 7) C(0, 1) C(2, 3) C(4, 5) C(6, 7) C(2, 4) C(3, 5) C(1, 4) C(3, 6) C(1, 2) C(3, 4) C(5, 6)

/* The rows have names because compilers would put an array of them on the stack. */
#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define LOAD(i) row v##i = rows[i];
#define STORE(i) rows[i] = v##i;
#define EXCHANGE(i, j) exchange(&v##i, &v##j);

/* The steps of a merge of columns between rows; and after them those within a row. */
#define FLIP(i, j, width)                                                                          \
  v##j = reversed_##width(v##j);                                                                   \
  EXCHANGE(i, j)
#define MERGE_COLUMNS(width)                                                                       \
  FLIP(0, 7, width)                                                                                \
  FLIP(1, 6, width)                                                                                \
  FLIP(2, 5, width)                                                                                \
  FLIP(3, 4, width)                                                                                \
  FLIP(0, 3, width)                                                                                \
  FLIP(1, 2, width)                                                                                \
  FLIP(4, 7, width)                                                                                \
  FLIP(5, 6, width)                                                                                \
  FLIP(0, 1, width) FLIP(2, 3, width) FLIP(4, 5, width) FLIP(6, 7, width) EACH_ROW(WITHIN_##width)
#define WITHIN_2(i) within_2(&v##i, reversed_2(v##i));
#define WITHIN_4(i) within_4(&v##i, reversed_4(v##i));
#define WITHIN_8(i) within_8(&v##i, reversed_8(v##i));
#define HALVES_OF_8(i) within_8(&v##i, _mm256_permute4x64_epi64(v##i, 0x4e));

/* Sorts ROWS rows. */
AVX2 static void sort_rows(row *rows)
{
  EACH_ROW(LOAD)
  NETWORK_OF_EIGHT(EXCHANGE)
  MERGE_COLUMNS(2)
  MERGE_COLUMNS(4)
  MERGE_COLUMNS(8)
  EACH_ROW(STORE)
}

/* Compares the halves of bitonic rows, then of quarters, and then of eighths. */
#define HALVES(C)                                                                                  \
  C(0, 4) C(1, 5) C(2, 6) C(3, 7) C(0, 2) C(1, 3) C(4, 6) C(5, 7) C(0, 1) C(2, 3) C(4, 5) C(6, 7)

/* Sorts ROWS rows that are bitonic. */
AVX2 static void sort_bitonic_rows(row *rows)
{
  EACH_ROW(LOAD);
  HALVES(EXCHANGE);
  EACH_ROW(HALVES_OF_8);
  EACH_ROW(STORE);
}

/* Merges `half` sorted rows and the sorted ones behind them, which are no more; both are multiples
 * of ROWS. The network is the one for 2 * half rows. Rows that are not there would hold what is
 * greater than all words, and no comparison moves that. The greater rows stay reversed: what is
 * bitonic is so from either end. */
AVX2 static void merge_rows(row *rows, size_t half, size_t all)
{
  size_t apart = half / 2;
  RS_ASSERT(half % ROWS == 0 && all % ROWS == 0 && half < all && all <= 2 * half);
  for (size_t i = 0; i < all - half; i++) {
    rows[half + i] = reversed_8(rows[half + i]);
    exchange(rows + half - 1 - i, rows + half + i);
  }
  for (; apart >= 2 * ROWS && 2 * half == all; apart /= 4) /* two steps with one look at memory */
    for (size_t i = 0; i < all; i += 2 * apart)
      for (row *r = rows + i; r < rows + i + apart / 2; r++) {
        row a = r[0], b = r[apart / 2], c = r[apart], d = r[apart + apart / 2];
        exchange(&a, &c);
        exchange(&b, &d);
        exchange(&a, &b);
        exchange(&c, &d);
        r[0] = a, r[apart / 2] = b, r[apart] = c, r[apart + apart / 2] = d;
      }
  for (; apart >= ROWS; apart /= 2)
    for (size_t i = 0; i < all; i += 2 * apart)
      for (size_t j = i; j < i + apart && j + apart < all; j++)
        exchange(rows + j, rows + j + apart);
  for (size_t i = 0; i < all; i += ROWS)
    sort_bitonic_rows(rows + i);
}

AVX2 void rs_few_words_sort(uint32_t *words, size_t count)
{
  row rows[FEW_WORDS / WIDTH];
  const size_t some = (count + WIDTH - 1) / WIDTH,
               all = some > 1 ? (some + ROWS - 1) / ROWS * ROWS : 1;
  RS_ASSERT(count > 0 && all * WIDTH <= FEW_WORDS);
  memset(rows + count / WIDTH, 0xff, (all - count / WIDTH) * sizeof *rows);
  memcpy(rows, words, count * sizeof *words);
  if (all == 1)
    sort_row(rows);
  else
    for (size_t i = 0; i < all; i += ROWS)
      sort_rows(rows + i);
  for (size_t half = ROWS; half < all; half *= 2)
    for (size_t i = 0; i + half < all; i += 2 * half)
      merge_rows(rows + i, half, all - i < 2 * half ? all - i : 2 * half);
  memcpy(words, rows, count * sizeof *words);
  RS_ASSERT(words[0] <= words[count - 1]);
}
#endif
