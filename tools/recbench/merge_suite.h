/* merge_suite.h - merges of sorted runs in memory: the library and its peers. */
#ifndef BENCH_MERGE_SUITE_H
#define BENCH_MERGE_SUITE_H

#include "measure.h"
#include "methods.h"

/* Measures merges of 2, 16 and 256 runs of one kind of record, `count` of them in all. Afterwards
 * group_free is due whatever was returned. */
bool merge_suite(bench_group *group, const bench_options *options, const bench_method *method,
                 record_id record, size_t count);

#endif
