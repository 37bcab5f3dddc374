/* unique.c - keeps the first of each run of equal keys. */
#include <string.h>

#include "window.h"

static inline void move_index(const recsort_permutation *order, size_t to, size_t from)
{
  const size_t size = order->index_bits / 8;
  char *index = (char *)order->index;
  memmove(index + to * size, index + from * size, size);
}

recsort_status recsort_permutation_unique(recsort_sorter *sorter, const void *records,
                                          recsort_permutation *permutation, recsort_error *error)
{
  const recsort_permutation *const order = permutation;
  rs_window window = {0};
  size_t kept = 0;
  if (!sorter || !permutation || (!records && permutation->count))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "sorter, records and permutation must not be NULL");
  recsort_status status = rs_check_permutation(order, error);
  if (status) return status;
  if (!rs_sorter_holds(sorter, order))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "this is not the permutation that recsort_find_permutation last gave");
  status = rs_window_open(sorter, false, &window, error);
  if (status) return status;
  for (size_t first = 0; first < order->count; first += window.records) {
    const size_t part =
        order->count - first < window.records ? order->count - first : window.records;
    status = rs_window_fill(sorter, &window, records, order, first, part, error);
    if (status) break; /* the records have changed since they were sorted */
    for (size_t i = 0; i < part; i++)
      if (first + i == 0 || rs_window_compare(sorter, &window, i) != 0)
        move_index(order, kept++, first + i);
    rs_window_slide(&window, part);
  }
  rs_window_close(sorter, &window);
  if (status == RECSORT_OK) sorter->order.count = permutation->count = kept;
  return status;
}
