/* report.h - writes the results as a table, as JSON and as a picture. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "machine.h"
#include "measure.h"

/* Space for the displayed name of a contender: "recsort cpu/merge, first". */
enum { NAME_MAX_SIZE = 96 };
void contender_name(const bench_contender *contender, char name[NAME_MAX_SIZE]);

/* The speed of a contender relative to its peer, which sorted the same input by `method` with
 * `threads` threads. 0: there is none. */
double contender_ratio(const bench_group *group, const bench_contender *contender,
                       const char *method, unsigned threads);

void report_machine(const bench_machine *machine);
void report_table(const bench_group *group);

/* Both write a file. False, with a message, on failure. */
bool report_json(const char *path, const bench_machine *machine, const bench_group *groups,
                 size_t group_count);
bool report_picture(const char *path, const bench_machine *machine, const bench_group *groups,
                    size_t group_count);

#endif
