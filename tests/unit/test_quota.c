/* The processors that control groups leave, of an imaginary machine and of this one. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <recsort/recsort.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/platform/quota.h"

#define V1 "/sys/fs/cgroup/cpu"
#define V2 "/sys/fs/cgroup"

/* ---- An imaginary machine ---- */

static char root[] = "/tmp/recsort-quota.XXXXXX";

/* Writes a file under the root, and makes its folders. */
static void write_file(const char *name, const char *text)
{
  char path[512];
  (void)snprintf(path, sizeof path, "%s%s", root, name);
  for (char *at = path + sizeof root; (at = strchr(at, '/')); *at++ = '/') {
    *at = 0;
    (void)mkdir(path, 0700);
  }
  FILE *const file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
  (void)status;
  (void)kind;
  (void)walk;
  return remove(path);
}

/* Version 2, version 1, groups above, a part of a processor. */
static void test_quotas(void **state)
{
  (void)state;
  assert_non_null(mkdtemp(root));
  assert_true(rs_quota_in(root) == UINT_MAX);
  write_file("/proc/self/cgroup", "9:memory:/m\n4:cpu,cpuacct:/a/b\n0::/c/d\n");
  write_file(V2 "/c/d/cpu.max", "max 100000\n");
  write_file(V1 "/a/b/cpu.cfs_quota_us", "-1\n");
  write_file(V1 "/a/b/cpu.cfs_period_us", "100000\n");
  assert_true(rs_quota_in(root) == UINT_MAX);
  write_file(V1 "/a/b/cpu.cfs_quota_us", "700000\n");
  assert_int_equal(rs_quota_in(root), 7);
  write_file(V2 "/c/d/cpu.max", "250001 50000\n");
  assert_int_equal(rs_quota_in(root), 6);
  write_file(V2 "/c/cpu.max", "150000 50000\n");
  assert_int_equal(rs_quota_in(root), 3);
  write_file(V1 "/cpu.cfs_quota_us", "1000\n");
  assert_int_equal(rs_quota_in(root), 3); /* the period is unknown */
  write_file(V1 "/cpu.cfs_period_us", "100000\n");
  assert_int_equal(rs_quota_in(root), 1);
  assert_int_equal(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* ---- This machine ---- */

enum { RECORDS = 1 << 20 };

static bool put(const char *group, const char *name, const char *text)
{
  char path[PATH_MAX];
  (void)snprintf(path, sizeof path, "%s/%s", group, name);
  FILE *const file = fopen(path, "w");
  if (!file) return false;
  const bool written = fputs(text, file) >= 0;
  return fclose(file) == 0 && written;
}

/* A quota of as many processors. */
static bool put_quota(const char *group, bool is_version_2, unsigned processors)
{
  char text[64];
  (void)snprintf(text, sizeof text, is_version_2 ? "%u00000 100000" : "%u00000", processors);
  return put(group, is_version_2 ? "cpu.max" : "cpu.cfs_quota_us", text);
}

static unsigned threads_of(const recsort_sorter *sorter)
{
  recsort_stats stats;
  recsort_sorter_get_stats(sorter, &stats, sizeof stats);
  return stats.threads;
}

/* The threads of this process; 0: not known. */
static size_t threads_here(void)
{
  DIR *const folder = opendir("/proc/self/task");
  size_t count = 0;
  if (!folder) return 0;
  for (const struct dirent *entry; (entry = readdir(folder));)
    count += entry->d_name[0] != '.';
  (void)closedir(folder);
  return count;
}

/* In the group: the exit status, 0 if all is right. */
static int count_threads(const char *group, bool is_version_2)
{
  static const char text[] = "record: r\nfields: [{name: key, type: uint32}]\nkeys: [key]\n";
  recsort_options options = RECSORT_OPTIONS_INIT;
  recsort_job job = RECSORT_JOB_INIT;
  recsort_schema *schema = NULL;
  recsort_sorter *counting = NULL, *told = NULL;
  static uint32_t records[RECORDS];
  const size_t own = threads_here(); /* an emulator of processors has some of its own */
  options.plugin = "cpu";
  if (!put(group, "cgroup.procs", "0")) return 10;
  if (recsort_schema_load_memory(text, sizeof text - 1, NULL, NULL, &schema, NULL)) return 11;
  if (recsort_sorter_create(schema, &options, &counting, NULL)) return 12;
  options.threads = 3;
  if (recsort_sorter_create(schema, &options, &told, NULL)) return 13;
  if (threads_of(counting) != 1) return 14;
  if (threads_of(told) != 3) return 15;
  if (recsort_executor_default()->threads != 1) return 16;
  job.records = records;
  job.sorted = records;
  job.count = RECORDS;
  for (uint32_t i = 0; i < RECORDS; i++)
    records[i] = i * UINT32_C(2654435761);
  if (recsort_sort(counting, records, RECORDS, NULL)) return 22;
  if (threads_here() != own) return 23;
  if (!put_quota(group, is_version_2, 2)) return 17;
  if (recsort_sorter_reserve(counting, &job, NULL)) return 18;
  if (threads_of(counting) != 2) return 19;
  for (uint32_t i = 0; i < RECORDS; i++)
    records[i] = i * UINT32_C(2654435761);
  if (recsort_sort(counting, records, RECORDS, NULL)) return 24;
  if (threads_here() != own + 1) return 25;
  if (recsort_sorter_reserve(told, &job, NULL)) return 20;
  if (threads_of(told) != 3) return 21;
  recsort_sorter_destroy(counting);
  recsort_sorter_destroy(told);
  recsort_schema_destroy(schema);
  return 0;
}

/* Creates sorters in a group with the time of one processor, and uses them with that of two. Only
 * the sorter that was told its number of threads keeps it. */
static void test_a_group(void **state)
{
  static const char *const places[] = {V1, V2};
  (void)state;
  for (unsigned version = 1; version <= 2; version++) {
    cpu_set_t processors;
    char group[128];
    int status = 0;
    assert_int_equal(sched_getaffinity(0, sizeof processors, &processors), 0);
    (void)snprintf(group, sizeof group, "%s/recsort-quota-%d", places[version - 1], (int)getpid());
    if (CPU_COUNT(&processors) < 2 || mkdir(group, 0755)) continue;
    if (!put_quota(group, version == 2, 1)) {
      (void)rmdir(group);
      continue;
    }
    const pid_t child = fork();
    if (child == 0) _exit(count_threads(group, version == 2));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(rmdir(group), 0);
    assert_int_equal(status, 0);
    return;
  }
  skip(); /* no group can be made here */
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_quotas), cmocka_unit_test(test_a_group)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
