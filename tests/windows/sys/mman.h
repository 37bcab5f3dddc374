/* mman.h - pages that may be protected. */
#ifndef RS_TEST_MMAN_H
#define RS_TEST_MMAN_H

#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#undef UNALIGNED

enum { PROT_NONE, PROT_READ, PROT_WRITE };
enum { MAP_PRIVATE, MAP_ANONYMOUS };
#define MAP_FAILED NULL

static inline void *mmap(void *wanted, size_t size, int protection, int flags, int file, long place)
{
  (void)wanted, (void)protection, (void)flags, (void)file, (void)place;
  return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

static inline int mprotect(void *pages, size_t size, int protection)
{
  DWORD before;
  (void)protection; /* none */
  return !VirtualProtect(pages, size, PAGE_NOACCESS, &before);
}

static inline int munmap(void *pages, size_t size)
{
  (void)size;
  return !VirtualFree(pages, 0, MEM_RELEASE);
}

#endif
