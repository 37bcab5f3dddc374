/* lists.c - what sortsuite has; sortsuite_gpu has lists of its own. */
#include "sorts.h"

const sort_entry *const sort_lists[] = {c_sorts, cpp_sorts, NULL};
