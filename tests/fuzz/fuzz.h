/* fuzz.h - the interface of all targets, and what they do when they find a fault. */
#ifndef RS_FUZZ_H
#define RS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The interface of libFuzzer; replay.c calls it for each file of a corpus. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Like assert, but also with NDEBUG. */
#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

#endif
