#!/usr/bin/env python3
"""Stands in for recbench-gpu: two contenders for every input, of which one may fail."""
import json
import os
import sys

for line in sys.stdin:
    command, *words = line.rstrip('\n').split('\t')
    if command == 'about':
        answer = {'device': 'none', 'devices': 4}
    elif command == 'input':
        answer = {'size': 8, 'contenders': ['cub::Sort', f'recsort {"/".join(words[6:]) or words[1]}, graph']}
    elif command == 'run':
        answer = {'wall': 0.002 if words[1] == 'cub::Sort' else 0.001, 'device': 64, 'launches': 3}
        if os.environ.get('FAKE_WRONG') == words[1]:
            answer = {'error': f'wrong result: {words[1]}'}
    else:
        answer = {}
    print(json.dumps(answer), flush=True)
