/* refused.h - a call that must fail with a status and one line of text. It may use `error`. Needs
 * cmocka.h and string.h. */
#ifndef RS_TEST_REFUSED_H
#define RS_TEST_REFUSED_H

#include "recsort/recsort.h"

#define REFUSED(call, why)                                                                         \
  do {                                                                                             \
    recsort_error error = {0};                                                                     \
    assert_int_equal(call, why);                                                                   \
    assert_int_equal(error.status, why);                                                           \
    assert_true(error.text[0]);                                                                    \
    assert_null(strchr(error.text, '\n'));                                                         \
  } while (0)

#endif
