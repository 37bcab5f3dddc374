#define _POSIX_C_SOURCE 200809L
#include "base/platform/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"

/* Why a file is not read; NULL: it is. */
static const char *judge(int file)
{
  struct stat about;
  if (fstat(file, &about) != 0) return strerror(errno);
  if (S_ISDIR(about.st_mode)) return "is a folder, not a schema";
  return S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode) ? NULL : "is neither a file nor a pipe";
}

static const char *read_all(int file, unsigned char *bytes, size_t limit, size_t *size)
{
  size_t have = 0;
  RS_ASSERT(bytes || limit == 0);
  while (have < limit) {
    const ssize_t got = read(file, bytes + have, limit - have);
    if (got == 0) break;
    if (got > 0) have += (size_t)got;
    if (got < 0 && errno != EINTR) return strerror(errno);
  }
  RS_ASSERT(have <= limit);
  *size = have;
  return NULL;
}

const char *rs_file_read(const char *path, void *bytes, size_t limit, size_t *size)
{
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (file < 0) return strerror(errno);
  const char *why = judge(file);
  if (!why) why = read_all(file, bytes, limit, size);
  (void)close(file);
  return why;
}

bool rs_folder_exists(const char *path)
{
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool rs_folder_list(const char *path, bool (*each)(void *context, const char *name), void *context)
{
  struct dirent **entries = NULL;
  const int count = scandir(path, &entries, NULL, alphasort);
  bool done = count >= 0 || errno != ENOMEM;
  for (int i = 0; i < count; i++) {
    done = done && each(context, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  return done;
}

bool rs_path_is_absolute(const char *path)
{
  return path[0] == '/';
}
