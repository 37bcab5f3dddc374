/* available.h - how much memory and disk space is available. Programs ask before
 * they allocate memory, as Linux grants more than it has and kills the process later. */
#ifndef FILES_AVAILABLE_H
#define FILES_AVAILABLE_H

#include <stdbool.h>
#include <stdint.h>

/* The bytes that this process can allocate: the least of the kernel's estimate, swap included; what
 * the limit of each control group of the process leaves (versions 1 and 2); and what its own limits
 * leave (ulimit -v and -d). UINT64_MAX if none of these is known. */
uint64_t rf_memory_available(void);
/* The bytes that can be written to files of a folder; of a tmpfs as many as there is memory for
 * beside `memory` bytes. UINT64_MAX if this is not known. */
uint64_t rf_space_available(const char *folder, uint64_t memory);
/* True if a folder's files are in memory: a tmpfs. */
bool rf_in_memory(const char *folder);
/* The folder for temporary files, if none is named: TMPDIR, or /var/tmp. */
const char *rf_usual_folder(void);
/* As rf_memory_available, from the files under `root`/proc and `root`/sys/fs/cgroup, for tests. */
uint64_t rf_memory_available_in(const char *root);

#endif
