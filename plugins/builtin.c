/* builtin.c - the table of the plugins that this build links into the library. */
#include "plugin/builtin.h"

#include "cpu/cpu_plugin.h"

const recsort_plugin_entry_fn *rs_builtin_plugins(void)
{
  static const recsort_plugin_entry_fn entries[] = {rs_cpu_plugin_entry, NULL};
  return entries;
}
