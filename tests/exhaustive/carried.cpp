/* carried.cpp - see carried.h. */
#include "exhaustive/carried.h"

#include "cuda/sort/carry/pair_sorts.cuh"

namespace
{

using namespace carry;

template <class Key_, class Value_> struct element {
  using Key = Key_;
  using Value = Value_;
  using sorted = pair_sort<Key, Value>;
};

/* Calls work(element) with the types of the job. */
template <class Work> auto with_element(const device_pairs *job, const Work &work)
{
  return with_key(job->key_width, [&](auto key) {
    using Key = decltype(key);
    if (!job->values_out) return work(element<Key, no_value>());
    return with_key(job->value_width,
                    [&](auto value) { return work(element<Key, decltype(value)>()); });
  });
}

template <class Element>
bool make_plan(Element by, carry_plan *made, const device_pairs &job, const device_job &on,
               const carried_plan &asked)
{
  using Key = typename Element::Key;
  using sorted = typename Element::sorted;
  (void)by;
  if (job.segments.count ? !sorted::plan_segments(made, job, on.shared_bytes)
                         : !sorted::plan(made, job.count, on.shared_bytes, compares_all(job)))
    return false;
  made->levels = asked.levels;
  made->buckets[0] = made->buckets[1] = asked.buckets;
  if (!carry_set_sizes(made, on.shared_bytes, element_bytes<Key, typename Element::Value>,
                       sizeof(Key)))
    return false;
  if (asked.apart) made->joined = 1;
  return true;
}

} // namespace

uint64_t carried_bytes(const device_pairs *job, const device_job *on, const carried_plan *plan)
{
  return with_element(job, [&](auto by) -> uint64_t {
    carry_plan made = {};
    return make_plan(by, &made, *job, *on, *plan)
               ? decltype(by)::sorted::bytes(made, job->keys_out != NULL, false)
               : 0;
  });
}

device_status carried_sort(const device_pairs *job, const device_job *on, const carried_plan *plan,
                           void *memory)
{
  return with_element(job, [&](auto by) {
    carry_plan made = {};
    (void)make_plan(by, &made, *job, *on, *plan);
    return decltype(by)::sorted::sort(made, *job, on->multiprocessors, {NULL, NULL, memory},
                                      on->certificate);
  });
}
