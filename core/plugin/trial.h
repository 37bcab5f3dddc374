/* trial.h - which of two ways to use a plugin is sooner: whole records to it, or keys alone. Where
 * nobody can tell beforehand, both are tried in turn, by sorts that are wanted anyway. */
#ifndef RS_TRIAL_H
#define RS_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

enum {
  RS_TRIAL_SORTS = 2,         /* of each way: the first one takes memory, and does not count */
  RS_TRIAL_RECORDS = 1 << 16, /* so many or more, as few are sorted soon either way */
};

/* Zeroed at first. By way: false keys alone, true whole records. */
typedef struct rs_trial {
  unsigned sorts[2];
  double seconds[2]; /* a record, in the best sort that counted */
} rs_trial;

static inline bool rs_trial_is_over(const rs_trial *trial)
{
  return trial->sorts[0] >= RS_TRIAL_SORTS && trial->sorts[1] >= RS_TRIAL_SORTS;
}

/* The way of the next sort: the one to begin with, then the other one, then the sooner one. */
static inline bool rs_trial_next(const rs_trial *trial, size_t records, bool first)
{
  if (rs_trial_is_over(trial)) return trial->seconds[1] < trial->seconds[0];
  return trial->sorts[first] >= RS_TRIAL_SORTS && records >= RS_TRIAL_RECORDS ? !first : first;
}

/* After a sort. */
static inline void rs_trial_note(rs_trial *trial, size_t records, bool way, double seconds)
{
  if (records < RS_TRIAL_RECORDS) return;
  const double each = seconds / (double)records;
  const bool trying = trial->sorts[way] < RS_TRIAL_SORTS;
  if (trying || each < trial->seconds[way]) trial->seconds[way] = each;
  if (trying) trial->sorts[way]++;
}

#endif
