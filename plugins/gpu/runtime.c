#include "gpu/runtime.h"

#include <stdio.h>

recsort_plugin_status runtime_refuse(uint64_t needed, uint64_t room, recsort_plugin_error *error)
{
  const double mebibyte = 1 << 20;
  (void)snprintf(error->text, sizeof error->text,
                 "%.1f MiB of device memory are needed, %.1f MiB are free to use",
                 (double)needed / mebibyte, (double)room / mebibyte);
  return RECSORT_PLUGIN_OUT_OF_MEMORY;
}
