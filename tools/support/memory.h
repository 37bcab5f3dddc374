/* memory.h - how much memory there is, asked before it is taken: Linux grants more than it has and
 * ends the process later. */
#ifndef TOOL_MEMORY_H
#define TOOL_MEMORY_H

#include <stdint.h>

/* Bytes that can be used without anything being pushed out: what the kernel estimates, swap, and
 * the limit of the control group. UINT64_MAX where nobody says. */
uint64_t tool_memory_available(void);

#endif
