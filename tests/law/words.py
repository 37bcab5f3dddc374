#!/usr/bin/env python3
"""The words with a star in docs/glossary.md have one meaning, so the names of code and of files have them in some folders only.

Usage: words.py SOURCE-FOLDER
"""
import re
import sys
from pathlib import Path

# word -> what begins the paths of the files that may have it in their name and in names of functions, types and variables
WORDS = {
    'chunk': ('core/check.c', 'core/key/', 'plugins/cuda/'),
    'column': ('core/', 'plugins/cpu/', 'plugins/gpu/', 'plugins/cuda/records/', 'tools/'),
    'group': ('core/head.c', 'plugins/', 'tools/bench/gpu/', 'tools/support/'),
    'lane': ('core/include/', 'core/key/', 'plugins/cpu/', 'plugins/cuda/', 'plugins/runs/', 'tools/bench/'),
    'merge': ('core/', 'plugins/', 'tools/bench/', 'tools/mpi/', 'tools/recsort/', 'tools/recsort-mpi/'),
    'order': ('core/', 'plugins/', 'tools/bench/', 'tools/mpi/', 'tools/recgen/', 'tools/recsort/', 'tools/sprites/'),
    'piece': ('core/', 'plugins/', 'tools/bench/', 'tools/mpi/', 'tools/recsort/', 'tools/recsort-mpi/', 'tools/support/'),
    'run': ('core/', 'plugins/', 'tools/bench/', 'tools/mpi/', 'tools/recschema/dwarf/', 'tools/recsort', 'tools/support/'),
    'sample': ('core/', 'plugins/cpu/', 'plugins/cuda/', 'plugins/runs/', 'tools/bench/gpu/', 'tools/mpi/'),
    'section': ('plugins/cuda/sort/sample/', 'plugins/cuda/sort/carry/', 'tools/recschema/'),
    'segment': ('core/', 'plugins/cuda/call/', 'plugins/cuda/head/segment_heads.cuh', 'plugins/cuda/recsort.cuh', 'plugins/cuda/records/', 'plugins/cuda/segments/',
                'plugins/cuda/sort/carry/', 'plugins/gpu/', 'tools/'),
    'tile': ('plugins/',),
}
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|^[ \t]*#[ \t]*include[^\n]*', re.DOTALL | re.MULTILINE)


def words_of(name):
    """The words of snake_case and camelCase names, in the singular."""
    return {word.lower().removesuffix('s') for word in re.findall(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+', name)}


def main():
    root, faults, files = Path(sys.argv[1]), [], 0
    starred = set(re.findall(r'^\| (\w+)\*', (root / 'docs/glossary.md').read_text(), re.MULTILINE))
    if starred != set(WORDS):
        faults.append(f'docs/glossary.md has a star at {sorted(starred)}, this file has {sorted(WORDS)}')
    for top in ('core', 'plugins', 'tools'):
        for path in sorted((root / top).rglob('*')):
            if path.suffix not in {'.c', '.h', '.cu', '.cuh', '.cpp', '.hpp', '.inc'}:
                continue
            files += 1
            name = path.relative_to(root).as_posix()
            identifiers = {path.stem, *re.findall(r'[A-Za-z_]\w+', NOT_CODE.sub(' ', path.read_text()))}
            for identifier in sorted(identifiers):
                for word in words_of(identifier) & set(WORDS):
                    if not name.startswith(WORDS[word]):
                        faults.append(f'{name}: {identifier}: "{word}" means something else (docs/glossary.md)')
    print(*faults, f'{files} files, {len(faults)} faults', sep='\n')
    return 1 if faults or files < 100 else 0


if __name__ == '__main__':
    sys.exit(main())
