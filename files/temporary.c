/* temporary.c - makes and removes temporary names. */
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
  target_part = 100, /* bytes of the target's name in ours; some file systems allow 143 in all */
  absent_enough = 8  /* after so many absent names in a row, assumes that there are no more */
};

/* ---- Changes ---- */

/* While name and file may disagree, this thread gets no signals. */
static void begin_change(const rf_temporary *temporary, sigset_t *old)
{
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, old);
  if (temporary->watcher) temporary->watcher->begin();
}

static void end_change(const rf_temporary *temporary, const sigset_t *old)
{
  if (temporary->watcher) temporary->watcher->end(temporary->name[0] != '\0' ? temporary : NULL);
  pthread_sigmask(SIG_SETMASK, old, NULL);
}

/* ---- Names ---- */

/* True for file systems on which a lock is valid for all processes that can see the file. */
static bool is_local(int folder)
{
  struct statfs system;
  if (fstatfs(folder, &system) != 0) return false;
  switch ((unsigned long)system.f_type) {
  case BTRFS_SUPER_MAGIC:
  case EXT4_SUPER_MAGIC: /* also ext2 and ext3 */
  case F2FS_SUPER_MAGIC:
  case MSDOS_SUPER_MAGIC:
  case OVERLAYFS_SUPER_MAGIC:
  case TMPFS_MAGIC:
  case XFS_SUPER_MAGIC:
    return true;
  default:
    return false;
  }
}

/* Encodes the host's name, which may be long, as a number of fixed width (FNV-1a). */
static void set_host(rf_temporary *temporary)
{
  char host[256] = "";
  uint32_t sum = 2166136261u;
  temporary->host[0] = '\0';
  if (is_local(temporary->folder)) return;
  gethostname(host, sizeof host - 1);
  for (const char *c = host; *c != '\0'; c++)
    sum = (sum ^ (unsigned char)*c) * 16777619u;
  snprintf(temporary->host, sizeof temporary->host, "%08" PRIx32 "-", sum);
}

static void set_name(rf_temporary *temporary, unsigned number)
{
  const char *const target = temporary->target;
  size_t part = strlen(target);
  if (part > target_part) {
    part = target_part;
    while (part > 0 && ((unsigned char)target[part] & 0xc0) == 0x80) /* no partial character */
      part--;
  }
  snprintf(temporary->name, sizeof temporary->name, ".%.*s.recsort-%s%u", (int)part, target,
           temporary->host, number);
}

/* 1: the name belongs to the open file; 0: it does not; negative: unknown. */
static int is_named(const rf_temporary *temporary, int fd)
{
  struct stat file, named;
  if (fstat(fd, &file) != 0) return -1;
  if (fstatat(temporary->folder, temporary->name, &named, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? 0 : -1;
  }
  return file.st_dev == named.st_dev && file.st_ino == named.st_ino && S_ISREG(file.st_mode);
}

/* Removes a leftover file. False if it does not exist or cannot be opened. */
static bool remove_leftover(rf_temporary *temporary, unsigned number)
{
  set_name(temporary, number);
  const int fd = openat(temporary->folder, temporary->name,
                        O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return false;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(temporary, fd) > 0) {
    unlinkat(temporary->folder, temporary->name, 0);
  }
  close(fd);
  return true;
}

static void remove_leftovers(rf_temporary *temporary)
{
  unsigned absent = 0;
  for (unsigned number = 0; absent < absent_enough; number++)
    absent = remove_leftover(temporary, number) ? 0 : absent + 1;
  temporary->name[0] = '\0';
}

/* ---- Files ---- */

typedef int (*make_call)(rf_temporary *temporary, mode_t mode);

/* Makes the file with `make` under the first free name. Negative, with errno, on failure. */
static int make_named(rf_temporary *temporary, make_call make, mode_t mode)
{
  int result;
  sigset_t old;
  begin_change(temporary, &old);
  unsigned number = 0;
  do {
    set_name(temporary, number++);
    result = make(temporary, mode);
  } while (result < 0 && errno == EEXIST);
  const int error = errno;
  if (result < 0) temporary->name[0] = '\0';
  end_change(temporary, &old);
  errno = error;
  return result;
}

/* Makes and locks the file. Another run that searches for leftovers may lock it first, and then
 * removes it. On a file system without locks, that run cannot lock it either. */
static int make_locked(rf_temporary *temporary, mode_t mode)
{
  const int fd =
      openat(temporary->folder, temporary->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0) return -1;
  const bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
  const int named = locked ? is_named(temporary, fd) : 0;
  if (named > 0) return fd;
  const int error = named < 0 ? errno : EEXIST;
  if (named < 0) unlinkat(temporary->folder, temporary->name, 0);
  close(fd);
  errno = error;
  return -1;
}

static void descriptor_path(const rf_temporary *temporary, char path[static 32])
{
  snprintf(path, 32, "/proc/self/fd/%d", temporary->fd);
}

static int make_link(rf_temporary *temporary, mode_t mode)
{
  char path[32];
  (void)mode;
  descriptor_path(temporary, path);
  return linkat(AT_FDCWD, path, temporary->folder, temporary->name, AT_SYMLINK_FOLLOW);
}

bool rf_temporary_open(rf_temporary *temporary, int folder, const char *target, mode_t mode,
                       const rf_watcher *watcher)
{
  *temporary = (rf_temporary){.fd = -1, .folder = folder, .target = target, .watcher = watcher};
  set_host(temporary);
  remove_leftovers(temporary);
  temporary->fd = openat(folder, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
  if (temporary->fd >= 0) {
    char path[32];
    descriptor_path(temporary, path);
    flock(temporary->fd, LOCK_EX | LOCK_NB);
    if (access(path, F_OK) == 0) return true; /* a name can only be given through /proc */
    close(temporary->fd);
  } else if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT) {
    return false;
  }
  temporary->fd = make_named(temporary, make_locked, mode);
  return temporary->fd >= 0;
}

bool rf_temporary_name(rf_temporary *temporary)
{
  return temporary->name[0] != '\0' || make_named(temporary, make_link, 0) == 0;
}

bool rf_temporary_replace(rf_temporary *temporary)
{
  sigset_t old;
  if (!rf_temporary_name(temporary)) return false;
  begin_change(temporary, &old);
  const bool renamed =
      renameat(temporary->folder, temporary->name, temporary->folder, temporary->target) == 0;
  const int error = errno;
  if (renamed) temporary->name[0] = '\0';
  end_change(temporary, &old);
  errno = error;
  return renamed;
}

void rf_temporary_remove(rf_temporary *temporary)
{
  sigset_t old;
  if (temporary->name[0] == '\0') return;
  begin_change(temporary, &old);
  unlinkat(temporary->folder, temporary->name, 0);
  temporary->name[0] = '\0';
  end_change(temporary, &old);
}
