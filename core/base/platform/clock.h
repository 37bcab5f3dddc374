/* clock.h - the time since some moment in the past. It never goes backwards. */
#ifndef RS_PLATFORM_CLOCK_H
#define RS_PLATFORM_CLOCK_H

#include <stdint.h>

int64_t rs_clock_ns(void);

static inline double rs_clock_seconds(void)
{
  return 1e-9 * (double)rs_clock_ns();
}

#endif
