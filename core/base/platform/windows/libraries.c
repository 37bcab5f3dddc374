#include "base/platform/libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "base/platform/windows/wide.h"

/* Writes the text of the last error, in the user's language, without the end of its line. */
static void explain(const char *path, char *why, size_t size)
{
  wchar_t wide[200] = L"";
  const DWORD code = GetLastError();
  (void)FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, code, 0,
                       wide, sizeof wide / sizeof *wide, NULL);
  wide[wcscspn(wide, L"\r\n")] = L'\0';
  char *const text = rs_narrow(wide);
  (void)snprintf(why, size, "%s: error %lu: %s", path, code, text ? text : "");
  free(text);
}

/* Other libraries that it needs are searched beside it, not in the current folder. That takes a
 * path with backslashes. The user sees no dialog if the file is no library. */
void *rs_library_open(const char *path, char *why, size_t size)
{
  DWORD before = 0;
  HMODULE library = NULL;
  wchar_t *const wide = rs_wide(path);
  for (wchar_t *c = wide; c && *c; c++)
    if (*c == L'/') *c = L'\\';
  (void)SetThreadErrorMode(SEM_FAILCRITICALERRORS, &before);
  if (wide)
    library = LoadLibraryExW(wide, NULL,
                             LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
  if (!library) explain(path, why, size);
  (void)SetThreadErrorMode(before, NULL);
  free(wide);
  return library;
}

rs_library_function *rs_library_find(void *library, const char *name)
{
  return (rs_library_function *)GetProcAddress(library, name);
}

void rs_library_close(void *library)
{
  (void)FreeLibrary(library);
}

bool rs_library_own_folder(char path[RS_PATH_MAX])
{
  static const char here;
  wchar_t wide[RS_PATH_MAX];
  HMODULE own = NULL;
  if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                              GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                          (const wchar_t *)(const void *)&here, &own) ||
      own == GetModuleHandleW(NULL))
    return false;
  const DWORD length = GetModuleFileNameW(own, wide, RS_PATH_MAX);
  if (length == 0 || length == RS_PATH_MAX ||
      !WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, RS_PATH_MAX, NULL, NULL))
    return false;
  *strrchr(path, '\\') = '\0';
  return true;
}

size_t rs_environment(const char *name, char *value, size_t size)
{
  wchar_t *const wide_name = rs_wide(name);
  const DWORD length = wide_name ? GetEnvironmentVariableW(wide_name, NULL, 0) : 0;
  wchar_t *const wide = length ? malloc(length * sizeof *wide) : NULL;
  char *found = NULL;
  if (wide && GetEnvironmentVariableW(wide_name, wide, length) < length) found = rs_narrow(wide);
  const size_t needed = found ? strlen(found) + 1 : 0;
  if (needed && needed <= size) memcpy(value, found, needed);
  free(found);
  free(wide);
  free(wide_name);
  return needed;
}
