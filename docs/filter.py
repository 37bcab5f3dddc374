#!/usr/bin/env python3
"""What Doxygen reads in place of a file: headers with their comments as Doxygen wants them, and Markdown whose
headings have the anchors of GitHub.

Usage: filter.py SOURCE-FOLDER FILE
"""
import html
import re
import sys
from pathlib import Path

root, path = (Path(name).resolve() for name in sys.argv[1:])
HEADERS = [root / 'core/include/recsort' / name for name in ('recsort.h', 'job.h', 'tools.h', 'partition.h')]
NAMES = {name for file in HEADERS for match in re.findall(r'^RECSORT_API\b[^;(]*?(\w+)\(|^\} (\w+);$', file.read_text(), re.M)
         for name in match if name}
PAGES = [*root.glob('*.md'), *root.glob('docs/*.md'), *root.glob('tools/results/*.md')]


def page_name(page):
    return re.sub('[/.]', '-', str(page.relative_to(root).with_suffix(''))).lower()


def anchor(heading):
    return re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')


def link(match):
    """A link to a page or header becomes one within the documents; of one to another file, the text stays."""
    image, text, target = match[1], match[2], match[3]
    if '://' in target:
        return match[0]
    file, _, place = target.partition('#')
    file = (path.parent / file).resolve() if file else path
    if image:
        return f'![{text}]({file.name})'
    if file in PAGES:
        return f'[{text}](@ref {page_name(file)}{place and "-" + place})'
    if file.parent == root / 'core/include/recsort':
        return f'[{text}](@ref {file.name})'
    return text


def code(match):
    """Code in a line. In Doxygen's, a quote ends it, \\| stays as it is, and a :: behind a number is lost."""
    if re.search(r'\\\||\d::', match[1]):
        text = html.escape(match[1], quote=False).replace('"', '&quot;')
        return f'<code>{re.sub("--|::", lambda at: chr(92) + at[0], text)}</code>'
    return f'`{match[0]}`' if "'" in match[1] else match[0]


def linked(text, pattern):
    """Functions and structs of the library become links."""
    return re.sub(pattern, lambda at: f'@ref {at[1]}' if at[1] in NAMES else at[0], text)


def markdown(text):
    fenced = False
    for number, line in enumerate(text.splitlines()):
        fenced ^= line.startswith('```')
        if not fenced:
            line = re.sub(r'(!?)\[([^\]]*)\]\(([^)\s]+)\)', link, line)
            line = re.sub(r'`([^`]+)`', code, line)
            if heading := re.match(r'#+ (.*)', line):
                line += f' {{#{page_name(path)}{"-" + anchor(heading[1]) if number else ""}}}'
            else:
                line = linked(line, r'`(recsort_\w+)`')
        yield line


def header(text):
    """Comments become /** or, behind a member, /**<. A heading between dashes begins a group of what follows."""
    text = re.sub(r'\A/\* (\S+) - (\w)', lambda at: f'/** @file\n * {at[2].upper()}', text)
    text = re.sub(r'^( *)/\*(?= (?!----))', r'\1/**', text, flags=re.M)
    text = re.sub(r'^( +[^\s/*].*?)/\* ', r'\1/**< ', text, flags=re.M)
    rest = re.search(r'(\n(#ifdef __cplusplus\n}|} // namespace recsort|#endif)?)*\Z', text)
    end = text.count('\n', 0, rest.start()) + 1
    grouped = opening = code = False
    for number, line in enumerate(text.splitlines()):
        heading = re.match(r'/\* ---- (.*?) -+( \*/)?$', line)
        if grouped and (heading or number == end):
            yield '/** @} */'
        if heading:
            grouped, opening = True, not heading[2]
            line = f'/** @name {heading[1]}' + ('\n * @{ */' if heading[2] else '')
        elif opening and line.endswith('*/'):
            opening = False
            line = line[:-2] + '\n * @{ */'
        if re.match(r' \*(   \S|$)', line) or code:  # Markdown wants code four blanks further
            code = re.match(r' \*(   |$)', line) and line != ' *'
            line = line.replace(' *   ', ' *       ', 1)
        elif re.match(r' \*|/\*\*', line):
            line = linked(line, r'\b(recsort_\w+)\b')
        yield line


print('\n'.join((markdown if path.suffix == '.md' else header)(path.read_text())))
