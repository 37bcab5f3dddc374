/* methods.h - the plugins and algorithms that the library offers here. */
#ifndef BENCH_METHODS_H
#define BENCH_METHODS_H

#include "options.h"

enum { METHOD_MAX = 16 };

typedef struct bench_method {
  const char *plugin;
  const char *algorithm;
} bench_method;

/* Finds the methods that the options ask for. Their strings live as long as `plugins`. False, with
 * a message, if there is none. */
bool methods_find(const bench_options *options, const recsort_plugin_list *plugins,
                  bench_method *methods, size_t *count);

/* Prints the methods for --list. */
void methods_print(const recsort_plugin_list *plugins);

/* Makes a sorter with a method. NULL, with a message, on failure. */
recsort_sorter *method_sorter(const bench_method *method, unsigned threads,
                              const recsort_schema *schema);

#endif
