/* scenarios.h - what is explored. */
#ifndef INTERLEAVE_SCENARIOS_H
#define INTERLEAVE_SCENARIOS_H

#include "interleave/checker.h"

extern const scenario pool_scenarios[];
extern const size_t pool_scenario_count;

#endif
