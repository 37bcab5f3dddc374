#!/usr/bin/env python3
"""The programs in docs/vendoring.md and README.md: in a clean folder, by the commands of the page.

Usage: clean.py CC CXX SOURCE-FOLDER AMALGAMATION
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

cc, cxx = sys.argv[1:3]
source, files = Path(sys.argv[3]), Path(sys.argv[4])
page = (source / 'docs/vendoring.md').read_text()

# What a game has already: entities, and threads of its own that run tasks.
GAME = '''
#ifndef GAME_H
#define GAME_H
#include <stddef.h>
struct Entity { double x; char name[3]; float distance; };
struct Jobs { int calls; };
void jobs_run(struct Jobs *jobs, void (*task)(void *, size_t), void *argument, size_t count);
#endif
'''
MAIN = '''
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct piece { void (*task)(void *, size_t); void *argument; size_t number; };

static void *start(void *piece)
{
  struct piece *p = piece;
  p->task(p->argument, p->number);
  return NULL;
}

void jobs_run(struct Jobs *jobs, void (*task)(void *, size_t), void *argument, size_t count)
{
  pthread_t threads[64];
  struct piece pieces[64];
  if (count > 3) abort(); /* no more than the executor's threads */
  for (size_t i = 0; i < count; i++) {
    pieces[i] = (struct piece){task, argument, i};
    pthread_create(&threads[i], NULL, start, &pieces[i]);
  }
  for (size_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
  jobs->calls++;
}

int main(void)
{
  enum { COUNT = 300000 };
  struct Jobs jobs = {0};
  recsort_error error;
  struct Entity *entities = calloc(COUNT, sizeof *entities);
  recsort_sorter *sorter = far_to_near(&jobs, 3, &error);
  if (!sorter) return puts(error.text), 1;
  for (int frame = 0; frame < 3; frame++) {
    for (int i = 0; i < COUNT; i++) {
      entities[i].x = i;
      entities[i].distance = (float)(i % 1013 * 7919 % 1009 + frame);
    }
    if (recsort_sort(sorter, entities, COUNT, &error)) return puts(error.text), 1;
    for (int i = 1; i < COUNT; i++)
      if (entities[i - 1].distance < entities[i].distance ||
          (entities[i - 1].distance == entities[i].distance && entities[i - 1].x > entities[i].x))
        return puts("wrong"), 1;
  }
  puts(jobs.calls ? "sorted by the game" : "sorted by others");
  recsort_sorter_destroy(sorter);
  free(entities);
  return 0;
}
'''


def block(text, kind, number=0):
    return re.findall(rf'```{kind}\n(.*?)```', text, re.S)[number]


def build_and_run(command, sources):
    """In a folder with nothing else. Returns what the program prints, and the names of all files."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ('recsort.h', 'recsort.c', 'recsort.hpp'):
            shutil.copy(files / name, folder)
        for name, text in sources.items():
            (Path(folder) / name).write_text(text)
        (Path(folder) / 'bin').mkdir()
        for name, compiler in (('cc', cc), ('c++', cxx)):
            path = Path(folder) / 'bin' / name
            path.write_text(f'#!/bin/sh\nexec {compiler} -Wall -Wextra -Werror "$@"\n')
            path.chmod(0o755)
        environment = dict(os.environ, PATH=f'{folder}/bin:{os.environ["PATH"]}')
        subprocess.run(['sh', '-euc', command], check=True, cwd=folder, env=environment)
        return subprocess.run(['./a.out'], check=True, cwd=folder, stdout=subprocess.PIPE, text=True).stdout


def made_by_the_page():
    """The commands that make the files, but with a build folder that is not in the source folder."""
    with tempfile.TemporaryDirectory() as folder:
        command = re.sub('(-B|--build) build', rf'\1 {folder}', block(page, 'sh'))
        subprocess.run(['sh', '-euc', command], check=True, cwd=source, stdout=subprocess.DEVNULL, env=dict(os.environ, CC=cc))
        for name in ('recsort.h', 'recsort.c', 'recsort.hpp', 'recsort.cuh'):
            assert (Path(folder) / 'amalgamation' / name).read_bytes() == (files / name).read_bytes(), name


def main():
    made_by_the_page()
    program = block(page, 'cpp')
    assert program.count('\n') == 10
    assert program == block((source / 'README.md').read_text(), 'cpp')
    assert build_and_run(block(page, 'sh', 1), {'main.cpp': program}) == '1\n3\n2\n'
    assert build_and_run(block(page, 'sh', 2), {'game.c': block(page, 'c') + MAIN, 'game.h': GAME}) == 'sorted by the game\n'
    print('two programs in clean folders')


main()
