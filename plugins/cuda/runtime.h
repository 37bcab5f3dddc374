/* runtime.h - finds, opens and closes a CUDA device. runtime.c also has the functions that
 * gpu/runtime.h declares.
 *
 *   runtime_usable     is there a device that can run the kernels, and if not, why
 *   runtime_open       a stream and what the grid plans must know of the device
 *   runtime_close
 *
 * If the device does not respond after a failed call, the error is sticky: the status is
 * DEVICE_LOST, and runtime_usable reports it for the rest of the process.
 *
 * The CUDA runtime sends a thread's calls to that thread's current device. A thread that enters
 * pushes the device's context, and pops it when it leaves. Only this restores the thread's state:
 * cudaSetDevice would create a context on a device that was never used, and drop one that the
 * runtime did not make. Threads may call the functions here without entering.
 *
 * The context is the one that is current in the thread that opens the device, if it is of that
 * device: a program may use one that is not the primary one, as the runtime's own calls do then.
 * Otherwise it is the primary one.
 */
#ifndef RECSORT_CUDA_RUNTIME_H
#define RECSORT_CUDA_RUNTIME_H

#include <cuda.h>
#include <stdbool.h>

#include "cuda/options.h"
#include "gpu/runtime.h"

/* The driver's context functions, which the runtime looks up: the plugin does not link the
 * driver. */
typedef struct runtime_contexts {
  CUresult (*current)(CUcontext *context);
  CUresult (*state)(CUdevice device, unsigned *flags, int *active);
  CUresult (*retain)(CUcontext *context, CUdevice device);
  CUresult (*release)(CUdevice device);
  CUresult (*push)(CUcontext context);
  CUresult (*pop)(CUcontext *context);
} runtime_contexts;

typedef struct cuda_device {
  runtime_device shared; /* the part that plugins/gpu knows */
  int number;
  runtime_contexts contexts;
  CUcontext context;
  bool retained; /* it is the device's primary one, and the plugin holds it */
} cuda_device;

/* False, with the reason in `reason`, if no sort can run here. Keeps no resources. */
bool runtime_usable(const cuda_options *options, char *reason, size_t reason_size);

/* If the options do not limit device memory, the environment variable RECSORT_CUDA_MEMORY may, with
 * a size as cuda_parse_size reads it; unset or empty: no limit. PLUGIN_ERROR, and nothing is
 * opened, if it is anything else. */
recsort_status runtime_open(const cuda_options *options, cuda_device *device, recsort_error *error);
void runtime_close(cuda_device *device);

#endif
