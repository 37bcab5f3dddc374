/* sorts.h - the sorts that sortsuite has. C and C++. */
#ifndef RS_SORTSUITE_SORTS_H
#define RS_SORTSUITE_SORTS_H

#include "suite.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sort_entry {
  const char *name;
  bool stable;   /* it says so */
  bool compares; /* it calls suite_compare */
  suite_sort *sort;
  void *context;
  const char *(*missing)(void); /* why it cannot run here; NULL, or returns NULL: it can */
} sort_entry;

/* Each list ends with an entry without a name; the lists, with NULL. */
extern const sort_entry c_sorts[], cpp_sorts[], wrong_sorts[];
extern const sort_entry *const sort_lists[]; /* all but the wrong ones */

/* A program that sorts: its command. */
suite_sort program_sort;

#ifdef __cplusplus
}
#endif
#endif
