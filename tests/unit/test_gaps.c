/* Plugins whose tables lack one member each: refused without calling their functions, which would
 * end the process. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/tools.h"

#include "support/told.h"

static void test_each_gap_is_seen(void **state)
{
  enum { GAPS = 19 };
  const recsort_plugin_info *list = NULL;
  (void)state;
  assert_int_equal(setenv("RECSORT_PLUGIN_PATH", RS_TEST_PLUGINS "/gaps", 1), 0);
  assert_int_equal(recsort_plugins_find(NULL, &list, NULL), RECSORT_OK);
  assert_null(plugin_at(list, GAPS + 1).name);
  for (size_t i = 1; i <= GAPS; i++) {
    const recsort_plugin_info info = plugin_at(list, i);
    assert_int_equal(info.score, 0);
    assert_int_equal(strncmp(info.name, "gap_", 4), 0);
    if (strcmp(info.reason, "its table has gaps") != 0) fail_msg("%s: %s", info.name, info.reason);
  }
  recsort_plugins_destroy(list);
}

static void test_there_must_be_a_place_for_the_list(void **state)
{
  recsort_error error = {0};
  (void)state;
  assert_int_equal(recsort_plugins_find(NULL, NULL, &error), RECSORT_INVALID_ARGUMENT);
  assert_true(error.text[0]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_gap_is_seen),
      cmocka_unit_test(test_there_must_be_a_place_for_the_list),
  };
  return cmocka_run_group_tests_name("gaps", tests, NULL, NULL);
}
