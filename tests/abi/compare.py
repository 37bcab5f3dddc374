#!/usr/bin/env python3
"""Checks with libabigail that the binary interface has only changed as explained.

Usage: compare.py SOURCE-FOLDER KEPT-FOLDER COMPILER

KEPT-FOLDER holds the headers of an earlier version, and `suppressions`: the changes since then, and why
they break nothing. The script builds a library for each version, with empty functions for its headers
and one that takes the structs of plugins; abidiff compares the two.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# The structs that plugins take and return, including those of extensions.
PLUGINS = '''#include "recsort/plugin.h"
const recsort_plugin *recsort_plugin_entry(uint32_t host_abi) { (void)host_abi; return 0; }
const recsort_plugin_records *recsort_plugin_records_entry(void) { return 0; }
const recsort_key_program *recsort_key_program_entry(void) { return 0; }
const recsort_key_step *recsort_key_step_entry(void) { return 0; }
'''


def library(compiler, headers, sources, include, to):
    """The library of the headers in a folder."""
    text = (headers / 'recsort/recsort.h').read_text()
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.DOTALL)
    functions = re.findall(r'^RECSORT_API [^;]*;', text, re.MULTILINE)
    assert functions
    empty = '\n'.join(f[:-1] + ' { __builtin_trap(); }' for f in functions)
    (to / 'functions.c').write_text(f'#include "recsort/recsort.h"\n{empty}\n')
    (to / 'plugins.c').write_text(PLUGINS)
    made = to / 'librecsort.so'
    subprocess.run([*compiler.split(), '-std=c11', '-g', '-O0', '-fPIC', '-shared', '-w',
                    f'-I{headers}', *(f'-I{i}' for i in include), '-o', made, to / 'functions.c',
                    to / 'plugins.c', *sources], check=True)
    return made


def main():
    source, kept, compiler = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory() as scratch:
        before, now = Path(scratch, 'before'), Path(scratch, 'now')
        before.mkdir()
        now.mkdir()
        core = source / 'core'
        libraries = [library(compiler, kept, [], [], before),
                     library(compiler, core / 'include', [core / 'compat.c'],
                             [core, source / 'plugins'], now)]
        run = subprocess.run(['abidiff', '--no-added-syms', '--suppressions', kept / 'suppressions',
                              *libraries], capture_output=True, text=True)
    print(run.stdout + run.stderr, end='')
    return run.returncode


if __name__ == '__main__':
    sys.exit(main())
