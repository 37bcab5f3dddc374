/* attributes.h - copies attributes from the old file to the file that replaces it.
 *
 * Owner and group, as far as that is allowed; mode; access list; extended attributes, and with them
 * the label of SELinux. Even if something cannot be kept, no user gains access through the new
 * file.
 */
#ifndef FILES_ATTRIBUTES_H
#define FILES_ATTRIBUTES_H

#include "temporary.h"

#include <stdbool.h>
#include <sys/stat.h>

/* Copies the attributes of the file at `path`, whose status is `old`, to the open file `fd`, which
 * only its owner can open so far. Call it after the last write, as writes clear set-user-ID bits.
 * Tells the watcher (may be NULL) about each access list or attribute that cannot be kept. False,
 * with errno, if the file must not be shown to others. */
bool rf_keep_attributes(int fd, const char *path, const struct stat *old,
                        const rf_watcher *watcher);

#endif
