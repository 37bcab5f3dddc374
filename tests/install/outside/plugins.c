/* Prints the plugins that the library finds, with their files. */
#include <stdio.h>

#include <recsort/recsort.h>

int main(void)
{
  recsort_plugin_list *list = NULL;
  if (recsort_plugin_list_create(NULL, &list, NULL) != RECSORT_OK) return 1;
  recsort_plugin_info plugin;
  for (size_t i = 0; recsort_plugin_list_get(list, i, &plugin, sizeof plugin), plugin.name; i++) {
    printf("%s (%s)\n", plugin.name, plugin.path ? plugin.path : "linked in");
  }
  recsort_plugin_list_destroy(list);
  return 0;
}
