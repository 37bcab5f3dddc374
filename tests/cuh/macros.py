#!/usr/bin/env python3
"""recsort.cuh leaves the macros of a program, and those of recsort.hpp, as they were, and adds only that it is there.
Each of its kernels is a template, so a program compiles only the kernels that it starts.

Usage: macros.py CXX SOURCE-FOLDER AMALGAMATION
"""
import re
import subprocess
import sys
from pathlib import Path

cxx, source, files = sys.argv[1:]


def macros(text):
    done = subprocess.run([cxx, '-std=c++17', '-x', 'c++', '-dM', '-E', '-DRECSORT_EMULATED', f'-I{files}', f'-I{source}/tests/cuda',
                           f'-I{source}/tests/emulation', '-'], input=text, stdout=subprocess.PIPE, text=True, check=True)
    return set(done.stdout.splitlines())


# The runtime, the emulator and the C library have macros of their own.
before = '#include <assert.h>\n#include <string.h>\n#include "cuda_runtime_api.h"\n#include "emulator.h"\n#include "recsort.hpp"\n'
old, new = macros(before), macros(before + '#include "recsort.cuh"\n')
assert any(line.startswith('#define RECSORT_VERSION_NUMBER ') for line in old)
assert new ^ old == {'#define RECSORT_CUH '}, sorted(new ^ old)
header = (Path(files) / 'recsort.cuh').read_text()
assert header.count('diagnostic push') == header.count('diagnostic pop') == 1
kernels = re.findall(r'^(.*)\n(?:static )?__global__ ', header, re.MULTILINE)
assert len(kernels) > 30 and all(line.startswith('template <') for line in kernels), kernels
print(f'macros stay; {len(kernels)} kernels are templates')
