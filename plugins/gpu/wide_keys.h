/* wide_keys.h - sorts keys of more than 128 bits, 128 bits at a time from the least significant up.
 *
 * Each part's sort is stable, so among equal keys it keeps the order of earlier parts. The host
 * gathers the parts and composes the permutations.
 */
#ifndef RECSORT_GPU_WIDE_KEYS_H
#define RECSORT_GPU_WIDE_KEYS_H

#include "recsort/plugin.h"

/* The functions that sort keys of up to 128 bits: like recsort_plugin.work_size, which cannot fail
 * for these, and recsort_plugin.sort. */
typedef recsort_plugin_work wide_keys_part_work(const void *instance,
                                                const recsort_plugin_job *job);
typedef recsort_plugin_status wide_keys_part_sort(void *instance, const recsort_plugin_job *job,
                                                  void *memory, recsort_plugin_error *error);

typedef struct wide_keys_parts {
  wide_keys_part_work *work;
  wide_keys_part_sort *sort;
} wide_keys_parts;

/* The keys come last, after the permutation and space to sort a part. The permutation is left at
 * the start of `memory`. */
recsort_plugin_work wide_keys_work(const wide_keys_parts *parts, const void *instance,
                                   const recsort_plugin_job *job);
recsort_plugin_status wide_keys_sort(const wide_keys_parts *parts, void *instance,
                                     const recsort_plugin_job *job, void *memory,
                                     recsort_plugin_error *error);

#endif
