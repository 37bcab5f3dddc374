/* temporary.h - the new file, before it replaces the old one.
 *
 *   rf_temporary_open, then rf_temporary_replace or rf_temporary_remove
 *
 * It is in the target's folder: without a name (O_TMPFILE) until it is complete or, if the file
 * system does not support this, under a temporary name from the start. If the process ends while
 * there is a name, the next file for the same target removes it.
 *
 * So the names are few and known: ".TARGET.recsort-N", N counting from 0; no folder is searched. A
 * process locks such a file (flock) while it is open, so a file that can be locked is left over.
 * Only a process that holds the lock may remove the name. On a network file system, a lock may not
 * be visible to other hosts; so on all but the usual local file systems the name includes the host,
 * and each host removes only its own files.
 */
#ifndef FILES_TEMPORARY_H
#define FILES_TEMPORARY_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct rf_temporary rf_temporary;

/* What a program does beside, such as removing the name when a signal ends it. */
typedef struct rf_watcher {
  void (*begin)(void); /* name and file may disagree from now on; this thread gets no signals */
  void (*end)(const rf_temporary *temporary); /* they agree; NULL: there is no name */
  void (*warn)(const char *text);             /* a line about what is not kept of the old file */
} rf_watcher;

struct rf_temporary {
  int fd;                    /* -1: none */
  int folder;                /* folder of the target; the caller closes it and `fd` */
  const char *target;        /* its name in the folder */
  char host[16];             /* its part of the name; empty on a local file system */
  char name[160];            /* in the folder; empty: none */
  const rf_watcher *watcher; /* NULL: none */
};

/* Opens an empty file for `target`, and removes what earlier ones left. False, with errno, on
 * failure. The struct must not move, and its folder and file must stay open, until it is replaced
 * or removed. */
bool rf_temporary_open(rf_temporary *temporary, int folder, const char *target, mode_t mode,
                       const rf_watcher *watcher);
/* Gives it its temporary name, if it has none yet, so that other processes can open it. False, with
 * errno, on failure. */
bool rf_temporary_name(rf_temporary *temporary);
/* Renames it to its target. False, with errno, if the target is still the old file. */
bool rf_temporary_replace(rf_temporary *temporary);
/* Removes its name, if it has one. */
void rf_temporary_remove(rf_temporary *temporary);

#endif
