#include "base/platform/windows/wide.h"

#include <stdlib.h>
#include <windows.h>

wchar_t *rs_wide(const char *text)
{
  const int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
  wchar_t *const wide = length > 0 ? malloc((size_t)length * sizeof *wide) : NULL;
  if (wide) (void)MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, length);
  return wide;
}

char *rs_narrow(const wchar_t *text)
{
  const int length = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
  char *const narrow = length > 0 ? malloc((size_t)length) : NULL;
  if (narrow) (void)WideCharToMultiByte(CP_UTF8, 0, text, -1, narrow, length, NULL, NULL);
  return narrow;
}
