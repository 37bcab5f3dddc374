/* reading.cuh - loads of keys that overlap. A key that is one aligned word is loaded before
 * it is looked at, so that a thread has several loads in flight; other keys are made one by one. */
#ifndef RECSORT_CUDA_RECORDS_READING_CUH
#define RECSORT_CUDA_RECORDS_READING_CUH

#include "cuda/records/key.cuh"

namespace records
{

/* What keys are made of. */
struct record_source {
  records_program program; /* with its `word` set */
  records_facts *facts;
};

static inline record_source source_of(const records_program *program, const void *records,
                                      records_facts *facts)
{
  return {program_at(program, records), facts};
}

enum reading { WORDS_OF_4, WORDS_OF_8, FIELDS, COMPUTED };

static inline reading reading_of(const record_source &source)
{
  const uint32_t bytes = source.program.word.bytes;
  if (has_computed(&source.program)) return COMPUTED;
  return bytes == 4 ? WORDS_OF_4 : bytes == 8 ? WORDS_OF_8 : FIELDS;
}

/* Calls work(how) with a constant: reading_of the source. */
template <class Work> static inline auto with_reading(const record_source &source, const Work &work)
{
  switch (reading_of(source)) {
  case WORDS_OF_4:
    return work(std::integral_constant<reading, WORDS_OF_4>());
  case WORDS_OF_8:
    return work(std::integral_constant<reading, WORDS_OF_8>());
  case FIELDS:
    return work(std::integral_constant<reading, FIELDS>());
  default:
    return work(std::integral_constant<reading, COMPUTED>());
  }
}

/* What is loaded of a record before its key is made. */
template <reading How> DEVICE_INLINE uint64_t load_word(const record_source &source, uint64_t at)
{
  const unsigned char *const from = key_at(&source.program.columns[0], at);
  if (How == WORDS_OF_4) return *(const uint32_t *)from;
  if (How == WORDS_OF_8) return *(const uint64_t *)from;
  return 0;
}

/* The key of record `at`, whose word has been loaded. */
template <reading How>
DEVICE_INLINE record_key key_with(const record_source &source, uint64_t at, uint64_t word,
                                  bool *valid)
{
  if (How == WORDS_OF_4) return {{word_code_32(&source.program.word, (uint32_t)word), 0}};
  if (How == WORDS_OF_8) return {{word_code_64(&source.program.word, word), 0}};
  return make_key<How == COMPUTED>(&source.program, at, valid);
}

} // namespace records

#endif
