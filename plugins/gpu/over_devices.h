/* over_devices.h - records of the host's, sorted by several devices. */
#ifndef RECSORT_GPU_OVER_DEVICES_H
#define RECSORT_GPU_OVER_DEVICES_H

#include "gpu/pairs.h"

/* recsort_plugin_records.sort, on self->devices. UNSUPPORTED also if they have too little memory.
 */
recsort_plugin_status over_devices_sort(gpu_instance *self, const recsort_plugin_job *job,
                                        const recsort_key_program *program, const void *records,
                                        void *sorted, recsort_plugin_times *times,
                                        recsort_plugin_error *error);

#endif
