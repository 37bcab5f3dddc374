#!/usr/bin/env python3
"""Measures recsort beside torch, CuPy and gsplat, on arrays in the memory of a GPU, on torch's stream.

Needs a GPU, recsort with its plugin, torch and CuPy; gsplat (1.5 or later) if its part is wanted. The
methods take turns, each in another place in each round, and every result is checked: they must all be
the same, as all these sorts are stable. Times are medians of the rounds: "device" is from the first to
the last work on the device, measured by events behind a pause in which the host enqueues the call;
"call" is the time of the host for the call and the wait for its result.
"""

import argparse
import importlib
import math
import statistics
import subprocess
import time
from pathlib import Path

import cupy
import torch

import recsort

PAUSE = 2_000_000  # cycles of the device, about a millisecond


def measure(methods, rounds, prepare=lambda: None):
    """The medians of (device, call) in milliseconds of each method, which take turns."""
    found = {name: [] for name in methods}
    for turn in range(rounds + 1):
        names = list(methods)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            prepare()
            torch.cuda.synchronize()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(PAUSE)
            begin.record()
            methods[name]()
            end.record()
            torch.cuda.synchronize()
            prepare()
            torch.cuda.synchronize()
            start = time.perf_counter()
            methods[name]()
            torch.cuda.synchronize()
            call = (time.perf_counter() - start) * 1e3
            if turn:  # the first round warms up
                found[name].append((begin.elapsed_time(end), call))
    return {name: [statistics.median(side) for side in zip(*pairs)] for name, pairs in found.items()}


def table(title, columns):
    """Prints rows of methods and columns of sizes."""
    print(f'\n{title}; milliseconds\n')
    sizes = ''.join(f'{size:>22}' for size in columns)
    print(f'{"":<44}{sizes}')
    print(f'{"":<44}' + f'{"device":>13}{"call":>9}' * len(columns))
    for name in next(iter(columns.values())):
        figures = ''.join(f'{times[name][0]:13.3f}{times[name][1]:9.3f}' for times in columns.values())
        print(f'{name:<44}{figures}')


def equal(one, other):
    assert torch.equal(one, other), 'the results differ'


def power(exponent):
    return f'2^{exponent}'


