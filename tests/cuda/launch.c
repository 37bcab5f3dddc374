/* launch.c - kernels that fail to start: linked with --wrap=emulator_launch, it puts the stand-in's
 * plan before the emulator's launch; and one at a time. */
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
