/* orderings.h - all inputs of a few elements that differ in order and ties.
 *
 * A sort that only compares sees of its input which elements are less than which, and which are
 * equal: a weak ordering. Element i of an ordering has a rank; ranks begin at 0 and leave none out.
 */
#ifndef RS_TEST_ORDERINGS_H
#define RS_TEST_ORDERINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_ELEMENTS = 8 };

typedef struct ordering {
  size_t count;
  uint8_t rank[MOST_ELEMENTS];
  size_t ranks;                /* different ones */
  size_t place[MOST_ELEMENTS]; /* the elements in stable order */
} ordering;

/* The oracle: by insertion. */
static inline void sort_stably(ordering *o)
{
  for (size_t i = 0; i < o->count; i++) {
    size_t at = i;
    for (; at > 0 && o->rank[o->place[at - 1]] > o->rank[i]; at--)
      o->place[at] = o->place[at - 1];
    o->place[at] = i;
  }
}

/* The elements that are less than the one before them, as bits. */
static inline unsigned descents_of(const ordering *o)
{
  unsigned descents = 0;
  for (size_t i = 1; i < o->count; i++)
    if (o->rank[i] < o->rank[i - 1]) descents |= 1u << i;
  return descents;
}

/* Goes to the next list of numbers below `count`; false behind the last one. */
static inline bool next_list(ordering *o)
{
  for (size_t i = 0; i < o->count; i++) {
    if (++o->rank[i] < o->count) return true;
    o->rank[i] = 0;
  }
  return false;
}

/* Calls `body` with each ordering of `count` elements, and returns how many there are. */
static inline size_t each_ordering(size_t count, void (*body)(const ordering *, void *),
                                   void *argument)
{
  ordering o = {.count = count};
  size_t found = 0;
  do {
    unsigned used = 0;
    for (size_t i = 0; i < count; i++)
      used |= 1u << o.rank[i];
    if (used & (used + 1)) continue; /* a rank is left out */
    o.ranks = (size_t)__builtin_popcount(used);
    sort_stably(&o);
    body(&o, argument);
    found++;
  } while (next_list(&o));
  return found;
}

/* The numbers of orderings, those of Fubini: so the enumeration is complete. */
static const size_t orderings_of[MOST_ELEMENTS + 1] = {1, 1, 3, 13, 75, 541, 4683, 47293, 545835};

#endif
