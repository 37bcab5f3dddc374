/* temporary.h - the new file, before it replaces the old one.
 *
 *   tool_temporary_open, then tool_temporary_replace or tool_temporary_remove
 *
 * It is in the target's folder: without a name (O_TMPFILE) until it is complete or, if the file
 * system does not support this, under a temporary name from the start. Signals that end the process
 * remove the name first. Only SIGKILL and a power cut leave it, and the next file for the same
 * target removes what they left.
 *
 * So the names are few and known: ".TARGET.recsort-N", N counting from 0; no folder is searched. A
 * process locks such a file (flock) while it is open, so a file that can be locked is left over.
 * Only a process that holds the lock may remove the name. On a network file system, a lock may not
 * be visible to other hosts; so on all but the usual local file systems the name includes the host,
 * and each host removes only its own files.
 */
#ifndef TOOL_TEMPORARY_H
#define TOOL_TEMPORARY_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct tool_temporary {
  int fd;             /* -1: none */
  int folder;         /* folder of the target; the caller closes it and `fd` */
  const char *target; /* its name in the folder */
  char host[16];      /* its part of the name; empty on a local file system */
  char name[160];     /* in the folder; empty: none */
} tool_temporary;

/* Opens an empty file for `target`, and removes what earlier ones left. False, with errno, on
 * failure. The struct must not move, and its folder and file must stay open, until it is replaced
 * or removed. */
bool tool_temporary_open(tool_temporary *temporary, int folder, const char *target, mode_t mode);
/* Gives it its temporary name, if it has none yet, so that other processes can open it. False, with
 * errno, on failure. */
bool tool_temporary_name(tool_temporary *temporary);
/* Renames it to its target. False, with errno, if the target is still the old file. */
bool tool_temporary_replace(tool_temporary *temporary);
/* Removes its name, if it has one. */
void tool_temporary_remove(tool_temporary *temporary);

#endif
