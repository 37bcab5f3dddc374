/* Available memory, computed from the files of imaginary machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/available.h"

#define MACHINE (UINT64_C(5000) * 1024)
#define MEMINFO "MemTotal: 9000 kB\nMemFree: 1 kB\nMemAvailable:    4000 kB\nSwapFree: 1000 kB\n"
#define V1 "/sys/fs/cgroup/memory"
#define V2 "/sys/fs/cgroup"

static char root[64];

static int make_root(void **state)
{
  (void)state;
  strcpy(root, "/tmp/recsort-memory-XXXXXX");
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
  const int length = snprintf(whole, sizeof whole, "%s%s", root, path);
  assert_true(length > 0 && (size_t)length < sizeof whole);
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

static uint64_t available(void)
{
  return rf_memory_available_in(root);
}

static void test_nothing_is_known(void **state)
{
  (void)state;
  assert_true(available() == UINT64_MAX);
  write_file("/proc/self/cgroup", "0::/a/b\n1:cpu:/\n");
  assert_true(available() == UINT64_MAX);
}

static void test_machine(void **state)
{
  (void)state;
  write_file("/proc/meminfo", MEMINFO);
  assert_int_equal(available(), MACHINE);
}

static void test_version_2(void **state)
{
  (void)state;
  write_file("/proc/meminfo", MEMINFO);
  write_file("/proc/self/cgroup", "0::/a/b\n");
  write_file(V2 "/a/b/memory.max", "max\n");
  assert_int_equal(available(), MACHINE);
  write_file(V2 "/a/b/memory.max", "300000\n");
  assert_int_equal(available(), 300000);
  write_file(V2 "/a/memory.max", "200000\n");
  assert_int_equal(available(), 200000);
  write_file(V2 "/memory.max", "100000\n");
  assert_int_equal(available(), 100000);
}

/* Memory used by a group is not available, except for its page cache. */
static void test_usage(void **state)
{
  (void)state;
  write_file("/proc/self/cgroup", "0::/a/b\n");
  write_file(V2 "/a/memory.max", "200000\n");
  write_file(V2 "/a/memory.current", "150000\n");
  assert_int_equal(available(), 50000);
  write_file(V2 "/a/memory.stat",
             "anon 60000\nfile 90000\ninactive_file 50000\nactive_file 30000\n");
  assert_int_equal(available(), 130000);
  write_file(V2 "/a/memory.current", "900000\n");
  assert_int_equal(available(), 0);
}

static void test_version_1(void **state)
{
  (void)state;
  write_file("/proc/meminfo", MEMINFO);
  write_file("/proc/self/cgroup", "9:name=systemd:/s\n4:hugetlb,memory:/a:c/b\n1:cpu:/\n0::/\n");
  write_file(V1 "/memory.limit_in_bytes", "9223372036854771712\n");
  assert_int_equal(available(), MACHINE);
  write_file(V1 "/a:c/b/memory.limit_in_bytes", "300000\n");
  assert_int_equal(available(), 300000);
  write_file(V1 "/a:c/memory.limit_in_bytes", "200000\n");
  assert_int_equal(available(), 200000);
  write_file(V1 "/a:c/memory.usage_in_bytes", "150000\n");
  write_file(V1 "/a:c/memory.stat",
             "inactive_file 9\ntotal_inactive_file 40000\ntotal_active_file 2\n");
  assert_int_equal(available(), 90002);
}

/* A container of version 1 knows its path on the host, but sees its own group as the root. */
static void test_container(void **state)
{
  (void)state;
  write_file("/proc/self/cgroup", "4:memory:/docker/0123456789ab\n");
  write_file(V1 "/memory.limit_in_bytes", "70000\n");
  assert_int_equal(available(), 70000);
}

/* The C library has a type for kinds of limits; here they are constants. */
#define NARROW(resource, pages)                                                                    \
  do {                                                                                             \
    struct rlimit old;                                                                             \
    assert_int_equal(getrlimit(resource, &old), 0);                                                \
    const struct rlimit narrow = {UINT64_C(1) << 46, old.rlim_max};                                \
    assert_int_equal(setrlimit(resource, &narrow), 0);                                             \
    assert_int_equal(available(), narrow.rlim_cur - (pages) * (uint64_t)sysconf(_SC_PAGESIZE));    \
    assert_int_equal(setrlimit(resource, &old), 0);                                                \
  } while (0)

static void test_own_limits(void **state)
{
  (void)state;
  write_file("/proc/self/statm", "1000 1 1 1 0 300 0\n");
  NARROW(RLIMIT_AS, 1000);
  NARROW(RLIMIT_DATA, 300);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_nothing_is_known), TEST(test_machine),   TEST(test_version_2), TEST(test_usage),
      TEST(test_version_1),        TEST(test_container), TEST(test_own_limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
