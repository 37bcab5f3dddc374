"""recbench's suites of Python: recsort beside NumPy, pandas, Polars, pyarrow and DuckDB, and on a GPU beside
torch, CuPy and gsplat (1.5 or later). recbench starts it with its own Python, which must have recsort and
these packages, and talks to it as serve.h says.

A contender is a function of nothing that returns what it sorted; `check` compares that, outside the measured
time, with what all these stable sorts must give.
"""
import importlib
import importlib.util
import json
import math
import os
import sys
import time
from importlib.metadata import packages_distributions, version

try:
    import recsort
except ImportError as problem:
    print(json.dumps({'error': f'{sys.executable}: {problem}'}))
    sys.exit(1)

PAUSE = 2_000_000  # cycles of the device, about a millisecond, in which the host enqueues a call


class Trial:
    """Contenders by name; `prepare` makes the input anew."""

    def __init__(self, size, methods, check, prepare=lambda: None, count=None):
        self.size, self.methods, self.check, self.prepare, self.count = size, methods, check, prepare, count

    def measure(self, name):
        self.prepare()
        start = time.perf_counter()
        result = self.methods[name]()
        seconds = time.perf_counter() - start
        assert self.check(result), f'wrong result: {name}'
        return {'wall': seconds}


class DeviceTrial(Trial):
    """"wall" is from the first to the last work on the device, measured by events; "call" is the time of the host
    for a call and the wait for its result."""

    def measure(self, name):
        torch = importlib.import_module('torch')
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.prepare()
        torch.cuda.synchronize()
        torch.cuda._sleep(PAUSE)
        begin.record()
        result = self.methods[name]()
        end.record()
        torch.cuda.synchronize()
        assert self.check(result), f'wrong result: {name}'
        self.prepare()
        torch.cuda.synchronize()
        start = time.perf_counter()
        self.methods[name]()
        torch.cuda.synchronize()
        return {'wall': begin.elapsed_time(end) / 1e3, 'call': time.perf_counter() - start}


# ---- Records in host memory ----


def by_argsort(records, keys):
    """The permutation by one stable sort for each key, the least significant first."""
    import numpy as np

    order = np.argsort(records[keys[-1]], kind='stable')
    for key in keys[-2::-1]:
        order = order[np.argsort(records[key][order], kind='stable')]
    return order


def table_peers(columns, keys):
    """Sorts of tables, in each library's own form, if it is there."""
    methods = {}
    if importlib.util.find_spec('pandas'):
        import pandas

        pandas_frame = pandas.DataFrame(columns)
        methods['pandas sort_values'] = lambda: pandas_frame.sort_values(keys, kind='stable')
    if importlib.util.find_spec('polars'):
        import polars

        frame = polars.DataFrame(columns)
        methods['polars sort'] = lambda: frame.sort(keys, maintain_order=True)
    if importlib.util.find_spec('pyarrow'):
        import pyarrow as pa
        import pyarrow.compute as pc

        table, order = pa.table(columns), [(key, 'ascending') for key in keys]
        methods['pyarrow sort_indices, take'] = lambda: table.take(pc.sort_indices(table, order))
        methods['recsort.argsort_columns, pyarrow take'] = lambda: table.take(
            pa.array(recsort.argsort_columns([table[key] for key in keys]))
        )
        if importlib.util.find_spec('duckdb'):
            import duckdb

            database = duckdb.connect()
            database.register('rows', table)
            query = f'select * from rows order by {", ".join([*keys, "row"])}'  # its sort is not stable
            methods['duckdb order by'] = lambda: database.sql(query).to_arrow_table()
    return methods


