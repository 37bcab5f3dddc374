/* folders.c - see folders.h. */
#include "folders.h"

#include "files/available.h"
#include "support/message.h"

#include <inttypes.h>
#include <libgen.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

char *folders_usual(const cli_options *options)
{
  struct stat status;
  const char *const output = options->output;
  if (output == NULL || tool_is_standard(output) ||
      (stat(output, &status) == 0 && !S_ISREG(status.st_mode))) {
    return strdup(rf_usual_folder());
  }
  char *const path = realpath(output, NULL); /* a link may lead to another folder */
  char *const name = path != NULL ? path : strdup(output);
  char *const folder = name != NULL ? strdup(dirname(name)) : NULL;
  free(name);
  return folder;
}

bool folders_have_space(const char *const *folders, size_t count, uint64_t size, uint64_t memory)
{
  uint64_t space = 0;
  for (size_t i = 0; i < count; i++) {
    struct statvfs disk;
    struct statfs kind;
    if (statvfs(folders[i], &disk) != 0 || statfs(folders[i], &kind) != 0) return true;
    uint64_t available = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (kind.f_type == TMPFS_MAGIC) {
      const uint64_t left = rf_memory_available();
      const uint64_t more = left > memory ? left - memory : 0;
      if (available > more) available = more;
    }
    space = available < UINT64_MAX - space ? space + available : UINT64_MAX;
  }
  if (size <= space) return true;
  tool_error("%s: not enough space to sort by way of temporary files: %" PRIu64
             " MiB are needed, %" PRIu64 " MiB are available; name another folder: -T DIR",
             folders[0], size >> 20, space >> 20);
  return false;
}
