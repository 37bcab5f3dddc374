/* load_least.h - from how many records on a GPU may be faster. */
#ifndef RS_BASE_LOAD_LEAST_H
#define RS_BASE_LOAD_LEAST_H

/* With fewer records "auto" tries no plugin, and the CUDA plugin offers no sort: here one thread of
 * a Xeon and an H200 are equally fast. */
enum { RS_LOAD_LEAST = 12 << 10 };

#endif
