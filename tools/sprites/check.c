/* check.c - see sprites.h. */
#include "sprites/sprites.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right)
{
  const numbered *const a = left, *const b = right;
  if (a->record.distanceFromPlayer > b->record.distanceFromPlayer) return -1; /* farther first */
  if (a->record.distanceFromPlayer < b->record.distanceFromPlayer) return 1;
  return a->place < b->place ? -1 : 1;
}

size_t check_expect(numbered *expected, const entity *entities, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    memcpy(&expected[i].record, &entities[i], sizeof *entities); /* with its padding */
    expected[i].place = i;
  }
  qsort(expected, count, sizeof *expected, compare);
  size_t ties = 0;
  for (size_t i = 1; i < count; i++)
    ties += expected[i - 1].record.distanceFromPlayer <= expected[i].record.distanceFromPlayer;
  return ties;
}

size_t check_compare(const numbered *expected, const entity *sorted, size_t count)
{
  size_t i = 0;
  while (i < count && !memcmp(&expected[i].record, &sorted[i], sizeof *sorted))
    i++;
  return i;
}
