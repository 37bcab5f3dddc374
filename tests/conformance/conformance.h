/* conformance.h - tests of every plugin and every algorithm.
 *
 *   conformance.c   finds them and counts cases
 *   suite.c         inputs and checks that need no library; tests/sortsuite gives them to other sorts
 *   records.c       through the public calls: kinds x patterns x lengths x threads x index widths
 *   computed.c      the same with computed keys: kinds x lengths
 *   merges.c        runs merged through the public calls: kinds x shapes x lengths x orders
 *   jobs.c          through the plugin's table: any width of key, in exactly the memory asked for
 */
#ifndef RS_CONFORMANCE_H
#define RS_CONFORMANCE_H

#include "plugin/registry.h"

typedef struct tally {
  size_t passed;
  size_t failed;
} tally;

/* A plugin with an algorithm. */
typedef struct way {
  const char *plugin;
  const char *algorithm;
} way;

enum { MAX_WAYS = 16, THREAD_COUNTS = 5 };
extern const unsigned thread_counts[THREAD_COUNTS];

/* Counts a case, and reports the first few failures. */
void count_case(tally *t, bool good, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Whether an index of 32 or 64 bits begins with these places. */
bool is_order(const void *index, unsigned bits, const uint64_t *places, size_t count);

/* `few`: about every sixteenth job, and even fewer tests of records. */
void test_records(const way *ways, size_t way_count, bool few, tally *t);
void test_computed(const way *ways, size_t way_count, bool few, tally *t);
void test_merges(const char *plugin, bool few, tally *t);
void test_jobs(const way *tested, bool few, tally *t);

#endif
