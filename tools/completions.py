#!/usr/bin/env python3
"""Writes completions for a command from the options in its manual page.

Usage: completions.py PAGE bash|zsh|fish

An option is a paragraph with a tag (.TP) that begins with "-". Its first sentence describes it. Arguments are completed as files.
"""
import re
import sys
from pathlib import Path


def text_of(line):
    """A line of a manual page without its macro and fonts; in an argument of the macro, a blank may be quoted."""
    macro, _, rest = line.partition(' ')
    if macro in ('.BR', '.RB', '.BI', '.IR', '.RI', '.IB'):
        line = ''.join(a or b for a, b in re.findall(r'"([^"]*)"|((?:\\ |[^\s"])+)', rest))
    elif macro in ('.B', '.I', '.SM'):
        line = rest.strip('"')
    return re.sub(r'\\f[BIRP]|\\&|\\\|', '', line).replace('\\-', '-').replace('\\ ', ' ').replace('\\e', '\\')


def options_of(page):
    """(names, whether the last one takes an argument, description) of each option."""
    for tag, body in re.findall(r'^\.TP\n(.*)\n((?:(?!\.TP|\.SH|\.SS).*\n)*)', page, re.M):
        tag = text_of(tag)
        if tag.startswith('-'):
            names = re.findall(r'(?:^|[ ,])(--?[\w-]+)', tag)
            words = ' '.join(text_of(line) for line in body.splitlines())
            yield names, '=' in tag, re.split(r'[.;:](?:\s|$)', words, maxsplit=1)[0].replace("'", '').replace('[', '(').replace(']', ')')


def bash(command, options):
    function = '_' + command.replace('-', '_')
    words = ' '.join(name for names, *_ in options for name in names)
    yield from (f'# bash completion for {command}', f'{function}()', '{', '  COMPREPLY=()',
                f"  [[ $2 == -* ]] && COMPREPLY=($(compgen -W '{words}' -- \"$2\"))", '}',
                f'complete -o default -F {function} {command}')


def zsh(command, options):
    yield f'#compdef {command}'
    yield '_arguments -s -S \\'
    for names, takes, text in options:
        for name in names:
            ending = ('=' if name.startswith('--') else '+') if takes else ''
            yield f"  '*{name}{ending}[{text}]{':value:_files' if takes else ''}' \\"
    yield "  '*:file:_files'"


def fish(command, options):
    yield f'# fish completion for {command}'
    for names, takes, text in options:
        words = ' '.join(f'-l {name[2:]}' if name.startswith('--') else f'-s {name[1:]}' for name in names)
        yield f"complete -c {command} {words}{' -r' if takes else ''} -d '{text}'"


def main():
    page, shell = Path(sys.argv[1]), sys.argv[2]
    options = list(options_of(page.read_text()))
    print(*{'bash': bash, 'zsh': zsh, 'fish': fish}[shell](page.stem, options), sep='\n')


if __name__ == '__main__':
    main()
