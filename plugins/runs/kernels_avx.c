/* kernels_avx.c - the kernels with AVX, four pairs at a time.
 *
 * A pair is also a positive, normal double of the same order (pair.h). So one instruction each,
 * min and max of doubles, orders four pairs at a time, and all shuffles stay in the floating-point
 * domain.
 *
 *   exchange               a comparator of a sorting network
 *   step_front, step_back  a step of a chain that merges two runs: merges the next four pairs of
 *                          either run with the four kept back, writes four and keeps four back
 *                          (H. Inoue et al., "AA-sort", PACT 2007)
 *
 * A chain reads up to twelve pairs beyond those that it writes, so it is used only where both runs
 * go on for that long.
 */
#include "base/assert.h"
#include "runs/kernels.h"

#ifdef RS_HAS_AVX
#define AVX __attribute__((target("avx")))
#define AVX_INLINE __attribute__((target("avx"), always_inline)) static inline

typedef __m256d vec;

enum { LANES = 4, LOOKAHEAD = 12 };

AVX_INLINE vec load(const uint64_t *at)
{
  return _mm256_loadu_pd((const double *)(const void *)at);
}

AVX_INLINE void store_half(uint64_t *at, __m128d v)
{
  _mm_storeu_pd((double *)(void *)at, v);
}

AVX_INLINE vec reversed(vec v)
{
  return _mm256_permute_pd(_mm256_permute2f128_pd(v, v, 1), 5);
}

AVX_INLINE void exchange(vec *a, vec *b)
{
  const vec low = _mm256_min_pd(*a, *b);
  *b = _mm256_max_pd(*a, *b);
  *a = low;
}

/* Sorts two bitonic vectors independently: compares lanes two apart, then one apart, for both at
 * once. *p gets the lower halves of both, *q the upper ones: x0 x1 y0 y1 and x2 x3 y2 y3. */
AVX_INLINE void sort_halves(vec x, vec y, vec *p, vec *q)
{
  vec a = _mm256_permute2f128_pd(x, y, 0x20), b = _mm256_permute2f128_pd(x, y, 0x31);
  exchange(&a, &b);
  vec u = _mm256_unpacklo_pd(a, b), v = _mm256_unpackhi_pd(a, b);
  exchange(&u, &v);
  *p = _mm256_unpacklo_pd(u, v);
  *q = _mm256_unpackhi_pd(u, v);
}

/* ---- Chains ---- */

/* The state of a chain: the run that supplies the next four pairs, the other run, the pairs kept
 * back, and the output. */
typedef struct chain {
  const uint64_t *next;
  const uint64_t *other;
  uint64_t *out;
  vec kept;
} chain;

/* Exchanges the two runs if `yes`, without a branch, which would be unpredictable. (Compilers turn
 * a conditional expression into a branch.) */
static inline void swap_runs(chain *c, bool yes)
{
  const uintptr_t swap = ((uintptr_t)c->next ^ (uintptr_t)c->other) & -(uintptr_t)yes;
  c->next = (const uint64_t *)((uintptr_t)c->next ^ swap);
  c->other = (const uint64_t *)((uintptr_t)c->other ^ swap);
}

AVX_INLINE vec next_front(chain *c)
{
  const vec next = load(c->next);
  c->next += LANES;
  swap_runs(c, *c->other < *c->next);
  return next;
}

/* Takes the next four from the back; the runs' addresses are those of the last pairs not taken. */
AVX_INLINE vec next_back(chain *c)
{
  const vec next = load(c->next - (LANES - 1));
  c->next -= LANES;
  swap_runs(c, *c->next < *c->other);
  return next;
}

/* The pairs kept back are in reverse order, so that together with the next four they are
 * bitonic. */
AVX_INLINE void step_front(chain *c)
{
  vec low = next_front(c), high = c->kept, p, q;
  exchange(&low, &high);
  sort_halves(low, high, &p, &q);
  store_half(c->out, _mm256_castpd256_pd128(p));
  store_half(c->out + 2, _mm256_castpd256_pd128(q));
  c->out += LANES;
  c->kept = _mm256_permute_pd(_mm256_permute2f128_pd(q, p, 0x31), 5);
}

AVX_INLINE void step_back(chain *c)
{
  vec low = next_back(c), high = c->kept, p, q;
  exchange(&low, &high);
  sort_halves(low, high, &p, &q);
  store_half(c->out - 3, _mm256_extractf128_pd(p, 1));
  store_half(c->out - 1, _mm256_extractf128_pd(q, 1));
  c->out -= LANES;
  c->kept = _mm256_permute_pd(_mm256_permute2f128_pd(q, p, 0x20), 5);
}

AVX_INLINE chain front(const uint64_t *a, const uint64_t *b, uint64_t *out)
{
  chain c = {a, b, out, _mm256_setzero_pd()};
  swap_runs(&c, *b < *a);
  c.kept = reversed(next_front(&c));
  return c;
}

AVX_INLINE chain back(const uint64_t *a, const uint64_t *b, uint64_t *out)
{
  chain c = {a, b, out, _mm256_setzero_pd()};
  swap_runs(&c, *a < *b);
  c.kept = reversed(next_back(&c));
  return c;
}

/* Merges three quarters from the front and the last one from the back. The last may write up to
 * three pairs too many; these equal what the third has written there. */
AVX static void merge_quarters(run64 a, run64 b, const quarter_cuts *cuts, uint64_t *out)
{
  const size_t quarter = cuts->quarter, *const cut = cuts->a;
  const size_t rest = 3 * quarter - cut[3], count = a.count + b.count;
  RS_ASSERT(quarter % LANES == 0 && 4 * quarter <= count);
  RS_ASSERT(cut[0] == 0 && cut[3] <= a.count && rest <= b.count);
  if (cut[3] < LOOKAHEAD || rest < LOOKAHEAD || a.count - cut[3] < LOOKAHEAD ||
      b.count - rest < LOOKAHEAD) {
    rs_scalar_kernels.merge_quarters(a, b, cuts, out);
    return;
  }
  chain c0 = front(a.at, b.at, out);
  chain c1 = front(a.at + cut[1], b.at + quarter - cut[1], out + quarter);
  chain c2 = front(a.at + cut[2], b.at + 2 * quarter - cut[2], out + 2 * quarter);
  chain c3 = back(a.at + a.count - 1, b.at + b.count - 1, out + count - 1);
  for (size_t k = 0; k < quarter; k += LANES) {
    step_front(&c0);
    step_front(&c1);
    step_front(&c2);
    step_back(&c3);
  }
  for (size_t k = quarter; k < count - 3 * quarter; k += LANES)
    step_back(&c3);
}

const merge_kernels rs_avx_kernels = {"avx", merge_quarters};
#endif
