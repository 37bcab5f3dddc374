/* records.h - the records that are measured, for C and C++. None has padding, so results can be
 * compared byte by byte, as compilers may not copy padding. */
#ifndef BENCH_RECORDS_H
#define BENCH_RECORDS_H

#include <stdint.h>

typedef enum record_id {
  RECORD_ENTITY,
  RECORD_KEY64,
  RECORD_KEY128,
  RECORD_GENSORT,
  RECORD_WORD,
  RECORD_COUNT
} record_id;

/* Key: distance, descending. */
typedef struct entity {
  float x, y, angle;
  int16_t sprite;
  int16_t padding;
  float distance;
} entity;

typedef struct key64 {
  uint64_t key;
  uint64_t value;
} key64;

/* Key: high, then low. */
typedef struct key128 {
  uint64_t high, low;
  uint64_t value[2];
} key128;

typedef struct gensort {
  unsigned char key[10];
  unsigned char value[90];
} gensort;

/* A key that is all of the record, as of a packed key and index. */
typedef struct packed_word {
  uint64_t key;
} packed_word;

#endif
