/* plain_kernels.c - stands for rs_best_kernels by the linker's --wrap: the kernels in plain C,
 * whatever the processor has. */
#include "cpu/kernels.h"

const merge_kernels *__wrap_rs_best_kernels(void);

const merge_kernels *__wrap_rs_best_kernels(void)
{
  return &rs_scalar_kernels;
}
