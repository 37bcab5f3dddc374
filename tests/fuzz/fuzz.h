/* fuzz.h - what every target here offers, and what it does when it finds a fault. */
#ifndef RS_FUZZ_H
#define RS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The interface of libFuzzer; replay.c calls it for each file of a corpus. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process, also where assert is compiled out. */
#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

#endif
