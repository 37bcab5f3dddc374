#!/usr/bin/env python3
"""Every link between the documents is valid.

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


links = check_links()
if links < 20:
    problems.append('too few links were found')
print(*problems, f'{links} links, {len(problems)} problems', sep='\n')
sys.exit(1 if problems else 0)
