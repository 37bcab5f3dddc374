/* workspace.cuh - divides memory of the caller's. */
#ifndef RECSORT_CUDA_WORKSPACE_CUH
#define RECSORT_CUDA_WORKSPACE_CUH

#include "gpu/device_sort.h"

/* Takes arrays from a workspace, one after the other; without one, only adds up their bytes. */
struct workspace {
  char *begin;
  uint64_t taken;

  void *take(uint64_t bytes)
  {
    char *const at = begin ? begin + taken : NULL;
    taken += device_aligned(bytes);
    return at;
  }
};

#endif
