/* scenarios.h - what is explored. */
#ifndef INTERLEAVE_SCENARIOS_H
#define INTERLEAVE_SCENARIOS_H

#include "interleave/checker.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const scenario pool_scenarios[], block_scenarios[];
extern const size_t pool_scenario_count, block_scenario_count;

typedef struct litmus {
  scenario program;
  bool fails; /* so says the standard */
} litmus;

extern const litmus litmus_tests[];
extern const size_t litmus_count;

#ifdef __cplusplus
}
#endif

#endif
