/* unique_watch.h - says, once, if a record that --unique drops differs from the one that it keeps:
 * keys that are C strings may be equal and have other bytes behind their NUL. */
#ifndef RECSORT_UNIQUE_WATCH_H
#define RECSORT_UNIQUE_WATCH_H

#include "cli_job.h"

typedef struct watched_string {
  size_t offset;
  size_t size;
  const char *path;
} watched_string;

typedef struct unique_watch {
  const cli_job *job;
  size_t count; /* keys that are C strings; 0: there is nothing to say, or it has been said */
  watched_string *strings;
  unsigned char *kept; /* a copy of the record that was kept last */
} unique_watch;

/* False, after a message, if there is no memory. The sorter exists. */
bool unique_watch_begin(unique_watch *watch, const cli_job *job);
void unique_watch_end(unique_watch *watch);

/* A record that is kept, and one that is dropped since its keys are equal. */
void unique_watch_keep(unique_watch *watch, const void *record);
void unique_watch_drop(unique_watch *watch, const void *record);

/* The same for records in an order that still has all of them. False after a message. */
bool unique_watch_order(const cli_job *job, const void *records, const cli_order *order);

#endif
