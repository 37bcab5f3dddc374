#!/usr/bin/env python3
"""The promises of the man pages of recgen and reccat that no other test shows; a function for each.

Usage: promises.py RECGEN RECCAT RECSORT

recgen gives the same bytes everywhere, so the counts here are reproducible.
"""
import collections
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

recgen, reccat, recsort = (str(Path(argument).resolve()) for argument in sys.argv[1:4])
MIB = 1 << 20

PLAIN = '''record: plain
fields:
  - {name: key, type: uint32}
  - {name: byte, type: uint8}
  - {name: small, type: int8}
  - {name: bits, type: uint16}
  - {name: low, type: bitfield, base: bits, bit: 3, width: 4}
  - {name: kind, type: enum, base: int8, values: [{name: a, value: -3}, {name: b, value: 5}, c]}
  - {name: half, type: float16}
  - {name: brain, type: bfloat16}
  - {name: single, type: float32}
  - {name: double, type: float64}
  - {name: text, type: char, count: 3}
keys: [key]
'''
WIDE = '''record: wide
fields: [{name: text, type: char, count: 100}, {name: raw, type: bytes, count: 100}]
'''


def output_of(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                          **more).stdout


def make(count, *options, schema='plain.yaml'):
    return output_of(recgen, '-s', schema, '-n', count, *options)


def records(data, schema='plain.yaml'):
    return [json.loads(line) for line in
            output_of(reccat, '-s', schema, '-f', 'jsonl', input=data).splitlines()]


def peak(*command, **more):
    """The peak memory of a command in bytes."""
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, **more)
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, command
    return usage.ru_maxrss * 1024


def even(values, kinds, share=0.2):
    """Whether values of so many kinds are about equally frequent."""
    counts = collections.Counter(values)
    mean = sum(counts.values()) / kinds
    return len(counts) == kinds and all(abs(n - mean) < share * mean for n in counts.values())


# ---- recgen ----------------------------------------------------------------------------------


def recgen_calls_no_mathematics():
    names = set(re.findall(r' U (\w+)', output_of('nm', '-D', recgen, text=True)))
    assert 'recsort_field_set' in names and not names & {
        'pow', 'exp', 'exp2', 'log', 'log2', 'sqrt', 'sin', 'cos', 'rand', 'random', 'drand48', 'time'}


def recgen_takes_constant_memory():
    few, many = (peak(recgen, '-s', 'plain.yaml', '-n', n) for n in (10000, 400000))
    assert abs(many - few) < 4 * MIB, (few, many)


def recgen_begins_a_longer_file_with_a_shorter_one():
    for name in ('uniform', 'few', 'equal'):
        long = make(5000, '-d', name)
        short = make(1000, '-d', name)
        assert long[:len(short)] == short, name


