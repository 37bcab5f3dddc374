/* memory.c - reads /proc/meminfo and the control group's limit. */
#include "support/memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* False if the file is absent or holds no number, as the "max" of an unlimited group. */
static bool read_number(const char *path, uint64_t *value)
{
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  const bool found = fscanf(file, "%" SCNu64, value) == 1;
  fclose(file);
  return found;
}

static uint64_t of_machine(void)
{
  FILE *file = fopen("/proc/meminfo", "re");
  if (file == NULL) return UINT64_MAX;
  bool found = false;
  uint64_t sum = 0;
  char line[128];
  while (fgets(line, sizeof line, file) != NULL) {
    uint64_t kib;
    if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1) {
      sum += kib * 1024;
      found = true;
    } else if (sscanf(line, "SwapFree: %" SCNu64, &kib) == 1) {
      sum += kib * 1024;
    }
  }
  fclose(file);
  return found ? sum : UINT64_MAX;
}

/* The group's page cache is given back under pressure, so the limit itself counts. */
static uint64_t of_control_group(void)
{
  char line[1024];
  char path[1024 + 64];
  uint64_t limit = UINT64_MAX;
  FILE *file = fopen("/proc/self/cgroup", "re");
  if (file == NULL) return UINT64_MAX;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "0::", 3) != 0) continue;
    line[strcspn(line, "\n")] = '\0';
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", line + 3);
    if (!read_number(path, &limit)) limit = UINT64_MAX;
  }
  fclose(file);
  return limit;
}

uint64_t tool_memory_available(void)
{
  const uint64_t machine = of_machine();
  const uint64_t group = of_control_group();
  return machine < group ? machine : group;
}
