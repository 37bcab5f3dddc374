/* launch.c - makes launches fail: linked with --wrap=emulator_launch, it consults the stand-in's
 * plan before each launch, and allows one launch at a time. */
#include <cuda_runtime_api.h>

#include "emulator.h"
#include "standin.h"

int __real_emulator_launch(const emulator_kernel *kernel, uint64_t grid, uint32_t block,
                           uint64_t shared_bytes, const void *args);
int __wrap_emulator_launch(const emulator_kernel *kernel, uint64_t grid, uint32_t block,
                           uint64_t shared_bytes, const void *args);

int __wrap_emulator_launch(const emulator_kernel *kernel, uint64_t grid, uint32_t block,
                           uint64_t shared_bytes, const void *args)
{
  standin_lock();
  int code = standin_work(cudaErrorLaunchOutOfResources);
  if (!code) standin_launching();
  if (!code) code = __real_emulator_launch(kernel, grid, block, shared_bytes, args);
  standin_unlock();
  return code;
}
