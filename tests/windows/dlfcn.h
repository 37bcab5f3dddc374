/* dlfcn.h - tells whether a library is loaded. Nothing is found by dlsym: there is no LD_PRELOAD.
 */
#ifndef RS_TEST_DLFCN_H
#define RS_TEST_DLFCN_H

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

enum { RTLD_NOW, RTLD_NOLOAD };
#define RTLD_DEFAULT NULL

static inline void *dlopen(const char *path, int mode)
{
  HMODULE library = NULL;
  (void)mode;
  (void)GetModuleHandleExA(0, path, &library);
  return library;
}

static inline int dlclose(void *library)
{
  return !FreeLibrary(library);
}

static inline void *dlsym(void *library, const char *name)
{
  (void)library;
  (void)name;
  return NULL;
}

#endif
