/* window.h - records compared with those before them, by their keys, in chunks of bounded memory.
 */
#ifndef RS_WINDOW_H
#define RS_WINDOW_H

#include "key/encode.h"
#include "sorter.h"

/* Keys of a chunk of records behind that of the record before it, so that each has a neighbour. */
typedef struct rs_window {
  size_t records; /* of a chunk */
  size_t key_size;
  size_t size;          /* of the whole allocation */
  unsigned char *keys;  /* records + 1 of them */
  unsigned char *chunk; /* records are gathered here first; NULL: keys are read in place */
} rs_window;

/* `in_order`: the records are looked at in the order of memory. Otherwise a chunk of them is
 * gathered first, unless they are so large that a chunk is a single one. */
recsort_status rs_window_open(const recsort_sorter *sorter, bool in_order, rs_window *window,
                              recsort_error *error);
void rs_window_close(const recsort_sorter *sorter, rs_window *window);

/* Encodes `part` records from place `first` of the order on. */
recsort_status rs_window_fill(const recsort_sorter *sorter, const rs_window *window,
                              const void *records, const recsort_permutation *order, size_t first,
                              size_t part, recsort_error *error);
/* Makes the last of `count` new keys the one before the next chunk. */
void rs_window_slide(rs_window *window, size_t count);

/* Number i of the chunk against the one before it. */
static inline int rs_window_compare(const recsort_sorter *sorter, const rs_window *window, size_t i)
{
  const unsigned char *before = window->keys + i * window->key_size;
  return rs_key_compare(&sorter->plan, before, before + window->key_size);
}

#endif
