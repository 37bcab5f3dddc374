/* quota.h - the CPU quotas of control groups, which only Linux has. */
#ifndef RS_PLATFORM_QUOTA_H
#define RS_PLATFORM_QUOTA_H

/* The processors that the quotas of the process's groups leave, rounded up; UINT_MAX: all. Reads
 * files under `root`: "", or a folder of a test. */
unsigned rs_quota_in(const char *root);

#endif
