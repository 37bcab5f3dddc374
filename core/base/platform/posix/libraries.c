#define _GNU_SOURCE
#include "base/platform/libraries.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/assert.h"

_Static_assert(RS_PATH_MAX >= PATH_MAX, "realpath() writes as much");

void *rs_library_open(const char *path, char *why, size_t size)
{
  RS_ASSERT(path[0] == '/' && size > 0);
  void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) (void)snprintf(why, size, "%s", dlerror());
  return library;
}

rs_library_function *rs_library_find(void *library, const char *name)
{
  void *const symbol = dlsym(library, name);
  rs_library_function *function;
  memcpy(&function, &symbol, sizeof function); /* POSIX allows this for functions */
  return function;
}

void rs_library_close(void *library)
{
  (void)dlclose(library);
}

/* In a static program the path would be the name by which it was started. */
bool rs_library_own_folder(char path[RS_PATH_MAX])
{
  static const char here;
  Dl_info own, program;
  if (!dladdr(&here, &own) || !own.dli_fname || own.dli_fname[0] != '/' ||
      !dladdr((const void *)(uintptr_t)getauxval(AT_PHDR), &program) ||
      own.dli_fbase == program.dli_fbase || !realpath(own.dli_fname, path))
    return false;
  RS_ASSERT(path[0] == '/');
  *strrchr(path, '/') = '\0';
  return true;
}

size_t rs_environment(const char *name, char *value, size_t size)
{
  RS_ASSERT(value || size == 0);
  const char *const found = secure_getenv(name);
  const size_t needed = found ? strlen(found) + 1 : 0;
  if (needed && needed <= size) memcpy(value, found, needed);
  return needed;
}