def recgen_values_lie_evenly():
    made = records(make(32000))
    assert even([r['byte'] for r in made], 256, 0.4)
    assert even([r['small'] for r in made], 256, 0.4)
    assert even([r['low'] for r in made], 16)
    assert even([r['kind'] for r in made], 3)
    assert even([r['key'] >> 28 for r in made], 16)
    for name in ('half', 'brain', 'single', 'double'):
        assert even([r[name] // 64 for r in made], 16), name
    texts = [c for r in made for c in r['text'].replace('\\\\', '\\').ljust(3)]
    assert even(texts, 95)


def recgen_floats_are_as_fine_as_their_type():
    made = records(make(32000))
    for name, step in (('half', 0.5), ('brain', 4.0), ('single', 2.0 ** -14)):
        values = [struct.unpack('f', struct.pack('f', r[name]))[0] for r in made]
        assert all(value % step == 0 for value in values), name
        assert any(value % (2 * step) for value in values), name


def recgen_makes_one_float_in_16_special():
    made = records(make(16000, '--special'))
    for name in ('half', 'brain', 'single', 'double'):
        odd = [r[name] for r in made if isinstance(r[name], str) or r[name] <= 0]
        texts = collections.Counter(map(str, odd))
        assert 800 < len(odd) < 1200, (name, len(odd))
        assert {'nan', '-nan', 'inf', '-inf'} <= set(texts), texts
        assert any(text.startswith('-') and text[1:2].isdigit() for text in texts), texts


def recgen_spreads_a_rank_over_the_keys():
    Path('keys.yaml').write_text(PLAIN.replace(
        'keys: [key]', 'keys: [{field: low, order: desc}, byte, {field: half, order: desc}]'))
    made = records(make(20000, '-d', 'sorted', '--special', schema='keys.yaml'), 'keys.yaml')
    ranks = [(-r['low'], r['byte'], -r['half']) for r in made]
    assert ranks == sorted(ranks) and len(set(ranks)) == len(ranks)


def recgen_swaps_whole_pairs_in_nearly():
    for count, moved in ((100, 0), (199, 0), (200, 2), (399, 2), (400, 4), (10000, 100)):
        near, ordered = (records(make(count, '-d', d)) for d in ('nearly', 'sorted'))
        assert sum(a['key'] != b['key'] for a, b in zip(near, ordered)) == moved, count


def recgen_saws_have_16_teeth_from_226_records():
    for count in (226, 227, 240, 241, 256, 257, 1000, 4099):
        keys = [r['key'] for r in records(make(count, '-d', 'saw'))]
        assert sum(a > b for a, b in zip(keys, keys[1:])) == 15, count
        assert len(set(keys)) == count
    for count in (1, 17, 33, 225):
        keys = [r['key'] for r in records(make(count, '-d', 'saw'))]
        assert sum(a > b for a, b in zip(keys, keys[1:])) < 15, count


def recgen_equalises_neighbours_where_keys_are_few():
    Path('byte.yaml').write_text(PLAIN.replace('[key]', '[byte]'))
    keys = [r['byte'] for r in records(make(2560, '-d', 'sorted', schema='byte.yaml'), 'byte.yaml')]
    assert keys == sorted(keys) and set(collections.Counter(keys).values()) == {10}


def recgen_fails_and_leaves_the_old_file():
    Path('old').write_text('old')
    for command in (['-n', 9 << 60], ['-n', 5, '-d', 'odd'], ['-n', 5, '-s', 'none.yaml']):
        status = subprocess.run([recgen, '-s', 'plain.yaml', *map(str, command), '-o', 'old'],
                                stderr=subprocess.DEVNULL).returncode
        assert status == 2 and Path('old').read_text() == 'old'


# ---- reccat ----------------------------------------------------------------------------------


def reccat_takes_constant_memory():
    Path('few').write_bytes(make(10000))
    Path('many').write_bytes(make(400000))
    for options in (['-f', 'csv'], ['--checksum'], ['--tail', '10']):
        few, many = (peak(reccat, '-s', 'plain.yaml', *options, name) for name in ('few', 'many'))
        assert abs(many - few) < 4 * MIB, (options, few, many)


def reccat_reads_a_block_beyond_head():
    """From an endless stream."""
    with open('/dev/zero', 'rb') as zeros:
        taken = output_of(reccat, '-s', 'plain.yaml', '--head=3', '-f', 'jsonl', stdin=zeros, timeout=600)
    assert taken.count(b'\n') == 3
    data = make(50000)
    with open('data', 'wb') as file:
        file.write(data)
    end, start = os.pipe()
    child = subprocess.Popen([reccat, '-s', 'plain.yaml', '--head=3'], stdin=end,
                             stdout=subprocess.DEVNULL)
    os.close(end)
    written = 0
    try:
        while written < len(data):
            written += os.write(start, data[written:written + 4096])
    except BrokenPipeError:
        pass
    os.close(start)
    assert child.wait() == 0
    assert 3 * 40 <= written <= (256 << 10) + (1 << 17), written  # a block, and the capacity of a pipe


def reccat_shows_32_columns_of_a_table():
    data = b'x' * 100 + b'\xab' * 100
    lines = output_of(reccat, '-s', 'wide.yaml', input=data, text=False).decode().splitlines()
    assert len(lines[1]) <= 70 and 'x' * 29 in lines[1] and 'x' * 33 not in lines[1], lines[1]
    whole = records(data, 'wide.yaml')[0]
    assert whole == {'text': 'x' * 100, 'raw': 'ab' * 100}


def main():
    failures, tests = 0, [f for name, f in sorted(globals().items()) if name.startswith('rec') and
                          callable(f) and name != 'records']
    # Released memory counts as the program's until it is reused.
    os.environ['ASAN_OPTIONS'] = os.environ.get('ASAN_OPTIONS', '') + ':quarantine_size_mb=1'
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path('plain.yaml').write_text(PLAIN)
        Path('wide.yaml').write_text(WIDE)
        for test in tests:
            try:
                test()
            except (AssertionError, subprocess.SubprocessError) as error:
                failures += 1
                line = error.__traceback__.tb_next.tb_lineno
                print(f'{test.__name__}, line {line}: {error!r}')
        os.chdir('/')
    print(f'{len(tests)} promises, {failures} broken')
    return 1 if failures or not tests else 0


if __name__ == '__main__':
    sys.exit(main())
