"""The drawings of docs/gpu-sort.md: a rank merge and a co-rank merge of two runs, for light and dark
pages. All numbers come from tables that the program `documents` prints."""
from html import escape

WIDTH, CELL, TALL = 880, 44, 42  # of a picture, of an element

# Stroke, fill and text, each for light and for dark pages.
COLOURS = {'blue': (('#1f6feb', '#58a6ff'), ('#e7f0fe', '#10294d'), ('#0a58ca', '#79b8ff')),
           'amber': (('#bf8700', '#d29922'), ('#fff4e0', '#35280c'), ('#8a5f00', '#e3b341')),
           'green': (('#1a7f64', '#3fb68b'), ('#e3f4ee', '#0f3228'), ('#12684f', '#56d3a5')),
           'purple': (('#8250df', '#a371f7'), ('#f3ecfe', '#2a1d47'), ('#6f3fce', '#bc8cff'))}
SIDES = {'a': 'blue', 'b': 'amber'}
SIBLING = {'a': 'b', 'b': 'a'}
THREADS = [*COLOURS]


def _colours(dark):
    return '\n    '.join(
        f'.{name} {{ stroke: {stroke[dark]}; fill: {fill[dark]}; }} .{name}-line {{ stroke: {stroke[dark]}; }} '
        f'.{name}-text {{ fill: {text[dark]}; }}' for name, (stroke, fill, text) in COLOURS.items())


STYLE = f'''
    text {{ font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; text-anchor: middle; }}
    .title {{ font-size: 15px; font-weight: 600; }} .key {{ font-size: 16px; font-weight: 600; }}
    .name {{ font-size: 11.5px; }} .bold {{ font-weight: 600; }}
    .start {{ text-anchor: start; }} .end {{ text-anchor: end; }}
    path {{ fill: none; stroke-width: 1.4; }}
    text {{ fill: #1f2328; }} .muted {{ fill: #59636e; }} .page {{ fill: #ffffff; }} .axis {{ stroke: #818b98; }}
    .mark {{ stroke: #cf222e; }} .mark-text {{ fill: #cf222e; }}
    {_colours(0)}
    @media (prefers-color-scheme: dark) {{
    text {{ fill: #e6edf3; }} .muted {{ fill: #9198a1; }} .page {{ fill: #0d1117; }} .axis {{ stroke: #656c76; }}
    .mark {{ stroke: #ff7b72; }} .mark-text {{ fill: #ff7b72; }}
    {_colours(1)}
    }}
    .tie {{ fill: none; stroke-width: 2.5; }} .band {{ stroke: none; opacity: .75; }}
'''


def _text(x, y, text, kind=''):
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(str(text))}</text>'


def _path(d, kind):
    return f'<path d="{d}" class="{kind}"/>'


def _square(x, y, width, height, kind):
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{kind}"/>'


def _element(x, y, name, key, colour, tied=False):
    """A cell with the name of an element above its key."""
    cell = [_square(x, y, CELL, TALL, colour), _text(x + CELL / 2, y + 14, name, f'name {colour}-text'),
            _text(x + CELL / 2, y + 34, key, 'key')]
    return cell + [_square(x + 2, y + 2, CELL - 4, TALL - 4, 'mark tie')] * tied


def _picture(title, subtitle, height, elements):
    elements = [_square(0, 0, WIDTH, height, 'page'), _text(20, 30, title, 'title start'),
                _text(20, 51, subtitle, 'muted start'), *elements]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" role="img">\n  <title>{escape(title)}</title>\n  <style>{STYLE}  </style>\n  '
            + '\n  '.join(elements) + '\n</svg>\n')


class Example:
    """The two runs: of each side, the names of its elements, and of each name its key and place."""

    def __init__(self, table):
        self.names, self.keys, self.index, self.ranks, self.places = {}, {}, {}, {}, {}
        for side in SIDES:
            names, keys, ranks, places = (row[1:] for row in table(f'ranks {side}'))
            self.names[side] = names
            self.index.update(zip(names, range(len(names))))
            self.keys.update(zip(names, keys))
            self.ranks.update(zip(names, map(int, ranks)))
            self.places.update(zip(names, map(int, places)))
        self.merged = sorted(self.places, key=self.places.get)

    def ties(self):
        """Names in the order of the output, for each key that both runs have."""
        groups = {}
        for name in self.merged:
            groups.setdefault(self.keys[name], []).append(name)
        return [group for group in groups.values() if all(_of(side, group) for side in SIDES)]


