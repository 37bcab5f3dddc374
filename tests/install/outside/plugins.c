/* Prints the plugins that the library finds, with their files. */
#include <stdio.h>

#include <recsort/tools.h>

int main(void)
{
  const recsort_plugin_info *list = NULL;
  if (recsort_plugins_find(NULL, &list, NULL) != RECSORT_OK) return 1;
  for (const recsort_plugin_info *plugin = list; plugin; plugin = plugin->next) {
    printf("%s (%s)\n", plugin->name, plugin->path ? plugin->path : "linked in");
  }
  recsort_plugins_destroy(list);
  return 0;
}
