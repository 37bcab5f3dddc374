/* kernels.c - see kernels.h. */
#include "runs/kernels.h"

const merge_kernels *rs_best_kernels(void)
{
#ifdef RS_HAS_AVX
  if (__builtin_cpu_supports("avx")) return &rs_avx_kernels;
#endif
  return &rs_scalar_kernels;
}
