#!/usr/bin/env python3
"""docs/gpu.md and the CUDA plugin, on the stand-in runtime, agree about what is sent to a GPU.

Usage: device.py RECSORT PLUGIN-FOLDER SOURCE-FOLDER
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

recsort, plugin, root = sys.argv[1:]
FIELDS = 'record: R\nlayout: packed\nfields: [{{name: k, type: bytes, count: {}}}, {{name: p, type: bytes, count: {}}}]\n'


def goes(record, key):
    """Whether whole records are sent."""
    with tempfile.NamedTemporaryFile('w', suffix='.yaml') as schema:
        schema.write(FIELDS.format(key, record - key) + 'keys: [k]\n')
        schema.flush()
        text = subprocess.run([recsort, '-s', schema.name, '--plugin', 'cuda', '--explain'], check=True,
                              stdout=subprocess.PIPE, text=True,
                              env=dict(os.environ, RECSORT_PLUGIN_PATH=plugin)).stdout
    transfer = re.search(r'^transfer: (whole records|keys alone|nothing)', text, re.M)
    return transfer.group(1) == 'whole records'


def main():
    expected = {(40, 4): True, (41, 4): True, (128, 4): True, (129, 4): False, (1025, 4): False, (40, 16): True,
                (40, 17): False}
    problems = [f'{size}: {goes(*size)}' for size, way in expected.items() if goes(*size) != way]
    least = re.search(r'RS_LOAD_LEAST = (\d+) << (\d+)', (Path(root) / 'core/base/load_least.h').read_text())
    count = int(least.group(1)) << int(least.group(2))
    page = ' '.join((Path(root) / 'docs/gpu.md').read_text().split())
    if f'fewer than {count:,} records' not in page:
        problems.append(f'docs/gpu.md does not say {count:,}')
    print(*problems, f'{len(expected) + 1} limits, {len(problems)} differ', sep='\n')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
