/* check.c - checks whether records are sorted: a caller's, and a plugin's result. */
#include "recsort/record_hash.h"
#include "window.h"

recsort_status recsort_check(recsort_sorter *sorter, const void *records, size_t count,
                             size_t *disorder, recsort_error *error)
{
  rs_window window = {0};
  size_t found = count, bytes;
  if (!disorder) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "disorder must not be NULL");
  recsort_status status = rs_sorter_check(sorter, records, count, &bytes, error);
  if (status) return status;
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  const team one = team_of_at_most(sorter->team, 1);
  status = rs_window_open(sorter, true, &window, error);
  if (status) return status;
  for (size_t first = 0; first < count && found == count && !status; first += window.records) {
    const size_t part = count - first < window.records ? count - first : window.records;
    status = rs_key_encode(&sorter->plan, (const char *)records + first * record_size, part,
                           window.keys + window.key_size, one, first, error);
    for (size_t i = first == 0; i < part && found == count && !status; i++)
      if (rs_window_compare(sorter, &window, i) > 0) found = first + i;
    rs_window_slide(&window, part);
  }
  rs_window_close(sorter, &window);
  if (status == RECSORT_OK) *disorder = found;
  return status;
}

/* ---- A plugin's result ---- */

static recsort_status fail_order(const recsort_sorter *sorter, const recsort_permutation *order,
                                 size_t place, bool tie, recsort_error *error)
{
  const unsigned long long here = recsort_permutation_at(order, place),
                           before = recsort_permutation_at(order, place - 1);
  return rs_fail(error, RECSORT_CORRUPT_RESULT,
                 "plugin \"%s\": its order is wrong at place %zu: record %llu has %s record %llu "
                 "before it; nothing was moved",
                 sorter->choice.in_use->info.name, place, here,
                 tie ? "the key of the later" : "a lesser key than", before);
}

recsort_status rs_sorter_check_order(const recsort_sorter *sorter, const void *records,
                                     const recsort_permutation *order, recsort_error *error)
{
  rs_window window = {0};
  recsort_status status = rs_window_open(sorter, false, &window, error);
  for (size_t first = 0; first < order->count && !status; first += window.records) {
    const size_t left = order->count - first, part = left < window.records ? left : window.records;
    status = rs_window_fill(sorter, &window, records, order, first, part, error);
    for (size_t i = first == 0; i < part && !status; i++) {
      const int compared = rs_window_compare(sorter, &window, i);
      const bool turned =
          recsort_permutation_at(order, first + i - 1) > recsort_permutation_at(order, first + i);
      if (compared > 0 || (compared == 0 && turned))
        status = fail_order(sorter, order, first + i, compared == 0, error);
    }
    rs_window_slide(&window, part);
  }
  rs_window_close(sorter, &window);
  return status;
}

static record_sums sum_records(const unsigned char *records, size_t count, size_t size)
{
  record_sums sums = {0, 0};
  for (size_t i = 0; i < count; i++)
    record_add(&sums, record_hash(records + i * size, size, 1));
  return sums;
}

recsort_status rs_sorter_check_moved(recsort_sorter *sorter, const void *records,
                                     const void *sorted, size_t count, recsort_error *error)
{
  const char *const name = sorter->choice.in_use->info.name;
  const size_t size = (size_t)sorter->plan.program.record_size;
  const record_sums before = sum_records(records, count, size),
                    after = sum_records(sorted, count, size);
  size_t disorder;
  if (before.low != after.low || before.high != after.high)
    return rs_fail(error, RECSORT_CORRUPT_RESULT,
                   "plugin \"%s\": the records that it moved are not those that it got: their "
                   "checksums differ",
                   name);
  const recsort_status status = recsort_check(sorter, sorted, count, &disorder, error);
  if (status || disorder == count) return status;
  return rs_fail(
      error, RECSORT_CORRUPT_RESULT,
      "plugin \"%s\": the records that it moved are not sorted: at place %zu is one with "
      "a lesser key than the one before it",
      name, disorder);
}
