/* methods.h - the ways of sorting that the library offers here. */
#ifndef BENCH_METHODS_H
#define BENCH_METHODS_H

#include "options.h"

enum { METHOD_MAX = 16 };

typedef struct bench_method {
  const char *plugin;
  const char *algorithm;
} bench_method;

/* The methods that the options ask for. Their texts live as long as `plugins`. False, with a
 * message, if there is none. */
bool methods_find(const bench_options *options, const recsort_plugin_list *plugins,
                  bench_method *methods, size_t *count);

/* For --list. */
void methods_print(const recsort_plugin_list *plugins);

/* A sorter that works so; NULL, with a message, on failure. */
recsort_sorter *method_sorter(const bench_method *method, unsigned threads,
                              const recsort_schema *schema);

#endif
