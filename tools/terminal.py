#!/usr/bin/env python3
"""Records the commands below in a terminal, as docs/terminal.svg.

Usage: terminal.py BIN [--check]    BIN: the folder of recsort, recgen and reccat
                                    --check: exit status 1 if they print something else now
"""
import os
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / 'docs/terminal.svg'
COMMANDS = ['recgen -s entity.yaml -n 1M -o entities.bin',
            'reccat -s entity.yaml --head 3 entities.bin',
            'recsort -s entity.yaml entities.bin -o sorted.bin    # the farthest first',
            'reccat -s entity.yaml --head 3 sorted.bin',
            'recsort -s entity.yaml --check sorted.bin && echo in order',
            'recsort -s entity.yaml -k spriteIndex,angle:desc --check sorted.bin',
            'recsort -s entity.yaml -k spriteIndex --unique --head 3 sorted.bin | reccat -s entity.yaml']
LINE, LEFT, COLUMN, TOP, PAUSE = 18, 16, 7.8, 44, 1.2  # pixels, and seconds before a command

STYLE = '''
    text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #e6edf3; white-space: pre; }
    .command { fill: #7ee787; }
    g { animation: appear 0.2s both; }
    @keyframes appear { from { opacity: 0; } }
    @media (prefers-reduced-motion: reduce) { g { animation: none; } }
'''


def record(folder):
    """[(command, [line of its output])]"""
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / 'entity.yaml').write_text((ROOT / 'schemas/entity.yaml').read_text())
        path = f"{Path(folder).resolve()}:{os.environ['PATH']}"
        return [(command, subprocess.run(command, shell=True, cwd=work, env=dict(os.environ, PATH=path), check=False,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout.splitlines())
                for command in COMMANDS]


def draw(recorded):
    groups, y, width = [], TOP, 0
    for i, (command, output) in enumerate(recorded):
        lines = [('command', f'$ {command}'), *(('', line) for line in output)]
        texts = []
        for kind, line in lines:
            texts.append(f'<text x="{LEFT}" y="{y}" class="{kind}">{escape(line)}</text>')
            width, y = max(width, 2 * LEFT + int(COLUMN * len(line))), y + LINE
        groups.append(f'<g style="animation-delay: {PAUSE * i:.1f}s">\n    ' + '\n    '.join(texts) + '\n  </g>')
    dots = ''.join(f'<circle cx="{x}" cy="18" r="5" fill="#484f58"/>' for x in (20, 38, 56))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" height="{y}" xml:space="preserve" role="img">\n'
            f'  <title>A terminal: recgen makes a million records, recsort sorts them, reccat shows them</title>\n'
            f'  <style>{STYLE}  </style>\n  <rect width="{width}" height="{y}" rx="8" fill="#0d1117"/>\n  {dots}\n  '
            + '\n  '.join(groups) + '\n</svg>\n')


def main():
    picture = draw(record(sys.argv[1]))
    if '--check' not in sys.argv:
        PICTURE.write_text(picture)
    elif PICTURE.read_text() != picture:
        sys.exit('docs/terminal.svg shows something else than the commands print: run tools/terminal.py')


if __name__ == '__main__':
    main()
