/* Assertions: one that fails ends the program, if they are on; if not, no condition is evaluated.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdint.h>

static unsigned evaluations;
static jmp_buf behind;

static bool answer(bool value)
{
  evaluations++;
  return value;
}

#undef RECSORT_ASSERTIONS
#include "base/assert.h"
static void check_if_off(bool value)
{
  RS_ASSERT(answer(value));
}

#define RECSORT_ASSERTIONS
#undef RS_BASE_ASSERT_H
#undef RS_ASSERT
#undef RS_ASSERT_FORMAT
#include "base/assert.h"
static void check_if_on(bool value)
{
  RS_ASSERT(answer(value));
}

static void jump(int number)
{
  (void)number;
  longjmp(behind, 1);
}

/* True if the check aborts. */
static bool aborts(void (*check)(bool), bool value)
{
  void (*const before)(int) = signal(SIGABRT, jump);
  const bool aborted = setjmp(behind) != 0;
  if (!aborted) check(value);
  assert_true(signal(SIGABRT, before) != SIG_ERR);
  return aborted;
}

static void test_on(void **state)
{
  (void)state;
  evaluations = 0;
  assert_false(aborts(check_if_on, true));
  assert_int_equal(evaluations, 1);
  assert_true(aborts(check_if_on, false));
  assert_int_equal(evaluations, 2);
}

static void test_off(void **state)
{
  (void)state;
  evaluations = 0;
  assert_false(aborts(check_if_off, true));
  assert_false(aborts(check_if_off, false));
  assert_int_equal(evaluations, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_on),
      cmocka_unit_test(test_off),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
