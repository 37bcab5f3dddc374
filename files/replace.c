/* replace.c - replaces a file in one step, or not at all. */
#include "replace.h"

#include "attributes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- Finding ---- */

static char *join_link(const char *path, const char *link)
{
  const char *const slash = link[0] == '/' ? NULL : strrchr(path, '/');
  const size_t folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
  const size_t size = folder + strlen(link) + 1;
  char *const joined = malloc(size);
  if (joined == NULL) return NULL;
  memcpy(joined, path, folder);
  memcpy(joined + folder, link, size - folder);
  return joined;
}

/* True for links in /proc that lead to open files; their text is not a name that can be
 * followed. */
static bool is_in_proc(char *path)
{
  struct statfs system;
  char *const slash = strrchr(path, '/');
  if (slash == NULL) return statfs(".", &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
  const char first = slash[1];
  slash[1] = '\0';
  const bool found = statfs(path, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
  slash[1] = first;
  return found;
}

/* The file that a write to `path` would reach: the end of a chain of symbolic links, whether it
 * exists or not, or a link in /proc; then *in_proc is set. NULL, with errno, on failure. */
static char *follow_links(const char *path, bool *in_proc)
{
  char link[PATH_MAX];
  char *target = strdup(path);
  *in_proc = false;
  for (int depth = 0; target != NULL; depth++) {
    const ssize_t length = readlink(target, link, sizeof link - 1);
    if (length < 0) break;
    *in_proc = is_in_proc(target);
    if (*in_proc) break;
    link[length] = '\0';
    char *const next = depth < 40 ? join_link(target, link) : NULL;
    if (depth >= 40) errno = ELOOP;
    free(target);
    target = next;
  }
  return target;
}

/* Splits off the folder of `target` and opens it. `target` keeps the name. */
static int open_folder(char *target)
{
  char *const slash = strrchr(target, '/');
  if (*target == '\0') {
    errno = ENOENT;
    return -1;
  }
  if (slash == NULL) return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  char *const name = slash + 1;
  if (*name == '\0') {
    errno = EISDIR;
    return -1;
  }
  const char first = *name;
  *name = '\0'; /* "folder/" or "/" */
  const int folder = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int error = errno;
  *name = first;
  memmove(target, name, strlen(name) + 1);
  errno = error;
  return folder;
}

bool rf_replacement_find(rf_replacement *r, const char *path)
{
  *r = (rf_replacement){.path = path, .fd = -1, .folder = -1};
  r->exists = stat(path, &r->old) == 0;
  if (!r->exists && errno != ENOENT) return false;
  r->target = follow_links(path, &r->in_proc);
  return r->target != NULL;
}

/* ---- Opening ---- */

/* Where the C library has no statx(), this is found out at the end: the rename fails. */
static bool is_mount_point(const rf_replacement *r)
{
#ifdef STATX_ATTR_MOUNT_ROOT
  struct statx status;
  return statx(r->folder, r->target, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &status) ==
             0 &&
         (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#else
  (void)r;
  return false;
#endif
}

bool rf_replacement_open(rf_replacement *r, const rf_watcher *watcher)
{
  /* a file without write permission must not be replaced either */
  if (r->exists && faccessat(AT_FDCWD, r->path, W_OK, AT_EACCESS) != 0) return false;
  r->folder = open_folder(r->target);
  if (r->folder < 0) return false;
  if (r->exists && is_mount_point(r)) {
    errno = EBUSY;
    return false;
  }
  /* only its owner may read it until it has the old file's mode */
  const mode_t mode = r->exists ? 0600 : 0666;
  const bool opened = rf_temporary_open(&r->temporary, r->folder, r->target, mode, watcher);
  r->fd = r->temporary.fd;
  return opened;
}

bool rf_replacement_folder(const rf_replacement *r, char *path, size_t size)
{
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", r->folder);
  const ssize_t length = readlink(link, path, size);
  if (length == (ssize_t)size) errno = ENAMETOOLONG;
  if (length < 0 || length == (ssize_t)size) return false;
  path[length] = '\0';
  return true;
}

/* ---- The end ---- */

static bool sync_descriptor(int fd)
{
  int result;
  do {
    result = fsync(fd);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

/* Copies the current attributes of the old file, which may be gone. */
static bool keep_attributes(rf_replacement *r)
{
  if (!r->exists) return true;
  if (stat(r->path, &r->old) != 0 && errno != ENOENT) return false;
  return rf_keep_attributes(r->fd, r->path, &r->old, r->temporary.watcher);
}

bool rf_replacement_commit(rf_replacement *r)
{
  if (!keep_attributes(r) || !sync_descriptor(r->fd) || !rf_temporary_replace(&r->temporary))
    return false;
  /* some file systems cannot sync a folder and return EINVAL */
  r->unsettled = !sync_descriptor(r->folder) && errno != EINVAL;
  return !r->unsettled;
}

bool rf_replacement_close(rf_replacement *r)
{
  rf_temporary_remove(&r->temporary); /* while the open file is locked */
  const bool closed = r->fd < 0 || close(r->fd) == 0 || errno == EINTR;
  const int error = errno;
  if (r->folder >= 0) close(r->folder);
  free(r->target);
  *r = (rf_replacement){.path = r->path, .fd = -1, .folder = -1};
  errno = error;
  return closed;
}
