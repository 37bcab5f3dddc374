/* attributes.c - copies attributes, first those that restrict access, the mode last. */
#include "support/attributes.h"

#include "support/message.h"

#include <endian.h>
#include <errno.h>
#include <linux/limits.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stddef.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The names of one file's attributes. Static, so it costs no memory if no file has any. */
static char names[XATTR_LIST_MAX];
static _Alignas(8) unsigned char value[XATTR_SIZE_MAX];
static unsigned char present[XATTR_SIZE_MAX];

static const char access_list[] = "system.posix_acl_access";

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

static void keep_attribute(int fd, const char *path, const char *name)
{
  const ssize_t size = getxattr(path, name, value, sizeof value);
  if (size < 0 && has_none(errno)) return;
  /* Skips an attribute that already has this value, such as a label: you may not be allowed to set
   * it. */
  if (size >= 0 && fgetxattr(fd, name, present, sizeof present) == size &&
      memcmp(value, present, (size_t)size) == 0) {
    return;
  }
  if (size >= 0 && fsetxattr(fd, name, value, (size_t)size, 0) == 0) return;
  tool_error("%s: its attribute %s is not kept: %s", path, name, strerror(errno));
}

static void keep_extended(int fd, const char *path)
{
  const ssize_t size = listxattr(path, names, sizeof names);
  if (size < 0 && !has_none(errno)) {
    tool_error("%s: its attributes are not kept: %s", path, strerror(errno));
  }
  for (ssize_t at = 0; at < size; at += (ssize_t)strlen(names + at) + 1) {
    if (is_kept(names + at)) keep_attribute(fd, path, names + at);
  }
}

/* ---- The access list ---- */

/* The entry of `tag`; NULL: none. The owner, the owning group and others have one each. */
static struct posix_acl_xattr_entry *find_entry(size_t size, unsigned tag)
{
  size_t at = sizeof(struct posix_acl_xattr_header);
  for (; at + sizeof(struct posix_acl_xattr_entry) <= size;
       at += sizeof(struct posix_acl_xattr_entry)) {
    struct posix_acl_xattr_entry *const entry = (void *)(value + at);
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
static mode_t keep_list(int fd, const char *path, mode_t mode, bool group)
{
  const ssize_t size = getxattr(path, access_list, value, sizeof value);
  if (size < 0 && has_none(errno)) return group ? mode : narrowed(mode);
  int error = errno;
  if (size >= 0) {
    struct posix_acl_xattr_entry *const owning = find_entry((size_t)size, ACL_GROUP_OBJ);
    if (owning != NULL && !group) owning->e_perm &= htole16((uint16_t)(mode & S_IRWXO));
    if (fsetxattr(fd, access_list, value, (size_t)size, 0) == 0) return mode;
    error = errno;
    if (owning != NULL) mode &= (mode_t)~S_IRWXG | (mode_t)le16toh(owning->e_perm) << 3;
  } else {
    mode &= (mode_t)~S_IRWXG;
  }
  tool_error("%s: its access list is not kept: %s", path, strerror(error));
  return mode;
}

/* ---- All ---- */

/* Removes a list that the file inherited from its folder. */
static bool remove_list(int fd)
{
  return fgetxattr(fd, access_list, NULL, 0) < 0 || fremovexattr(fd, access_list) == 0;
}

bool tool_keep_attributes(int fd, const char *path, const struct stat *old)
{
  mode_t mode = old->st_mode & 07777;
  const bool owner = fchown(fd, old->st_uid, old->st_gid) == 0;
  const bool group = owner || fchown(fd, (uid_t)-1, old->st_gid) == 0;
  if (!owner) mode &= (mode_t) ~(S_ISUID | S_ISGID);
  if (!remove_list(fd)) return false;
  keep_extended(fd, path);
  return fchmod(fd, keep_list(fd, path, mode, group)) == 0;
}
