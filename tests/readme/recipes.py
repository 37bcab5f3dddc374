#!/usr/bin/env python3
"""The recipes of the README are short, and do what they say; so do the programs in docs/library.md and docs/examples,
and what docs/from-0.1.md says of 1.0. The recipe in Python is run by tests/python, the one in C by tests/amalgamation.

Usage: recipes.py CC CXX SOURCE-FOLDER LIBRARY-FOLDER TOOLS-FOLDER    (CFLAGS: further flags)
"""
import gzip
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

cc, cxx = sys.argv[1:3]
source, library, tools = (Path(folder).resolve() for folder in sys.argv[3:])
readme = (source / 'README.md').read_text()
recipes = re.findall(r'```(\w+)\n(.*?)```', readme[readme.index('## Three recipes'):readme.index('## The schema')], re.S)
random.seed(3)


def run(words, **rest):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, **rest).stdout


def compiled(compiler, flags, files):
    """What the program prints."""
    run([*compiler.split(), '-Wall', '-Wextra', '-Werror', *flags, f'-I{source}/core/include', *files, f'-L{library}', '-lrecsort',
         f'-Wl,-rpath,{library}', *os.environ.get('CFLAGS', '').split(), '-o', 'program'])
    return run(['./program'], text=True, cwd=source if 'program.c' in files else '.',
               executable=Path('program').resolve()).split()


def shell(text):
    return run(['sh', '-euc', text], env=dict(os.environ, PATH=f'{tools}:{os.environ["PATH"]}'))


def program_in_c():
    text = re.search(r'```c\n(.*?)```', (source / 'docs/library.md').read_text(), re.S)[1]
    assert text.count('\n') <= 25
    Path('program.c').write_text(text)
    assert compiled(cc, ['-std=c11'], ['program.c']) == ['3', '2', '1']


def program_of_a_job():
    text = re.findall(r'```c\n(.*?)```', (source / 'docs/library.md').read_text(), re.S)[1]
    assert text.count('\n') <= 36
    Path('job.c').write_text(text)
    assert ' '.join(compiled(cc, ['-std=c11'], ['job.c'])) == 'nine, nine again'


# What comes around the calls of 1.0 that are shown to users of 0.1.
MOVED = '''
#include <recsort/recsort.h>
#include <stdio.h>
int main(void)
{
  const uint32_t records[] = {7, 5, 7, 5, 6};
  enum { count = 5 };
  char companions[] = "abcde";
  uint32_t index[count];
  recsort_error error;
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_schema_create_number(RECSORT_UINT32, RECSORT_ASCENDING, RECSORT_NAN_LAST, NULL, &schema, &error);
  recsort_sorter_create(schema, NULL, &sorter, &error);
%s
  printf("%%s", companions);
  for (size_t i = 0; i < firsts; i++) printf(" %%u", (unsigned)index[i]);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}
'''


def calls_of_1_0():
    page = (source / 'docs/from-0.1.md').read_text()
    Path('moved.c').write_text(MOVED % re.findall(r'```c\n(.*?)```', page, re.S)[1])
    assert compiled(cc, ['-std=c11'], ['moved.c']) == ['bdeac', '1', '4', '0']
    headers = ''.join((source / 'core/include/recsort' / name).read_text() for name in ('recsort.h', 'job.h', 'tools.h'))
    now = ' '.join(re.findall(r'^\| .*? \| (.*) \|$', page, re.M))
    for name in re.findall(r'recsort_\w+(?=[`(])', now):
        assert re.search(rf'\b{name}[;(]', headers), name


def c(text):
    assert f'```c\n{text}```' in (source / 'docs/vendoring.md').read_text()  # and tests/amalgamation runs it


def program_in_cpp():
    text = re.search(r'```cpp\n(.*?)```', (source / 'docs/library.md').read_text(), re.S)[1]
    assert text.count('\n') <= 12
    Path('stars.cpp').write_text(text)
    assert compiled(cxx, ['-std=c++17'], ['stars.cpp']) == ['1', '3', '2']


def example(name, *flags):
    """What a program in docs/examples prints."""
    return ' '.join(compiled(cxx, ['-std=c++17'], [f'{source}/docs/examples/{name}.cpp', *flags]))


def components():
    assert example('ecs') == ('4:14 1:11 3:13 2:12 0:10 entity 2 is at place 3 '
                              '1:11 3:13 4:14 0:10 2:12 entity 2 is at place 4')


def job_system():
    here = subprocess.run([*cxx.split(), '-xc++', '-E', '-'], input=b'#include <tbb/task_arena.h>', capture_output=True)
    if here.returncode or 'thread' in os.environ.get('CFLAGS', ''):  # its own atomics look like races
        print('jobs.cpp: not tried, as TBB is not installed or not instrumented')
        return
    assert example('jobs', '-ltbb') == '0 of 200000 out of order, sorted by tasks'


def npy():
    """Records of a float32 and an int32, in a file that NumPy could have written. Returns what becomes of it."""
    stars = [(random.choice([2.5, 5.5, 1.5]), i) for i in random.sample(range(1000), 500)]
    def file(records):
        header = f"{{'descr': [('mag', '<f4'), ('id', '<i4')], 'fortran_order': False, 'shape': ({len(records)},), }}"
        return b'\x93NUMPY\x01\0v\0' + header.ljust(117).encode() + b'\n' + b''.join(struct.pack('<fi', *r) for r in records)
    Path('stars.npy.gz').write_bytes(gzip.compress(file(stars)))
    return file(sorted(stars, key=lambda r: (-r[0], r[1]))[:2])


def sh(text):
    """Points of format 1; their times and heights have ties."""
    def point(i):
        return struct.pack('<iiiHBBbBHd', i, 0, random.randrange(9), 0, 0, random.randrange(4), 0, 0, 0, random.randrange(99))
    def file(points):
        head = bytearray(b'LASF'.ljust(227, b'\0'))
        struct.pack_into('<I', head, 96, 227)
        struct.pack_into('<BHI', head, 104, 1, 28, len(points))
        return bytes(head) + b''.join(points)
    time = lambda p: struct.unpack_from('<d', p, 20)[0]
    scan = [point(i) for i in range(800)]
    more = sorted((point(i) for i in range(300)), key=time)
    Path('scan.las').write_bytes(file(scan))
    Path('more.las').write_bytes(file(more))
    Path('schemas').symlink_to(source / 'schemas')
    brightest = npy()
    shown = shell(text).decode().splitlines()
    assert Path('by-time.las').read_bytes() == file(sorted(scan, key=time))
    assert Path('all.las').read_bytes() == file(sorted(sorted(scan, key=time) + more, key=time))
    assert Path('brightest.npy').read_bytes() == brightest
    best = sorted(scan, key=lambda p: (p[15], -struct.unpack_from('<i', p, 8)[0]))[:3]
    assert [int(line.split()[0]) for line in shown[1:]] == [struct.unpack_from('<i', p)[0] for p in best]


def python(text):
    assert 'recsort.sort(' in text  # and tests/python runs it


names = [name for name, _ in recipes]
assert names == ['sh', 'c', 'python'], names
for run_it in (*(lambda text=text, test=test: test(text) for (_, text), test in zip(recipes, (sh, c, python))),
               program_in_c, program_of_a_job, calls_of_1_0, program_in_cpp, components, job_system):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run_it()
        os.chdir('/')
assert all(text.count('\n') <= 23 for _, text in recipes)
print('three recipes and six programs do what they say')
