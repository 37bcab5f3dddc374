/* carried.h - the carry sort by plans that divide a few elements as it divides very many. */
#ifndef RS_TEST_CARRIED_H
#define RS_TEST_CARRIED_H

#include "gpu/device_pairs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carried_plan {
  uint32_t levels;  /* 1 or 2 */
  uint32_t buckets; /* of a section; a multiple of 2 */
  bool apart;       /* each bucket is sorted by itself */
} carried_plan;

/* The bytes of memory for a sort of the job; 0: it cannot be. */
uint64_t carried_bytes(const device_pairs *job, const device_job *on, const carried_plan *plan);

/* As device_pairs_carry. */
device_status carried_sort(const device_pairs *job, const device_job *on, const carried_plan *plan,
                           void *memory);

#ifdef __cplusplus
}
#endif

#endif
