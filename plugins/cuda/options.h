/* options.h - the plugin's options, such as "device=1" and "memory=8G". */
#ifndef RECSORT_CUDA_OPTIONS_H
#define RECSORT_CUDA_OPTIONS_H

#include <stdbool.h>

#include "recsort/plugin.h"

enum { CUDA_OPTIONS = 2, CUDA_CURRENT_DEVICE = -1 };

typedef struct cuda_options {
  int device;      /* CUDA_CURRENT_DEVICE: the current device of the thread that opens the plugin */
  uint64_t memory; /* limit of device memory in bytes; 0: not given */
  recsort_verify verify;
  bool primary; /* the device's primary context is used, even if another one is current */
} cuda_options;

/* The names, for the plugin's table. */
extern const recsort_plugin_option *const cuda_option_list[CUDA_OPTIONS];

/* Reads the host's options. False, with the reason in `reason`, if a value is wrong or a key
 * unknown. */
bool cuda_options_read(const recsort_host *host, cuda_options *options, char *reason,
                       size_t reason_size);

/* Parses a size: digits, and optionally a suffix K, M, G or T for a multiple of 2^10, 2^20, 2^30 or
 * 2^40. False if it is anything else, or 0. */
bool cuda_parse_size(const char *text, size_t length, uint64_t *size);

#endif
