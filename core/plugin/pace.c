#include "plugin/pace.h"

#include "base/assert.h"
#include "base/bits.h"

static size_t size_of(size_t count)
{
  return bits_of(count | 1) - 1;
}

unsigned rs_pace_tries(const rs_pace *pace, size_t count, bool whole)
{
  return pace->tries[whole][size_of(count)];
}

double rs_pace_expects(const rs_pace *pace, size_t count, bool whole)
{
  return (double)pace->seconds[whole][size_of(count)] * (double)count;
}

void rs_pace_note(rs_pace *pace, size_t count, bool whole, double seconds)
{
  enum { MEMORY = 8 }; /* sorts that the pace is of, about */
  RS_ASSERT(count > 0 && seconds >= 0);
  const float each = (float)(seconds / (double)count);
  float *const known = &pace->seconds[whole][size_of(count)];
  uint8_t *const tries = &pace->tries[whole][size_of(count)];
  if (*tries == RS_PACE_TRIES)
    *known += (each - *known) / MEMORY;
  else if ((*tries)++ == 0 || each < *known)
    *known = each;
  RS_ASSERT(*tries <= RS_PACE_TRIES);
}
