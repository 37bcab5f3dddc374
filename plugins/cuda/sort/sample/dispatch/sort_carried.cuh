/* sort_carried.cuh - sorts very many pairs: codes by the carry sort, whose values are their
 * indices.
 */
#ifndef RECSORT_CUDA_SAMPLE_SORT_CARRIED_CUH
#define RECSORT_CUDA_SAMPLE_SORT_CARRIED_CUH

#include "cuda/sort/carry/pair_sorts.cuh"

namespace sample
{

/* A sort as in sorts.cuh, of wide pairs. One side and `extra` are its memory, and the result is in
 * the other one. */
template <class Pair> struct carried_sort {
  using sorted = carry::pair_sort<key_of<Pair>, index_of<Pair>>;
  static constexpr bool reads_words = false, certifies = true;
  static constexpr bool by_words = sizeof(key_of<Pair>) <= sizeof(uint64_t);
  using records = carry::record_sort<std::conditional_t<by_words, key_of<Pair>, uint64_t>>;

  static bool suits(const device_job *job)
  {
    carry_plan plan;
    return sorted::plan(&plan, job->count, job->shared_bytes, false);
  }

  /* See device_skills.stages. */
  static bool stages(const device_job *job)
  {
    carry_plan plan = {};
    return by_words && sorted::plan(&plan, job->count, job->shared_bytes, false) &&
           records::suits(plan, *job);
  }

  static uint64_t extra_bytes(const device_job *job)
  {
    carry_plan plan = {};
    (void)sorted::plan(&plan, job->count, job->shared_bytes, false);
    return sorted::bytes(plan, true, true);
  }

  static unsigned side(const device_job *)
  {
    return 1;
  }

  static device_status sort(const device_job *job, const device_buffers *buffers, unsigned *result)
  {
    carry_plan plan = {};
    (void)sorted::plan(&plan, job->count, job->shared_bytes, false);
    *result = 1;
    if constexpr (by_words) {
      if (job->move) return records::sort(plan, *job, *buffers);
    }
    return sorted::sort(plan, pairs_of(job, buffers), job->multiprocessors,
                        {buffers->keys[0], buffers->indices[0], buffers->extra}, job->certificate);
  }

private:
  /* Keys that are codes; their positions are their values. */
  static device_pairs pairs_of(const device_job *job, const device_buffers *buffers)
  {
    device_pairs pairs = {};
    pairs.stream = job->stream;
    pairs.count = job->count;
    pairs.kind = RECSORT_KEY_UNSIGNED;
    pairs.key_width = pairs.bits = job->key_width;
    pairs.value_width = job->index_bits;
    pairs.keys_in = device_input(buffers);
    pairs.keys_out = buffers->keys[1];
    pairs.values_out = buffers->indices[1];
    return pairs;
  }
};

} // namespace sample

#endif
