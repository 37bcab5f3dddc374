#!/usr/bin/env python3
"""The published experiment as a picture: the times of gpu-bench's JSON, drawn by gnuplot.

Usage: gpu_picture.py RESULT.json PICTURE.svg
"""
import json
import subprocess
import sys

PLOT = '''
set terminal svg size 900,480 font "sans,12" background "white"
set output "{svg}"
set title "{title}" noenhanced
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set boxwidth 0.9
set ylabel "ms, records in all (median)"
set yrange [0:*]
set grid ytics
set xtics rotate by -30 noenhanced
set datafile missing "-"
$times << EOD
{rows}
EOD
plot $times using 2:xtic(1) title "blocks of 256, or its own choice", \\
     $times using 3 title "blocks of 512"
'''


def main():
    source, picture = sys.argv[1:]
    with open(source, encoding='utf-8') as file:
        result = json.load(file)
    group = next(one for one in result['groups'] if one['suite'] == 'experiment')
    times, count = {}, 0
    for each in group['contenders']:
        name = each.get('algorithm', each['method'])
        column = 1 if each.get('block') == 512 else 0
        times.setdefault(name, ['-', '-'])[column] = 1e3 * each['series']['device']['median']
        count = int(each['count'])
    rows = '\n'.join(f'"{name}" {one} {other}' for name, (one, other) in times.items())
    title = f"{count} Entities, descending, on {result['machine']['device']}"
    subprocess.run(['gnuplot', '-'], input=PLOT.format(svg=picture, title=title, rows=rows),
                   text=True, check=True)


main()
