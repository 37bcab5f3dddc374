"""Bar charts as SVG: labelled bars, light or dark by the reader's setting."""
from html import escape

WIDTH, MARGIN, GAP = 880, 20, 24
BAR, BETWEEN_BARS, BETWEEN_GROUPS, VALUE = 13, 2, 9, 58

STYLE = '''
    text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
    .title { font-size: 15px; font-weight: 600; }
    .panel { font-weight: 600; }
    .value { font-size: 11px; font-variant-numeric: tabular-nums; }
    .muted { fill: #59636e; }
    .page { fill: #ffffff; }
    .axis { stroke: #818b98; }
    .mark { stroke: #818b98; stroke-dasharray: 3 3; }
    .s0 { fill: #1f6feb; } .s1 { fill: #bf8700; } .s2 { fill: #8c959f; } .s3 { fill: #1a7f64; }
    .s4 { fill: #a371f7; } .s5 { fill: #cf5c4a; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .muted { fill: #9198a1; }
      .page { fill: #0d1117; }
      .axis, .mark { stroke: #656c76; }
      .s0 { fill: #58a6ff; } .s1 { fill: #d29922; } .s2 { fill: #6e7681; } .s3 { fill: #3fb68b; }
    }
'''


def _text(x, y, text, kind='', anchor='start'):
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def _panel(left, top, width, label, heading, groups, mark):
    """One panel: groups of bars that share an axis from 0. Returns its elements and its bottom."""
    start, most = left + label, max(value for _, bars in groups for _, value, _ in bars)
    scale = (width - label - VALUE) / most
    out, y = [_text(start, top, heading, 'panel')] if heading else [], top + (14 if heading else 0)
    first = y - 4
    for name, bars in groups:
        height = len(bars) * (BAR + BETWEEN_BARS) - BETWEEN_BARS
        out.append(_text(start - 8, y + height / 2 + 4, name, '', 'end'))
        for series, value, text in bars:
            out.append(f'<rect x="{start:g}" y="{y:g}" width="{max(value * scale, 1):.1f}" '
                       f'height="{BAR}" class="s{series}"/>')
            out.append(_text(start + value * scale + 5, y + BAR - 3, text, 'value'))
            y += BAR + BETWEEN_BARS
        y += BETWEEN_GROUPS - BETWEEN_BARS
    bottom = y - BETWEEN_GROUPS + 4
    out.append(f'<path d="M{start:g} {first:g}V{bottom:g}" class="axis"/>')
    if mark is not None:
        x = start + mark * scale
        out.append(f'<path d="M{x:.1f} {first:g}V{bottom:g}" class="mark"/>')
    return out, bottom


def chart(title, unit, longer_is_better, legend, panels, label=120, mark=None):
    """An SVG. `panels` stand side by side: (heading, groups), a group (name, bars), and a bar
    (series, value, text). `label` is the room for names, `mark` a value to draw a line at."""
    better = 'longer bars are better \u2192' if longer_is_better else '\u2190 shorter bars are better'
    out = [_text(MARGIN, 30, title, 'title'), _text(MARGIN, 51, f'{unit}; {better}', 'muted')]
    top, x, y = 84, MARGIN, 66
    for series, name in legend:
        wide = 18 + 6.6 * len(name)
        if x + wide > WIDTH:
            x, y = MARGIN, y + 18
        out.append(f'<rect x="{x:g}" y="{y}" width="12" height="12" class="s{series}"/>')
        out.append(_text(x + 18, y + 10, name))
        x, top = x + wide + 18, y + 42
    width, bottom = (WIDTH - 2 * MARGIN - GAP * (len(panels) - 1)) / len(panels), top
    for i, (heading, groups) in enumerate(panels):
        drawn, end = _panel(MARGIN + i * (width + GAP), top, width, label, heading, groups, mark)
        out += drawn
        bottom = max(bottom, end)
    height = int(bottom + 16)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img">\n'
            f'  <title>{escape(title)}: {escape(unit)}</title>\n  <style>{STYLE}  </style>\n'
            f'  <rect class="page" width="{WIDTH}" height="{height}"/>\n  '
            + '\n  '.join(out) + '\n</svg>\n')
