/* wide_keys.h - keys of more than 128 bits, sorted 128 bits at a time from the least significant
 * up.
 *
 * Each part's sort is stable, so it keeps the order of the parts before it among equals. The parts
 * are gathered and the permutations composed on the host.
 */
#ifndef RECSORT_CUDA_WIDE_KEYS_H
#define RECSORT_CUDA_WIDE_KEYS_H

#include "recsort/plugin.h"

/* Sorts a job of keys of up to 128 bits; `order` may begin where `keys` does. */
typedef recsort_plugin_status pair_sort(void *instance, const recsort_plugin_job *job,
                                        const void *keys, void *order, recsort_plugin_error *error);

/* Where the keys begin: in front of them are the permutation, and room for 128 bits of each key. */
uint64_t wide_keys_offset(const recsort_plugin_job *job);

/* `memory` holds the keys at that offset; the permutation is left at its start. */
recsort_plugin_status wide_keys_sort(pair_sort *sort, void *instance, const recsort_plugin_job *job,
                                     void *memory, recsort_plugin_error *error);

#endif
