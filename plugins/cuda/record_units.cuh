/* record_units.cuh - moves records, unit by unit: the largest word that divides their
 * addresses and their size. Adjacent threads write adjacent units. */
#ifndef RECSORT_CUDA_RECORD_UNITS_H
#define RECSORT_CUDA_RECORD_UNITS_H

#include "cuda/device.h"

typedef struct records_unit16 {
  uint64_t half[2];
} records_unit16;

/* A unit of `bytes`, a compile-time constant; the smaller ones are in the first half. */
DEVICE_INLINE records_unit16 unit_get(const void *from, uint64_t at, uint32_t bytes)
{
  DEVICE_ASSERT(bytes <= 16 && (uintptr_t)from % bytes == 0);
  records_unit16 unit = {{0, 0}};
  if (bytes == 16)
    unit = ((const records_unit16 *)from)[at];
  else if (bytes == 8)
    unit.half[0] = ((const uint64_t *)from)[at];
  else if (bytes == 4)
    unit.half[0] = ((const uint32_t *)from)[at];
  else if (bytes == 2)
    unit.half[0] = ((const uint16_t *)from)[at];
  else
    unit.half[0] = ((const unsigned char *)from)[at];
  return unit;
}

DEVICE_INLINE void unit_put(void *to, uint64_t i, records_unit16 unit, uint32_t bytes)
{
  DEVICE_ASSERT(bytes <= 16 && (uintptr_t)to % bytes == 0);
  if (bytes == 16)
    ((records_unit16 *)to)[i] = unit;
  else if (bytes == 8)
    ((uint64_t *)to)[i] = unit.half[0];
  else if (bytes == 4)
    ((uint32_t *)to)[i] = (uint32_t)unit.half[0];
  else if (bytes == 2)
    ((uint16_t *)to)[i] = (uint16_t)unit.half[0];
  else
    ((unsigned char *)to)[i] = (unsigned char)unit.half[0];
}

/* The largest unit that all of these are multiples of. */
static inline uint32_t common_unit(const void *to, const void *from, uint64_t bytes)
{
  const uint64_t aligned = (uintptr_t)to | (uintptr_t)from | bytes;
  uint32_t unit = 16;
  while (aligned % unit != 0)
    unit /= 2;
  return unit;
}

/* Records, and how the threads of a block share their units. */
typedef struct record_units {
  const void *from; /* NULL: none are moved */
  void *to;
  uint32_t each;                   /* units of a record */
  uint32_t unit;                   /* bytes */
  uint32_t next_record, next_unit; /* distance from a thread's unit to its next one */
} record_units;

static inline record_units record_units_of(const void *from, void *to, uint64_t record_size,
                                           uint32_t block)
{
  RS_ASSERT(record_size > 0 && block > 0);
  const uint32_t unit = common_unit(to, from, record_size);
  const uint32_t each = (uint32_t)(record_size / unit);
  const record_units units = {from, to, each, unit, block / each, block % each};
  return units;
}

/* The number of a unit of the record that goes to place `record`: it lies at places[record]. */
template <class Place>
DEVICE_INLINE uint64_t unit_from(const Place *places, uint32_t record, uint32_t unit, uint32_t each)
{
  return (uint64_t)places[record] * each + unit;
}

/* Moves units of `bytes`, a compile-time constant, as below. A thread loads several before it
 * stores any, as the compiler must assume that a store changes what later loads read: at most Most,
 * and 32 bytes if these are more. */
template <uint32_t Most, class Places>
DEVICE_INLINE void move_units(record_units units, uint64_t first, Places places, uint32_t count,
                              uint32_t bytes)
{
  const uint32_t all = count * units.each, most = Most * bytes > 32 ? 32 / bytes : Most;
  DEVICE_ASSERT(units.each > 0 && bytes == units.unit && most > 0);
  uint32_t record = threadIdx.x / units.each, unit = threadIdx.x % units.each;
  DEVICE_ROLLED
  for (uint32_t i = threadIdx.x; i < all; i += most * blockDim.x) {
    records_unit16 moved[Most] = {{{0, 0}}};
    DEVICE_UNROLL
    for (uint32_t t = 0; t < Most && t < most; t++) {
      if (i + t * blockDim.x < all) {
        moved[t] = unit_get(units.from, unit_from(places, record, unit, units.each), bytes);
      }
      record += units.next_record;
      unit += units.next_unit;
      if (unit >= units.each) {
        unit -= units.each;
        record++;
      }
    }
    DEVICE_UNROLL
    for (uint32_t t = 0; t < Most && t < most; t++)
      if (i + t * blockDim.x < all)
        unit_put(units.to, first * units.each + i + t * blockDim.x, moved[t], bytes);
  }
}

/* Copies a unit. */
DEVICE_INLINE void copy_unit(const record_units *units, uint64_t i, uint64_t at)
{
  if (units->unit == 16)
    unit_put(units->to, i, unit_get(units->from, at, 16), 16);
  else if (units->unit == 8)
    unit_put(units->to, i, unit_get(units->from, at, 8), 8);
  else if (units->unit == 4)
    unit_put(units->to, i, unit_get(units->from, at, 4), 4);
  else if (units->unit == 2)
    unit_put(units->to, i, unit_get(units->from, at, 2), 2);
  else
    unit_put(units->to, i, unit_get(units->from, at, 1), 1);
}

/* Moves the records that lie where `places` says, by unit_from, to number `first` and those behind.
 * By all threads of the block. */
template <uint32_t Most, class Places>
DEVICE_INLINE void move_records(const record_units *units, uint64_t first, Places places,
                                uint32_t count)
{
  if (units->unit == 16)
    move_units<Most>(*units, first, places, count, 16);
  else if (units->unit == 8)
    move_units<Most>(*units, first, places, count, 8);
  else if (units->unit == 4)
    move_units<Most>(*units, first, places, count, 4);
  else if (units->unit == 2)
    move_units<Most>(*units, first, places, count, 2);
  else
    move_units<Most>(*units, first, places, count, 1);
}

#endif
