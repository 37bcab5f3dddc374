/* sorts.h - the two algorithms of the CPU plugin, and its extensions.
 *
 * Each has two functions: one computes how much memory a job needs, the other sorts in just
 * that. */
#ifndef RECSORT_CPU_SORTS_H
#define RECSORT_CPU_SORTS_H

#include <stdbool.h>

#include "plugin/builtin.h"
#include "recsort/team.h"

/* False if the size overflows. Any thread. */
bool rs_sequential_work_size(const recsort_plugin_job *job, recsort_plugin_work *work);
bool rs_merge_work_size(const recsort_plugin_job *job, recsort_plugin_work *work);

/* `memory` holds the keys where work_size said; the sort leaves the permutation at its start. */
void rs_sequential_sort(const recsort_plugin_job *job, void *memory, team t);
void rs_merge_sort(const recsort_plugin_job *job, void *memory, team t);

/* Sorts whole records as the algorithm "parallel": "recsort.host-records/1". */
extern const recsort_plugin_records rs_cpu_records;

/* Merges sorted runs: "recsort.merge/1". */
extern const recsort_plugin_merge rs_cpu_merge;

#endif
