#!/usr/bin/env python3
"""recsort.cuh beside the plugin and CUB, on this machine's GPU: pairs of random keys.

Usage: cuh_times.py RECBENCH [ROUNDS]      RECBENCH is that of a build; writes a table to stdout

Each round runs recbench's suite `pairs`, which checks every result. A cell is the median of the rounds' medians, in
microseconds of the device. The plugin gets jobs without a status, so it checks nothing. CUB is the better of its merge
and radix sort, in the same way: on a stream, or in a graph.
"""
import re
import statistics
import subprocess
import sys

RECORDS = ('u32', 'u32+u32', 'u32+none', 'f32+u32', 'u64', 'u64+u32', 'u64+none', 'u128')
SMALL, LARGE = ('1K', '16K', '128K', '1M', '4M', '16M'), ('256M',)
CUB = ('cub::DeviceMergeSort', 'cub::DeviceRadixSort')
OURS = {'header': 'recsort.cuh', 'plugin': 'recsort sample'}


def rounds_of(recbench, rounds, records, counts, repeat):
    """{(record, count, contender): medians}"""
    found = {}
    for _ in range(rounds):
        out = subprocess.run([sys.executable, recbench, '--suite', 'pairs', '--distribution', 'random', '--record',
                              ','.join(records), '--count', ','.join(counts), '--repeat', str(repeat)],
                             check=True, capture_output=True, text=True).stdout
        for line in out.splitlines():
            title = re.match(r'pairs: (\S+), \S+, (\d+) records', line)
            row = re.match(r'  (\S.*?)\s{2,}([\d.]+)\s+[\d.]+\s+[\d.]+\s', line)
            if title:
                cell = title[1], int(title[2])
            elif row:
                found.setdefault((*cell, row[1]), []).append(1000 * float(row[2]))
    return found


def main():
    recbench, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    found = rounds_of(recbench, rounds, RECORDS, SMALL, 31)
    found.update(rounds_of(recbench, 1, RECORDS[1:6], LARGE, 5))
    print(f'{rounds} rounds; one at 2^28\n\n| keys + values | pairs | CUB | plugin | header | header / plugin | CUB, graph | '
          'plugin | header | header / plugin |\n| --- |' + ' ---: |' * 9)
    ratios = {'': [], ', graph': []}
    for record, count in sorted({key[:2] for key in found}, key=lambda cell: (cell[1], RECORDS.index(cell[0]))):
        row = [record, f'{count:,}']
        for how in ratios:
            median = lambda name: statistics.median(found[record, count, name + how])
            plugin, header = median(OURS['plugin']), median(OURS['header'])
            ratios[how].append((header / plugin, count))
            row += [f'{min(map(median, CUB)):.1f}', f'{plugin:.1f}', f'{header:.1f}', f'{header / plugin:.3f}']
        print('| ' + ' | '.join(row) + ' |')
    for how, all_of in ratios.items():
        small, large = ([ratio for ratio, count in all_of if (count < 1 << 14) == few] for few in (True, False))
        print(f'\nheader / plugin{how or ", stream"}: at most {max(small):.3f} below 2^14 and {max(large):.3f} from there on; '
              f'geometric mean {statistics.geometric_mean([*small, *large]):.3f}')


if __name__ == '__main__':
    main()
