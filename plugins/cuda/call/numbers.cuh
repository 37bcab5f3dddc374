/* numbers.cuh - how the key of a record is made of the numbers in it. */
#ifndef RECSORT_CUDA_CALL_NUMBERS_CUH
#define RECSORT_CUDA_CALL_NUMBERS_CUH

#include "cuda/call/ground.cuh"
#include "cuda/records/reading.cuh"
#include "gpu/records.h"

namespace call
{

/* An enum has the order of its integer, a char that of its byte. */
template <class Member, bool = std::is_enum_v<Member>> struct number_of_type {
  using type = Member;
};
template <class Member> struct number_of_type<Member, true> {
  using type = std::underlying_type_t<Member>;
};
template <> struct number_of_type<char, false> {
  using type = unsigned char;
};
template <class Member> using number_of = typename number_of_type<std::remove_cv_t<Member>>::type;

template <class Number>
constexpr uint32_t bits_of = std::is_same_v<Number, bool> ? 1 : 8 * sizeof(Number);

/* One number of a record; its shift is not set. */
template <class Number> static recsort_key_step step_of(uint64_t offset, bool descending)
{
  static_assert(std::is_integral_v<Number> || std::is_floating_point_v<Number>,
                "recsort: a member is a key if it is an integer, an enum, a bool or a float");
  static_assert(sizeof(Number) <= sizeof(uint64_t), "recsort: a key has at most 8 bytes");
  recsort_key_step step = {};
  step.offset = offset;
  step.bytes = sizeof(Number);
  step.width = bits_of<Number>;
  step.flags = descending ? RECSORT_KEY_DESCENDING : 0;
  if (std::is_same_v<Number, bool>)
    step.kind = RECSORT_KEY_BOOL;
  else if (std::is_floating_point_v<Number>)
    step.kind = RECSORT_KEY_FLOAT;
  else
    step.kind = std::is_signed_v<Number> ? RECSORT_KEY_SIGNED : RECSORT_KEY_UNSIGNED;
  if (std::is_floating_point_v<Number>)
    step.limit = sizeof(Number) == 4 ? 0x7f800000 : 0x7ff0000000000000;
  return step;
}

/* Adds a step below the steps of the program, the lowest of which begins at bit *above. */
static inline void add_step(records_program *program, recsort_key_step step, uint32_t *above)
{
  step.key = program->step_count;
  *above -= step.width;
  step.shift = *above;
  program->steps[program->step_count++] = step;
}

/* A record that is one number. */
template <class Key> static records_program program_of_number(bool descending)
{
  uint32_t above = bits_of<Key>;
  records_program program = {};
  program.record_size = sizeof(Key);
  program.key_width = 8 * sizeof(Key);
  add_step(&program, step_of<Key>(0, descending), &above);
  return program;
}

/* How kernels load such a record. */
template <class Key>
constexpr records::reading reading_of_key = sizeof(Key) == 4 ? records::WORDS_OF_4
                                                             : records::WORDS_OF_8;

} // namespace call

#endif
