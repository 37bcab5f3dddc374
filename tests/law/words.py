#!/usr/bin/env python3
"""The words with a star in docs/glossary.md have one meaning, so names may have them in some folders only.

Usage: words.py SOURCE-FOLDER
"""
import re
import sys
from pathlib import Path

# word -> what begins the paths of the files whose names of functions, types and variables may have it
WORDS = {
    'column': ('core/', 'plugins/cpu/', 'plugins/gpu/', 'plugins/cuda/records/', 'tools/'),
    'lane': ('core/include/', 'core/key/', 'plugins/cpu/', 'plugins/cuda/', 'plugins/runs/', 'tools/bench/'),
    'section': ('plugins/cuda/sort/sample/', 'tools/recschema/'),
    'segment': ('core/', 'plugins/cuda/records/', 'plugins/cuda/segments/', 'plugins/gpu/', 'tools/'),
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
            for identifier in sorted(set(re.findall(r'[A-Za-z_]\w+', NOT_CODE.sub(' ', path.read_text())))):
                for word in words_of(identifier) & set(WORDS):
                    if not name.startswith(WORDS[word]):
                        faults.append(f'{name}: {identifier}: "{word}" means something else (docs/glossary.md)')
    print(*faults, f'{files} files, {len(faults)} faults', sep='\n')
    return 1 if faults or files < 100 else 0


if __name__ == '__main__':
    sys.exit(main())
