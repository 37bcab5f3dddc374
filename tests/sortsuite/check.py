#!/usr/bin/env python3
"""The suite names what is wrong with wrong sorts, and finds nothing wrong with right ones.

Usage: check.py SORTSUITE
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SUITE, HERE = sys.argv[1], Path(__file__).parent
ASKED = ('--most', '200', '--kind', 'int32', '--kind', 'float32')
ORDER = {'order', 'order with NaNs', 'stability', 'equal keys told apart'}
# sort -> its faults: those that must be found and, behind them, those that may be
WRONG = {
    'unstable': ({'stability', 'equal keys told apart'}, set()),
    'one_length': ({'order'}, ORDER),
    'loses_one': ({'records lost or changed'}, set()),
    'places_one_twice': ({'records lost or changed'}, set()),
    'keys_only': ({'records lost or changed'}, set()),
    'writes_behind': ({'memory outside'}, set()),
    'writes_before': ({'memory outside'}, set()),
    'writes_a_place_behind': ({'memory outside'}, set()),
    'fails': ({'says that it failed'}, set()),
    'crashes': ({'crash'}, set()),
    'exits': ({'crash'}, set()),
    'never_ends': ({'endless'}, set()),
    'less': ({'order with NaNs'}, set()),
    'bits': ({'order with NaNs', 'equal keys told apart'}, set()),
    'zeros': ({'equal keys told apart'}, set()),
    'unguarded': ({'memory outside'}, set()),
}
ONE_LENGTH = {'one_length', 'fails', 'crashes', 'exits', 'never_ends'}
problems = []


def check(good, *what):
    if not good:
        problems.append(' '.join(map(str, what)))


def suite(*words):
    """The exit status, what was said first, and fault -> (least length, greatest length, first)."""
    done = subprocess.run([SUITE, *words], stdout=subprocess.PIPE, text=True)
    found = re.findall(r'^  ([\w ]+?): \d+ inputs of \d+ kinds, (\d+) to (\d+) records; first: (.*)$', done.stdout, re.MULTILINE)
    return done.returncode, done.stdout.partition('\n')[0], {name: (int(a), int(b), first) for name, a, b, first in found}


def check_program(code, status, fault, *options):
    """A program for sortsuite; `fault`: the only one that is found."""
    with tempfile.NamedTemporaryFile('w', suffix='.py') as file:
        file.write(code)
        file.flush()
        result = suite('--most', '20', '--kind', 'int32', *options, '--program', f'{sys.executable} -B {file.name}')
    check(result[0] == status and set(result[2]) == ({fault} if fault else set()), 'program', code, result)


for name, (sure, possible) in WRONG.items():
    status, _, faults = suite(*ASKED, '--seconds', '1' if name == 'never_ends' else '20', f'wrong: {name}')
    check(status == 1 and sure <= set(faults) <= sure | possible, name, status, faults)
    for least, greatest, first in faults.values():
        check((least == greatest == 37) == (name in ONE_LENGTH), name, 'at', least, 'to', greatest, 'records')
    if name == 'unguarded':  # two equal records suffice if a comparison is like <=
        check(all(least == 2 and 'contradict' in first for least, _, first in faults.values()), faults)
for name in ('right', 'right places', 'recsort', 'std::stable_sort'):
    status, said, faults = suite('--few', name)
    check(status == 0 and not faults and int(re.search(r'\): (\d+) inputs', said)[1]) > 700, name, status, said, faults)
status, _, faults = suite(*ASKED, 'std::sort')  # stable by luck up to 16 records
check(status == 1 and {'stability', 'memory outside'} <= set(faults) and faults['stability'][0] == 17, 'std::sort', faults)
status, _, faults = suite(*ASKED, 'std::stable_sort by <')
check(set(faults) == {'order with NaNs'}, 'std::stable_sort by <', faults)

# Programs: Python's own sort, which compares by <, and some that do not keep to the protocol.
command = f'{sys.executable} -B {HERE / "sorts.py"} python'
status, said, faults = suite('--most', '70', '--kind', 'int8', '--kind', 'uint64', '--program', command)
check(status == 0 and not faults and re.search(r'\): 2130 inputs of 2 kinds', said), status, said, faults)
status, _, faults = suite('--most', '70', '--kind', 'float64', '--program', command)
check(status == 1 and set(faults) == {'order with NaNs'}, status, faults)
check(suite('--kind', 'char[80]', '--most', '5', '--program', command)[0] == 2, 'no kind that it sorts')
check_program('', 1, 'crash')
check_program('import sys\nfor line in sys.stdin: print("sorted", flush=True)', 1, 'says that it failed', '--most', '0')
check_program('''import sys
while line := sys.stdin.buffer.readline():
    count = int(line.split()[0])
    sys.stdin.buffer.read(count * 4)
    sys.stdout.buffer.write(b"placed\\n" + bytes(8 * count))
    sys.stdout.buffer.flush()
''', 1, 'records lost or changed')
# The limit is one sort's; a program, which does all, may take longer.
check_program('''import sys, time
while line := sys.stdin.buffer.readline():
    count = int(line.split()[0])
    keys = [int.from_bytes(sys.stdin.buffer.read(4), 'little', signed=True) for _ in range(count)]
    places = sorted(range(count), key=keys.__getitem__)
    until = time.process_time() + 0.01
    while time.process_time() < until: pass
    sys.stdout.buffer.write(b"placed\\n" + b"".join(place.to_bytes(8, 'little') for place in places))
    sys.stdout.buffer.flush()
''', 0, None, '--seconds', '1')
check(suite('no such sort')[0] == 2, 'a sort without such a name')

print(*problems, f'{len(problems)} problems', sep='\n')
sys.exit(1 if problems else 0)
