/* shim.c - a library that the tests of recsort-mpi preload into one of its processes, or all.
 *
 *   SHIM_RANK=N   the process of this number has, when it writes its records:
 *   SHIM_DO=full  no space on the disk
 *   SHIM_DO=limit a limit on the size of files (RLIMIT_FSIZE), which MPI must not have
 *   SHIM_DO=kill  its end: it is killed
 *   SHIM_AFTER=N  but only after N writes */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_meant(void)
{
  static atomic_int writes;
  const char *const after = getenv("SHIM_AFTER");
  const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *const meant = getenv("SHIM_RANK");
  if (!rank) rank = getenv("PMI_RANK");
  const int is_one = rank && meant && strcmp(rank, meant) == 0;
  return is_one && (!after || writes++ >= atoi(after));
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset)
{
  static const struct rlimit limit = {1000, 1000};
  const char *const what = is_meant() ? getenv("SHIM_DO") : NULL;
  if (what && strcmp(what, "kill") == 0) kill(getpid(), SIGKILL);
  if (what && strcmp(what, "limit") == 0) setrlimit(RLIMIT_FSIZE, &limit);
  if (what && strcmp(what, "full") == 0) {
    errno = ENOSPC;
    return -1;
  }
  return syscall(SYS_pwrite64, file, data, size, offset);
}
