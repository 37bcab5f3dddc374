/* sorted.c - a program that has recsort.c from a compiler of another kind. */
#include <stdio.h>

#include "recsort.h"

struct Entity {
  float x, y, angle;
  short sprite;
  float distance;
};
enum { COUNT = 400000 };
static struct Entity entities[COUNT];

int main(void)
{
  static const recsort_field_desc fields[] = {RECSORT_FIELD(struct Entity, distance)};
  static const recsort_key_desc keys[] = {{.path = "distance", .order = RECSORT_DESCENDING}};
  const recsort_schema_desc desc = RECSORT_STRUCT(struct Entity, fields, keys);
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error;
  for (int i = 0; i < COUNT; i++) {
    entities[i].x = (float)i;
    entities[i].distance = (float)(i % 1013 * 7919 % 1009);
  }
  if (recsort_schema_create(&desc, NULL, &schema, &error) ||
      recsort_sorter_create(schema, NULL, &sorter, &error) ||
      recsort_sort(sorter, entities, COUNT, &error))
    return puts(error.text), 1;
  for (int i = 1; i < COUNT; i++)
    if (entities[i - 1].distance < entities[i].distance ||
        (entities[i - 1].distance == entities[i].distance && entities[i - 1].x > entities[i].x))
      return puts("wrong"), 1;
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
  return puts("sorted"), 0;
}
