/* wide_keys.h - keys of more than 128 bits, sorted 128 bits at a time from the least significant
 * up.
 *
 * Each part's sort is stable, so it keeps the order of the parts before it among equals. The parts
 * are gathered and the permutations composed on the host.
 */
#ifndef RECSORT_GPU_WIDE_KEYS_H
#define RECSORT_GPU_WIDE_KEYS_H

#include "recsort/plugin.h"

/* How keys of up to 128 bits are sorted: as recsort_plugin.work_size, which cannot fail for them,
 * and recsort_plugin.sort. */
typedef recsort_plugin_work wide_keys_part_work(const void *instance,
                                                const recsort_plugin_job *job);
typedef recsort_plugin_status wide_keys_part_sort(void *instance, const recsort_plugin_job *job,
                                                  void *memory, recsort_plugin_error *error);

typedef struct wide_keys_parts {
  wide_keys_part_work *work;
  wide_keys_part_sort *sort;
} wide_keys_parts;

/* The keys come last: in front of them are the permutation, and room for the sort of a part. The
 * permutation is left at the start of `memory`. */
recsort_plugin_work wide_keys_work(const wide_keys_parts *parts, const void *instance,
                                   const recsort_plugin_job *job);
recsort_plugin_status wide_keys_sort(const wide_keys_parts *parts, void *instance,
                                     const recsort_plugin_job *job, void *memory,
                                     recsort_plugin_error *error);

#endif
