/* replace.h - replacing a file by one that is complete.
 *
 *   rf_replacement_find, rf_replacement_open, writes to `fd`, rf_replacement_commit,
 *   rf_replacement_close
 *
 * The new file is written under no name (O_TMPFILE; where the file system has none, under a
 * temporary name) in the target's folder, brought to the disk, and renamed over the target:
 *  - a symbolic link stays, and the file it leads to is replaced;
 *  - the mode, the access list and extended attributes are kept, the owner as far as that is
 *    allowed;
 *  - other hard links to the old file keep the old data.
 * A file that is a mount point cannot be replaced, and is refused.
 */
#ifndef FILES_REPLACE_H
#define FILES_REPLACE_H

#include "temporary.h"

#include <stddef.h>
#include <sys/stat.h>

typedef struct rf_replacement {
  const char *path;
  bool exists;     /* there is an old file, */
  struct stat old; /* with this status */
  bool in_proc;    /* it is a link in /proc to an open file: `target` */
  bool unsettled;  /* the new file is in place, but perhaps not after a crash */
  char *target;    /* its name in the folder; links have been followed */
  int folder;      /* -1: not opened */
  int fd;          /* of the new file; -1: not opened */
  rf_temporary temporary;
} rf_replacement;

/* All of them: false, with errno, on failure. The struct must not move once it is opened. */

/* Finds what is there, and nothing else: only a regular file, or none, can be replaced. `path` must
 * live until the end. */
bool rf_replacement_find(rf_replacement *r, const char *path);
/* Opens the new file. EBUSY: the old one is a mount point. */
bool rf_replacement_open(rf_replacement *r, const rf_watcher *watcher);
/* The path of its folder. */
bool rf_replacement_folder(const rf_replacement *r, char *path, size_t size);
/* Puts it in place. */
bool rf_replacement_commit(rf_replacement *r);
/* Ends it at any time. If it has not been put in place, the old file is as it was. */
bool rf_replacement_close(rf_replacement *r);

#endif
