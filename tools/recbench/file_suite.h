/* file_suite.h - measures the command on a file in the page cache, beside a sort in memory and
 * cp. */
#ifndef BENCH_FILE_SUITE_H
#define BENCH_FILE_SUITE_H

#include "measure.h"
#include "methods.h"
#include "runner.h"

/* Makes a file of entities in a new folder, measures, and removes the folder. Call group_free
 * afterwards in any case. */
bool file_suite(bench_group *group, const bench_options *options, const bench_method *method,
                bench_runner *runner);

#endif
