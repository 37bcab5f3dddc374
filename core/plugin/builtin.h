/* builtin.h - the plugins that are linked into the library.
 *
 * The core knows no plugin. The build that links plugins into the library defines this table.
 */
#ifndef RS_PLUGIN_BUILTIN_H
#define RS_PLUGIN_BUILTIN_H

#include "recsort/plugin.h"

/* Their entry functions, the one for the CPU first. NULL ends the table. */
extern const recsort_plugin_entry_fn rs_builtin_plugins[];

#endif