def _of(side, group):
    return [name for name in group if name[0] == side]


# ---- The rank merge ----

RUN_Y, OUT_X, OUT_Y = 132, 142, 376
RUN_X = {'a': 132, 'b': 504}
ROWS = {'searches end': RUN_Y - 15, 'key': RUN_Y + 26, 'own index': RUN_Y + 64, '+ rank in sibling': RUN_Y + 84,
        '= place': RUN_Y + 108, 'output': OUT_Y + 26, 'place': OUT_Y + TALL + 17}


def _ranked_run(example, side, tied):
    """A run, with the sum that makes each element's place and a line to there."""
    colour, x, lines, cells = SIDES[side], RUN_X[side], [], []
    for name in example.names[side]:
        middle, out = x + CELL / 2, OUT_X + (example.places[name] + .5) * CELL
        lines.append(_path(f'M{middle:g} {RUN_Y + 116}L{out:g} {OUT_Y - 3}', f'{colour}-line'))
        cells += [*_element(x, RUN_Y, name, example.keys[name], colour, name in tied),
                  _text(middle, ROWS['own index'], example.index[name]),
                  _text(middle, ROWS['+ rank in sibling'], example.ranks[name], f'bold {colour}-text'),
                  _text(middle, ROWS['= place'], example.places[name], 'bold')]
        x += CELL
    cells.append(_path(f'M{RUN_X[side] + 6} {RUN_Y + 91}H{x - 6}', 'axis'))
    return lines + cells


def _search_end(example, name):
    """A mark in the other run, where the search for an element ends."""
    x, y = RUN_X[SIBLING[name[0]]] + example.ranks[name] * CELL, ROWS['searches end']
    colour = SIDES[name[0]]
    return [_text(x, y, example.keys[name], f'bold {colour}-text'), _path(f'M{x - 5} {y + 4}h10l-5 8z', colour)]


def _ranked_output(example, ties, tied):
    cells, y = [], OUT_Y + TALL + 26
    for place, name in enumerate(example.merged):
        x = OUT_X + place * CELL
        cells += [*_element(x, OUT_Y, name, example.keys[name], SIDES[name[0]], name in tied),
                  _text(x + CELL / 2, ROWS['place'], place, 'muted')]
    for group in ties:
        x, wide = OUT_X + example.places[group[0]] * CELL, len(group) * CELL
        text = ', then '.join(', '.join(_of(side, group)) for side in SIDES)
        cells += [_path(f'M{x + 4} {y}v6h{wide - 8}v-6', 'mark tie'), _text(x + wide / 2, y + 24, text, 'mark-text')]
    return cells


def _rank_notes(example, group, y):
    out = []
    for side, search, less, end in (('a', 'bSearchFirst', 'less', 'before'),
                                    ('b', 'bSearchLast', 'less or equal', 'behind')):
        name, others = _of(side, group)[0], ' and '.join(_of(SIBLING[side], group))
        out += [_square(20, y - 11, 12, 12, SIDES[side]),
                _text(40, y, f'{search}: rank = how many keys of {SIBLING[side]} are {less}. The search for {name} = '
                      f'{example.keys[name]} ends {end} {others}: place {example.index[name]} + '
                      f'{example.ranks[name]} = {example.places[name]}.', 'start')]
        y += 22
    return [*out, _square(21.5, y - 9.5, 9, 9, 'mark tie'),
            _text(40, y, 'Keys that tie across the runs. Those of the left run go first, and each run keeps its order: '
                  'the merge is stable.', 'start')]


def rank_merge(table):
    example = Example(table)
    ties = example.ties()
    tied = {name for group in ties for name in group}
    drawn = [element for side in SIDES for element in _ranked_run(example, side, tied)]
    drawn += [element for group in ties for side in SIDES
              for element in _search_end(example, _of(side, group)[0])]
    drawn += _ranked_output(example, ties, tied)
    drawn += [_text(122, y, name, 'muted end') for name, y in ROWS.items()]
    drawn += [_text(RUN_X[side], 84, text, f'bold start {SIDES[side]}-text') for side, text in
              (('a', 'left run a: rank_in_right'), ('b', 'right run b: rank_in_left'))]
    return _picture('Rank merge: a search in the other run gives each element its place',
                    'A thread for each element; no thread waits for another.', 566,
                    drawn + _rank_notes(example, ties[0], 502))


# ---- The co-rank merge ----

