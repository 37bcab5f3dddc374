/* machine_files.h - the files of an imaginary machine under a folder. Each test has its own folder.
 */
#ifndef TESTS_MACHINE_FILES_H
#define TESTS_MACHINE_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[64];

static int make_root(void **state)
{
  (void)state;
  strcpy(root, "/tmp/recsort-machine-XXXXXX");
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

#endif
