/* libraries.h - loads shared libraries, and knows where this one is. */
#ifndef RS_PLATFORM_LIBRARIES_H
#define RS_PLATFORM_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

enum { RS_PATH_MAX = 4096 };

#ifdef _WIN32
#define RS_LIBRARY_SUFFIX ".dll"
#define RS_PATH_SEPARATOR ";"
#else
#define RS_LIBRARY_SUFFIX ".so"
#define RS_PATH_SEPARATOR ":"
#endif

typedef void rs_library_function(void);

/* Loads a library from an absolute path. NULL: it failed, and `why`, of `size` bytes, says why. */
void *rs_library_open(const char *path, char *why, size_t size);
rs_library_function *rs_library_find(void *library, const char *name); /* NULL: not there */
void rs_library_close(void *library);

/* Writes the folder of this library's file to `path`. False if it is linked statically. */
bool rs_library_own_folder(char path[RS_PATH_MAX]);

/* Copies an environment variable to `value`, of `size` bytes, if it fits. Returns the bytes that it
 * takes with its NUL; 0: it is not set, or the process has raised privileges. */
size_t rs_environment(const char *name, char *value, size_t size);

#endif
