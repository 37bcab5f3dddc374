/* folders.c - see folders.h. */
#include "folders.h"

#include "files/available.h"
#include "support/message.h"

#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* With a folder before it. */
static bool shares_disk(const char *const *folders, size_t folder)
{
  struct stat this, other;
  if (stat(folders[folder], &this) != 0) return false;
  for (size_t i = 0; i < folder; i++) {
    if (stat(folders[i], &other) == 0 && other.st_dev == this.st_dev) return true;
  }
  return false;
}

bool folders_have_space(const char *const *folders, size_t count, uint64_t size, uint64_t memory)
{
  uint64_t space = 0;
  for (size_t i = 0; i < count; i++) {
    if (shares_disk(folders, i)) continue;
    const uint64_t available = rf_space_available(folders[i], memory);
    space = available < UINT64_MAX - space ? space + available : UINT64_MAX;
  }
  if (size <= space) return true;
  tool_error("%s: not enough space to sort by way of temporary files: %" PRIu64
             " MiB are needed, %" PRIu64 " MiB are available; name another folder: -T DIR",
             folders[0], size >> 20, space >> 20);
  return false;
}
