/* methods.c - see methods.h. It resolves "auto", so that every figure names its plugin. */
#include "methods.h"

#include "support/message.h"

#include <stdio.h>
#include <string.h>

static bool is_all(const char *text)
{
  return text != NULL && strcmp(text, "all") == 0;
}

/* True if the options ask for the algorithm, number `place` of its plugin's. */
static bool wanted(const bench_options *options, const char *algorithm, size_t place)
{
  if (options->algorithm == NULL) return place == 0;
  return is_all(options->algorithm) || strcmp(options->algorithm, algorithm) == 0;
}

bool methods_find(const bench_options *options, const recsort_plugin_list *plugins,
                  bench_method *methods, size_t *count)
{
  const bool automatic = strcmp(options->plugin, "auto") == 0;
  const size_t plugin_count = recsort_plugin_list_count(plugins);
  size_t found = 0;
  for (size_t p = 0; p < plugin_count && !(automatic && found != 0); p++) {
    recsort_plugin_info plugin;
    recsort_plugin_list_get(plugins, p, &plugin, sizeof plugin);
    const bool named =
        automatic || is_all(options->plugin) || strcmp(options->plugin, plugin.name) == 0;
    if (plugin.score == 0 || !named) continue;
    for (size_t a = 0; a < plugin.algorithm_count && found < METHOD_MAX; a++) {
      if (!wanted(options, plugin.algorithms[a], a)) continue;
      methods[found++] = (bench_method){plugin.name, plugin.algorithms[a]};
    }
  }
  if (found == 0) {
    tool_usage_error("plugin '%s' with algorithm '%s' cannot be used here", options->plugin,
                     options->algorithm == NULL ? "default" : options->algorithm);
    return false;
  }
  *count = found;
  return true;
}

void methods_print(const recsort_plugin_list *plugins)
{
  const size_t count = recsort_plugin_list_count(plugins);
  for (size_t p = 0; p < count; p++) {
    recsort_plugin_info plugin;
    recsort_plugin_list_get(plugins, p, &plugin, sizeof plugin);
    printf("%s: %s\n", plugin.name, plugin.score == 0 ? plugin.reason : plugin.description);
    for (size_t a = 0; plugin.score != 0 && a < plugin.algorithm_count; a++) {
      printf("  %-12s %s\n", plugin.algorithms[a], plugin.algorithm_texts[a]);
    }
  }
}

recsort_sorter *method_sorter(const bench_method *method, unsigned threads,
                              const recsort_schema *schema)
{
  static const char *const merging = "merge=device"; /* otherwise the CPU merges for this plugin */
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin = method->plugin,
                                   .algorithm = method->algorithm,
                                   .threads = threads,
                                   .plugin_options = &merging,
                                   .plugin_option_count = strcmp(method->plugin, "cuda") == 0};
  recsort_sorter *sorter = NULL;
  recsort_error error;
  if (recsort_sorter_create(schema, &options, &sorter, &error) == RECSORT_OK) return sorter;
  tool_error_library(&error);
  return NULL;
}
