/* signals.h - no signal that ends the process leaves a temporary name. */
#ifndef TOOL_SIGNALS_H
#define TOOL_SIGNALS_H

#include "files/temporary.h"

/* From now on signals that end the process remove the name of a temporary first. Pass the result to
 * rf_replacement_open. One temporary at a time. */
const rf_watcher *tool_catch_signals(void);

#endif
