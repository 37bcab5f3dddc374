/* available.c - reads /proc/meminfo, the limits of control groups and those of the
 * process, and asks file systems. */
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

static uint64_t least(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
  return a > b ? a - b : 0;
}

static FILE *open_file(const char *folder, const char *name)
{
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  return length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
}

/* A file in a folder under the root. */
static FILE *open_under(const char *root, const char *folder, const char *name)
{
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof path, "%s%s", root, folder);
  return length > 0 && (size_t)length < sizeof path ? open_file(path, name) : NULL;
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
      sum_of_words(open_under(root, "/proc", "meminfo"), "MemAvailable:", "SwapFree:");
  return kib <= UINT64_MAX / 1024 ? kib * 1024 : UINT64_MAX;
}

/* ---- Control groups ---- */

/* Reads the number of a file of a group. False if the file is absent or begins with a word, such as
 * the "max" of an unlimited group. */
static bool read_number(const char *folder, const char *name, uint64_t *number)
{
  FILE *const file = open_file(folder, name);
  if (file == NULL) return false;
  const bool found = fscanf(file, "%" SCNu64, number) == 1;
  fclose(file);
  return found;
}

typedef struct group_version {
  const char *limit;
  const char *usage;
  const char *files[2]; /* page cache of the group and those below it */
} group_version;

static const group_version version_1 = {
    "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_active_file", "total_inactive_file"}};
static const group_version version_2 = {
    "memory.max", "memory.current", {"active_file", "inactive_file"}};

/* Counts the group's page cache as available, as the kernel frees it under pressure. */
static void see(const char *folder, bool is_version_2, uint64_t *available)
{
  const group_version *const version = is_version_2 ? &version_2 : &version_1;
  uint64_t limit, usage;
  if (!read_number(folder, version->limit, &limit)) return;
  *available = least(*available, limit);
  if (!read_number(folder, version->usage, &usage)) return;
  const uint64_t files =
      sum_of_words(open_file(folder, "memory.stat"), version->files[0], version->files[1]);
  const uint64_t used = less(usage, files == UINT64_MAX ? 0 : files);
  *available = least(*available, less(limit, used));
}

/* Sees a group and those above it, as the limits of all apply. In a container the path may be valid
 * only on the host; the root that the container sees is then its own group. */
static void climb(const char *root, char *path, bool is_version_2, uint64_t *available)
{
  char folder[PATH_MAX];
  for (;;) {
    const int length = snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s%s", root,
                                is_version_2 ? "" : "/memory", path);
    if (length > 0 && (size_t)length < sizeof folder) see(folder, is_version_2, available);
    char *const slash = strrchr(path, '/');
    if (slash == NULL) return;
    *slash = '\0';
  }
}

/* A line is "number:controllers:path"; version 2 is number 0 and has no controllers. */
static void read_line(const char *root, char *line, uint64_t *available)
{
  char *const controllers = strchr(line, ':');
  char *const path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
  if (path == NULL) return;
  line[strcspn(line, "\n")] = '\0';
  *path = '\0';
  if (controllers[1] == '\0') climb(root, path + 1, true, available);
  for (char *name = strtok(controllers + 1, ","); name != NULL; name = strtok(NULL, ","))
    if (strcmp(name, "memory") == 0) climb(root, path + 1, false, available);
}

static uint64_t of_cgroups(const char *root)
{
  char line[PATH_MAX + 256];
  uint64_t available = UINT64_MAX;
  FILE *const file = open_under(root, "/proc/self", "cgroup");
  if (file == NULL) return available;
  while (fgets(line, sizeof line, file) != NULL)
    read_line(root, line, &available);
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
  FILE *const file = open_under(root, "/proc/self", "statm");
  if (file == NULL) return UINT64_MAX;
  const bool known = fscanf(file, "%" SCNu64 " %*u %*u %*u %*u %" SCNu64, &all, &data) == 2;
  fclose(file);
  if (!known || getrlimit(RLIMIT_AS, &all_limit) != 0 || getrlimit(RLIMIT_DATA, &data_limit) != 0)
    return UINT64_MAX;
  return least(left_of(&all_limit, all), left_of(&data_limit, data));
}

uint64_t rf_memory_available_in(const char *root)
{
  return least(least(of_machine(root), of_cgroups(root)), of_process(root));
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
