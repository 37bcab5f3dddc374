/* wide.h - the UTF-8 of the library and the UTF-16 of Windows. */
#ifndef RS_PLATFORM_WIDE_H
#define RS_PLATFORM_WIDE_H

#include <wchar.h>

/* A copy of `text` to be freed. NULL: out of memory, or it is not UTF-8. */
wchar_t *rs_wide(const char *text);
char *rs_narrow(const wchar_t *text); /* NULL: out of memory */

#endif
