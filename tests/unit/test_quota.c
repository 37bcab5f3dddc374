/* Quotas of processors, from the files of imaginary machines. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>

#include "base/platform/threads.h"

#ifdef __linux__
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[64];

static int make_root(void **state)
{
  (void)state;
  strcpy(root, "/tmp/recsort-quota-XXXXXX");
  return mkdtemp(root) == NULL;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
  (void)status, (void)type, (void)place;
  return remove(path);
}

static int remove_root(void **state)
{
  (void)state;
  return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *path, const char *text)
{
  char whole[512];
  snprintf(whole, sizeof whole, "%s%s", root, path);
  for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(whole, 0700);
    *slash = '/';
  }
  FILE *const file = fopen(whole, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

/* Quotas of processors: of version 2, of version 1, of groups above, of a part of a processor. */
static void test_quotas(void **state)
{
  (void)state;
  assert_true(rs_quota_in(root) == UINT_MAX);
  write_file("/proc/self/cgroup", "9:memory:/m\n4:cpu,cpuacct:/a/b\n0::/c/d\n");
  write_file("/sys/fs/cgroup/c/d/cpu.max", "max 100000\n");
  write_file("/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
  write_file("/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
  assert_true(rs_quota_in(root) == UINT_MAX);
  write_file("/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "700000\n");
  assert_int_equal(rs_quota_in(root), 7);
  write_file("/sys/fs/cgroup/c/d/cpu.max", "250001 50000\n");
  assert_int_equal(rs_quota_in(root), 6);
  write_file("/sys/fs/cgroup/c/cpu.max", "150000 50000\n");
  assert_int_equal(rs_quota_in(root), 3);
  write_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "1000\n");
  assert_int_equal(rs_quota_in(root), 3); /* the period is unknown */
  write_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  assert_int_equal(rs_quota_in(root), 1);
}
#else
static int make_root(void **state)
{
  (void)state;
  return 0;
}

static int remove_root(void **state)
{
  (void)state;
  return 0;
}

static void test_quotas(void **state)
{
  (void)state;
  assert_true(rs_quota_in("") == UINT_MAX);
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_quotas, make_root, remove_root),
  };
  return cmocka_run_group_tests_name("quota", tests, NULL, NULL);
}
