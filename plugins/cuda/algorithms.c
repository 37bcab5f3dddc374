#include "cuda/algorithms.h"

#define ALGORITHM(sort, extra_bytes, skills, name, description)                                    \
  {{sizeof(recsort_plugin_algorithm), 0, name, description}, extra_bytes, sort, skills},
const device_algorithm device_algorithms[] = {CUDA_ALGORITHMS(ALGORITHM)};

const uint32_t device_algorithm_count = sizeof device_algorithms / sizeof *device_algorithms;
