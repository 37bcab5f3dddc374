/* array.h - records of an unsigned key and their original position. */
#ifndef TEST_THREADS_ARRAY_H
#define TEST_THREADS_ARRAY_H

#include <glob.h>
#include <recsort/recsort.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct numbered {
  uint32_t key;
  uint32_t place;
} numbered;

static const recsort_field_desc numbered_fields[] = {
    {.name = "key", .type = RECSORT_UINT32, .offset = RECSORT_NO_OFFSET},
    {.name = "place", .type = RECSORT_UINT32, .offset = RECSORT_NO_OFFSET}};
static const recsort_key_desc numbered_keys[] = {{.path = "key"}};
static const recsort_schema_desc numbered_schema = {.struct_size = sizeof numbered_schema,
                                                    .record = "Numbered",
                                                    .fields = numbered_fields,
                                                    .field_count = 2,
                                                    .keys = numbered_keys,
                                                    .key_count = 1};

/* Ten records for each key, in no order. */
static inline numbered *make_numbered(size_t count, uint32_t seed)
{
  numbered *const made = malloc(count * sizeof *made + 1);
  uint32_t state = seed * 2654435761u + 1;
  for (size_t i = 0; made && i < count; i++) {
    state = state * 1664525u + 1013904223u;
    made[i] = (numbered){(state >> 8) % (uint32_t)(count / 10 + 1), (uint32_t)i};
  }
  return made;
}

/* True if they are sorted, with ties in input order. */
static inline bool in_order(const numbered *records, size_t count)
{
  for (size_t i = 1; i < count; i++)
    if (records[i - 1].key > records[i].key ||
        (records[i - 1].key == records[i].key && records[i - 1].place >= records[i].place))
      return false;
  return true;
}

/* The number of the library's threads in this process, by their names. */
static inline size_t pool_threads(void)
{
  glob_t found = {0};
  size_t count = 0;
  if (glob("/proc/self/task/*/comm", 0, NULL, &found) != 0) return SIZE_MAX;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    char name[32] = "";
    FILE *const file = fopen(found.gl_pathv[i], "r");
    if (!file) continue;
    count += fgets(name, sizeof name, file) && strcmp(name, "recsort\n") == 0;
    fclose(file);
  }
  globfree(&found);
  return count;
}

#endif
