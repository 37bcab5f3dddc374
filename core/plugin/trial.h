/* trial.h - finds out which is faster with a plugin: whole records or only keys. If this is not
 * known beforehand, the first sorts try both in turn. */
#ifndef RS_TRIAL_H
#define RS_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

enum {
  RS_TRIAL_SORTS = 2,         /* for each way; the first allocates memory and does not count */
  RS_TRIAL_RECORDS = 1 << 16, /* sorts of fewer do not count, as both ways are fast */
};

/* Zero it before use. The index of the arrays is the way: 0 only keys, 1 whole records. */
typedef struct rs_trial {
  unsigned sorts[2];
  double seconds[2]; /* for each record, in the best sort that counted */
} rs_trial;

static inline bool rs_trial_is_over(const rs_trial *trial)
{
  return trial->sorts[0] >= RS_TRIAL_SORTS && trial->sorts[1] >= RS_TRIAL_SORTS;
}

/* The way of the next sort: first `first`, then the other one, then the faster one. */
static inline bool rs_trial_next(const rs_trial *trial, size_t records, bool first)
{
  if (rs_trial_is_over(trial)) return trial->seconds[1] < trial->seconds[0];
  return trial->sorts[first] >= RS_TRIAL_SORTS && records >= RS_TRIAL_RECORDS ? !first : first;
}

/* Notes the time of a sort. */
static inline void rs_trial_note(rs_trial *trial, size_t records, bool way, double seconds)
{
  if (records < RS_TRIAL_RECORDS) return;
  const double each = seconds / (double)records;
  const bool trying = trial->sorts[way] < RS_TRIAL_SORTS;
  if (trying || each < trial->seconds[way]) trial->seconds[way] = each;
  if (trying) trial->sorts[way]++;
}

#endif
