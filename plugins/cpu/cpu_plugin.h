/* cpu_plugin.h - the table of the plugin that is linked in. */
#ifndef RECSORT_CPU_PLUGIN_H
#define RECSORT_CPU_PLUGIN_H

#include "recsort/plugin.h"

/* Like recsort_plugin_entry of a plugin that is loaded. */
const recsort_plugin *rs_cpu_plugin_entry(uint32_t host_abi);

#endif
