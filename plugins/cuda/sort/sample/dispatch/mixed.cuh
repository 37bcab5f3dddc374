/* mixed.cuh - sorts keys in no order: chooses the sort by their number and width. */
#ifndef RECSORT_CUDA_SAMPLE_MIXED_CUH
#define RECSORT_CUDA_SAMPLE_MIXED_CUH

#include "cuda/sort/sample/dispatch/sorts.cuh"

namespace sample
{

struct chosen_sort {
  uint64_t (*extra_bytes)(const device_job *job);
  unsigned (*side)(const device_job *job);
  device_status (*sort)(const device_job *job, const device_buffers *buffers, void *extra,
                        unsigned *result);
};

template <class Sort> static chosen_sort chosen_sort_of()
{
  return {Sort::extra_bytes, Sort::side, Sort::sort};
}

/* The sort of a job with the key and index of `Pair`, a wide one. Few pairs are never packed, and
 * many are if they fit; if that is not known before, `form` is EITHER. */
template <class Pair, pair_form form = form_of<Pair>>
static chosen_sort choose_sort(const device_job *job)
{
  if (sample_is_small(job)) return chosen_sort_of<small_sort<Pair>>();
  if constexpr (form == ALWAYS_PACKED) return chosen_sort_of<many_sort<packed_pair>>();
  if constexpr (form == EITHER)
    if (plan_packs(job)) return chosen_sort_of<many_sort<packed_pair>>();
  if constexpr (form != ALWAYS_PACKED) return chosen_sort_of<many_sort<Pair>>();
}

template <class Pair, pair_form form = form_of<Pair>>
static device_status sort_mixed(const device_job *job, const device_buffers *buffers,
                                unsigned *result)
{
  return choose_sort<Pair, form>(job).sort(job, buffers, buffers->extra, result);
}

} // namespace sample

#endif
