/* c_sorts.c - recsort, and the sorts of the C library. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "conformance/kind_schema.h"
#include "sorts.h"

/* Without a context of its own qsort could not call suite_compare. */
static int compare(const void *a, const void *b, void *context)
{
  return suite_compare((const suite_case *)context, a, b);
}

static int sort_qsort(void *context, const suite_case *c)
{
  (void)context;
  qsort_r(c->records, c->count, c->record_size, compare, (void *)(uintptr_t)c);
  return SUITE_SORTED;
}

static recsort_sorter *create(const char *name)
{
  oracle_key keys[KIND_MAX_KEYS];
  recsort_sorter *sorter = NULL;
  for (size_t k = 0; k < kind_count; k++) {
    if (strcmp(kinds[k].name, name) != 0) continue;
    recsort_schema *const schema = kind_schema(&kinds[k], keys);
    if (schema) (void)recsort_sorter_create(schema, NULL, &sorter, NULL);
    recsort_schema_destroy(schema);
  }
  return sorter;
}

static int sort_recsort(void *context, const suite_case *c)
{
  static const char *sorted_kind;
  static recsort_sorter *sorter;
  (void)context;
  if (sorted_kind != c->kind) {
    recsort_sorter_destroy(sorter);
    sorter = create(c->kind);
    sorted_kind = c->kind;
  }
  return sorter && recsort_sort(sorter, c->records, c->count, NULL) == RECSORT_OK ? SUITE_SORTED
                                                                                  : SUITE_BROKEN;
}

const sort_entry c_sorts[] = {{"recsort", true, false, sort_recsort, NULL, NULL},
                              {"qsort_r", false, true, sort_qsort, NULL, NULL},
                              {NULL, false, false, NULL, NULL, NULL}};
