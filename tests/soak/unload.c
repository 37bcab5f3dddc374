/* unload - loads librecsort, sorts with two threads, and unloads it, again and again.
 *
 * Usage: unload LIBRARY TIMES
 *
 * Threads of the library must not run in what is no longer there, and nothing may grow. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "growth.h"

enum { COUNT = (1 << 17) + 1000 };

typedef struct entity {
  float x, y, angle;
  int16_t sprite;
  float distance;
} entity;

static entity records[COUNT];
static void *library;

static void find(const char *name, void *function)
{
  void *const found = dlsym(library, name);
  if (!found) abort();
  memcpy(function, &found, sizeof found);
}

#define FIND(name)                                                                                 \
  __typeof__(name) *name##_found;                                                                  \
  find(#name, &name##_found)

static bool sort_all(size_t count)
{
  FIND(recsort_schema_load_file);
  FIND(recsort_sorter_create);
  FIND(recsort_sort);
  FIND(recsort_sorter_destroy);
  FIND(recsort_schema_destroy);
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  const recsort_options options = {.struct_size = sizeof options, .threads = 2};
  for (size_t i = 0; i < count; i++)
    records[i] = (entity){(float)i, 0, 0, 0, (float)(i * 7919 % 99991)};
  bool good = recsort_schema_load_file_found(RS_SCHEMAS "/entity.yaml", NULL, &schema, NULL) == 0 &&
              recsort_sorter_create_found(schema, &options, &sorter, NULL) == 0 &&
              recsort_sort_found(sorter, records, count, NULL) == 0;
  recsort_schema_destroy_found(schema);
  if (sorter) recsort_sorter_destroy_found(sorter);
  for (size_t i = 1; good && i < count; i++)
    good = records[i - 1].distance > records[i].distance ||
           (records[i - 1].distance == records[i].distance && records[i - 1].x < records[i].x);
  return good;
}

int main(int argc, char **argv)
{
  const size_t times = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
  counted_memory none = {0};
  holding before = {0};
  size_t wrong = 0, unloaded = 0;
  char name[64];
  for (size_t i = 0; i < times; i++) {
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return 2;
    wrong += !sort_all(i % 10 == 0 ? COUNT : i);
    wrong += dlclose(library) != 0;
    void *const still = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
    if (still) dlclose(still);
    unloaded += !still;
    if (i == times / 2) before = hold(&none);
  }
  (void)snprintf(name, sizeof name, "loaded %zu times, unloaded %zu times, %zu wrong", times,
                 unloaded, wrong);
  const bool grown = has_grown(name, before, hold(&none));
  return !times || wrong || grown;
}
