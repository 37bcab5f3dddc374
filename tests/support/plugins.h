/* plugins.h - what "auto" does after sorts that took long. */
#ifndef RS_TEST_PLUGINS_H
#define RS_TEST_PLUGINS_H

#include "sorter.h"

/* Loads all plugins, as if sorts of every size had taken days: so others are tried, and are faster.
 */
static inline void load_plugins(recsort_sorter *sorter)
{
  rs_choice *const choice = &sorter->choice;
  rs_pace slow;
  for (size_t whole = 0; whole < 2; whole++)
    for (size_t i = 0; i < RS_PACE_SIZES; i++) {
      slow.tries[whole][i] = RS_PACE_TRIES;
      slow.seconds[whole][i] = 1;
    }
  if (!choice->automatic) return;
  if (!choice->all_loaded) choice->in_use->pace = slow; /* the one that is linked in */
  choice->spent = 1e12;
  rs_choice_for(choice, RS_LOAD_LEAST, true, true);
}

#endif
