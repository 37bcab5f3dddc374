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
#include "support/machine_files.h"

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
#define TEST cmocka_unit_test

static void test_quotas(void **state)
{
  (void)state;
  assert_true(rs_quota_in("") == UINT_MAX);
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_quotas),
  };
  return cmocka_run_group_tests_name("quota", tests, NULL, NULL);
}
