/* unload.c - a host that loads librecsort, sorts by several threads, and unloads it: its threads
 * end too, even if the host forgot to destroy a sorter, and the process does not grow.
 *
 * Usage: unload LIBRARY ROUNDS */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "soak/growth.h"

enum { COUNT = 400000 };

typedef struct library {
  void *handle;
  __typeof__(&recsort_schema_create) schema_create;
  __typeof__(&recsort_schema_destroy) schema_destroy;
  __typeof__(&recsort_sorter_create) sorter_create;
  __typeof__(&recsort_sorter_destroy) sorter_destroy;
  __typeof__(&recsort_sort) sort;
} library;

static void fail(const char *what)
{
  fprintf(stderr, "unload: %s\n", what);
  exit(1);
}

static void find(void *handle, const char *name, void *function)
{
  void *const symbol = dlsym(handle, name);
  if (!symbol) fail(dlerror());
  memcpy(function, &symbol, sizeof symbol);
}

static library load(const char *path)
{
  library l = {.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
  if (!l.handle) fail(dlerror());
  find(l.handle, "recsort_schema_create", &l.schema_create);
  find(l.handle, "recsort_schema_destroy", &l.schema_destroy);
  find(l.handle, "recsort_sorter_create", &l.sorter_create);
  find(l.handle, "recsort_sorter_destroy", &l.sorter_destroy);
  find(l.handle, "recsort_sort", &l.sort);
  return l;
}

static bool is_mapped(void)
{
  FILE *const maps = fopen("/proc/self/maps", "r");
  char line[1000];
  bool found = false;
  while (maps && fgets(line, sizeof line, maps))
    found = found || strstr(line, "librecsort");
  if (maps) fclose(maps);
  return found;
}

static void sort_once(const library *l, uint32_t seed, bool forget)
{
  const recsort_options options = {.struct_size = sizeof options, .plugin = "cpu", .threads = 4};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  numbered *const records = make_numbered(COUNT, seed);
  if (!records || l->schema_create(&numbered_schema, NULL, &schema, NULL) ||
      l->sorter_create(schema, &options, &sorter, NULL) || l->sort(sorter, records, COUNT, NULL) ||
      !in_order(records, COUNT))
    fail("it did not sort");
  if (pool_threads() != 3) fail("it did not sort by 4 threads");
  free(records);
  l->schema_destroy(schema);
  if (!forget) l->sorter_destroy(sorter);
}

int main(int argc, char **argv)
{
  const uint32_t rounds = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
  counted_memory none = {0};
  holding before = {0}, after = {0};
  if (rounds < 4) fail("usage: unload LIBRARY ROUNDS");
  for (uint32_t round = 0; round < rounds; round++) {
    const library l = load(argv[1]);
    sort_once(&l, round, round == rounds - 1);
    if (round % 3 == 0) usleep(5000); /* its threads sleep */
    if (dlclose(l.handle)) fail(dlerror());
    if (is_mapped()) fail("it is still loaded");
    for (int i = 0; pool_threads() != 0; i++) /* an ended thread may be listed for a moment */
      if (usleep(1000) || i > 600000) fail("its threads are still there");
    if (round == rounds / 2) before = hold(&none);
    if (round == rounds - 2) after = hold(&none);
  }
  usleep(5000);
  printf("%u rounds\n", rounds);
  return has_grown("loaded and unloaded", before, after);
}
