/* another.h - what another.cpp has for test_calls.cpp. */
#ifndef RS_CUH_ANOTHER_H
#define RS_CUH_ANOTHER_H

#include "cuh/calls.h"

std::vector<named_call> calls_of_another(call_arrays &on);
int names_of_another(); /* 7 */

#endif
