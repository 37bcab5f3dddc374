#!/usr/bin/env python3
"""clang-tidy finds nothing in the C files of the library, the plugins and the tools: .clang-tidy says what it checks.

Usage: tidy.py SOURCE-FOLDER BUILD-FOLDER [FILE...]

Checks the files that the build compiles, each once, or of these only the FILEs. Exits with 77 if there is no clang-tidy 14:
each version has other checks.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDERS = ('core', 'plugins', 'files', 'tools')


def commands_in(root, build, chosen):
    """How the build compiles each file; the first command, if there are several."""
    first = {}
    for command in json.loads((build / 'compile_commands.json').read_text()):
        path = Path(command['directory'], command['file']).resolve()
        if path.suffix == '.c' and any(path.is_relative_to(root / folder) for folder in FOLDERS):
            if not chosen or path in chosen:
                first.setdefault(path, command)
    return first


def main():
    root, build, *chosen = (Path(word).resolve() for word in sys.argv[1:])
    tidy = shutil.which('clang-tidy-14')
    if not tidy:
        print('skipped: there is no clang-tidy-14; on Debian 12 tools/setup.sh test installs it')
        return 77
    commands = commands_in(root, build, chosen)
    faults = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as threads:
        Path(folder, 'compile_commands.json').write_text(json.dumps(list(commands.values())))

        def check(path):
            return subprocess.run([tidy, '--quiet', f'--config-file={root / ".clang-tidy"}', '-p', folder, path],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

        for path, done in zip(commands, threads.map(check, commands)):
            if done.returncode:
                faults += 1
                print(f'{path.relative_to(root)}:', done.stdout, sep='\n', flush=True)
    print(f'{len(commands)} files, {faults} with faults')
    return 1 if faults or len(commands) < (len(chosen) or 40) else 0


if __name__ == '__main__':
    sys.exit(main())
