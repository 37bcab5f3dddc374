/* memory.h - how much memory is available, checked before it is allocated: Linux grants more than
 * it has and kills the process later. */
#ifndef TOOL_MEMORY_H
#define TOOL_MEMORY_H

#include <stdint.h>

/* Bytes that this process can take without anything being pushed out: the least of what the kernel
 * estimates, swap included; what the limit of each control group that the process is in leaves
 * (versions 1 and 2); and what its own limits leave (ulimit -v and -d). UINT64_MAX where nothing
 * says. */
uint64_t tool_memory_available(void);
/* The same by the files under `root`/proc and `root`/sys/fs/cgroup, for tests. */
uint64_t tool_memory_available_in(const char *root);

#endif
