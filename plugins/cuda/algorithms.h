/* algorithms.h - the ways of sorting that the plugin offers, the default first. */
#ifndef RECSORT_CUDA_ALGORITHMS_H
#define RECSORT_CUDA_ALGORITHMS_H

#include "cuda/device_sort.h"
#include "recsort/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DEVICE_ALGORITHMS = 9 };

typedef struct device_algorithm {
  recsort_plugin_algorithm shown;
  /* The bytes of device_buffers.extra that a job needs; NULL: none. */
  uint64_t (*extra_bytes)(const device_job *job);
  device_sort *sort;
} device_algorithm;

extern const device_algorithm device_algorithms[DEVICE_ALGORITHMS];

#ifdef __cplusplus
}
#endif

#endif
