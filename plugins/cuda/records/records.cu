/* records.cu - the functions of records.h. */
#include "gpu/records.h"

#include "cuda/records/check.cuh"
#include "cuda/records/conclude.cuh"
#include "cuda/records/confirm.cuh"
#include "cuda/records/encode.cuh"
#include "cuda/records/encode_in_segments.cuh"
#include "cuda/records/gather.cuh"
#include "cuda/records/settle.cuh"

device_status records_begin(records_facts *facts, void *stream)
{
  return device_clear(facts, sizeof *facts, stream);
}

device_status records_end(const records_facts *facts, records_facts *found, void *stream)
{
  return device_read(found, facts, sizeof *found, stream);
}

device_status records_encode(const records_program *program, const void *records, uint64_t count,
                             void *keys, bool summed, records_facts *facts, void *stream)
{
  return records::with_computed(program, [&](auto computed) {
    return summed ? records::start_encode_summed<computed>(program, records, count, keys, facts,
                                                           stream)
                  : records::start_encode<computed>(program, records, count, keys, facts, stream);
  });
}

device_status records_encode_certified(const records_program *program, const void *records,
                                       uint64_t count, void *keys, records_facts *facts,
                                       const device_certificate *certificate, void *stream)
{
  return records::with_computed(program, [&](auto computed) {
    return records::start_encode<computed>(program, records, count, keys, facts, stream,
                                           *certificate);
  });
}

bool records_words(const records_program *program, const void *records, device_words *words)
{
  return records::words_of(program, records, words);
}

device_status records_encode_segments(const records_program *program, const void *records,
                                      uint64_t count, const device_segments *segments,
                                      uint32_t key_bits, void *keys, records_facts *facts,
                                      const device_certificate *certificate, void *stream)
{
  return records::with_computed(program, [&](auto computed) {
    return records::start_encode_in_segments<computed>(program, records, count, segments, key_bits,
                                                       keys, facts, stream, *certificate);
  });
}

device_status records_conclude(const records_facts *facts, const device_certificate *certificate,
                               const uint32_t *unchanged, uint32_t *status, void *stream)
{
  return records::start_conclude(facts, *certificate, unchanged, status, stream);
}

device_status records_settle(const records_program *program, const void *records,
                             const records_order *order, uint64_t *tally, uint32_t *status,
                             void *stream)
{
  return records::start_settle(program, records, order, tally, status, stream);
}

device_status records_confirm(const records_program *program, const void *records, uint64_t count,
                              const void *keys, records_facts *facts, void *stream)
{
  return records::with_computed(program, [&](auto computed) {
    return records::start_confirm<computed>(program, records, count, keys, facts, stream);
  });
}

device_status records_check(const void *order, uint32_t index_bits, uint64_t count, uint32_t *seen,
                            records_facts *facts, void *stream)
{
  return records::start_check_order(order, index_bits, count, seen, facts, stream);
}

device_status records_ordered(const records_order *order, void *stream)
{
  return records::start_check_pairs(order, stream);
}

device_status records_gather(const void *records, uint64_t record_size, const records_order *order,
                             void *to, void *stream)
{
  return records::start_gather(records, record_size, order, to, stream);
}
