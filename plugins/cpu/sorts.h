/* sorts.h - the two algorithms of the CPU plugin, and its extensions.
 *
 * Each has two functions: one computes how much memory a job needs, the other sorts in just
 * that. */
#ifndef RECSORT_CPU_SORTS_H
#define RECSORT_CPU_SORTS_H

#include <stdbool.h>

#include "plugin/builtin.h"
#include "recsort/team.h"

#define RS_CPU_MOST (UINT64_C(1) << 37) /* records of a sort */

/* False if the size overflows. Any thread. */
bool rs_sequential_work_size(const recsort_host *host, const recsort_plugin_job *job,
                             recsort_plugin_work *work);
bool rs_parallel_work_size(const recsort_host *host, const recsort_plugin_job *job,
                           recsort_plugin_work *work);

/* `memory` holds the keys where work_size said; the sort leaves the permutation at its start. */
recsort_status rs_sequential_sort(const recsort_host *host, const recsort_plugin_job *job,
                                  void *memory);
recsort_status rs_parallel_sort(const recsort_host *host, const recsort_plugin_job *job,
                                void *memory);

/* Sorts whole records as the algorithm "parallel": "recsort.host-records/1". */
extern const recsort_plugin_records rs_cpu_records;

/* Merges sorted runs: "recsort.merge/1". */
extern const recsort_plugin_merge rs_cpu_merge;

#endif
