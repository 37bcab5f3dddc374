/* signature.h - formats that hold no plain records, by the bytes that they begin with. */
#ifndef TOOL_SIGNATURE_H
#define TOOL_SIGNATURE_H

#include "support/format.h"

/* Bytes of a file's beginning, and of its end, that tell. */
enum { TOOL_SIGNATURE = 10, TOOL_SIGNATURE_END = 4 };

/* True if these are the first bytes of a file that ends with `end` (NULL: unknown as yet), and
 * which is compressed, or in columns; `why` says so, and what to do. */
bool tool_signature_is_foreign(const unsigned char *bytes, size_t size, const unsigned char *end,
                               tool_why *why);
/* True if these are the first bytes of a .npy file. */
bool tool_signature_is_npy(const unsigned char *bytes, size_t size);
/* True if only a file's end tells. */
bool tool_signature_needs_end(const unsigned char *bytes, size_t size);

#endif