def indices(exponents, rounds):
    """float32 keys, two alike on average: the indices that sort them."""
    columns = {}
    for exponent in exponents:
        count = 1 << exponent
        values = torch.randint(-count // 4, count // 4, (count,), device='cuda').float() / 64
        view, own = cupy.asarray(values), recsort.DeviceSorter(values, in_place=0)
        wide = recsort.DeviceSorter(values, in_place=0, index_bits=64)
        pairs = recsort.DevicePairs()
        narrow_index, index = (
            torch.empty(count, dtype=t, device='cuda') for t in (torch.int32, torch.int64)
        )
        out = torch.empty_like(values)
        expected, order = torch.sort(values, stable=True)
        equal(order, torch.from_dlpack(cupy.argsort(view)))
        equal(order, own.argsort(values, out=narrow_index).long())
        equal(order, wide.argsort(values, out=index))
        equal(order, recsort.argsort(values))
        equal(expected, own.sort(values, out=out, index=narrow_index))
        equal(order, narrow_index.long())
        equal(order, pairs.argsort(values).long())
        for one, other in zip((expected, narrow_index), pairs.sort(values)):
            equal(one, other)
        methods = {
            'torch.sort(stable=True): values, int64': lambda: torch.sort(values, stable=True),
            'torch.argsort(stable=True): int64': lambda: torch.argsort(values, stable=True),
            'cupy.argsort: int64': lambda: cupy.argsort(view),
            'recsort.argsort: int64, a sorter each time': lambda: recsort.argsort(values),
            'DeviceSorter.argsort: int64': lambda: wide.argsort(values, out=index),
            'DeviceSorter.argsort: int32': lambda: own.argsort(values, out=narrow_index),
            'DeviceSorter.sort: values, int32': lambda: own.sort(values, out=out, index=narrow_index),
            'DevicePairs.argsort: int32': lambda: pairs.argsort(values),
            'DevicePairs.sort: values, int32': lambda: pairs.sort(values),
        }
        columns[power(exponent)] = measure(methods, rounds)
    table('Indices that sort float32 keys', columns)


def rows(exponents, rounds):
    """Rows of five float32, by the last one."""
    columns = {}
    for exponent in exponents:
        count = 1 << exponent
        table_of = torch.rand(count, 5, device='cuda')
        table_of[:, 4] = torch.randint(0, count // 2, (count,), device='cuda').float()
        work, out = table_of.clone(), torch.empty_like(table_of)
        sorter = recsort.DeviceSorter(table_of, keys=4)

        def by_torch(a=table_of):
            return a.index_select(0, torch.argsort(a[:, 4], stable=True))

        equal(by_torch(), sorter.sort(table_of, out=out))
        equal(out, sorter.sort(work))
        methods = {
            'torch: argsort of the column, index_select': by_torch,
            'DeviceSorter.sort into another tensor': lambda: sorter.sort(table_of, out=out),
            'DeviceSorter.sort in place': lambda: sorter.sort(work),
        }
        columns[power(exponent)] = measure(methods, rounds, lambda: work.copy_(table_of))
    table('Rows of five float32 by column 4', columns)


WIDTH, HEIGHT, TILE = 1920, 1080, 16


def scene(count):
    """Gaussians before a camera; depths have ties."""
    torch.manual_seed(count)
    z = torch.randint(512, 5120, (count,), device='cuda').float() / 256
    x, y = (torch.rand(count, device='cuda') * 2 - 1 for _ in range(2))
    means = torch.stack([x * z * WIDTH / 2000, y * z * HEIGHT / 2000, z], 1)
    quats = torch.nn.functional.normalize(torch.randn(count, 4, device='cuda'), dim=1)
    scales = torch.exp(torch.randn(count, 3, device='cuda') * 0.5 - 4)
    camera = torch.tensor([[1000.0, 0, WIDTH / 2], [0, 1000, HEIGHT / 2], [0, 0, 1]], device='cuda')
    return means, quats, scales, torch.eye(4, device='cuda')[None], camera[None]


def splats(counts, rounds):
    """gsplat renders 1920 x 1080 pixels; recsort sorts its intersections of gaussians and tiles."""
    from gsplat import fully_fused_projection, isect_offset_encode, isect_tiles, rasterize_to_pixels

    across, down = math.ceil(WIDTH / TILE), math.ceil(HEIGHT / TILE)
    # A key has the bits of a depth below the number of a tile and that of an image.
    bits = 32 + (across * down).bit_length() + 1
    schema = recsort.Schema.from_yaml(
        f'record: Intersection\nfields:\n- {{name: key, type: uint64}}\n'
        f'- {{name: used, type: bitfield, base: key, bit: 0, width: {bits}}}\nkeys: [used]\n'
    )
    columns = {}
    for count in counts:
        means, quats, scales, view, camera = scene(count)
        radii, places, depths, conics, _ = fully_fused_projection(
            means, None, quats, scales, view, camera, WIDTH, HEIGHT
        )
        colors, opacities = torch.rand(1, count, 3, device='cuda'), torch.rand(1, count, device='cuda')

        def intersect(sort):
            return isect_tiles(places, radii, depths, TILE, across, down, sort=sort)[1:]

        def render(keys, ids):
            offsets = isect_offset_encode(keys, 1, across, down)
            return rasterize_to_pixels(
                places, conics, colors, opacities, WIDTH, HEIGHT, TILE, offsets, ids
            )[0]

        keys, ids = intersect(False)
        sorter = recsort.DeviceSorter(schema, len(keys), in_place=0)
        pairs = recsort.DevicePairs()
        sorted_keys, sorted_ids = torch.empty_like(keys), torch.empty_like(ids)

        def by_sorter(keys, ids):
            sorter.sort(keys, out=sorted_keys, also=[(ids, sorted_ids)])
            return sorted_keys, sorted_ids

        def by_pairs(keys, ids):
            return pairs.sort(keys, ids, bits=(0, bits))

        expected = intersect(True)
        assert not torch.equal(keys, expected[0])
        image = render(*expected)
        assert image.std() > 0.01
        for sort in by_sorter, by_pairs:
            for one, other in zip(expected, sort(keys, ids)):
                equal(one, other)
            equal(image, render(*sort(*intersect(False))))
        ties = int((expected[0][1:] == expected[0][:-1]).sum())
        assert ties > 0
        methods = {
            'gsplat: intersections, not sorted': lambda: intersect(False),
            'gsplat: intersections, sorted': lambda: intersect(True),
            'gsplat: intersections; DevicePairs.sort': lambda: by_pairs(*intersect(False)),
            'gsplat: intersections; DeviceSorter.sort': lambda: by_sorter(*intersect(False)),
            'DevicePairs.sort alone': lambda: by_pairs(keys, ids),
            'DeviceSorter.sort alone': lambda: by_sorter(keys, ids),
            'torch.sort(stable=True) alone, index_select': lambda: ids.index_select(
                0, torch.sort(keys, stable=True)[1]
            ),
            'gsplat: image, its own sort': lambda: render(*intersect(True)),
            'gsplat: image, DevicePairs.sort': lambda: render(*by_pairs(*intersect(False))),
        }
        name = f'{count >> 20} Mi, {len(keys) / (1 << 20):.1f} Mi'
        columns[name] = measure(methods, rounds)
        print(f'{count} gaussians: {len(keys)} intersections, {ties} of them tie; images are equal')
    table(f'Gaussians, intersections: keys of {bits} bits, values int32', columns)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=15)
    parser.add_argument('--commit', help='of recsort; by default that of this file')
    parser.add_argument('--few', action='store_true', help='small inputs: only a test')
    parser.add_argument('parts', nargs='*', default=['indices', 'rows', 'splats'])
    options = parser.parse_args()
    here = ['git', '-C', Path(__file__).parent, 'describe', '--always', '--dirty']
    commit = options.commit or subprocess.check_output(here, text=True).strip()
    query = ['nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader']
    machine = subprocess.check_output(query, text=True).splitlines()[0]
    splat = (
        f', gsplat {importlib.import_module("gsplat").__version__}' if 'splats' in options.parts else ''
    )
    print(
        f'recsort {recsort.__version__} at {commit} from Python; {machine}, CUDA {torch.version.cuda}'
    )
    print(
        f'torch {torch.__version__}, CuPy {cupy.__version__}{splat}; medians of {options.rounds} rounds'
    )
    stream = torch.cuda.Stream()  # not the default one, with which other streams synchronize
    with torch.cuda.stream(stream), cupy.cuda.Stream.from_external(stream):
        few = options.few
        if 'indices' in options.parts:
            indices([12, 14] if few else [20, 22, 24], options.rounds)
        if 'rows' in options.parts:
            rows([12, 14] if few else [20, 22, 24], options.rounds)
        if 'splats' in options.parts:
            splats([1 << 14] if few else [1 << 20, 4 << 20], options.rounds)


if __name__ == '__main__':
    main()
