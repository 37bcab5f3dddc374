/* file_suite.h - the command on a file in the page cache, beside a sort in memory and cp. */
#ifndef BENCH_FILE_SUITE_H
#define BENCH_FILE_SUITE_H

#include "measure.h"
#include "methods.h"
#include "runner.h"

/* Makes a file of entities in a folder of its own, which is removed again, and measures. Afterwards
 * group_free is due whatever was returned. */
bool file_suite(bench_group *group, const bench_options *options, const bench_method *method,
                bench_runner *runner);

#endif
