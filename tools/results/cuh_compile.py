#!/usr/bin/env python3
"""How long nvcc takes for a program that sorts by recsort.cuh, and for one that sorts by CUB.

Usage: cuh_compile.py RECSORT-CUH-FOLDER [ROUNDS]      writes a table to stdout

Each program is one function with one call. CPU seconds (user and system) are the median of some rounds, in which the
programs take turns, with the flags below. CUB is that of nvcc's toolkit. Bytes are those of the object file.
"""
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FLAGS = ['-O3', '-std=c++17', '-arch=sm_90']
QUICK = ['-Xcicc=-O1', '-Xptxas=-O0']  # for what is only checked
ARRAYS = ('void *w, size_t &b, const {key} *ki, {key} *ko, const uint32_t *vi, uint32_t *vo, size_t n, '
          'const uint32_t *o, size_t m, const size_t *bounds, cudaStream_t s')
CUB = {
    'SortPairs, u32': ('radix_sort', 'uint32_t', 'DeviceRadixSort::SortPairs(w, b, ki, ko, vi, vo, n, 0, 32, s)'),
    'SortKeys, u32': ('radix_sort', 'uint32_t', 'DeviceRadixSort::SortKeys(w, b, ki, ko, n, 0, 32, s)'),
    'SortPairs, u64': ('radix_sort', 'uint64_t', 'DeviceRadixSort::SortPairs(w, b, ki, ko, vi, vo, n, 0, 64, s)'),
    'SortPairs, f32': ('radix_sort', 'float', 'DeviceRadixSort::SortPairs(w, b, ki, ko, vi, vo, n, 0, 32, s)'),
    'StableSortPairs of segments, u32':
        ('segmented_sort', 'uint32_t', 'DeviceSegmentedSort::StableSortPairs(w, b, ki, ko, vi, vo, n, m, o, o + 1, s)'),
}
OURS = {
    'sort_pairs, u32': ('uint32_t', 'sort_pairs(w, b, ki, ko, vi, vo, n, s)'),
    'sort_keys, u32': ('uint32_t', 'sort_keys(w, b, ki, ko, n, s)'),
    'sort_pairs, u64': ('uint64_t', 'sort_pairs(w, b, ki, ko, vi, vo, n, s)'),
    'sort_pairs, f32': ('float', 'sort_pairs(w, b, ki, ko, vi, vo, n, s)'),
    'sort_records, f32 descending':
        ('Entity', 'sort_records(w, b, ki, ko, n, s, recsort::desc(&Entity::distance))'),
    'segmented_sort_pairs, u32': ('uint32_t', 'segmented_sort_pairs(w, b, ki, ko, vi, vo, n, o, m, s)'),
    'top, u32': ('uint32_t', 'top(w, b, ki, ko, vi, vo, n, m, s)'),
    'merge, u32': ('uint32_t', 'merge(w, b, ki, ko, vi, vo, bounds, m, s)'),
}
ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)
ENTITY = 'struct Entity { float x, y, angle; int16_t sprite; float distance; };\n'


def maybe_unused(parameters):
    return ', '.join(f'[[maybe_unused]] {each}' for each in parameters.split(', '))


def programs():
    for name, (header, key, call) in CUB.items():
        yield (f'cub: {name}', f'#include <cub/device/device_{header}.cuh>\n#include <cstdint>\n'
               f'cudaError_t f({ARRAYS.format(key=key)}) {{ return cub::{call}; }}\n')
    for name, (key, call) in OURS.items():
        yield (f'recsort: {name}', f'#include <recsort.cuh>\n#include <cstdint>\n{ENTITY}'
               f'cudaError_t f({ARRAYS.format(key=key)}) {{ return recsort::{call}; }}\n')


def compile_one(source, folder, includes):
    before = os.times()
    subprocess.run(['nvcc', *FLAGS, *includes, '-c', source, '-o', folder / 'object.o'], check=True)
    after = os.times()
    return sum(getattr(after, name) - getattr(before, name) for name in ('children_user', 'children_system'))


def main():
    folder, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    nvcc = subprocess.run(['nvcc', '--version'], check=True, capture_output=True, text=True).stdout.split()
    toolkit = Path(subprocess.run(['sh', '-c', 'readlink -f "$(command -v nvcc)"'], capture_output=True, text=True).stdout.strip())
    includes = [f'-I{folder}', f'-I{toolkit.parent.parent}/include/cccl']
    seconds, sizes = {}, {}
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        sources = {}
        for number, (title, text) in enumerate(programs()):
            sources[title] = work / f'program{number}.cu'
            sources[title].write_text(text)
        for _ in range(rounds):
            for title, source in sources.items():
                seconds.setdefault(title, []).append(compile_one(source, work, includes))
                sizes[title] = (work / 'object.o').stat().st_size
        everything = work / 'everything.cu'
        everything.write_text('#include <recsort.cuh>\n#include <cstdint>\n' + ENTITY + ''.join(
            f'cudaError_t f{number}({maybe_unused(ARRAYS.format(key=key))}) {{ return recsort::{call}; }}\n'
            for number, (key, call) in enumerate(OURS.values())))
        for architecture in ARCHITECTURES:
            subprocess.run(['nvcc', *QUICK, '-std=c++17', f'-arch=sm_{architecture}', '-Werror', 'all-warnings',
                            '-Xcompiler=-Wall,-Wextra,-Werror', *includes, '-c', everything, '-o', work / 'object.o'], check=True)
    base = statistics.median(seconds['cub: SortPairs, u32'])
    print(f'nvcc {nvcc[nvcc.index("release") + 1].strip(",")} {" ".join(FLAGS)}, {rounds} rounds; ratios to '
          f'cub: SortPairs, u32\n\n| program | CPU s | ratio | KB |\n| --- | ---: | ---: | ---: |')
    for title, values in seconds.items():
        middle = statistics.median(values)
        print(f'| {title} | {middle:.1f} | {middle / base:.2f} | {sizes[title] / 1000:.0f} |')
    print(f'\nA program with all of these calls compiles for compute capability {", ".join(f"{a / 10:.1f}" for a in ARCHITECTURES)}, '
          'each without a warning by nvcc or by the host compiler at -Wall -Wextra.')


if __name__ == '__main__':
    main()
