/* watch.h - checks what a call of recsort.cuh starts: all on its stream, and nothing that waits or
 * allocates. The emulator tells; a GPU does not. */
#ifndef RS_CUH_WATCH_H
#define RS_CUH_WATCH_H

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#ifdef __CUDACC__

template <class Call> static cudaError_t watched(const char *, cudaStream_t, bool, const Call &call)
{
  return call();
}

#else

/* Launches, copies and clears that were started. */
struct watch_counts {
  const void *stream;
  size_t started, elsewhere, waits;
  size_t fails; /* this one fails, from 1; 0: none */
};
inline watch_counts counts;

inline int count_work(const void *stream, bool waits)
{
  counts.started++;
  if (waits) counts.waits++;
  if (stream != counts.stream) counts.elsewhere++;
  return counts.started == counts.fails ? EMULATOR_LAUNCH_FAILED : EMULATOR_OK;
}

/* Makes a call, which may start work or not; its work number `fails` fails. */
template <class Call>
static cudaError_t watched(const char *what, cudaStream_t stream, bool may_start, const Call &call,
                           size_t fails = 0)
{
  const size_t before = standin::calls;
  counts = {stream, 0, 0, 0, fails};
  emulator_watch = count_work;
  const cudaError_t error = call();
  emulator_watch = nullptr;
  if (counts.elsewhere == 0 && counts.waits == 0 && (may_start || counts.started == 0) &&
      standin::calls == before)
    return error;
  std::printf("%s: started %zu, %zu on other streams; waited %zu times; %zu other calls\n", what,
              counts.started, counts.elsewhere, counts.waits, standin::calls - before);
  std::exit(1);
}

#endif

#endif
