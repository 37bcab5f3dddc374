/* dropped.h - says, once, if a record that --unique drops differs from the one that it keeps: keys
 * that are C strings may be equal and have other bytes behind their NUL. */
#ifndef RECSORT_DROPPED_H
#define RECSORT_DROPPED_H

#include "job.h"

typedef struct dropped_string {
  size_t offset;
  size_t size;
  const char *path;
} dropped_string;

typedef struct dropped_watch {
  const cli_job *job;
  size_t count; /* keys that are C strings; 0: there is nothing to say, or it has been said */
  dropped_string *strings;
  unsigned char *kept; /* a copy of the record that was kept last */
} dropped_watch;

/* False, after a message, if there is no memory. The sorter exists. */
bool dropped_begin(dropped_watch *watch, const cli_job *job);
void dropped_end(dropped_watch *watch);

/* A record that is kept, and one that is dropped since its keys are equal. */
void dropped_keep(dropped_watch *watch, const void *record);
void dropped_drop(dropped_watch *watch, const void *record);

/* The same for records in an order that still has all of them. False after a message. */
bool dropped_in_order(const cli_job *job, const void *records, const recsort_permutation *order);

#endif
