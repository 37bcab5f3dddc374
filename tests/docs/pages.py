#!/usr/bin/env python3
"""The pages of the target `docs`: every link, picture and anchor is there; the search index leads to each
function, type and document; each function has the text of its header; and no markup is left in the text.

Usage: pages.py SOURCE-FOLDER HTML-FOLDER
"""
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

root, html = Path(sys.argv[1]), Path(sys.argv[2])
problems = []


def expect(good, what):
    if not good:
        problems.append(what)


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.words, self.hidden, self.code, self.divs = set(), [], [], 0, set(), []
        self.feed(path.read_text())
        self.text = ' '.join(' '.join(self.words).split())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[name] for name in ('id', 'name') if values.get(name)}
        self.links += [values[name] for name in ('href', 'src', 'data') if values.get(name)]
        self.hidden += tag in ('script', 'style', 'pre', 'code')
        if tag == 'div':
            self.divs.append(values.get('class') == 'line')  # of a program
            self.hidden += self.divs[-1]

    def handle_endtag(self, tag):
        self.hidden -= tag in ('script', 'style', 'pre', 'code')
        if tag == 'div' and self.divs:
            self.hidden -= self.divs.pop()

    def handle_data(self, data):
        if not self.hidden:
            self.words.append(data)
        elif self.get_starttag_text() == '<code>':
            self.code.add(' '.join(data.split()))


pages = {path.name: Page(path) for path in html.glob('*.html')}


def resolves(page, link):
    if re.match(r'(https?|javascript|mailto):', link):
        return True
    file, _, anchor = link.partition('#')
    file = unquote(file) or page
    if not (html / file).is_file():
        return False
    return not anchor or file not in pages or unquote(anchor) in pages[file].anchors


def links_resolve():
    count = 0
    for name, page in pages.items():
        for link in page.links:
            count += 1
            expect(resolves(name, link), f'{name}: {link} is not there')
    return count


def the_search_finds():
    """Each function, struct and document is in the index, with a link that resolves."""
    index = '\n'.join(path.read_text() for path in html.glob('search/all_*.js'))
    entries = {}
    for name, links in re.findall(r"^ *\['\w+',\['([^']*)',(.*)\]\],?$", index, re.M):
        entries.setdefault(name, []).extend(re.findall(r"\['\.\./([^']*)'", links))
    headers = '\n'.join(path.read_text() for path in (root / 'core/include/recsort').glob('*.h'))
    functions = set(re.findall(r'^RECSORT_API\b[^;(]*?(\w+)\(', headers, re.M))
    types = set(re.findall(r'^\} (\w+);', headers, re.M))
    titles = {re.match(r'# (.*)', path.read_text())[1] for folder in ('.', 'docs') for path in (root / folder).glob('*.md')}
    for name in sorted(functions | types | {'RECSORT_UNSORTED_RUN'}):
        links = [link for link in entries.get(name, []) if resolves('index.html', link)]
        expect(links, f'the search does not find {name}')
    lacking = titles - {re.sub(r'&#?\w+;', "'", title) for title in entries}
    expect(not lacking, f'the search does not find {sorted(lacking)}')
    return functions


def functions_have_their_text(functions):
    """The first words of each comment stand on a page."""
    text = ' '.join(pages[name].text for name in pages if name.endswith('_8h.html'))
    text = re.sub(r'[^\w]+', '', text)
    count = 0
    for path in (root / 'core/include/recsort').glob('*.h'):
        for comment, name in re.findall(r'^/\* ((?:(?!\*/).)*?)\s*\*/\nRECSORT_API\b[^;(]*?(\w+)\(', path.read_text(), re.M | re.S):
            words = re.sub(r'`[^`]*`', '|', re.sub(r'\n \*', ' ', comment)).partition('|')[0]
            count += 1
            expect(re.sub(r'[^\w]+', '', words) in text, f'{name}: its comment is not on a page')
    expect(count > 30, f'{count} comments')


def no_markup_is_left():
    for name, page in pages.items():
        if name.endswith('_source.html'):
            continue
        found = re.findall(r'@ref\b.{,20}|\{#.{,20}|\]\(.{,20}|\*\*\w[^*]*\*\*', page.text)
        expect(not found, f'{name}: {found[:3]}')
        expect(r'\|' not in (html / name).read_text(), f'{name}: a \\| is left')


def code_is_code():
    """What stands between backticks in a document is code on its page."""
    count = 0
    for path in [*root.glob('*.md'), *root.glob('docs/*.md')]:
        text = re.sub(r'^```.*?^```', '', path.read_text(), flags=re.M | re.S)
        text = re.sub(r'\[[^\]]*\]\([^)]*\)', '', text)
        name = re.sub('[/.]', '-', str(path.relative_to(root).with_suffix(''))).lower()
        page = pages['index.html' if name == 'readme' else name + '.html']
        for span in re.findall(r'`([^`\n]+)`', re.sub(r'^(    |\t).*|^#.*', '', text, flags=re.M)):
            count += 1
            shown = ' '.join(span.replace('\\|', '|').split())
            expect(shown in page.code or shown.startswith('recsort_') and f'{shown}' in page.text,
                   f'{path.name}: not shown as code: {shown}')
    expect(count > 900, f'{count} pieces of code')


count = links_resolve()
code_is_code()
functions = the_search_finds()
functions_have_their_text(functions)
no_markup_is_left()
for heading in ('Errors', 'Threads', 'Jobs'):
    expect(f' {heading} ' in pages['recsort_8h.html'].text, f'recsort.h has no part {heading}')
expect(count > 3000 and len(functions) > 30, f'{count} links, {len(functions)} functions')
print(*problems, f'{len(pages)} pages, {count} links, {len(functions)} functions, {len(problems)} problems', sep='\n')
sys.exit(1 if problems else 0)
