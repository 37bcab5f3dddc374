/* assert.h - checks what the code takes for granted: preconditions of functions, and
 * invariants.
 *
 * RS_ASSERT is for the host, DEVICE_ASSERT (cuda/device.h) for kernels. If RECSORT_ASSERTIONS is
 * defined, a condition that is false ends the program, or the kernel, and says where it is.
 * Otherwise conditions are compiled but not evaluated, so they cost nothing. What users pass is no
 * matter for assertions: wrong input is an error. */
#ifndef RS_BASE_ASSERT_H
#define RS_BASE_ASSERT_H

/* Only then: these define macros, which a program with recsort.cuh would get. */
#ifdef RECSORT_ASSERTIONS
#include <stdio.h>
#include <stdlib.h>
#endif

#define RS_ASSERT_FORMAT "%s:%d: recsort took for granted: %s\n"

#ifndef RECSORT_ASSERTIONS
#define RS_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#elif defined(__CUDA_ARCH__)
#define RS_ASSERT(condition)                                                                       \
  ((condition) ? (void)0 : (printf(RS_ASSERT_FORMAT, __FILE__, __LINE__, #condition), __trap()))
#else
#define RS_ASSERT(condition)                                                                       \
  ((condition) ? (void)0 : rs_assertion_failed(__FILE__, __LINE__, #condition))

__attribute__((noreturn, cold)) static inline void rs_assertion_failed(const char *file, int line,
                                                                       const char *condition)
{
  fprintf(stderr, RS_ASSERT_FORMAT, file, line, condition);
  abort();
}
#endif

#endif
