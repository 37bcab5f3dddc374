/* temporary.h - the new file, before it takes the place of the old one.
 *
 *   tool_temporary_open, then tool_temporary_replace or tool_temporary_remove
 *
 * It lies in the target's folder: under no name (O_TMPFILE) until it is complete, or, where the
 * file system has no such files, under a temporary name from the start. Every signal that would end
 * the process removes that name first. Only SIGKILL and a power cut leave it, and the next file for
 * the same target removes what they left.
 *
 * For that the names are few and known: ".TARGET.recsort-N", N counting from 0; no folder is
 * searched. While a process has such a file open it holds a lock on it (flock), so what can be
 * locked is left over. Only a process that holds the lock may remove the name. A lock that is not
 * known to hold on all machines that see the file proves nothing about the others: on all but the
 * usual local file systems the name holds the host's too, and each host removes its own.
 */
#ifndef TOOL_TEMPORARY_H
#define TOOL_TEMPORARY_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct tool_temporary {
  int fd;             /* -1: none */
  int folder;         /* of the target; the caller closes it, and `fd` */
  const char *target; /* its name in the folder */
  char host[16];      /* as it stands in the name; empty on a local file system */
  char name[160];     /* in the folder; empty: none */
} tool_temporary;

/* Opens an empty file for `target`, and removes what is left of earlier ones; false with errno. The
 * temporary must stay where it is, and its folder and file open, until it is replaced or removed.
 */
bool tool_temporary_open(tool_temporary *temporary, int folder, const char *target, mode_t mode);
/* Renames it to its target; false, with errno, if the target is still the old one. */
bool tool_temporary_replace(tool_temporary *temporary);
/* Removes its name, if it has one. */
void tool_temporary_remove(tool_temporary *temporary);

#endif
