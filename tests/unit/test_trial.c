/* The choice of the next way, by the times of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "plugin/trial.h"

enum { MANY = RS_TRIAL_RECORDS };

static void test_each_way_is_tried_twice(void **state)
{
  (void)state;
  for (int first = 0; first < 2; first++) {
    rs_trial trial = {0};
    for (int sorts = 0; sorts < 4; sorts++) {
      assert_false(rs_trial_is_over(&trial));
      const bool way = rs_trial_next(&trial, MANY, first);
      assert_int_equal(way, sorts < 2 ? first : !first);
      rs_trial_note(&trial, MANY, way, way ? 1 : 2);
    }
    assert_true(rs_trial_is_over(&trial));
    assert_true(rs_trial_next(&trial, MANY, first));
    assert_true(rs_trial_next(&trial, 1, first));
  }
}

static void test_a_first_sort_does_not_count(void **state)
{
  (void)state;
  rs_trial trial = {0};
  rs_trial_note(&trial, MANY, true, 100);
  rs_trial_note(&trial, MANY, true, 1);
  rs_trial_note(&trial, MANY, false, 0.1);
  rs_trial_note(&trial, MANY, false, 2);
  assert_true(rs_trial_next(&trial, MANY, false));
}

static void test_few_records_tell_nothing(void **state)
{
  (void)state;
  rs_trial trial = {0};
  for (int i = 0; i < 9; i++)
    rs_trial_note(&trial, MANY - 1, true, 1);
  assert_true(rs_trial_next(&trial, MANY, true));
  rs_trial_note(&trial, MANY, true, 1);
  rs_trial_note(&trial, MANY, true, 1);
  assert_true(rs_trial_next(&trial, MANY - 1, true)); /* nor for the other way */
  assert_false(rs_trial_next(&trial, MANY, true));
}

static void test_seconds_are_of_a_record_and_of_the_best_sort(void **state)
{
  (void)state;
  rs_trial trial = {0};
  for (int i = 0; i < 2; i++) {
    rs_trial_note(&trial, MANY, false, 2);
    rs_trial_note(&trial, 10 * MANY, true, 10);
  }
  assert_true(rs_trial_next(&trial, MANY, false));
  rs_trial_note(&trial, MANY, true, 1e6); /* the machine was busy */
  assert_true(rs_trial_next(&trial, MANY, false));
  rs_trial_note(&trial, MANY, false, 0.5);
  assert_false(rs_trial_next(&trial, MANY, false));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_way_is_tried_twice),
      cmocka_unit_test(test_a_first_sort_does_not_count),
      cmocka_unit_test(test_few_records_tell_nothing),
      cmocka_unit_test(test_seconds_are_of_a_record_and_of_the_best_sort),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
