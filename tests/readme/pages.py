#!/usr/bin/env python3
"""Every link between the documents is valid, and the names in docs/cpu-sort.md, docs/gpu-sort.md and
their pictures exist in the source.

Usage: pages.py SOURCE-FOLDER
"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
PAGES = [*root.glob('*.md'), *root.glob('docs/*.md'), *root.glob('tools/results/*.md')]
SUFFIXES = {'.c', '.h', '.cpp', '.cu', '.cuh', '.py'}
SOURCES = [path for folder in ('core', 'plugins', 'tests') for path in sorted((root / folder).rglob('*.*'))
           if path.suffix in SUFFIXES]
problems = []


def anchors(text):
    """The anchors of headings, as GitHub makes them."""
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')
            for heading in re.findall(r'^#+ (.*)$', text, re.M)}


def check_links():
    links = [(page, link) for page in PAGES for link in re.findall(r'\]\(([^)\s]+)\)', page.read_text())
             if '://' not in link]
    for page, link in links:
        file, _, anchor = link.partition('#')
        target = page.parent / file if file else page
        if not target.exists():
            problems.append(f'{page.name}: {link} is not there')
        elif anchor and anchor not in anchors(target.read_text()):
            problems.append(f'{page.name}: {link}: no such heading')
    return len(links)


def check_names(name, folders):
    """Names in a page's code spans and in its pictures that look like functions or files."""
    page = (root / f'docs/{name}.md').read_text()
    pictures = ' '.join(text for picture in re.findall(r'\]\((\S+\.svg)\)', page)
                        for text in re.findall(r'>([^<]*)</text>', (root / 'docs' / picture).read_text()))
    source = '\n'.join(path.read_text() for folder in folders for path in SOURCES if path.is_relative_to(root / folder))
    names = {*re.findall(r'`([a-z]\w*_\w+)`', page), *re.findall(r'\b[a-z]\w*_\w+\b', pictures)}
    problems.extend(f'{name}: {word} is not in the source' for word in sorted(names)
                    if not re.search(rf'\b{word}\b', source))
    paths = {path for path in re.findall(r'`([\w/-]+\.\w+)`', page) if Path(path).suffix in SUFFIXES}
    problems.extend(f'{name}: there is no {path}' for path in sorted(paths)
                    if not any(f'/{file}'.endswith(f'/{path}') for file in SOURCES))
    return len(names)


links = check_links()
names = [check_names('cpu-sort', ['plugins/cpu', 'plugins/runs', 'core/base']),
         check_names('gpu-sort', ['plugins', 'core/include'])]
if links < 20 or min(names) < 15:
    problems.append('too few links or names were found')
print(*problems, f'{links} links, {sum(names)} names, {len(problems)} problems', sep='\n')
sys.exit(1 if problems else 0)
