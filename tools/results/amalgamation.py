#!/usr/bin/env python3
"""What recsort.c costs: lines, time to compile, size of the object, and its speed beside the library's.

Usage: amalgamation.py BUILD-FOLDER      of a Release; writes the text of amalgamation.txt

A program that has both sorts the same Entities by each in turns.
"""
import math
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

build = Path(sys.argv[1])
files = build / 'amalgamation'
COMPILERS = ('gcc', 'clang', 'x86_64-w64-mingw32-gcc', 'musl-gcc')
# Compiled for each copy of the library, with its header. FUNCTION is another one in each.
HALF = '''
#include <stddef.h>
#include <time.h>
#include HEADER
struct Entity { float x, y, angle; short sprite; float distance; };
double FUNCTION(const struct Entity *records, size_t count, struct Entity *to, unsigned threads)
{
  static const recsort_field_desc fields[] = {RECSORT_FIELD(struct Entity, distance)};
  static const recsort_key_desc keys[] = {{.path = "distance", .order = RECSORT_DESCENDING}};
  const recsort_schema_desc desc = RECSORT_STRUCT(struct Entity, fields, keys);
  static recsort_sorter *sorter[3];
  recsort_options options = RECSORT_OPTIONS_INIT;
  recsort_schema *schema = NULL;
  struct timespec begin, end;
  options.plugin = "cpu";
  options.threads = threads;
  if (!sorter[threads]) {
    if (recsort_schema_create(&desc, NULL, &schema, NULL) ||
        recsort_sorter_create(schema, &options, &sorter[threads], NULL))
      return -1;
    recsort_schema_destroy(schema);
  }
  clock_gettime(CLOCK_MONOTONIC, &begin);
  if (recsort_sort_to(sorter[threads], records, count, to, NULL)) return -1;
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6;
}
'''
# Sorts by both in turns, the first one first in every other round.
WHOLE = '''
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct Entity { float x, y, angle; short sprite; float distance; };
typedef double sort(const struct Entity *, size_t, struct Entity *, unsigned);
sort library, copied;

int main(void)
{
  static const char *const orders[] = {"random", "nearly", "sorted"};
  static const size_t counts[] = {100, 1000, 16384, 131072, 1048576, 4194304};
  sort *const both[] = {library, copied};
  const size_t most = 4194304;
  struct Entity *const records = calloc(most, sizeof *records);
  struct Entity *const to[] = {calloc(most, sizeof **to), calloc(most, sizeof **to)};
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
    for (int o = 0; o < 3; o++)
      for (unsigned threads = 1; threads <= 2; threads++) {
        const size_t count = counts[c], rounds = count < 100000 ? 3000000 / (count + 300) : 25;
        double least[2] = {1e9, 1e9};
        srand(7);
        for (size_t i = 0; i < count; i++) {
          records[i].x = (float)i;
          records[i].distance = o == 0 || (o == 1 && rand() % 100 == 0) ? (float)(rand() % 1000000)
                                                                        : (float)(count - i / 2);
        }
        for (size_t round = 0; round < rounds; round++)
          for (int turn = 0; turn < 2; turn++) {
            const int by = (int)(turn ^ (round & 1));
            const double took = both[by](records, count, to[by], threads);
            if (took < 0) return 1;
            if (took < least[by]) least[by] = took;
          }
        if (memcmp(to[0], to[1], count * sizeof **to)) return puts("other bytes"), 1;
        printf("%9zu %-8s %7u %10.4f %12.4f %9.3f\\n", count, orders[o], threads, least[0], least[1],
               least[1] / least[0]);
      }
  return 0;
}
'''


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def seconds_of(*words):
    """CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(*words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compile_times(scratch):
    print(f'{"compiler":24} {"options":34} {"CPU s":>6} {"text":>8} {"data":>6} {"bss":>6}')
    for compiler in COMPILERS:
        for options in (['-O2'], ['-Os'], ['-O2', '-DRECSORT_PLUGINS']) if compiler == 'gcc' else (['-O2'],):
            to = str(scratch / 'recsort.o')
            took = min(seconds_of(compiler, '-std=c11', *options, '-c', str(files / 'recsort.c'), '-o', to) for _ in range(3))
            size = 'x86_64-w64-mingw32-size' if 'mingw' in compiler else 'size'
            text, data, bss = run(size, to).splitlines()[1].split()[:3]
            print(f'{compiler:24} {" ".join(options):34} {took:6.1f} {text:>8} {data:>6} {bss:>6}')


def speed(scratch, compiler):
    """A program with the static library and, with a prefix, recsort.c. Prints its table, and the mean of the ratios."""
    for name, text in (('half.c', HALF), ('whole.c', WHOLE)):
        (scratch / name).write_text(text)
    compiled = lambda *words: run(compiler, '-std=gnu11', '-O2', *map(str, words))
    compiled('-c', scratch / 'half.c', '-o', scratch / 'library.o', '-DFUNCTION=library', f'-I{build}/../core/include',
             '-DHEADER="recsort/recsort.h"')
    copy = (f'-I{files}', '-DRECSORT_PREFIX=copied_')
    compiled('-c', scratch / 'half.c', '-o', scratch / 'copied.o', '-DFUNCTION=copied', *copy, '-DHEADER="recsort.h"')
    compiled('-c', files / 'recsort.c', '-o', scratch / 'recsort.o', *copy)
    compiled(scratch / 'whole.c', *(scratch / f'{name}.o' for name in ('library', 'copied', 'recsort')),
             build / 'core/librecsort.a', '-lyaml', '-pthread', '-ldl', '-o', scratch / 'whole')
    table = run(str(scratch / 'whole'))
    ratios = [float(line.split()[-1]) for line in table.splitlines()]
    print(f'\nleast milliseconds of librecsort.a and of recsort.c by {compiler} -O2, in turns in one process, same bytes\n')
    print(f'{"Entities":>9} {"order":8} {"threads":>7} {"library":>10} {"recsort.c":>12} {"ratio":>9}\n{table}', end='')
    print(f'geometric mean of the ratios: {math.prod(ratios) ** (1 / len(ratios)):.3f}')


def main():
    version = run('git', '-C', str(build), 'log', '-1', '--format=recsort %h').strip()
    model = next(line.split(':')[1].strip() for line in Path('/proc/cpuinfo').read_text().splitlines() if line.startswith('model name'))
    print(f'{version}, {run("gcc", "--version").splitlines()[0]}; {model}, {len(os.sched_getaffinity(0))} processors\n')
    for name in ('recsort.c', 'recsort.h', 'recsort.hpp'):
        lines = (files / name).read_text().splitlines()
        print(f'{name:12} {len(lines):6} lines, of which {sum(not line.strip() for line in lines)} are blank')
    print()
    with tempfile.TemporaryDirectory() as folder:
        compile_times(Path(folder))
        for compiler in 'gcc', 'clang':
            speed(Path(folder), compiler)


main()
