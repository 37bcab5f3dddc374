/* patterns.h - the orders of inputs. */
#ifndef RS_CONFORMANCE_PATTERNS_H
#define RS_CONFORMANCE_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

typedef struct pattern {
  const char *name;
  /* Writes `count` ranks below `end`. `random` is the state of next_random. */
  void (*fill)(uint64_t *ranks, size_t count, uint64_t end, uint64_t *random);
} pattern;

extern const pattern patterns[];
extern const size_t pattern_count;

#endif
