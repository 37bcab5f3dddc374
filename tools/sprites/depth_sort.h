/* depth_sort.h - sorts the entities of a game far to near, by one sorter for all frames. Copy it
 * and depth_sort.c: they need only the library, and no YAML. */
#ifndef SPRITES_DEPTH_SORT_H
#define SPRITES_DEPTH_SORT_H

#include "recsort/recsort.h"

/* The record of schemas/entity.yaml. */
typedef struct entity {
  float x, y;
  float angle; /* a full turn is 1 */
  int16_t spriteIndex;
  float distanceFromPlayer;
} entity;

/* Once. NULL, and *error says why, on failure. The arguments are as in recsort_options. End with
 * recsort_sorter_destroy. */
recsort_sorter *depth_sorter_create(const char *plugin, unsigned threads, recsort_error *error);
/* Each frame. Entities at one distance stay in their order, so they do not flicker. */
recsort_status depth_sort(recsort_sorter *sorter, entity *entities, size_t count,
                          recsort_error *error);

#endif
