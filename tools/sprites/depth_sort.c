/* depth_sort.c - see depth_sort.h. */
#include "depth_sort.h"

static const char text[] = "record: Entity\n"
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
                           "endian: big\n"
#endif
                           "fields:\n"
                           "  - {name: x, type: float32}\n"
                           "  - {name: y, type: float32}\n"
                           "  - {name: angle, type: float32}\n"
                           "  - {name: spriteIndex, type: int16}\n"
                           "  - {name: distanceFromPlayer, type: float32}\n"
                           "keys:\n"
                           "  - {field: distanceFromPlayer, order: desc}\n";

recsort_sorter *depth_sorter_create(const char *plugin, unsigned threads, recsort_error *error)
{
  recsort_options options = {.struct_size = sizeof options, .record_size = sizeof(entity)};
  options.plugin = plugin;
  options.threads = threads;
  recsort_schema *schema = NULL; /* the sorter does not need it later */
  recsort_sorter *sorter = NULL;
  if (!recsort_schema_load_memory(text, sizeof text - 1, "entity", NULL, &schema, error))
    recsort_sorter_create(schema, &options, &sorter, error);
  recsort_schema_destroy(schema);
  return sorter;
}

recsort_status depth_sort(recsort_sorter *sorter, entity *entities, size_t count,
                          recsort_error *error)
{
  return recsort_sort(sorter, entities, count, error);
}
