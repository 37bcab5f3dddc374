/* available.c - reads /proc/meminfo, the limits of control groups and those of the process, and
 * asks file systems. */
#include "available.h"

#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { PATH_ROOM = 2 * PATH_MAX };

static uint64_t least(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
  return a > b ? a - b : 0;
}

static FILE *open_file(const char *root, const char *folder, const char *group, const char *name)
{
  char path[PATH_ROOM];
  const int length = snprintf(path, sizeof path, "%s%s%s/%s", root, folder, group, name);
  return length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
}

/* The sum of the numbers after these words at the start of a line; UINT64_MAX if there are none. */
static uint64_t sum_of_words(FILE *file, const char *a, const char *b)
{
  char line[256];
  char word[128];
  uint64_t number, sum = 0;
  bool found = false;
  if (file == NULL) return UINT64_MAX;
  while (fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "%127s %" SCNu64, word, &number) != 2) continue;
    if (strcmp(word, a) != 0 && strcmp(word, b) != 0) continue;
    sum += number;
    found = true;
  }
  fclose(file);
  return found ? sum : UINT64_MAX;
}

static uint64_t of_machine(const char *root)
{
  const uint64_t kib =
      sum_of_words(open_file(root, "/proc", "", "meminfo"), "MemAvailable:", "SwapFree:");
  return kib <= UINT64_MAX / 1024 ? kib * 1024 : UINT64_MAX;
}

/* ---- Control groups ---- */

typedef struct group_version {
  const char *folder; /* the folder of its groups */
  const char *limit;
  const char *usage;
  const char *files[2]; /* page cache of the group and those below it */
} group_version;

static const group_version version_1 = {"/sys/fs/cgroup/memory",
                                        "memory.limit_in_bytes",
                                        "memory.usage_in_bytes",
                                        {"total_active_file", "total_inactive_file"}};
static const group_version version_2 = {
    "/sys/fs/cgroup", "memory.max", "memory.current", {"active_file", "inactive_file"}};

/* UINT64_MAX if the file is absent or holds no number, such as the "max" of an unlimited group. */
static uint64_t read_number(FILE *file)
{
  uint64_t value;
  if (file == NULL) return UINT64_MAX;
  if (fscanf(file, "%" SCNu64, &value) != 1) value = UINT64_MAX;
  fclose(file);
  return value;
}

/* Counts the group's page cache as available, as the kernel frees it under pressure. */
static uint64_t of_group(const char *root, const group_version *version, const char *group)
{
  const uint64_t limit = read_number(open_file(root, version->folder, group, version->limit));
  if (limit == UINT64_MAX) return limit;
  const uint64_t usage = read_number(open_file(root, version->folder, group, version->usage));
  const uint64_t files = sum_of_words(open_file(root, version->folder, group, "memory.stat"),
                                      version->files[0], version->files[1]);
  if (usage == UINT64_MAX) return limit;
  return less(limit, files == UINT64_MAX ? usage : less(usage, files));
}

/* The limits of all groups above apply too. In a container the path may be valid only on the host;
 * the root that the container sees is then its own group. */
static uint64_t of_groups(const char *root, const group_version *version, char *group)
{
  uint64_t available = UINT64_MAX;
  for (;;) {
    char *const slash = strrchr(group, '/');
    available = least(available, of_group(root, version, group));
    if (slash == NULL) return available;
    *slash = '\0';
  }
}

/* A line is "number:controllers:path"; version 2 is number 0 and has no controllers. */
static uint64_t of_line(const char *root, char *line)
{
  char *const controllers = strchr(line, ':');
  char *const path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
  if (path == NULL) return UINT64_MAX;
  line[strcspn(line, "\n")] = '\0';
  *path = '\0';
  if (controllers[1] == '\0') return of_groups(root, &version_2, path + 1);
  for (char *name = strtok(controllers + 1, ","); name != NULL; name = strtok(NULL, ",")) {
    if (strcmp(name, "memory") == 0) return of_groups(root, &version_1, path + 1);
  }
  return UINT64_MAX;
}

static uint64_t of_control_groups(const char *root)
{
  char line[PATH_MAX + 256];
  uint64_t available = UINT64_MAX;
  FILE *const file = open_file(root, "/proc", "/self", "cgroup");
  if (file == NULL) return available;
  while (fgets(line, sizeof line, file) != NULL)
    available = least(available, of_line(root, line));
  fclose(file);
  return available;
}

/* ---- The process ---- */

static uint64_t left_of(const struct rlimit *limit, uint64_t pages)
{
  if (limit->rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return less(limit->rlim_cur, pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

/* ulimit -v and -d. */
static uint64_t of_process(const char *root)
{
  struct rlimit all_limit, data_limit;
  uint64_t all, data;
  FILE *const file = open_file(root, "/proc", "/self", "statm");
  if (file == NULL) return UINT64_MAX;
  const bool known = fscanf(file, "%" SCNu64 " %*u %*u %*u %*u %" SCNu64, &all, &data) == 2;
  fclose(file);
  if (!known || getrlimit(RLIMIT_AS, &all_limit) != 0 || getrlimit(RLIMIT_DATA, &data_limit) != 0)
    return UINT64_MAX;
  return least(left_of(&all_limit, all), left_of(&data_limit, data));
}

uint64_t rf_memory_available_in(const char *root)
{
  return least(least(of_machine(root), of_control_groups(root)), of_process(root));
}

bool rf_in_memory(const char *folder)
{
  struct statfs kind;
  return statfs(folder, &kind) == 0 && kind.f_type == TMPFS_MAGIC;
}

uint64_t rf_space_available(const char *folder, uint64_t memory)
{
  struct statvfs disk;
  if (statvfs(folder, &disk) != 0) return UINT64_MAX;
  const uint64_t space = (uint64_t)disk.f_bavail * disk.f_frsize;
  return rf_in_memory(folder) ? least(space, less(rf_memory_available(), memory)) : space;
}

const char *rf_usual_folder(void)
{
  const char *const named = getenv("TMPDIR");
  return named != NULL && *named != '\0' ? named : "/var/tmp";
}

uint64_t rf_memory_available(void)
{
  return rf_memory_available_in("");
}
