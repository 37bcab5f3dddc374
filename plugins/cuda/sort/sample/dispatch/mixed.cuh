/* mixed.cuh - sorts keys in no order: chooses the sort by their number and width. */
#ifndef RECSORT_CUDA_SAMPLE_MIXED_CUH
#define RECSORT_CUDA_SAMPLE_MIXED_CUH

#include "cuda/merge/pair_sort.cuh"
#include "cuda/sort/sample/dispatch/sort_carried.cuh"
#include "cuda/sort/sample/dispatch/sorts.cuh"

/* Very many, which are carried: more than there is memory for padded buckets, or than this. */
#ifndef SAMPLE_MOST_PADDED
#define SAMPLE_MOST_PADDED UINT64_MAX
#endif

namespace sample
{

struct chosen_sort {
  bool reads_words; /* if keys have 32 bits */
  bool certifies;
  bool (*stages)(const device_job *job);
  uint64_t (*extra_bytes)(const device_job *job);
  unsigned (*side)(const device_job *job);
  device_sort *sort;
};

template <class Sort> static chosen_sort chosen_sort_of()
{
  return {Sort::reads_words, Sort::certifies, Sort::stages,
          Sort::extra_bytes, Sort::side,      Sort::sort};
}

/* The merge sort, for more pairs than other sorts take. */
template <class Key, class Pair> struct many_merged : merge::pair_sort<Key, Pair> {
  static constexpr bool reads_words = false, certifies = false;
  static bool stages(const device_job *)
  {
    return false;
  }
  static unsigned side(const device_job *)
  {
    return 0; /* or 1: only a look for keys in order asks, and it takes fewer keys */
  }
};

/* The sort of many pairs with the key and index of `Pair`, a wide one. They are packed if they fit;
 * if that is not known before, `form` is EITHER. Very many are not: their indices move as values
 * do.
 */
template <class Pair, pair_form form = form_of<Pair>>
static chosen_sort choose_many(const device_job *job)
{
  return with_form<Pair, form>(job, [&](auto pair) {
    using many = decltype(pair);
    if (job->count <= SAMPLE_MOST_PADDED && many_sort<many>::suits(job))
      return chosen_sort_of<many_sort<many>>();
    if (carried_sort<Pair>::suits(job)) return chosen_sort_of<carried_sort<Pair>>();
    return chosen_sort_of<many_merged<key_of<Pair>, many>>();
  });
}

/* The sort of any number of pairs. Few are never packed. */
template <class Pair, pair_form form = form_of<Pair>>
static chosen_sort choose_sort(const device_job *job)
{
  if (sample_is_small(job)) return chosen_sort_of<small_sort<Pair>>();
  return choose_many<Pair, form>(job);
}

template <class Pair, pair_form form = form_of<Pair>>
static device_status sort_mixed(const device_job *job, const device_buffers *buffers,
                                unsigned *result)
{
  return choose_sort<Pair, form>(job).sort(job, buffers, result);
}

} // namespace sample

#endif
