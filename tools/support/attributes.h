/* attributes.h - what a new file takes over from the file whose place it takes.
 *
 * Owner and group, as far as that is allowed; mode; access list; extended attributes, and with them
 * the label of SELinux. If something cannot be kept, the new file still gives access only to users
 * who had it.
 */
#ifndef TOOL_ATTRIBUTES_H
#define TOOL_ATTRIBUTES_H

#include <stdbool.h>
#include <sys/stat.h>

/* Gives the open file `fd`, which only its owner may open yet, what the file at `path` has; `old`
 * is that file's status. To be called after the last write, which takes set-user-ID bits away. An
 * access list or an attribute that cannot be kept is told in a line each. False with errno if the
 * file is not fit to be seen. */
bool tool_keep_attributes(int fd, const char *path, const struct stat *old);

#endif
