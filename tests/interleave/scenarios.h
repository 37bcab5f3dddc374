/* scenarios.h - what is explored. */
#ifndef INTERLEAVE_SCENARIOS_H
#define INTERLEAVE_SCENARIOS_H

#include "interleave/checker.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const scenario pool_scenarios[], block_scenarios[];
extern const size_t pool_scenario_count, block_scenario_count;

#ifdef __cplusplus
}
#endif

#endif
