/* algorithms.h - the sorts that a GPU plugin offers, the default first. */
#ifndef RECSORT_GPU_ALGORITHMS_H
#define RECSORT_GPU_ALGORITHMS_H

#include "gpu/device_sort.h"
#include "recsort/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct device_algorithm {
  recsort_plugin_algorithm shown;
  /* The bytes of device_buffers.extra that a job needs; NULL: none. */
  uint64_t (*extra_bytes)(const device_job *job);
  device_sort *sort;
  /* NULL: it has none. */
  device_skills (*skills)(const device_job *job);
} device_algorithm;

/* Defined by the plugin. */
extern const device_algorithm device_algorithms[];
extern const uint32_t device_algorithm_count;

#ifdef __cplusplus
}
#endif

#endif
