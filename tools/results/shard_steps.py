#!/usr/bin/env python3
"""Where the time of a sort of several shards goes: its kernels and copies, as torch's profiler sees them.

Usage: shard_steps.py [--kernels] SHARDS-on-DEVICES...
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
# The first kernels of the cut, and the copies and kernels behind it; what comes before is the sort.
CUT, COPY, MERGE = re.compile('find_ends'), re.compile('Memcpy'), re.compile('move_runs|cut_runs|merge_pieces|merge_tiles|gather')
COLUMNS = 'sort', 'cut', 'the rest', 'copies', 'merges'
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


def steps_of(profile, devices):
    """ms: from the first kernel to the first one of the cut, to what follows that, and to the end; and, of the rest, how long
    copies and merges are under way on a device, which they are at the same time."""
    events = sorted((event for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA),
                    key=lambda event: event.time_range.start)
    start = lambda event: event.time_range.start / 1000
    took = lambda event: (event.time_range.end - event.time_range.start) / 1000
    first_cut = next(i for i, event in enumerate(events) if CUT.search(event.name))
    rest = next(i for i, event in enumerate(events) if i > first_cut and not CUT.search(event.name))
    end = max(event.time_range.end for event in events) / 1000
    busy = {}
    for event in events:
        name = re.sub(r'<.*|\(.*', '', event.name.replace('(anonymous namespace)::', '').replace('void ', ''))[:40]
        busy[name] = busy.get(name, 0) + took(event)
    bounds = [start(events[0]), start(events[first_cut]), start(events[rest]), end]
    return [after - before for before, after in zip(bounds, bounds[1:])] + \
        [sum(took(event) for event in events[rest:] if what.search(event.name)) / devices for what in (COPY, MERGE)], busy


def measure(record, number, devices, share):
    size, yaml = SCHEMAS[record]
    sorter = sorter_of(yaml)
    shards = [torch.empty((share, size), dtype=torch.uint8, device=f'cuda:{s % devices}') for s in range(number)]
    jobs, rooms = jobs_of(sorter, shards, share)
    found = []
    for _ in range(REPEATS):
        for records in shards:
            fill(records)
        for device in range(devices):
            torch.cuda.synchronize(device)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            lib.run(sorter, jobs, number)
        if not is_sorted(shards):
            raise SystemExit('not sorted')
        times, busy = steps_of(profile, devices)
        found.append(times)
    lib.sorter_destroy(sorter)
    medians = [statistics.median(times) for times in zip(*found[1:])]
    print(f'{record:8} {share:10} {number:2} on {devices}' + ''.join(f'{value:10.3f}' for value in medians), flush=True)
    if '--kernels' in sys.argv:
        for name, value in sorted(busy.items(), key=lambda item: -item[1])[:12]:
            print(f'    {name:40} {value:10.3f}')
    del shards, jobs, rooms
    torch.cuda.empty_cache()


def main():
    layouts = [argument for argument in sys.argv[1:] if argument[0] != '-']
    print('ms; copies and merges, which overlap, are under way so long on a device; medians of', REPEATS - 1)
    print('record        each shards' + ''.join(f'{column:>10}' for column in COLUMNS))
    for record, most in SHARES.items():
        for layout in layouts:
            number, devices = (int(word) for word in layout.split('-on-'))
            if devices > torch.cuda.device_count():
                continue
            measure(record, number, devices, most)
            if number == devices:
                measure(record, number, devices, (1 << 24) // number)


main()
