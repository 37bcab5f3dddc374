/* files.h - the files that the library reads. Paths and names are UTF-8 on Windows, and bytes
 * elsewhere. */
#ifndef RS_PLATFORM_FILES_H
#define RS_PLATFORM_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* Reads a file up to its end, or `limit` bytes. A pipe is allowed, so that a shell can generate a
 * schema. A device is refused, as it may have no end. Returns NULL, or why it failed; the text
 * lives until this thread's next call. */
const char *rs_file_read(const char *path, void *bytes, size_t limit, size_t *size);

bool rs_folder_exists(const char *path);

/* Calls each(context, name) for all that a folder contains, in the order of the names, until it
 * returns false. A missing folder contains nothing. False: out of memory, or `each` returned it. */
bool rs_folder_list(const char *path, bool (*each)(void *context, const char *name), void *context);

bool rs_path_is_absolute(const char *path);

#endif
