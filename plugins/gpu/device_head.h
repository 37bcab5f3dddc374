/* device_head.h - the first records of the order, found on a device without sorting the others.
 *
 * Works for any records in bounded time: what it takes does not depend on a sample or a guess.
 */
#ifndef RECSORT_GPU_DEVICE_HEAD_H
#define RECSORT_GPU_DEVICE_HEAD_H

#include "gpu/records.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct device_head {
  const records_program *program;
  const void *records; /* NULL: the program's columns */
  uint64_t count;
  uint64_t head;
  uint32_t index_bits;
  void *memory; /* device_head_bytes() of the device, aligned to 8 */
  void *order;  /* `head` indices of the device, of index_bits */
  records_facts *facts;
  void *stream;
} device_head;

/* Whether that is faster than sorting all. */
bool device_head_suits(uint64_t count, uint64_t head);

uint64_t device_head_bytes(uint64_t count, uint64_t head);

/* Starts the kernels. Sets facts->invalid if a record holds an invalid value. */
device_status device_head_find(const device_head *job);

#ifdef __cplusplus
}
#endif

#endif
