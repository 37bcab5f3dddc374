/* conformance - checks plugins against an independent oracle.
 *
 *   conformance [--few] [PLUGIN [ALGORITHM]]     no plugin: every one that can be used here
 *
 * --few: a few jobs of each algorithm, for tools under which all cases would take hours.
 *
 * Exit status: 0 all cases passed, 1 some failed, 2 nothing could be tested. */
#include "conformance.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const unsigned thread_counts[THREAD_COUNTS] = {1, 2, 3, 5, 16};

void count_case(tally *t, bool good, const char *format, ...)
{
  enum { SHOWN = 20 };
  t->passed += good;
  t->failed += !good;
  if (good || t->failed > SHOWN) return;
  va_list arguments;
  va_start(arguments, format);
  (void)fputs("FAILED: ", stdout);
  (void)vprintf(format, arguments);
  (void)fputc('\n', stdout);
  va_end(arguments);
}

bool is_order(const void *index, unsigned bits, const uint64_t *places, size_t count)
{
  const uint32_t *const narrow = (const uint32_t *)index;
  const uint64_t *const wide = (const uint64_t *)index;
  for (size_t i = 0; i < count; i++)
    if ((bits == 32 ? narrow[i] : wide[i]) != places[i]) return false;
  return true;
}

static size_t find_ways(const recsort_plugin_info *list, const char *plugin, const char *algorithm,
                        way ways[MAX_WAYS])
{
  size_t count = 0;
  for (const recsort_plugin_info *info = list; info; info = info->next) {
    if (info->score == 0 || (plugin && strcmp(plugin, info->name) != 0)) continue;
    for (size_t a = 0; a < info->algorithm_count && count < MAX_WAYS; a++)
      if (!algorithm || strcmp(algorithm, info->algorithms[a]) == 0)
        ways[count++] = (way){info->name, info->algorithms[a]};
  }
  return count;
}

int main(int argc, char **argv)
{
  const recsort_plugin_info *list;
  recsort_error error;
  way ways[MAX_WAYS];
  tally t = {0, 0};
  const bool few = argc > 1 && strcmp(argv[1], "--few") == 0;
  argc -= few;
  argv += few;
  if (recsort_plugins_find(NULL, &list, &error) != RECSORT_OK) {
    (void)fprintf(stderr, "conformance: %s\n", error.text);
    return 2;
  }
  const size_t count = find_ways(list, argc > 1 ? argv[1] : NULL, argc > 2 ? argv[2] : NULL, ways);
  for (size_t w = 0; w < count; w++) {
    (void)printf("%s %s\n", ways[w].plugin, ways[w].algorithm);
    test_jobs(&ways[w], few, &t);
  }
  if (count) test_records(ways, count, few, &t);
  if (count) test_computed(ways, count, few, &t);
  for (size_t w = 0; w < count; w++)
    if (w == 0 || strcmp(ways[w].plugin, ways[w - 1].plugin) != 0)
      test_merges(ways[w].plugin, few, &t);
  recsort_plugins_destroy(list);
  (void)printf("%zu passed, %zu failed\n", t.passed, t.failed);
  if (t.passed + t.failed == 0) return 2;
  return t.failed ? 1 : 0;
}
