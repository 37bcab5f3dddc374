#!/usr/bin/env python3
"""Every link between the documents is valid, and the names in docs/cpu-sort.md and its picture exist in
the source.

Usage: pages.py SOURCE-FOLDER
"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
PAGES = [*root.glob('*.md'), *root.glob('docs/*.md'), *root.glob('tools/results/*.md')]
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


def check_names():
    """Names in code spans and in the picture that look like functions or files."""
    source = '\n'.join(path.read_text() for folder in ('plugins/cpu', 'plugins/runs', 'plugins/common')
                       for path in sorted((root / folder).glob('*.[ch]')))
    page, picture = (root / 'docs/cpu-sort.md').read_text(), (root / 'docs/cpu-sort.svg').read_text()
    names = set(re.findall(r'`([a-z]\w*_\w+)`', page)) | set(re.findall(r'\b[a-z]\w*_\w+\b', ' '.join(
        re.findall(r'class="name">([^<]*)<', picture))))
    problems.extend(f'cpu-sort: {name} is not in the plugin' for name in sorted(names)
                    if not re.search(rf'\b{name}\b', source))
    return len(names)


links, names = check_links(), check_names()
if links < 20 or names < 15:
    problems.append('too few links or names were found')
print(*problems, f'{links} links, {names} names, {len(problems)} problems', sep='\n')
sys.exit(1 if problems else 0)
