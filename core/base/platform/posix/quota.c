/* quota.c - reads the groups of the process from /proc/self/cgroup, and their quotas below
 * /sys/fs/cgroup.
 *
 * A quota is an amount of time in each period. Version 2 of control groups has both in one file,
 * and says "max" if there is no quota. Version 1 has a file for each, and says -1.
 */
#define _GNU_SOURCE
#include "base/platform/quota.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"

enum { LONGEST = 4096 };

/* Reads the numbers at the start of a file of a control group. Returns how many there are, at most
 * two. */
static int read_numbers(const char *cgroup, const char *name, long long numbers[2])
{
  char path[3 * LONGEST];
  const int length = snprintf(path, sizeof path, "%s/%s", cgroup, name);
  FILE *const file = length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
  if (!file) return 0;
  const int found = fscanf(file, "%lld %lld", &numbers[0], &numbers[1]);
  RS_ASSERT(found <= 2);
  fclose(file);
  return found;
}

/* A control group has the files of one version only. */
static unsigned quota_of(const char *cgroup)
{
  long long time[2], period[2];
  if (read_numbers(cgroup, "cpu.max", time) == 2)
    period[0] = time[1];
  else if (read_numbers(cgroup, "cpu.cfs_quota_us", time) < 1 ||
           read_numbers(cgroup, "cpu.cfs_period_us", period) < 1)
    return UINT_MAX;
  if (time[0] <= 0 || period[0] <= 0 || (time[0] - 1) / period[0] >= UINT_MAX) return UINT_MAX;
  return (unsigned)((time[0] - 1) / period[0] + 1);
}

/* The least quota of a control group and those above it. In a container the path may be valid only
 * on the host; the root that the container sees is then its own control group. */
static unsigned least_quota(const char *root, const char *controller, char *path)
{
  char cgroup[2 * LONGEST];
  unsigned least = UINT_MAX;
  for (;;) {
    const int length =
        snprintf(cgroup, sizeof cgroup, "%s/sys/fs/cgroup%s%s", root, controller, path);
    const unsigned quota = length < (int)sizeof cgroup ? quota_of(cgroup) : UINT_MAX;
    char *const slash = strrchr(path, '/');
    least = quota < least ? quota : least;
    if (!slash) return least;
    *slash = 0;
  }
}

/* A line is "number:controllers:path"; version 2 is number 0 and has no controllers. */
static unsigned quota_in_line(const char *root, char *line)
{
  char *const controllers = strchr(line, ':'), *rest;
  char *const path = controllers ? strchr(controllers + 1, ':') : NULL;
  if (!path) return UINT_MAX;
  line[strcspn(line, "\n")] = 0;
  *path = 0;
  if (!controllers[1]) return least_quota(root, "", path + 1);
  for (char *name = strtok_r(controllers + 1, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
    if (strcmp(name, "cpu") == 0) return least_quota(root, "/cpu", path + 1);
  return UINT_MAX;
}

unsigned rs_quota_in(const char *root)
{
  char line[LONGEST + 256];
  unsigned least = UINT_MAX;
  (void)snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
  FILE *const file = fopen(line, "re");
  if (!file) return least;
  while (fgets(line, sizeof line, file)) {
    const unsigned quota = quota_in_line(root, line);
    least = quota < least ? quota : least;
  }
  fclose(file);
  return least;
}
