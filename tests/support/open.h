/* open.h - a schema or a sorter that must open. Needs cmocka.h and string.h. */
#ifndef RS_TEST_OPEN_H
#define RS_TEST_OPEN_H

#include "recsort/recsort.h"

static inline recsort_schema *schema_of(const char *yaml)
{
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  if (recsort_schema_load_memory(yaml, strlen(yaml), "t.yaml", NULL, &schema, &error))
    fail_msg("refused: %s", error.text);
  return schema;
}

/* Destroys the schema, which the sorter does not need. */
static inline recsort_sorter *sorter_of_schema(recsort_schema *schema,
                                               const recsort_options *options)
{
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  if (recsort_sorter_create(schema, options, &sorter, &error)) fail_msg("%s", error.text);
  recsort_schema_destroy(schema);
  return sorter;
}

static inline recsort_sorter *sorter_of(const char *yaml, const recsort_options *options)
{
  return sorter_of_schema(schema_of(yaml), options);
}

#endif