X_OF = {'a': 264, 'out': 88, 'b': 264}
Y_OF = {'a': 96, 'out': 232, 'b': 368}
NEAR = 24  # a cut is upright so far from the output
COLUMNS = (88, 160, 220, 280, 330, 390, 480, 590)


def _bands(threads):
    """Each thread's parts of both runs joined to its part of the output."""
    for colour, begin, end in threads:
        for side, y, edge, away in (('a', Y_OF['a'] + TALL, Y_OF['out'], -NEAR),
                                    ('b', Y_OF['b'], Y_OF['out'] + TALL, NEAR)):
            yield _path(f'M{begin[side]} {y}H{end[side]}L{end["out"]} {edge + away}v{-away}H{begin["out"]}v{away}z',
                        f'band {colour}')


def _cut(cut, at):
    """A line through both runs and the output."""
    top, bottom = Y_OF['out'], Y_OF['out'] + TALL
    return [_path(f'M{at["a"]} {Y_OF["a"] - 6}v{TALL + 6}L{at["out"]} {top - NEAR}V{bottom + NEAR}'
                  f'L{at["b"]} {Y_OF["b"]}v{TALL + 6}', 'mark'),
            _text(at['a'], Y_OF['a'] - 11, f'i = {cut["a"]}', 'mark-text'),
            _text(at['out'] + 5, top - 8, f'k = {cut["out"]}', 'mark-text start'),
            _text(at['out'] + 5, bottom + 17, f'{cut["a"]} + {cut["b"]}', 'mark-text start'),
            _text(at['b'], Y_OF['b'] + TALL + 20, f'j = {cut["b"]}', 'mark-text')]


def _search(table, rank, y):
    rows, out = table(f'search {rank}'), [_text(20, y, f'The binary search for k = {rank}: co_rank_of', 'bold start')]
    kinds = ['muted', *[''] * (len(rows) - 2), 'bold']
    for row, kind in zip(rows, kinds):
        y += 22
        out += [_text(x, y, cell, f'{kind} start') for x, cell in zip(COLUMNS, row) if cell]
    out.append(_path(f'M{COLUMNS[0]} {y - 22 * (len(rows) - 1) + 6}H792', 'axis'))
    for text in ('i is halfway between low and high, j = k - i. Are the first k outputs i elements of a and j of b?',
                 'b[j - 1] would be the last of these j. If a[i] <= b[j - 1], a[i] goes before it: i is too small. '
                 'Else it is large enough.'):
        y += 22
        out.append(_text(COLUMNS[0], y + 4, text, 'start'))
    return out


def co_rank_merge(table):
    example, parts = Example(table), table('parts')[1:]
    each = len(example.merged) // len(parts)
    begins = [(thread * each, int(part[2])) for thread, part in enumerate(parts)]
    cuts = [{'a': i, 'out': k, 'b': k - i} for k, i in begins + [(len(example.merged), len(example.names['a']))]]
    at = [{row: X_OF[row] + cut[row] * CELL for row in X_OF} for cut in cuts]
    threads = [*zip(THREADS, at, at[1:])]
    drawn = [*_bands(threads)]
    colour_of = {name: colour for colour, part in zip(THREADS, parts) for name in part[3].split()}
    for row, names in (('a', example.names['a']), ('out', example.merged), ('b', example.names['b'])):
        for i, name in enumerate(names):
            drawn += _element(X_OF[row] + i * CELL, Y_OF[row], name, example.keys[name], colour_of[name])
    for cut, where in zip(cuts, at):
        drawn += _cut(cut, where)
    for thread, (colour, begin, end) in enumerate(threads):
        drawn.append(_text((begin['out'] + end['out']) / 2, Y_OF['out'] - 8, f'thread {thread}', f'bold {colour}-text'))
    drawn += [_text(20, Y_OF[row] + 26, text, 'bold start') for row, text in
              (('a', 'left run a'), ('out', 'output'), ('b', 'right run b'))]
    drawn.append(_text(78, Y_OF['out'] + TALL + 17, 'i + j', 'mark-text end'))
    return _picture('Co-rank merge: each thread finds where its part begins in both runs',
                    f'{len(parts)} threads, {each} outputs each. The first k outputs are i elements of a and j of b, '
                    'i + j = k; the co-rank of k is i.', 654, drawn + _search(table, cuts[len(parts) // 2]['out'], 474))


DRAWINGS = {'rank-merge.svg': rank_merge, 'co-rank-merge.svg': co_rank_merge}
