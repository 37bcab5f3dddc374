/* depth_sort.c - see depth_sort.h. */
#include "depth_sort.h"

static const recsort_field_desc fields[] = {RECSORT_FIELD(entity, distanceFromPlayer)};
static const recsort_key_desc keys[] = {
    {.path = "distanceFromPlayer", .order = RECSORT_DESCENDING}};
static const recsort_schema_desc desc = RECSORT_STRUCT(entity, fields, keys);

recsort_sorter *depth_sorter_create(const char *plugin, unsigned threads, recsort_error *error)
{
  recsort_options options = {.struct_size = sizeof options, .record_size = sizeof(entity)};
  options.plugin = plugin;
  options.threads = threads;
  recsort_schema *schema = NULL; /* the sorter does not need it later */
  recsort_sorter *sorter = NULL;
  if (!recsort_schema_create(&desc, NULL, &schema, error))
    recsort_sorter_create(schema, &options, &sorter, error);
  recsort_schema_destroy(schema);
  return sorter;
}

recsort_status depth_sort(recsort_sorter *sorter, entity *entities, size_t count,
                          recsort_error *error)
{
  return recsort_sort(sorter, entities, count, error);
}
