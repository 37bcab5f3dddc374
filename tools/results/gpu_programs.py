#!/usr/bin/env python3
"""The whole programs that the page "Using a GPU" names, compiled and run as they stand there.

Usage: gpu_programs.py build FOLDER BUILD    compiles them to FOLDER with nvcc, with headers and library of a build
       gpu_programs.py run FOLDER            runs them on this machine's GPU; the library and the plugin are found by
                                             LD_LIBRARY_PATH and RECSORT_PLUGIN_PATH, the Python package by PYTHONPATH
"""
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / 'docs'
# The page, its section, and the language.
PROGRAMS = {'header.cu': ('cuh.md', '## Keys with values', 'cpp'), 'library.c': ('library.md', '## Keys on a GPU', 'c'),
            'torch.py': ('gpu.md', '### torch', 'python'), 'cupy.py': ('gpu.md', '### CuPy', 'python')}
EXPECTED = {'header.cu': '0.5 30\n2.1 10\n5.5 0\n5.5 20', 'library.c': '1 3 0 2',
            'torch.py': 'tensor(True, device=\'cuda:0\') torch.Size([1000, 3])', 'cupy.py': 'True True'}


def program(name):
    page, section, language = PROGRAMS[name]
    text = (DOCS / page).read_text()
    return re.search(rf'```{language}\n(.*?)```', text[text.index(f'\n{section}\n'):], re.DOTALL)[1]


def build(folder, built):
    folder.mkdir(exist_ok=True)
    for name in PROGRAMS:
        (folder / f'program_{name}').write_text(program(name))
    subprocess.run(['nvcc', '-std=c++17', '-O3', '-arch=sm_90', f'-I{built}/amalgamation', '-o', folder / 'header',
                    folder / 'program_header.cu'], check=True)
    # nvcc takes C as C++ unless it compiles none of it for a GPU.
    subprocess.run(['nvcc', '-x', 'c', f'-I{DOCS.parent}/core/include', '-o', folder / 'library',
                    folder / 'program_library.c', f'-L{built}/core', '-lrecsort'], check=True)


def run(folder):
    failed = False
    print(subprocess.run(['nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader'], capture_output=True,
                         text=True).stdout.strip())
    for name, expected in EXPECTED.items():
        stem, kind = name.split('.')
        command = [sys.executable, '-P', folder / f'program_{name}'] if kind == 'py' else [folder / stem]
        done = subprocess.run(command, capture_output=True, text=True)
        right = done.returncode == 0 and done.stdout.strip() == expected
        failed |= not right
        print(f'{" ".join(PROGRAMS[name][:2])}: {"as it should" if right else done.stdout + done.stderr}')
    return failed


if __name__ == '__main__':
    if sys.argv[1:2] == ['build'] and len(sys.argv) == 4:
        build(Path(sys.argv[2]), sys.argv[3])
    elif sys.argv[1:2] == ['run'] and len(sys.argv) == 3:
        sys.exit(run(Path(sys.argv[2])))
    else:
        sys.exit(__doc__)
