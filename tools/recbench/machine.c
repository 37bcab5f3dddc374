/* machine.c - see machine.h. The build supplies compiler and build type, and makes commit.h. */
#include "machine.h"

#include "commit.h"
#include "options.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* The first "model name" of /proc/cpuinfo; not every architecture has one. */
static void read_cpu(char *cpu, size_t size, const char *otherwise)
{
  snprintf(cpu, size, "%s", otherwise);
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (file == NULL) return;
  char line[256];
  while (fgets(line, sizeof line, file) != NULL) {
    const char *const colon = strchr(line, ':');
    if (colon == NULL || strncmp(line, "model name", 10) != 0) continue;
    line[strcspn(line, "\n")] = '\0';
    snprintf(cpu, size, "%s", colon + 1 + strspn(colon + 1, " "));
    break;
  }
  fclose(file);
}

bench_machine machine_here(void)
{
  bench_machine here = {.cores = processors(),
                        .memory =
                            (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
                        .compiler = BENCH_COMPILER,
                        .build = BENCH_BUILD,
                        .commit = BENCH_COMMIT};
  struct utsname name = {0};
  uname(&name);
  snprintf(here.kernel, sizeof here.kernel, "%s %s", name.sysname, name.release);
  read_cpu(here.cpu, sizeof here.cpu, name.machine);
  const time_t now = time(NULL);
  struct tm utc;
  strftime(here.date, sizeof here.date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  return here;
}
