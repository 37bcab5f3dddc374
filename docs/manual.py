#!/usr/bin/env python3
"""Generates the manual pages of the library and the schema.

Usage: manual.py SOURCE-FOLDER VERSION OUTPUT-FOLDER [mpi]

    man3/recsort.3, man3/recsort_job.3, man3/recsort_tools.3, man3/recsort_partition.3
                                             what recsort.h, job.h, tools.h and partition.h say,
                                             with a list of the functions
    man3/recsort_mpi.3                       with the word mpi: the same of mpi.h
    man3/FUNCTION.3                          what the header says about that function and its structs
    man5/recsort-schema.5                    docs/schema.md
"""
import re
import shutil
import sys
from pathlib import Path

root, version, output = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
for section in ('man3', 'man5'):  # without the pages of functions that are gone
    shutil.rmtree(output / section, ignore_errors=True)


def escape(text):
    return text.replace('\\', '\\e').replace('-', '\\-')


def inline(text):
    """Markdown within a line: code and bold become bold, a link its text."""
    text = re.sub(r'\[([^\]]+)\]\([^)\s]+\)', r'\1', text)
    parts = re.split(r'`([^`]+)`', text)
    prose = [re.sub(r'\*\*(.+?)\*\*', r'\\fB\1\\fR', part.replace('\\|', '|').replace('\\', '\\e')) for part in parts[::2]]
    code = [f'\\fB{escape(part)}\\fR'.replace('\\e|', '|') for part in parts[1::2]]
    text = ''.join(a + b for a, b in zip(prose, code + ['']))
    return re.sub(r"^(?=[.'])", r'\\&', text.strip(), flags=re.M)


def code(lines):
    yield from ['.PP', '.RS 4', '.nf']
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    yield from (re.sub(r"^(?=[.'])", r'\\&', escape(line[indent:])) for line in lines)
    yield from ['.fi', '.RE']


def table(lines):
    """A paragraph for each row, with its first cell as the tag, and the headers of the others."""
    rows = [[cell.strip() for cell in re.split(r'(?<!\\)\|', line)[1:-1]] for line in lines]
    heads = ['' if head in ('value', 'is') else head + ': ' if head else '' for head in rows[0]]
    for first, *rest in rows[2:]:
        yield from ['.TP', inline(first)] if first else ['.br']
        yield inline('; '.join(head + cell for head, cell in zip(heads[1:], rest) if cell))


def man(markdown):
    """The lines of a manual page for Markdown, or for the text of a comment in a header."""
    lines = markdown.splitlines()
    while lines:
        line = lines.pop(0)

        def take(pattern):
            taken = []
            while lines and re.match(pattern, lines[0]):
                taken.append(lines.pop(0))
            return taken
        if not line.strip():
            continue
        if line.startswith('```'):
            yield from code(take('(?!```)'))
            lines.pop(0)
        elif line.startswith('|'):
            yield from table([line, *take(r'\|')])
        elif heading := re.match(r'(##+) (.*)', line):
            yield f'.SH {inline(heading[2].upper())}' if heading[1] == '##' else f'.SS {inline(heading[2])}'
        elif re.match(r' ?- ', line):
            yield '.IP \\(bu 2'
            yield inline(' '.join([line.strip()[2:], *map(str.strip, take(r' +(?!- )\S'))]))
        elif line.startswith('  '):
            yield from code([line, *take(r'  |$')])
        else:
            yield '.PP'
            yield inline(' '.join([line, *take(r'(?! ?- |\||```|#|  )\S')]))


def write(name, section, title, purpose, parts):
    path = output / f'man{section}/{name}.{section}'
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = {3: 'Library Functions', 5: 'File Formats'}[section]
    path.write_text('\n'.join([f'.TH {title} {section} "" "recsort {version}" "{kind}"', '.nh', '.ad l', '.SH NAME',
                               f'{name} \\- {purpose.replace("`", "")}', *parts]) + '\n')


class Section:
    """A part of a header, from one line of dashes to the next."""

    def __init__(self, heading, text=''):
        self.heading, self.text, self.constants, self.functions, self.types = heading, text, [], [], []


