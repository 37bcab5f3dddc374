/* cgroups.h - the control groups of this process (Linux, versions 1 and 2). */
#ifndef FILES_CGROUPS_H
#define FILES_CGROUPS_H

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { CGROUP_PATH = 4096 };

/* What to look for. */
typedef struct cgroups {
  const char *root;       /* "", or a folder with the files of another machine */
  const char *controller; /* of version 1, such as "memory" */
  /* Sees the folder of a group; it may be missing. */
  void (*see)(void *context, const char *folder, bool version_2);
  void *context;
} cgroups;

/* Sees a group and those above it, as the limits of all apply. In a container the path may be valid
 * only on the host; the root that the container sees is then its own group. */
static inline void cgroups_climb(const cgroups *search, char *path, bool version_2)
{
  char folder[CGROUP_PATH];
  for (;;) {
    const int length = snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s%s%s", search->root,
                                version_2 ? "" : "/", version_2 ? "" : search->controller, path);
    if (length > 0 && (size_t)length < sizeof folder)
      search->see(search->context, folder, version_2);
    char *const slash = strrchr(path, '/');
    if (slash == NULL) return;
    *slash = '\0';
  }
}

/* A line is "number:controllers:path"; version 2 is number 0 and has no controllers. */
static inline void cgroups_read(const cgroups *search, char *line)
{
  char *const controllers = strchr(line, ':');
  char *const path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
  const size_t length = strlen(search->controller);
  if (path == NULL) return;
  line[strcspn(line, "\n")] = '\0';
  *path = '\0';
  if (controllers[1] == '\0') cgroups_climb(search, path + 1, true);
  for (const char *name = controllers; name != NULL; name = strchr(name, ',')) {
    name++;
    if (strcspn(name, ",") != length || strncmp(name, search->controller, length) != 0) continue;
    cgroups_climb(search, path + 1, false);
  }
}

/* Sees the groups of the process. */
static inline void cgroups_see(const cgroups *search)
{
  char path[CGROUP_PATH], line[CGROUP_PATH];
  const int length = snprintf(path, sizeof path, "%s/proc/self/cgroup", search->root);
  FILE *const file = length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
  if (file == NULL) return;
  while (fgets(line, sizeof line, file) != NULL)
    cgroups_read(search, line);
  fclose(file);
}

/* Reads up to two numbers of a file of a group. Returns how many there are: 0 if the file is absent
 * or begins with another word, such as the "max" of an unlimited group. */
static inline int cgroup_numbers(const char *folder, const char *name, int64_t numbers[2])
{
  char path[CGROUP_PATH];
  const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *const file = length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
  if (file == NULL) return 0;
  const int found = fscanf(file, "%" SCNd64 " %" SCNd64, &numbers[0], &numbers[1]);
  fclose(file);
  return found > 0 ? found : 0;
}

/* A quota is an amount of time in each period: of version 2 both in one file, "max" if there is
 * none; of version 1 in a file each, -1 if there is none. */
static inline void cgroups_see_quota(void *context, const char *folder, bool version_2)
{
  unsigned *const least = context;
  int64_t numbers[2], period[2];
  if (version_2 ? cgroup_numbers(folder, "cpu.max", numbers) < 2
                : cgroup_numbers(folder, "cpu.cfs_quota_us", numbers) < 1 ||
                      cgroup_numbers(folder, "cpu.cfs_period_us", period) < 1)
    return;
  if (!version_2) numbers[1] = period[0];
  if (numbers[0] <= 0 || numbers[1] <= 0) return;
  const int64_t processors = (numbers[0] - 1) / numbers[1] + 1;
  if (processors < *least) *least = (unsigned)processors;
}

/* The processors that the quotas leave, rounded up; UINT_MAX: all. */
static inline unsigned cgroups_quota(const char *root)
{
  unsigned least = UINT_MAX;
  cgroups_see(&(cgroups){root, "cpu", cgroups_see_quota, &least});
  return least;
}

#endif
