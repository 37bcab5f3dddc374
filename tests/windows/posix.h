/* posix.h - the functions of POSIX that the tests use, for a test that is compiled for Windows. The
 * compiler includes it before each source file. Each function does only what the tests need. */
#ifndef RS_TEST_POSIX_H
#define RS_TEST_POSIX_H

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline int setenv(const char *name, const char *value, int overwrite)
{
  (void)overwrite;
  return _putenv_s(name, value);
}

static inline int unsetenv(const char *name)
{
  return _putenv_s(name, "");
}

enum { _SC_PAGESIZE = 1, _SC_THREAD_STACK_MIN };

static inline long sysconf(int name)
{
  return name == _SC_PAGESIZE ? 4096 : 16384;
}

/* free() takes no aligned memory. So all memory of a test comes from the functions that align it.
 */
static inline void *zeroed_array(size_t count, size_t size)
{
  const size_t bytes = size && count > SIZE_MAX / size ? SIZE_MAX : count * size;
  void *const memory = _aligned_malloc(bytes, 16);
  return memory ? memset(memory, 0, bytes) : NULL;
}

static inline int posix_memalign(void **memory, size_t alignment, size_t size)
{
  *memory = _aligned_malloc(size, alignment);
  return *memory ? 0 : ENOMEM;
}

#define malloc(size) _aligned_malloc(size, 16)
#define calloc(count, size) zeroed_array(count, size)
#define realloc(memory, size) _aligned_realloc(memory, size, 16)
#define free(memory) _aligned_free(memory)

#endif
