/* runtime.h - a CUDA device: whether it can be used, opening and closing it. runtime.c has the rest
 * too, which gpu/runtime.h describes.
 *
 *   runtime_usable     is there a device that can run the kernels, and if not, why
 *   runtime_open       a stream and what the grid plans must know of the device
 *   runtime_close
 *
 * If the device does not answer after a call that failed either, the error is a sticky one: the
 * status is LOST, and for the rest of the process runtime_usable says so.
 *
 * The CUDA runtime sends a thread's calls to that thread's current device. Threads that enter push
 * the device's context and pop it when they leave, as that alone leaves a thread as it was: to set
 * the device back by its number would make a context on one that was never used, and drop one that
 * is not the runtime's. Threads that call the functions here need not have entered.
 */
#ifndef RECSORT_CUDA_RUNTIME_H
#define RECSORT_CUDA_RUNTIME_H

#include <cuda.h>
#include <stdbool.h>

#include "cuda/options.h"
#include "gpu/runtime.h"

/* The driver's calls on contexts. They are found through the runtime: nothing links the driver. */
typedef struct runtime_contexts {
  CUresult (*retain)(CUcontext *context, CUdevice device);
  CUresult (*release)(CUdevice device);
  CUresult (*push)(CUcontext context);
  CUresult (*pop)(CUcontext *context);
} runtime_contexts;

typedef struct cuda_device {
  runtime_device shared; /* what code for any GPU sees */
  int number;
  runtime_contexts contexts;
  CUcontext context;
} cuda_device;

/* False, and why in `reason`, if no sort can work here. Keeps nothing. */
bool runtime_usable(const cuda_options *options, char *reason, size_t reason_size);

/* Where the options give no limit of the memory, the environment variable RECSORT_CUDA_MEMORY may:
 * bytes, or with a suffix K, M, G or T as many times 2^10, 2^20, 2^30 or 2^40. Unset or empty: no
 * limit. UNSUPPORTED, and nothing is opened: it is something else, or 0. */
recsort_plugin_status runtime_open(const cuda_options *options, cuda_device *device,
                                   recsort_plugin_error *error);
void runtime_close(cuda_device *device);

#endif
