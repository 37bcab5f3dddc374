#!/usr/bin/env python3
"""What recsort.c costs: lines, time to compile, size of the object, and its speed beside the library's.

Usage: amalgamation.py BUILD-FOLDER [ROUNDS]      of a Release; writes the text of amalgamation.txt

A program that has both sorts the same Entities by each in turns, and by std::stable_sort, by
Boost's spinsort, and by Boost's pdqsort of words with key and place. CPATH says where Boost is.
Each sort begins ROUNDS rounds of the largest arrays, 7 if you do not say, and more of smaller ones.
"""
import math
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

build = Path(sys.argv[1])
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
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
# Sorts by each in turns, and each begins as many rounds. The threads are the library's; others sort by one.
WHOLE = '''
#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <boost/sort/spinsort/spinsort.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
struct Entity { float x, y, angle; short sprite; float distance; };
extern "C" double library(const Entity *, size_t, Entity *, unsigned);
extern "C" double copied(const Entity *, size_t, Entity *, unsigned);
using sort = double(const Entity *, size_t, Entity *, unsigned);

const auto farther = [](const Entity &a, const Entity &b) { return a.distance > b.distance; };

template <class Sort> double timed(Sort sort)
{
  const auto begin = std::chrono::steady_clock::now();
  sort();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

double stable_sort(const Entity *records, size_t count, Entity *to, unsigned)
{
  std::copy(records, records + count, to);
  return timed([&] { std::stable_sort(to, to + count, farther); });
}

double spinsort(const Entity *records, size_t count, Entity *to, unsigned)
{
  std::copy(records, records + count, to);
  return timed([&] { boost::sort::spinsort(to, to + count, farther); });
}

// Distance, which is not negative, and place in a word; the words need no stable sort.
double packed(const Entity *records, size_t count, Entity *to, unsigned)
{
  static std::vector<uint64_t> words(4194304);
  return timed([&] {
    for (size_t i = 0; i < count; i++) {
      uint32_t bits;
      std::memcpy(&bits, &records[i].distance, sizeof bits);
      words[i] = static_cast<uint64_t>(~bits) << 32 | i;
    }
    boost::sort::pdqsort(words.begin(), words.begin() + static_cast<ptrdiff_t>(count));
    for (size_t i = 0; i < count; i++) to[i] = records[static_cast<uint32_t>(words[i])];
  });
}

int main(int, char **argv)
{
  const size_t fewest = strtoul(argv[1], nullptr, 10);
  static const char *const orders[] = {"random", "nearly", "sorted"};
  static const size_t counts[] = {100, 1000, 16384, 131072, 1048576, 4194304};
  static sort *const sorts[] = {library, copied, stable_sort, spinsort, packed};
  const size_t most = 4194304;
  auto *records = static_cast<Entity *>(calloc(most, sizeof(Entity)));
  Entity *to[5];
  for (auto &each : to) each = static_cast<Entity *>(calloc(most, sizeof(Entity)));
  for (size_t count : counts)
    for (int o = 0; o < 3; o++)
      for (unsigned threads = 1; threads <= 2; threads++) {
        const size_t rounds = count < 100000 ? 500000 / (count + 300) + 5 : count < 1000000 ? 2 * fewest + 1 : fewest;
        const size_t others = threads == 1 ? 5 : 2;
        double least[5] = {1e9, 1e9, 1e9, 1e9, 1e9};
        srand(7);
        for (size_t i = 0; i < count; i++) {
          records[i].x = static_cast<float>(i);
          records[i].distance = static_cast<float>(o == 0 || (o == 1 && rand() % 100 == 0) ? rand() % 1000000 : count - i / 2);
        }
        for (size_t round = 0; round < rounds * others; round++)
          for (size_t turn = 0; turn < others; turn++) {
            const size_t by = (turn + round) % others;
            const double took = sorts[by](records, count, to[by], threads);
            if (took < 0) return 1;
            least[by] = std::min(least[by], took);
          }
        for (size_t by = 1; by < others; by++)
          if (memcmp(to[0], to[by], count * sizeof **to)) return puts("other bytes"), 1;
        printf("%9zu %-7s %7u %9.4f %9.4f %6.3f", count, orders[o], threads, least[0], least[1], least[1] / least[0]);
        for (size_t by = 2; by < others; by++) printf(" %11.4f", least[by]);
        puts("");
      }
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
            took = min(seconds_of(compiler, '-std=c11', *options, '-c', str(files / 'recsort.c'), '-o', to) for _ in range(min(rounds, 3)))
            size = 'x86_64-w64-mingw32-size' if 'mingw' in compiler else 'size'
            text, data, bss = run(size, to).splitlines()[1].split()[:3]
            print(f'{compiler:24} {" ".join(options):34} {took:6.1f} {text:>8} {data:>6} {bss:>6}')


def speed(scratch, compiler):
    """A program with the static library and, with a prefix, recsort.c. Prints its table, and the mean of the ratios."""
    for name, text in (('half.c', HALF), ('whole.cpp', WHOLE)):
        (scratch / name).write_text(text)
    compiled = lambda *words: run(compiler, '-std=gnu11', '-O2', *map(str, words))
    compiled('-c', scratch / 'half.c', '-o', scratch / 'library.o', '-DFUNCTION=library', f'-I{build}/../core/include',
             '-DHEADER="recsort/recsort.h"')
    copy = (f'-I{files}', '-DRECSORT_PREFIX=copied_')
    compiled('-c', scratch / 'half.c', '-o', scratch / 'copied.o', '-DFUNCTION=copied', *copy, '-DHEADER="recsort.h"')
    compiled('-c', files / 'recsort.c', '-o', scratch / 'recsort.o', *copy)
    run({'gcc': 'g++', 'clang': 'clang++'}[compiler], '-std=c++17', '-O2', str(scratch / 'whole.cpp'),
        *(str(scratch / f'{name}.o') for name in ('library', 'copied', 'recsort')),
        str(build / 'core/librecsort.a'), '-lyaml', '-pthread', '-ldl', '-o', str(scratch / 'whole'))
    table = run(str(scratch / 'whole'), str(rounds))
    ratios = [float(line.split()[5]) for line in table.splitlines()]
    print(f'\nleast milliseconds of librecsort.a and of recsort.c and others by {compiler} -O2, in turns in one process, same bytes\n')
    print(f'{"Entities":>9} {"order":7} {"threads":>7} {"library":>9} {"recsort.c":>9} {"ratio":>6} {"stable_sort":>11} '
          f'{"spinsort":>11} {"packed pdq":>11}\n{table}', end='')
    print(f'geometric mean of the ratios: {math.prod(ratios) ** (1 / len(ratios)):.3f}')


def main():
    version = run('git', '-C', str(build), 'log', '-1', '--format=recsort %h').strip()
    model = next(line.split(':')[1].strip() for line in Path('/proc/cpuinfo').read_text().splitlines() if line.startswith('model name'))
    print(f'{version}, {run("gcc", "--version").splitlines()[0]}; {model}, {len(os.sched_getaffinity(0))} processors')
    print(f'load average at the start: {os.getloadavg()[0]:.1f}; {rounds} rounds\n')
    for name in ('recsort.c', 'recsort.h', 'recsort.hpp'):
        lines = (files / name).read_text().splitlines()
        print(f'{name:12} {len(lines):6} lines, of which {sum(not line.strip() for line in lines)} are blank')
    print()
    with tempfile.TemporaryDirectory() as folder:
        compile_times(Path(folder))
        for compiler in 'gcc', 'clang':
            speed(Path(folder), compiler)


main()
