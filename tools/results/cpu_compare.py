#!/usr/bin/env python3
"""The speed of the library on the CPU beside that of another commit.

Usage: cpu_compare.py OLD-BUILD NEW-BUILD FOLDER      folders of Release builds; FOLDER is made
Then:  FOLDER/compare ROUNDS THREADS...               here or on another machine; writes a table

A program loads both libraries, and the new one twice: its two copies show what the place of a library
in memory does. They sort the same records in turns, and each begins as many rounds. A cell is a median.
"""
import re
import subprocess
import sys
from pathlib import Path

# Compiled for each library, with its own header.
LIBRARY = '''
#include <string.h>
#include <time.h>
#include "recsort/recsort.h"
static const char *const schemas[] = {
  "record: Entity\\nfields: [{name: x, type: float32}, {name: y, type: float32}, {name: angle, type: float32}, "
  "{name: sprite, type: int16}, {name: distance, type: float32}]\\nkeys: [{field: distance, order: desc}]\\n",
  "record: Key64\\nfields: [{name: key, type: uint64}, {name: value, type: uint64}]\\nkeys: [key]\\n",
  "record: Name\\nfields: [{name: name, type: char, count: 16}, {name: value, type: uint64}]\\nkeys: [name]\\n"};
__attribute__((visibility("default"))) const char *library_commit = COMMIT;

__attribute__((visibility("default")))
double library_sort(int record, unsigned threads, const void *records, size_t count, void *sorted)
{
  static recsort_sorter *sorters[3][65];
  recsort_sorter **const sorter = &sorters[record][threads];
  struct timespec begin, end;
  if (!*sorter) {
    recsort_options options = {.struct_size = sizeof options, .plugin = "cpu", .threads = threads};
    recsort_schema *schema = NULL;
    if (recsort_schema_load_memory(schemas[record], strlen(schemas[record]), "schema", NULL, &schema, NULL) ||
        recsort_sorter_create(schema, &options, sorter, NULL))
      return -1;
    recsort_schema_destroy(schema);
  }
  clock_gettime(CLOCK_MONOTONIC, &begin);
  if (recsort_sort_to(*sorter, records, count, sorted, NULL)) return -1;
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6;
}
'''
MAIN = '''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef double library_sort(int, unsigned, const void *, size_t, void *);
enum { LIBRARIES = 3, MOST = 1 << 20, MOST_ROUNDS = 2000 };
static const char *const names[] = {"entity", "key64", "name"}, *const orders[] = {"random", "nearly", "sorted"};
static const size_t sizes[] = {20, 16, 24}, counts[] = {100, 1000, 16384, 131072, MOST};
static library_sort *sorts[LIBRARIES];
static const char *commits[LIBRARIES];
static double times[LIBRARIES][MOST_ROUNDS];
static unsigned char *records, *sorted[LIBRARIES];

static uint64_t next(void)
{
  static uint64_t state = 88172645463325252u;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

static void make(int record, int order, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    unsigned char *const at = records + i * sizes[record];
    const uint64_t rank = record == 0 ? count - i : i;
    const uint64_t key = order == 0 || (order == 1 && next() % 100 == 0) ? next() % (count * 4) : rank * 4;
    const float distance = (float)key;
    memset(at, (int)(i & 255), sizes[record]);
    if (record == 0) memcpy(at + 16, &distance, 4);
    if (record == 1) memcpy(at, &key, 8);
    if (record == 2) {
      char text[17];
      snprintf(text, sizeof text, "%016llu", (unsigned long long)key);
      memcpy(at, text, 16);
    }
  }
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void load(const char *folder, const char *const files[])
{
  for (int l = 0; l < LIBRARIES; l++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, files[l]);
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\\n", dlerror()), exit(2);
    sorts[l] = (library_sort *)dlsym(library, "library_sort");
    commits[l] = *(const char **)dlsym(library, "library_commit");
    sorted[l] = malloc(MOST * 24);
  }
}

int main(int argc, char **argv)
{
  char self[4096] = "";
  static const char *const files[] = {"old.so", "new.so", "copy.so"};
  const int most = atoi(argv[1]);
  double sum = 0, noise = 0, worst = 0;
  int cells = 0;
  snprintf(self, sizeof self, "%s", argv[0]);
  load(dirname(self), files);
  records = malloc(MOST * 24);
  printf("old %s, new %s; medians of at least %d rounds\\n\\n", commits[0], commits[1], most);
  printf("record  order      records threads     old ms     new ms  new/old  copy/new\\n");
  for (int record = 0; record < 3; record++)
    for (int order = 0; order < 3; order++)
      for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int t = 2; t < argc; t++) {
          const size_t count = counts[c];
          const unsigned threads = (unsigned)atoi(argv[t]);
          int rounds = (int)(most * (MOST / count));
          if (rounds > MOST_ROUNDS) rounds = MOST_ROUNDS;
          if (threads > 1 && count < 16384) continue;
          make(record, order, count);
          for (int r = -3; r < rounds; r++)
            for (int l = 0; l < LIBRARIES; l++) {
              const int now = (r + 3 + l) % LIBRARIES;
              const double taken = sorts[now](record, threads, records, count, sorted[now]);
              if (taken < 0) return 2;
              if (r >= 0) times[now][r] = taken;
            }
          for (int l = 1; l < LIBRARIES; l++)
            if (memcmp(sorted[0], sorted[l], count * sizes[record])) return 1;
          double median[LIBRARIES];
          for (int l = 0; l < LIBRARIES; l++) {
            qsort(times[l], (size_t)rounds, sizeof **times, ascending);
            median[l] = times[l][rounds / 2];
          }
          const double ratio = median[1] / median[0];
          printf("%-7s %-7s %10zu %7u %10.4f %10.4f %8.3f %9.3f\\n", names[record], orders[order], count, threads,
                 median[0], median[1], ratio, median[2] / median[1]);
          fflush(stdout);
          sum += log(ratio), noise += log(median[2] / median[1]), cells++;
          if (ratio > worst) worst = ratio;
        }
  printf("\\n%d cells, geometric mean %.3f, greatest %.3f; of the copies %.3f. All results are equal\\n", cells,
         exp(sum / cells), worst, exp(noise / cells));
  return 0;
}
'''


def compile_library(build, output):
    cache = (build / 'CMakeCache.txt').read_text()
    source = Path(re.search(r'^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$', cache, re.M)[1])
    found = subprocess.run(['git', '-C', source, 'rev-parse', '--short', 'HEAD'], capture_output=True, text=True)
    commit = found.stdout.strip() or build.parent.name
    output.with_suffix('.c').write_text(LIBRARY)
    subprocess.run(['gcc', '-O2', '-shared', '-fPIC', '-fvisibility=hidden', f'-DCOMMIT="{commit}"',
                    '-I', source / 'core/include', output.with_suffix('.c'), build / 'core/librecsort.a',
                    '-Wl,--exclude-libs,ALL', '-lyaml', '-lpthread', '-lm', '-o', output], check=True)


old, new, folder = (Path(word) for word in sys.argv[1:])
folder.mkdir(parents=True, exist_ok=True)
compile_library(old, folder / 'old.so')
compile_library(new, folder / 'new.so')
compile_library(new, folder / 'copy.so')
(folder / 'compare.c').write_text(MAIN)
subprocess.run(['gcc', '-O2', folder / 'compare.c', '-ldl', '-lm', '-o', folder / 'compare'], check=True)
