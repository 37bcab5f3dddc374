/* device_pairs.cu - see gpu/device_pairs.h. */
#include "cuda/pairs/settle_few.cuh"

/* Calls start(key, code) with values of the types that have these widths. A code is not wider than
 * its key. */
template <class Start>
static device_status with_types(uint32_t key_width, uint32_t code_width, Start start)
{
  return with_key(key_width, [&](auto key) {
    return with_key(code_width, [&](auto code) {
      if constexpr (sizeof code < sizeof key)
        return start(key, code);
      else
        return start(key, key);
    });
  });
}

device_status device_pairs_encode(const device_pairs *job, void *codes, uint32_t code_width,
                                  uint32_t *differ)
{
  return with_types(job->key_width, code_width, [&](auto key, auto code) {
    return pairs::start_encode<decltype(key), decltype(code)>(job, codes, differ);
  });
}

bool device_pairs_reads_keys(const device_pairs *job)
{
  return pairs::reads_keys(job);
}

bool device_pairs_are_codes(const device_pairs *job)
{
  return pairs::are_codes(job);
}

device_status device_pairs_finish(const device_pairs *job, const device_pairs_sorted *sorted)
{
  return with_types(job->key_width, sorted->code_width, [&](auto key, auto code) {
    return pairs::start_finish<decltype(key), decltype(code), pairs::values_by_width>(job, sorted);
  });
}

device_status device_pairs_sort_few(const device_pairs *job, const device_job *sort, void *memory,
                                    uint64_t *hashes, uint32_t *status)
{
  RS_ASSERT(sort->key_width == job->key_width);
  return with_key(job->key_width, [&](auto key) {
    using Key = decltype(key);
    uint64_t bytes;
    auto runs = pairs::divide_few<Key>(sort, pairs::reads_keys(job), job->value_width / 8,
                                       (char *)memory, &bytes);
    runs.hashes = status ? hashes : NULL;
    const device_status started =
        pairs::start_few<Key, pairs::values_by_width>(sort, job, runs, job->count);
    if (started || !status) return started;
    return pairs::start_settle_few<Key, pairs::values_by_width>(sort, job, runs, status);
  });
}
