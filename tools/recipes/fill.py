#!/usr/bin/env python3
"""Writes the recipes of this folder for an archive of the source.

Usage: fill.py ARCHIVE FOLDER [URL]

The archive is recsort-VERSION.tar.gz, which tools/release.sh makes. URL is where it can be had: by default below the
homepage that pyproject.toml names. FOLDER then has a folder for each package manager.
"""
import hashlib
import re
import sys
from pathlib import Path


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    archive, folder, here = Path(sys.argv[1]), Path(sys.argv[2]), Path(__file__).resolve().parent
    named = re.fullmatch(r'recsort-(.+)[.]tar[.]gz', archive.name)
    if named is None:
        sys.exit(f'fill.py: {archive.name} is not called recsort-VERSION.tar.gz')
    content = archive.read_bytes()
    homepage = re.search(r'^Homepage = "(.*)"$', (here.parents[1] / 'pyproject.toml').read_text(), re.M)[1]
    values = {'VERSION': named[1], 'HOMEPAGE': homepage, 'URL': sys.argv[3] if sys.argv[3:] else f'{homepage}/{archive.name}',
              'SHA256': hashlib.sha256(content).hexdigest(), 'SHA512': hashlib.sha512(content).hexdigest()}
    for recipe in sorted(here.glob('*/*')):
        target = folder / recipe.relative_to(here)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(re.sub('@([A-Z0-9]+)@', lambda name: values[name[1]], recipe.read_text()))


if __name__ == '__main__':
    main()
