#!/usr/bin/env python3
"""The include law must accept a correct tree, and reject each violation planted in it."""
import sys
import tempfile
from pathlib import Path

from includes import LAW, check

LAWFUL = {
    'core/include/recsort/recsort.h': '<stdint.h>',
    'core/include/recsort/recsort.hpp': '"recsort/recsort.h"',
    'core/base/error.h': '"recsort/recsort.h"',
    'core/schema/reader.c': '<yaml.h>',
    'core/layout/layout.c': '"schema/parse.h"',
    'core/plan/plan.h': '"layout/layout.h"',
    'core/key/encode.c': '"recsort/key_interpreter.h"',
    'core/plugin/registry.c': '"base/platform/libraries.h"',
    'core/base/memory.h': '"base/platform/print.h"',
    'core/base/platform/posix/libraries.c': '<dlfcn.h>',
    'core/base/platform/posix/threads.c': '"base/platform/threads.h"',
    'core/base/platform/windows/threads.c': '#ifdef _WIN32\n#include <windows.h>',
    'core/include/recsort/plugin.h': '#ifdef _WIN32\n#include <stddef.h>',
    'plugins/cuda/records/records.cu': '#define _POSIX_C_SOURCE 200809L\n#include <unistd.h>',
    'core/sort.c': '"key/encode.h"',
    'plugins/runs/merge.c': '"base/co_rank.h"',
    'plugins/cpu/merge_extension.c': '"runs/merge.h"',
    'plugins/cuda/device.cu': '<cuda_runtime.h>',
    'tools/bench/gpu/pairs.cu': '"recsort/recsort.h"',
    'plugins/cuda/sort/radix/passes.cuh': '"cuda/pair.cuh"',
    'plugins/cuda/sort/sample/agent/scatter.cuh': '"cuda/sort/sample/agent/splitters.cuh"',
    'plugins/cpu/sorts.h': '"runs/pair.h"',
    'tools/support/output.h': '<stdio.h>',
    'tools/recgen/main.c': '"support/output.h"',
}

# An include for each way up from slab to slab.
RISING = [
    ('core/sort.c', '"cpu/sorts.h"'),
    ('core/sort.c', '"support/output.h"'),
    ('plugins/cpu/bucket_sort.c', '"support/output.h"'),
]

PLANTED = RISING + [
    ('core/base/error.c', '"schema/parse.h"'),
    ('core/schema/parse.c', '"layout/layout.h"'),
    ('core/plan/plan.c', '"schema/parse.h"'),
    ('core/key/encode.h', '"layout/layout.h"'),
    ('core/permute/permute.c', '"key/encode.h"'),
    ('core/permute/permute.h', '"../key/encode.h"'),
    ('core/include/recsort/plugin.h', '"recsort/team.h"'),
    ('core/include/recsort/plugin.h', '"recsort/recsort.h"'),
    ('core/include/recsort/recsort.hpp', '"recsort/plugin.h"'),
    ('core/layout/words.c', '<yaml.h>'),
    ('core/schema/second.c', '<yaml.h>'),
    ('core/plugin/second.c', '  #  include  <dlfcn.h>'),
    ('core/base/platform/windows/libraries.c', '<dlfcn.h>'),
    ('core/base/platform/posix/memory.c', '"base/memory.h"'),
    ('core/base/pool.c', '<pthread.h>'),
    ('core/sort.c', '<time.h>'),
    ('plugins/runs/merge.c', '<windows.h>'),
    ('core/schema_open.c', '#define _POSIX_C_SOURCE 200809L'),
    ('plugins/cpu/bucket_sort.c', '#ifdef _WIN32'),
    ('core/include/recsort/team.h', '#ifdef __linux__'),
    ('core/sort.c', '<cuda_runtime.h>'),
    ('plugins/cpu/bucket_sort.c', '"recsort/recsort.h"'),
    ('plugins/cuda/sort/radix/passes.cuh', '"cuda/merge/digest.cuh"'),
    ('plugins/cuda/sort/radix/block/bins.cuh', '"gpu/gpu_plugin.h"'),
    ('plugins/cuda/sort/sample/block/bins.cuh', '"cuda/runs.cuh"'),
    ('plugins/cuda/sort/sample/agent/scatter.cuh', '"cuda/sort/sample/agent/sort_padded.cuh"'),
    ('plugins/cuda/sort/sample/agent/load.cuh', '"load.cuh"'),
    ('plugins/cuda/sort/sample/agent/load.cuh', '"cuda/sort/sample/agent/common.cuh"'),
    ('plugins/cpu/bucket_sort.c', '<recsort/recsort.h>'),
    ('plugins/cpu/bucket_sort.c', '"base/memory.h"'),
    ('core/base/co_rank.h', '"cpu/sorts.h"'),
    ('plugins/runs/merge.c', '"cpu/sorts.h"'),
    ('tools/bench/gpu/pairs.cu', '"recsort/plugin.h"'),
    ('tools/recgen/main.c', '"base/checked.h"'),
    ('tools/recgen/main.c', '"reccat/cell.h"'),
    ('tools/recsort/sort.c', '"recsort/plugin.h"'),
    ('tools/recschema/header.c', '<elfutils/libdw.h>'),
    ('tools/recschema/dwarf/find.c', '"recschema/header.h"'),
    ('tools/support/output.c', '"recgen/ranks.h"'),
]


def violations_in(files):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, include in files:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            line = include if '#' in include else f'#include {include}'
            with path.open('a') as file:
                file.write(line + '\n')
        return check(root)[0]


def main():
    failures = 0
    lawful = list(LAWFUL.items())
    if violations_in(lawful):
        failures += 1
        print('the lawful tree is rejected:', *violations_in(lawful), sep='\n  ')
    for planted in PLANTED:
        if len(violations_in(lawful + [planted])) != 1:
            failures += 1
            print('not found:', *planted)
    LAW.update({folder: ['cpu/', 'support/', *LAW[folder]] for folder in ('core', 'plugins/cpu')})
    for planted in RISING:
        if len(violations_in(lawful + [planted])) != 1:
            failures += 1
            print('not found if the table allows it:', *planted)
    print(f'{len(PLANTED) + len(RISING)} violations planted, {failures} failures')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
