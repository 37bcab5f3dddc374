/* attributes.c - copies attributes, first those that restrict access, the mode last. */
#include "attributes.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <linux/limits.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

typedef struct keeper {
  int fd; /* the new file */
  const char *path;
  const rf_watcher *watcher;
  char names[XATTR_LIST_MAX]; /* of the old file's attributes */
  _Alignas(8) unsigned char value[XATTR_SIZE_MAX];
  unsigned char present[XATTR_SIZE_MAX];
} keeper;

static const char access_list[] = "system.posix_acl_access";

/* Tells what is not kept, and why: errno. */
static void warn(const keeper *k, const char *what, const char *name, const char *verb)
{
  char text[PATH_MAX + 512];
  const char *const why = strerror(errno);
  if (k->watcher == NULL) return;
  snprintf(text, sizeof text, "%s: its %s%s %s not kept: %s", k->path, what, name, verb, why);
  k->watcher->warn(text);
}

static bool has_none(int error)
{
  return error == ENODATA || error == EOPNOTSUPP || error == ENOSYS;
}

/* ---- Extended attributes ---- */

static bool begins(const char *name, const char *with)
{
  return strncmp(name, with, strlen(with)) == 0;
}

/* True for attributes that are the user's or that control access. False for those that the kernel
 * derives from the content, for the access list in its other form, and for those of file
 * systems. */
static bool is_kept(const char *name)
{
  if (strcmp(name, "security.ima") == 0 || strcmp(name, "security.evm") == 0) return false;
  if (begins(name, "trusted.SGI_")) return false;
  return begins(name, "user.") || begins(name, "security.") || begins(name, "trusted.") ||
         strcmp(name, "system.nfs4_acl") == 0;
}

static void keep_attribute(keeper *k, const char *name)
{
  const ssize_t size = getxattr(k->path, name, k->value, sizeof k->value);
  if (size < 0 && has_none(errno)) return;
  /* Skips an attribute that already has this value, such as a label: you may not be allowed to set
   * it. */
  if (size >= 0 && fgetxattr(k->fd, name, k->present, sizeof k->present) == size &&
      memcmp(k->value, k->present, (size_t)size) == 0) {
    return;
  }
  if (size < 0 || fsetxattr(k->fd, name, k->value, (size_t)size, 0) != 0)
    warn(k, "attribute ", name, "is");
}

static void keep_extended(keeper *k)
{
  const ssize_t size = listxattr(k->path, k->names, sizeof k->names);
  if (size < 0 && !has_none(errno)) warn(k, "attributes", "", "are");
  for (ssize_t at = 0; at < size; at += (ssize_t)strlen(k->names + at) + 1) {
    if (is_kept(k->names + at)) keep_attribute(k, k->names + at);
  }
}

/* ---- The access list ---- */

/* The entry of `tag`; NULL: none. The owner, the owning group and others have one each. */
static struct posix_acl_xattr_entry *find_entry(keeper *k, size_t size, unsigned tag)
{
  size_t at = sizeof(struct posix_acl_xattr_header);
  for (; at + sizeof(struct posix_acl_xattr_entry) <= size;
       at += sizeof(struct posix_acl_xattr_entry)) {
    struct posix_acl_xattr_entry *const entry = (void *)(k->value + at);
    if (le16toh(entry->e_tag) == tag) return entry;
  }
  return NULL;
}

/* A group other than the old one gets the permissions of others. */
static mode_t narrowed(mode_t mode)
{
  return (mode & (mode_t)~S_IRWXG) | (mode & (mode & S_IRWXO) << 3);
}

/* Copies the access list, and returns the mode to set. With a list, the group bits of the mode are
 * the most that the list grants to anyone but the owner and others; without one, they are the
 * owning group's. */
static mode_t keep_list(keeper *k, mode_t mode, bool group)
{
  const ssize_t size = getxattr(k->path, access_list, k->value, sizeof k->value);
  if (size < 0 && has_none(errno)) return group ? mode : narrowed(mode);
  if (size >= 0) {
    struct posix_acl_xattr_entry *const owning = find_entry(k, (size_t)size, ACL_GROUP_OBJ);
    if (owning != NULL && !group) owning->e_perm &= htole16((uint16_t)(mode & S_IRWXO));
    if (fsetxattr(k->fd, access_list, k->value, (size_t)size, 0) == 0) return mode;
    if (owning != NULL) mode &= (mode_t)~S_IRWXG | (mode_t)le16toh(owning->e_perm) << 3;
  } else {
    mode &= (mode_t)~S_IRWXG;
  }
  warn(k, "access list", "", "is");
  return mode;
}

/* ---- All ---- */

/* Removes a list that the file inherited from its folder. */
static bool remove_list(int fd)
{
  return fgetxattr(fd, access_list, NULL, 0) < 0 || fremovexattr(fd, access_list) == 0;
}

bool rf_keep_attributes(int fd, const char *path, const struct stat *old, const rf_watcher *watcher)
{
  mode_t mode = old->st_mode & 07777;
  const bool owner = fchown(fd, old->st_uid, old->st_gid) == 0;
  const bool group = owner || fchown(fd, (uid_t)-1, old->st_gid) == 0;
  if (!owner) mode &= (mode_t) ~(S_ISUID | S_ISGID);
  if (!remove_list(fd)) return false;
  keeper *const k = malloc(sizeof *k); /* pages that are not used cost nothing */
  if (k == NULL) return false;
  k->fd = fd;
  k->path = path;
  k->watcher = watcher;
  keep_extended(k);
  mode = keep_list(k, mode, group);
  free(k);
  return fchmod(fd, mode) == 0;
}