def make_rows(record, count, _):
    """Records with ties: about 100 have the same `mag`, and some of these the same `id`."""
    import numpy as np

    keys = {'float32': ['mag'], 'float32+int32': ['mag', 'id']}[record]
    dtype = np.dtype([('x', 'f4'), ('y', 'f4'), ('mag', 'f4'), ('id', 'i4'), ('row', 'u4')])
    rng, records = np.random.default_rng(count), np.zeros(count, dtype)
    records['x'], records['y'] = rng.random((2, count))
    records['mag'] = rng.integers(-count // 200, count // 200 + 1, count) / 64
    records['id'] = rng.integers(0, 64, count)
    records['row'] = np.arange(count)
    expected = records['row'][by_argsort(records, keys)]
    a, out, sorter = records.copy(), np.zeros_like(records), recsort.Sorter(dtype, keys)
    columns = {name: np.ascontiguousarray(records[name]) for name in dtype.names}
    methods = {
        'recsort.sort': lambda: recsort.sort(a, keys),
        'recsort.sort, out=': lambda: recsort.sort(a, keys, out=out),
        'recsort.Sorter.sort': lambda: sorter.sort(a),
        'recsort.argsort, take': lambda: a[recsort.argsort(a, keys)],
        'numpy argsort stable, take': lambda: a[by_argsort(a, keys)],
        'numpy lexsort, take': lambda: a[np.lexsort([a[key] for key in keys[::-1]])],
        # Without `row`, the other fields would decide ties.
        'numpy sort(order=) stable': lambda: np.sort(a, order=[*keys, 'row'], kind='stable'),
        **table_peers(columns, keys),
    }
    return Trial(
        dtype.itemsize,
        methods,
        lambda result: np.array_equal(np.asarray(result['row']), expected),
        lambda: np.copyto(a, records),
    )


# ---- Arrays in the memory of a GPU ----


def alike(one, other):
    """Whether two results are equal; each may be one tensor or several."""
    torch = importlib.import_module('torch')
    if isinstance(other, tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    return torch.equal(torch.as_tensor(one).to(other.dtype), other)


def make_indices(_, count, __):
    """float32 keys, two alike on average: the indices that sort them."""
    import cupy
    import torch

    values = torch.randint(-count // 4, count // 4, (count,), device='cuda').float() / 64
    view, own = cupy.asarray(values), recsort.DeviceSorter(values)
    narrow_index, index = (torch.empty(count, dtype=t, device='cuda') for t in (torch.int32, torch.int64))
    out, expected = torch.empty_like(values), tuple(torch.sort(values, stable=True))

    def by_sorter():
        return own.sort(values, out=out, index=narrow_index), narrow_index

    methods = {
        'recsort.DeviceSorter.sort: values, int32': by_sorter,
        'recsort.DeviceSorter.argsort: int32': lambda: own.argsort(values, out=narrow_index),
        'recsort.DeviceSorter.argsort: int32, a new tensor': lambda: own.argsort(values),
        'recsort.DeviceSorter.argsort: int64': lambda: own.argsort(values, out=index),
        'recsort.argsort: int64, a sorter each time': lambda: recsort.argsort(values),
        'torch.sort(stable=True): values, int64': lambda: tuple(torch.sort(values, stable=True)),
        'torch.argsort(stable=True): int64': lambda: torch.argsort(values, stable=True),
        'cupy.argsort: int64': lambda: torch.from_dlpack(cupy.argsort(view)),
    }
    return DeviceTrial(
        4, methods, lambda result: alike(result, expected if isinstance(result, tuple) else expected[1])
    )


def make_table(_, count, __):
    """Rows of five float32, by the last one."""
    import torch

    rows = torch.rand(count, 5, device='cuda')
    rows[:, 4] = torch.randint(0, count // 2, (count,), device='cuda').float()
    work, out, sorter = rows.clone(), torch.empty_like(rows), recsort.DeviceSorter(rows, keys=4)

    def by_torch():
        return rows.index_select(0, torch.argsort(rows[:, 4], stable=True))

    methods = {
        'recsort.DeviceSorter.sort into another tensor': lambda: sorter.sort(rows, out=out),
        'recsort.DeviceSorter.sort in place': lambda: sorter.sort(work),
        'torch: argsort of the column, index_select': by_torch,
    }
    expected = by_torch()
    return DeviceTrial(20, methods, lambda result: alike(result, expected), lambda: work.copy_(rows))


# ---- Gaussians, as gsplat renders them ----

WIDTH, HEIGHT, TILE = 1920, 1080, 16


def scene(count):
    """Gaussians before a camera; depths have ties."""
    import torch

    torch.manual_seed(count)
    z = torch.randint(512, 5120, (count,), device='cuda').float() / 256
    x, y = (torch.rand(count, device='cuda') * 2 - 1 for _ in range(2))
    means = torch.stack([x * z * WIDTH / 2000, y * z * HEIGHT / 2000, z], 1)
    quats = torch.nn.functional.normalize(torch.randn(count, 4, device='cuda'), dim=1)
    scales = torch.exp(torch.randn(count, 3, device='cuda') * 0.5 - 4)
    camera = torch.tensor([[1000.0, 0, WIDTH / 2], [0, 1000, HEIGHT / 2], [0, 0, 1]], device='cuda')
    return means, quats, scales, torch.eye(4, device='cuda')[None], camera[None]


def make_splats(_, count, __):
    """gsplat renders 1920 x 1080 pixels; recsort sorts its intersections of gaussians and tiles."""
    import torch
    from gsplat import fully_fused_projection, isect_offset_encode, isect_tiles, rasterize_to_pixels

    across, down = math.ceil(WIDTH / TILE), math.ceil(HEIGHT / TILE)
    # A key has the bits of a depth below the number of a tile and that of an image.
    bits = 32 + (across * down).bit_length() + 1
    means, quats, scales, view, camera = scene(count)
    radii, places, depths, conics, _ = fully_fused_projection(means, None, quats, scales, view, camera, WIDTH, HEIGHT)
    colors, opacities = torch.rand(1, count, 3, device='cuda'), torch.rand(1, count, device='cuda')

    def intersect(sort):
        return isect_tiles(places, radii, depths, TILE, across, down, sort=sort)[1:]

    def render(keys, ids):
        offsets = isect_offset_encode(keys, 1, across, down)
        return rasterize_to_pixels(places, conics, colors, opacities, WIDTH, HEIGHT, TILE, offsets, ids)[0]

    keys, ids = intersect(False)
    sorter = recsort.DeviceSorter(keys)

    def by_sorter(keys, ids):
        sorted_keys, sorted_ids = torch.empty_like(keys), torch.empty_like(ids)
        sorter.sort(keys, out=sorted_keys, also=[(ids, sorted_ids)], bits=(0, bits))
        return sorted_keys, sorted_ids

    expected = tuple(intersect(True))
    image = render(*expected)
    assert image.std() > 0.01 and not torch.equal(keys, expected[0])
    assert (expected[0][1:] == expected[0][:-1]).any(), 'there are no ties'
    methods = {
        'recsort.DeviceSorter.sort alone': lambda: by_sorter(keys, ids),
        'torch.sort(stable=True) alone, index_select': lambda: ids.index_select(0, torch.sort(keys, stable=True)[1]),
        'gsplat: intersections, not sorted': lambda: intersect(False) and None,
        'gsplat: intersections, sorted': lambda: tuple(intersect(True)),
        'gsplat: intersections; DeviceSorter.sort': lambda: by_sorter(*intersect(False)),
        'gsplat: image, its own sort': lambda: render(*intersect(True)),
        'gsplat: image, DeviceSorter.sort': lambda: render(*by_sorter(*intersect(False))),
    }

    def check(result):
        if result is None:
            return True
        if isinstance(result, tuple):
            return alike(result, expected)
        return alike(result, image if result.shape == image.shape else expected[1])

    return DeviceTrial(12, methods, check, count=len(keys))


# ---- Commands ----

SUITES = {'python': make_rows, 'torch': make_indices, 'rows': make_table, 'splats': make_splats}


def about():
    names = 'numpy', 'pandas', 'polars', 'pyarrow', 'duckdb', 'torch', 'cupy', 'gsplat'
    packages = packages_distributions()  # CuPy's is named after a version of CUDA
    found = {name: version(packages[name][0]) for name in names if importlib.util.find_spec(name)}
    return {'recsort': recsort.__version__, 'python': sys.version.split()[0], **found, 'load': os.getloadavg()[0]}


def main():
    trials = {}
    for line in sys.stdin:
        command, *words = line.rstrip('\n').split('\t')
        answer = {}
        try:
            if command == 'about':
                answer = about()
            elif command == 'input':
                slot, suite, record, _, count, detail = words
                made = trials[slot] = SUITES[suite](record, int(count), detail)
                answer = {'size': made.size, 'contenders': [*made.methods]}
                if made.count:
                    answer['count'] = made.count
            elif command == 'run':
                answer = trials[words[0]].measure(words[1])
            elif command == 'clear':
                trials.clear()
        except Exception as problem:  # every error is an answer
            answer = {'error': f'{type(problem).__name__}: {problem}'}
        print(json.dumps(answer), flush=True)


def start():
    if not importlib.util.find_spec('torch'):
        return main()
    import torch

    if not torch.cuda.is_available():
        return main()
    stream = torch.cuda.Stream()  # not the default one, with which other streams synchronize
    with torch.cuda.stream(stream):
        if not importlib.util.find_spec('cupy'):
            return main()
        import cupy

        with cupy.cuda.Stream.from_external(stream):
            return main()


if __name__ == '__main__':
    start()
