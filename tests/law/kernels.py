#!/usr/bin/env python3
"""Each kernel of the CUDA plugin has a comment just above it that says what it reads and what it writes or sets.

Usage: kernels.py SOURCE-FOLDER
"""
import re
import sys
from pathlib import Path

# The comment, if there is one just above; the kernel's own lines, up to its name.
KERNEL = re.compile(r'(?P<comment>/\*(?:(?!\*/).)*\*/\n)?(?:template <[^\n]*\n)?(?:static )?__global__\b[^{;]*?\b(?P<name>\w+)\(const __grid_constant__', re.DOTALL)


def faults_in(text):
    """The number of kernels, and the names of those without such a comment."""
    kernels = list(KERNEL.finditer(text))
    return len(kernels), [kernel['name'] for kernel in kernels
                          if not all(re.search(words, kernel['comment'] or '', re.IGNORECASE)
                                     for words in (r'\breads\b', r'\b(writes|sets)\b'))]


def main():
    root, all_kernels, faults = Path(sys.argv[1]), 0, []
    for path in sorted((root / 'plugins/cuda').rglob('*.cu*')):
        text = path.read_text()
        kernels, wrong = faults_in(text)
        all_kernels += kernels
        faults += [f'{path.relative_to(root)}: {name}: no comment above it says what it reads and writes' for name in wrong]
        if kernels != len(re.findall(r'^(?:static )?__global__', text, re.MULTILINE)):
            faults.append(f'{path.relative_to(root)}: a kernel that this test does not understand')
    print(*faults, f'{all_kernels} kernels, {len(faults)} faults', sep='\n')
    return 1 if faults or all_kernels < 40 else 0


if __name__ == '__main__':
    sys.exit(main())
