/* key_words.h - makes the key of a record that is one aligned word. */
#ifndef RECSORT_CUDA_KEY_WORDS_H
#define RECSORT_CUDA_KEY_WORDS_H

#include "base/assert.h"
#include "cuda/device.h"

/* What key_code makes of the word. */
DEVICE_INLINE uint32_t word_code_32(const records_word *how, uint32_t word)
{
  const uint32_t magnitude = word & (uint32_t)how->magnitude;
  const bool special = how->magnitude != 0;
  if (special && magnitude > (uint32_t)how->infinity) return (uint32_t)how->nan_code;
  if (special && magnitude == 0) word = 0;
  return word ^ (uint32_t)(word & (uint32_t)how->negative ? how->if_set : how->if_clear);
}

DEVICE_INLINE uint64_t word_code_64(const records_word *how, uint64_t word)
{
  const uint64_t magnitude = word & how->magnitude;
  const bool special = how->magnitude != 0;
  if (special && magnitude > how->infinity) return how->nan_code;
  if (special && magnitude == 0) word = 0;
  return word ^ (word & how->negative ? how->if_set : how->if_clear);
}

/* The key that is made of word `i`. */
DEVICE_INLINE uint32_t key_of_word(const device_words *words, uint64_t i)
{
  const char *const at = (const char *)words->data + i * words->stride;
  DEVICE_ASSERT((uintptr_t)at % sizeof(uint32_t) == 0);
  return word_code_32(&words->code, *(const uint32_t *)(const void *)at);
}

#endif
