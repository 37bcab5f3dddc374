#!/usr/bin/env python3
"""Where the time of a sort of several shards goes: the kernels of each step on each device, as torch's profiler sees them.

Usage: shard_steps.py [SHARDS-on-DEVICES]...
Sorts 2^28 records of a float and a number, and 2^27 Entities, on each of the devices, and 2^24 of each in all. The
library and the plugin are found by LD_LIBRARY_PATH and RECSORT_PLUGIN_PATH, the package by PYTHONPATH.
"""
import ctypes as c
import re
import statistics
import sys

import torch
from recsort import _library as lib

SCHEMAS = {
    'f32+u32': (8, 'record: Pair\nfields:\n- {name: key, type: float32}\n- {name: place, type: uint32}\n'
                   'keys: [{field: key, order: desc}]\n'),
    'entity': (20, 'record: Entity\nfields:\n- {name: x, type: float32}\n- {name: y, type: float32}\n'
                   '- {name: angle, type: float32}\n- {name: sprite, type: int16}\n- {name: distance, type: float32}\n'
                   'keys: [{field: distance, order: desc}]\n')}
SHARES = {'f32+u32': 1 << 28, 'entity': 1 << 27}
# The steps by their kernels. What comes before the first kernel of the cut is the sort.
CUT, EXCHANGE = re.compile('find_ends'), re.compile('gather_pieces|Memcpy PtoP')
STEPS = 'sort', 'cut', 'exchange', 'merge'
REPEATS = 7


def sorter_of(yaml):
    schema, sorter = c.c_void_p(), c.c_void_p()
    text = yaml.encode()
    lib.schema_load_memory(text, len(text), b'steps', None, c.byref(schema))
    options = lib.Options(struct_size=c.sizeof(lib.Options), on_device=True)
    lib.sorter_create(schema, c.byref(options), c.byref(sorter))
    lib.schema_destroy(schema)
    return sorter


def jobs_of(sorter, shards, share):
    jobs = (lib.Job * len(shards))()
    needs = (lib.Needs * len(shards))()
    for job, need, records in zip(jobs, needs, shards, strict=True):
        job.struct_size, need.struct_size = c.sizeof(lib.Job), c.sizeof(lib.Needs)
        job.count, job.device = share, records.device.index
        job.records = job.sorted = records.data_ptr()
    lib.plan(sorter, jobs, len(shards), needs)
    rooms = []
    for job, need, records in zip(jobs, needs, shards, strict=True):
        rooms.append(torch.empty(need.device, dtype=torch.uint8, device=records.device))
        job.workspace, job.workspace_size = rooms[-1].data_ptr(), need.device
    return jobs, rooms


def fill(records):
    """Random bytes; the key, of 24 bits, is the first word of a pair and the last one of an Entity."""
    words = records.view(torch.int32)
    for part in words.split(1 << 24):
        part.random_()
    keys = words[:, -1] if words.shape[1] == 5 else words[:, 0]
    keys.copy_(((keys >> 8) & 0xFFFFFF).to(torch.float32).view(torch.int32))


def is_sorted(shards):
    last = None
    for records in shards:
        words = records.view(torch.float32)
        keys = words[:, -1] if words.shape[1] == 5 else words[:, 0]
        if not bool((keys[1:] <= keys[:-1]).all()) or (last is not None and float(keys[0]) > last):
            return False
        last = float(keys[-1])
    return True


def steps_of(profile):
    """The time from the first kernel of each step to that of the next one, ms: on the device where it takes longest. Steps
    begin on all devices when the host has waited for all, but for the launches."""
    events = [event for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    begin, end = {}, max(event.time_range.end for event in events)
    step = 'sort'
    for event in sorted(events, key=lambda event: event.time_range.start):
        if CUT.search(event.name):
            step = 'cut'
        elif EXCHANGE.search(event.name):
            step = 'exchange'
        elif step == 'exchange':
            step = 'merge'
        begin.setdefault(step, event.time_range.start)
    times, order = {}, [step for step in STEPS if step in begin] + [None]
    for step, following in zip(order, order[1:]):
        times[step] = ((begin[following] if following else end) - begin[step]) / 1000
    busy = {}
    for event in events:
        name = re.sub(r'<.*|\(.*', '', event.name.replace('(anonymous namespace)::', '').replace('void ', ''))[:40]
        busy[name] = busy.get(name, 0) + (event.time_range.end - event.time_range.start) / 1000
    return times, busy


def measure(record, number, devices, share):
    size, yaml = SCHEMAS[record]
    sorter = sorter_of(yaml)
    shards = [torch.empty((share, size), dtype=torch.uint8, device=f'cuda:{s % devices}') for s in range(number)]
    jobs, rooms = jobs_of(sorter, shards, share)
    found, all_busy = [], []
    for _ in range(REPEATS):
        for records in shards:
            fill(records)
        for device in range(devices):
            torch.cuda.synchronize(device)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            lib.run(sorter, jobs, number)
        if not is_sorted(shards):
            raise SystemExit('not sorted')
        times, busy = steps_of(profile)
        found.append(times)
        all_busy.append(busy)
    lib.sorter_destroy(sorter)
    medians = [statistics.median(times.get(step, 0) for times in found[1:]) for step in STEPS]
    print(f'{record:8} {share:10} {number:2} on {devices}' + ''.join(f'{value:10.3f}' for value in medians) +
          f'{sum(medians):10.3f}', flush=True)
    if '--kernels' in sys.argv:
        for name, value in sorted(all_busy[-1].items(), key=lambda item: -item[1])[:12]:
            print(f'    {name:40} {value:10.3f}')
    del shards, jobs, rooms
    torch.cuda.empty_cache()


def main():
    layouts = [argument for argument in sys.argv[1:] if argument[0] != '-'] or ['2-on-1', '2-on-2']
    print('ms from the first kernel of a step to that of the next; medians of', REPEATS - 1)
    print('record        each shards' + ''.join(f'{step:>10}' for step in STEPS) + f'{"all":>10}')
    for record, most in SHARES.items():
        for layout in layouts:
            number, devices = (int(word) for word in layout.split('-on-'))
            if devices > torch.cuda.device_count():
                continue
            measure(record, number, devices, most)
            if number == devices:
                measure(record, number, devices, (1 << 24) // number)


main()
