#!/usr/bin/env python3
"""How large the plugin for CUDA is, and how long it takes to build, at some commits.

Usage: plugin_size.py ARCHITECTURES COMMIT...     ARCHITECTURES as RECSORT_CUDA_ARCHITECTURES, such as 90-real; "" for all GPUs

Builds the plugin of each commit in a folder of its own, without ccache. Writes the bytes of the stripped plugin, before and
after zlib; the CPU seconds of the compiler, of each source; and the bytes of machine code of each kernel, if the plugin is for
one GPU, whose code is not compressed.
"""
import json
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

CUDA = 190  # the machine of an ELF file with kernels


def timed(log, command):
    """What CMake starts in place of the compiler."""
    status = subprocess.run(command).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    source = next((word for word in command if word.endswith('.cu')), '')
    with open(log, 'a') as file:
        file.write(json.dumps([source, used.ru_utime + used.ru_stime]) + '\n')
    return status


def kernels_of(plugin):
    """The mangled names of kernels, and the bytes of their code with what they call."""
    found, at = {}, plugin.find(b'\x7fELF', 1)
    while at >= 0:
        header = plugin[at:at + 64]
        if struct.unpack_from('<H', header, 18)[0] == CUDA:
            offset, = struct.unpack_from('<Q', header, 40)
            size, count, names = struct.unpack_from('<HHH', header, 58)
            sections = [struct.unpack_from('<IIQQQQ', plugin, at + offset + i * size) for i in range(count)]
            for name, *_, length in sections:
                start = at + sections[names][4] + name
                text = plugin[start:plugin.index(b'\0', start)].decode()
                if text.startswith('.text.'):
                    found[text[6:]] = found.get(text[6:], 0) + length
        at = plugin.find(b'\x7fELF', at + 1)
    return found


def plain(names):
    shown = subprocess.run(['c++filt', *names], check=True, capture_output=True, text=True).stdout.splitlines()
    for name in shown:
        name = re.sub(r'\(anonymous namespace\)::|\([\w:]+\)(?=\d)', '', name)  # (form)1 becomes 1
        name = re.sub(r'^void |\(.*', '', name.replace('unsigned __int128', 'u128'))
        yield re.sub(r'unsigned long', 'u64', re.sub(r'unsigned int', 'u32', name)).replace('> >', '>>')


def measure(commit, architectures):
    with tempfile.TemporaryDirectory() as folder:
        source, build, log = Path(folder, 'source'), Path(folder, 'build'), Path(folder, 'log')
        source.mkdir()
        archive = subprocess.run(['git', 'archive', commit], check=True, capture_output=True).stdout
        subprocess.run(['tar', '-x', '-C', source], input=archive, check=True)
        launcher = ';'.join([sys.executable, os.path.abspath(__file__), '--timed', str(log)])
        quiet = {'check': True, 'stdout': subprocess.DEVNULL}
        subprocess.run(['cmake', '-S', source, '-B', build, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release', '-DRECSORT_MPI=OFF',
                        f'-DRECSORT_CUDA_ARCHITECTURES={architectures}', f'-DCMAKE_CUDA_COMPILER_LAUNCHER={launcher}'], **quiet)
        subprocess.run(['cmake', '--build', build, '--parallel', '2', '--target', 'recsort_cuda'], **quiet)
        plugin, = build.rglob('*recsort_cuda.so*')
        subprocess.run(['strip', plugin], check=True)
        code = plugin.read_bytes()
        seconds = {}
        for line in log.read_text().splitlines():
            name, spent = json.loads(line)
            name = name.partition('/plugins/cuda/')[2]
            if name:
                seconds[name] = seconds.get(name, 0) + spent
        return code, seconds, kernels_of(code)


def table(title, rows, columns, heads):
    """`columns` are dicts from rows to texts."""
    print(f'\n| {title} | ' + ' | '.join(heads) + ' |\n| --- |' + ' ---: |' * len(heads))
    for row in rows:
        print(f'| {row} | ' + ' | '.join(column.get(row, '') for column in columns) + ' |')


def main(architectures, commits):
    heads = [subprocess.run(['git', 'rev-parse', '--short=7', commit], check=True, capture_output=True, text=True)
             .stdout.strip() for commit in commits]
    found = [measure(commit, architectures) for commit in commits]
    totals = [{'stripped plugin, bytes': f'{len(code):,}',
               'the same after zlib': f'{len(zlib.compress(code, 9)):,}',
               'CPU seconds of its .cu files': f'{sum(seconds.values()):.1f}',
               'kernels': f'{len(kernels):,}',
               'bytes of their machine code': f'{sum(kernels.values()):,}'} for code, seconds, kernels in found]
    table(f'for {architectures or "all GPUs"}', totals[-1], totals, heads)
    spent = [{name: f'{value:.1f}' for name, value in seconds.items()} for _, seconds, _ in found]
    table('CPU seconds', sorted({name for column in spent for name in column}), spent, heads)
    code = [{shown: f'{kernels[name]:,}' for name, shown in zip(kernels, plain(kernels))} for *_, kernels in found]
    if any(code):
        table('bytes of a kernel', sorted({name for column in code for name in column}), code, heads)


if sys.argv[1:2] == ['--timed']:
    sys.exit(timed(sys.argv[2], sys.argv[3:]))
if len(sys.argv) < 3:
    sys.exit(__doc__)
main(sys.argv[1], sys.argv[2:])
