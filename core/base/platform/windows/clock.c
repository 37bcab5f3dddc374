#include "base/platform/clock.h"

#include <windows.h>

int64_t rs_clock_ns(void)
{
  LARGE_INTEGER ticks, a_second;
  (void)QueryPerformanceCounter(&ticks);
  (void)QueryPerformanceFrequency(&a_second);
  const int64_t f = a_second.QuadPart;
  return ticks.QuadPart / f * 1000000000 + ticks.QuadPart % f * 1000000000 / f;
}