class Header:
    """The comments and declarations of a header, in their order."""

    def __init__(self, path):
        self.name = path.name
        text = path.read_text()
        tokens = re.findall(r'^/\*.*?\*/$|^#define RECSORT_(?!API)\w+ (?:[^\n]*\\\n)*[^\n]*$|^enum \{[^\n]*\};$'
                            r'|^typedef enum \w+ \{[^}]*\} \w+;$|^typedef struct \w+ \{.*?^\} \w+;$'
                            r'|^(?:typedef|RECSORT_API)\b[^{;]*;$', text, re.M | re.S)
        self.about = self.comment(tokens[0]).partition('\n')[2]
        self.summary = re.match(r'\S+ - (.*?)\.\n', self.comment(tokens[0]))[1]
        self.sections = [Section('Functions' if 'RECSORT_API' in text else 'Types')]
        self.functions, self.types = {}, {}
        text, used = '', True
        for token in tokens[1:]:
            section = self.sections[-1]
            if token.startswith('/*'):
                if not used:
                    section.text += '\n\n' + text  # about what follows, but not about one declaration
                text, used = self.comment(token), False
                if heading := re.match(r'---- (.*?) -+', text):
                    self.sections.append(Section(heading[1], text.partition('\n')[2]))
                    text, used = '', True
                continue
            if token.startswith('RECSORT_API'):
                name = re.search(r'(\w+)\(', token)[1]
                self.functions[name] = text, re.sub(r'^(RECSORT_API| {11}) ', '', token, flags=re.M)
                section.functions.append(name)
            elif name := re.search(r'\} (\w+);$', token) or re.match(r'typedef \w+ \(\*(\w+)\)', token):
                self.types[name[1]] = text, token
                section.types.append(name[1])
            elif not token.startswith('typedef'):
                section.constants.append(('' if used else text, token))
            used = True

    @staticmethod
    def comment(token):
        return re.sub(r'^ \* ?', '', token[3:-2].rstrip(), flags=re.M).rstrip()

    def purpose(self, name):
        """The first sentence about a function."""
        text = ' '.join(self.functions[name][0].split())
        sentence = re.match(r'(.*?)[.;:](?:\s|$)', text)[1]
        return sentence[0].lower() + sentence[1:]

    def overview(self, name, title):
        yield '.SH SYNOPSIS'
        compiler, package = {'recsort_file': ('cc', 'recsort_file'), 'recsort_mpi': ('mpicc', 'recsort-mpi')}.get(
            title, ('cc', 'recsort'))
        yield from code([f'#include <recsort/{self.name}>', '', f'{compiler} program.c $(pkg-config --cflags --libs {package})'])
        yield '.SH DESCRIPTION'
        yield from man(self.about)
        taken = {kind for _, declaration in self.functions.values() for kind in self.types_of(declaration)}
        for section in self.sections:
            yield f'.SH {section.heading.upper()}'
            yield from man(section.text)
            for function in section.functions:
                yield from ['.TP', f'.BR {function} (3)', inline(self.purpose(function))]
            for text, constant in section.constants:
                yield from man(text)
                yield from code(re.sub(r' +\\$', r' \\', constant, flags=re.M).splitlines())
            here = section.heading in ('Simple calls', 'Types', 'Memory', 'Threads', 'Files')
            for kind in section.types:
                if here or kind not in taken:  # or no page of a function has it
                    yield from self.type(kind)
        yield '.SH OTHER HEADERS'
        yield from man('`recsort.hpp` sorts C++ structs without a schema. `job.h`, which `recsort.h` includes, has the '
                       'struct for all that can be asked for: `recsort_job`(3). `tools.h` is for commands, converters and bindings: '
                       '`recsort_tools`(3); `partition.h` is for sorts by several processes: `recsort_partition`(3); '
                       '`file.h` is for more records than memory holds: `recsort_file`(3); '
                       '`mpi.h` is for the records of all ranks of an MPI communicator: `recsort_mpi`(3). '
                       '`plugin.h` is for authors of plugins.')

    def type(self, name):
        text, declaration = self.types[name]
        yield f'.SS {name}'
        yield from man(text)
        yield from code(declaration.splitlines())

    def types_of(self, declaration):
        """The types that a declaration names, those that they name, and so on, but not what recsort(3) has."""
        found = []
        left = re.findall(r'\brecsort_\w+', declaration)
        while left:
            kind = left.pop(0)
            if kind in self.types and kind not in (*found, 'recsort_status', 'recsort_error'):
                found.append(kind)
                left += re.findall(r'\brecsort_\w+', self.types[kind][1])
        return found

    def page(self, name):
        """What the header says about a function, and about the structs and enums that it takes."""
        text, declaration = self.functions[name]
        yield '.SH SYNOPSIS'
        yield from code([f'#include <recsort/{self.name}>', '', *declaration.splitlines()])
        yield '.SH DESCRIPTION'
        yield from man(text)
        types = self.types_of(declaration)
        if types:
            yield '.SH TYPES'
        for kind in types:
            yield from self.type(kind)


def see(*pages):
    lines = [f'.BR {page} ({section}),' for page, section in pages]
    return ['.SH SEE ALSO', *lines[:-1], lines[-1].rstrip(',')]


def main():
    headers = {'recsort': Header(root / 'core/include/recsort/recsort.h'),
               'recsort_job': Header(root / 'core/include/recsort/job.h'),
               'recsort_tools': Header(root / 'core/include/recsort/tools.h'),
               'recsort_partition': Header(root / 'core/include/recsort/partition.h'),
               'recsort_file': Header(root / 'files/include/recsort/file.h')}
    if 'mpi' in sys.argv[4:]:
        headers['recsort_mpi'] = Header(root / 'tools/mpi/include/recsort/mpi.h')
    for page, header in headers.items():
        other = [name for name in headers if name != page]
        write(page, 3, page.upper(), header.summary,
              [*header.overview(page, page), *see(*((name, 3) for name in other), ('recsort-schema', 5), ('recsort', 1))])
        for name in header.functions:
            write(name, 3, name, header.purpose(name), [*header.page(name), *see((page, 3))])
    title, _, text = (root / 'docs/schema.md').read_text().partition('\n')
    assert title == '# The schema language'
    write('recsort-schema', 5, 'RECSORT-SCHEMA', 'the language that describes records, and the keys that order them',
          ['.SH DESCRIPTION', *man(text), *see(('recsort', 1), ('recschema', 1), ('recsort', 3))])


if __name__ == '__main__':
    main()
