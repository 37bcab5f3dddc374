#include "base/platform/files.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

#include "base/assert.h"
#include "base/platform/windows/wide.h"

static bool is_folder(const wchar_t *path)
{
  const DWORD attributes = GetFileAttributesW(path);
  return attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_DIRECTORY;
}

/* Why an open file is not read; NULL: it is. */
static const char *judge(int file)
{
  struct _stat64 about;
  if (_fstat64(file, &about) != 0) return strerror(errno);
  const unsigned kind = about.st_mode & _S_IFMT;
  return kind == _S_IFREG || kind == _S_IFIFO ? NULL : "is neither a file nor a pipe";
}

static const char *read_all(int file, unsigned char *bytes, size_t limit, size_t *size)
{
  size_t have = 0;
  while (have < limit) {
    const size_t left = limit - have;
    const int got = _read(file, bytes + have, left < 1 << 30 ? (unsigned)left : 1u << 30);
    if (got == 0) break;
    if (got < 0) return strerror(errno);
    have += (size_t)got;
  }
  RS_ASSERT(have <= limit);
  *size = have;
  return NULL;
}

static const char *read_wide(const wchar_t *path, void *bytes, size_t limit, size_t *size)
{
  if (is_folder(path)) return "is a folder, not a schema";
  const int file = _wopen(path, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
  if (file < 0) return strerror(errno);
  const char *why = judge(file);
  if (!why) why = read_all(file, bytes, limit, size);
  (void)_close(file);
  return why;
}

const char *rs_file_read(const char *path, void *bytes, size_t limit, size_t *size)
{
  wchar_t *const wide = rs_wide(path);
  const char *const why =
      wide ? read_wide(wide, bytes, limit, size) : "its name is not UTF-8, or memory is short";
  free(wide);
  return why;
}

bool rs_folder_exists(const char *path)
{
  wchar_t *const wide = rs_wide(path);
  const bool exists = wide && is_folder(wide);
  free(wide);
  return exists;
}

/* ---- Folders ---- */

typedef struct names {
  char **items;
  size_t count;
} names;

static bool append(names *list, const wchar_t *name)
{
  char **const grown = realloc(list->items, (list->count + 1) * sizeof *grown);
  if (!grown) return false;
  list->items = grown;
  grown[list->count] = rs_narrow(name);
  return grown[list->count] && ++list->count;
}

/* Collects the names that match a pattern. False: out of memory. */
static bool collect(const wchar_t *pattern, names *list)
{
  WIN32_FIND_DATAW found;
  const HANDLE search = FindFirstFileW(pattern, &found);
  bool done = true;
  if (search == INVALID_HANDLE_VALUE) return true;
  do
    done = append(list, found.cFileName);
  while (done && FindNextFileW(search, &found));
  (void)FindClose(search);
  return done;
}

static bool collect_in(const char *folder, names *list)
{
  const size_t length = strlen(folder);
  char *const pattern = malloc(length + 3);
  if (!pattern) return false;
  memcpy(pattern, folder, length);
  memcpy(pattern + length, "\\*", 3);
  wchar_t *const wide = rs_wide(pattern);
  const bool done = !wide || collect(wide, list); /* no folder has a name that is not UTF-8 */
  free(wide);
  free(pattern);
  return done;
}

static int by_name(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

bool rs_folder_list(const char *path, bool (*each)(void *context, const char *name), void *context)
{
  names list = {0};
  bool done = collect_in(path, &list);
  if (list.count) qsort(list.items, list.count, sizeof *list.items, by_name);
  for (size_t i = 0; i < list.count; i++) {
    done = done && each(context, list.items[i]);
    free(list.items[i]);
  }
  free(list.items);
  return done;
}

static bool is_separator(char c)
{
  return c == '/' || c == '\\';
}

/* "C:\folder", or "\\server\folder". */
bool rs_path_is_absolute(const char *path)
{
  if (is_separator(path[0])) return is_separator(path[1]);
  return path[0] && path[1] == ':' && is_separator(path[2]);
}
