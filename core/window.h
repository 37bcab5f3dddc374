/* window.h - compares records with those before them, by their keys, in chunks of bounded
 * memory. */
#ifndef RS_WINDOW_H
#define RS_WINDOW_H

#include "key/encode.h"
#include "sorter.h"

/* The key of the record before a chunk, then those of the chunk, so that each has a predecessor. */
typedef struct rs_window {
  size_t records; /* records of a chunk */
  size_t key_size;
  size_t size;          /* size of the whole allocation */
  unsigned char *keys;  /* records + 1 keys */
  unsigned char *chunk; /* records are gathered here; NULL: they are encoded in place */
} rs_window;

/* `in_order`: the records are in memory in their order. Otherwise each chunk is gathered first,
 * unless records are so large that a chunk is a single one. */
recsort_status rs_window_open(const recsort_sorter *sorter, bool in_order, rs_window *window,
                              recsort_error *error);
void rs_window_close(const recsort_sorter *sorter, rs_window *window);

/* Encodes `part` records from number `first` of the order on. */
recsort_status rs_window_fill(const recsort_sorter *sorter, const rs_window *window,
                              const void *records, const recsort_permutation *order, size_t first,
                              size_t part, recsort_error *error);
/* Moves the last of `count` keys to the front, before the next chunk. */
void rs_window_slide(rs_window *window, size_t count);

/* Compares record i of the chunk with the one before it. */
static inline int rs_window_compare(const recsort_sorter *sorter, const rs_window *window, size_t i)
{
  const unsigned char *before = window->keys + i * window->key_size;
  return rs_key_compare(&sorter->plan, before, before + window->key_size);
}

#endif
