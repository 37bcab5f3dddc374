#!/usr/bin/env python3
"""gsplat with recsort.cuh: pairs of its intersections of gaussians and tiles, sorted by CUB as it does, and by sort_pairs.

Usage: gsplat.py build FOLDER RECSORT-CUH-FOLDER [ARCHITECTURE]   needs nvcc, g++, torch and pip's index, but no GPU
       gsplat.py run FOLDER [ROUNDS]                              needs a GPU, the same torch and Python; writes a table

`build` installs gsplat 1.5.3 in FOLDER, patches its sources and compiles them. PATCHES below is all that changes: gsplat's
function that calls cub::DeviceRadixSort::SortPairs calls recsort::sort_pairs if a variable says so. Both get the same
unsorted arrays and the same arrays for the result. CUB compares the bits that a key can have set, about 46 of 64.
recsort compares all bits, or those of CUB.

`run` renders scenes by each sort, and fails unless keys, values, colours and alphas have the same bits. Then it times

  the sort   gsplat's function alone, with arrays that it may overwrite. The device waits until the host has started the
             sort, so the time is that of the device
  the image  a call of gsplat.rasterization, until the host has waited for it

and cells are medians of rounds in which the sorts take turns. MB are those that a sort allocates besides its arrays. The
scenes of gaussians are our own. If FOLDER has assets/test_garden.npz, which is in gsplat's repository, `run` also
renders that, as gsplat's profiling/main.py does.
"""
import importlib.util
import itertools
import re
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

VERSION = '1.5.3'
# What gsplat imports besides torch and numpy.
PACKAGES = (f'gsplat=={VERSION}', 'jaxtyping', 'wadler-lindig', 'rich', 'markdown-it-py', 'mdurl', 'pygments')
SORT = '''
    if (sort_choice != 0) {
        const unsigned bits = sort_choice == 1 ? 0 : 32 + tile_n_bits + image_n_bits;
        CUB_WRAPPER(
            recsort::sort_pairs,
            reinterpret_cast<const uint64_t *>(d_keys.Current()),
            reinterpret_cast<uint64_t *>(d_keys.Alternate()),
            d_values.Current(),
            d_values.Alternate(),
            n_isects,
            at::cuda::getCurrentCUDAStream(),
            0,
            bits
        );
        return;
    }
'''
BINDINGS = '''
    m.def("choose_sort", [](int choice) { gsplat::sort_choice = choice; });
    m.def("radix_sort_double_buffer", &gsplat::radix_sort_double_buffer);
'''
# A file, a line of it, and what comes in front of the line.
PATCHES = (
    ('csrc/IntersectTile.cu', 'namespace gsplat {\n', '#include "recsort.cuh"\n'),
    ('csrc/IntersectTile.cu', 'void radix_sort_double_buffer(\n', 'int sort_choice = 0;\n'),
    ('csrc/IntersectTile.cu', '    CUB_WRAPPER(\n        cub::DeviceRadixSort::SortPairs,\n', SORT),
    ('csrc/Intersect.h', 'void radix_sort_double_buffer(\n', 'extern int sort_choice; // 0: CUB, 1, 2: recsort\n'),
    ('ext.cpp', '    m.def("intersect_tile", &gsplat::intersect_tile);\n', BINDINGS),
    ('ext.cpp', '#include "Ops.h"\n', '#include "Intersect.h"\n'),
)
GARDEN = 'assets/test_garden.npz'
WIDTH, HEIGHT, FOCUS = 1920, 1080, 1000.0
PAUSE = 4_000_000  # cycles of the device, about two milliseconds, in which the host starts a sort
SORTS = ('CUB', 'recsort, all bits', 'recsort, the bits of CUB')


def patch(cuda):
    for name, line, text in PATCHES:
        file = cuda / name
        before, after = file.read_text().split(line)  # fails unless the line is there once
        file.write_text(before + text + line + after)


def compile_all(cuda, recsort, architecture, library):
    torch = Path(importlib.util.find_spec('torch').submodule_search_locations[0])
    root = Path(shutil.which('nvcc')).resolve().parents[1]
    includes = [f'-I{path}' for path in (cuda / 'include', cuda / 'csrc', recsort)]
    includes += [word for path in (cuda / 'csrc/third_party/glm', torch / 'include', torch / 'include/torch/csrc/api/include',
                                   root / 'include', sysconfig.get_path('include')) for word in ('-isystem', path)]
    both = ['-O3', '-std=c++17', '-DTORCH_EXTENSION_NAME=csrc', '-DTORCH_API_INCLUDE_EXTENSION_H', *includes]
    # The flags of gsplat and of torch.utils.cpp_extension.
    without = ('HALF_OPERATORS', 'HALF_CONVERSIONS', 'BFLOAT16_CONVERSIONS', 'HALF2_OPERATORS')
    device = ['-use_fast_math', '--expt-relaxed-constexpr', f'-arch={architecture}', '-Xcompiler', '-fPIC',
              *(f'-D__CUDA_NO_{what}__' for what in without)]
    # With ccache, another recsort.cuh in the same FOLDER takes the time of one source.
    objects, cache = [], ['ccache'] if shutil.which('ccache') else []
    for source in sorted([*cuda.glob('ext.cpp'), *cuda.glob('csrc/*.cpp'), *cuda.glob('csrc/*.cu')]):
        objects.append(source.with_suffix(source.suffix + '.o'))
        start = time.monotonic()
        compiler = ['nvcc', *device] if source.suffix == '.cu' else ['g++', '-fPIC', '-Wno-attributes']
        subprocess.run([*cache, *compiler, *both, '-c', source, '-o', objects[-1]], check=True)
        print(f'{source.name}: {time.monotonic() - start:.0f} s', flush=True)
    libraries = ('c10', 'c10_cuda', 'torch_cpu', 'torch_cuda', 'torch', 'torch_python', 'cudart')
    subprocess.run(['g++', '-shared', '-s', *objects, f'-L{torch / "lib"}', f'-L{root / "lib64"}',
                    *(f'-l{name}' for name in libraries), '-o', library], check=True)


def build(folder, recsort, architecture='sm_90'):
    shutil.rmtree(folder, ignore_errors=True)
    install = [sys.executable, '-m', 'pip', 'install', '-q', '--no-deps', '--no-compile', '--target', folder]
    subprocess.run([*install, *PACKAGES], check=True)
    cuda = folder.resolve() / 'gsplat/cuda'
    patch(cuda)
    compile_all(cuda, Path(recsort).resolve(), architecture, cuda.parent / 'csrc.so')
    for path in ('csrc', 'include'):
        shutil.rmtree(cuda / path)
    (cuda / 'ext.cpp.o').unlink()


def scene(count, even):
    """Arguments of gsplat.rasterization: gaussians before a camera, evenly, or three quarters of them around 64 places. One
    in 16 has the mean of another one, as training clones gaussians: their depths tie."""
    import torch

    torch.manual_seed(count)
    depths = 2 + 18 * torch.rand(count, 1, device='cuda')
    places = torch.rand(count, 2, device='cuda') * 2 - 1
    if not even:
        few = count * 3 // 4
        centres = torch.rand(64, 2, device='cuda') * 2 - 1
        places[:few] = centres[torch.randint(64, (few,), device='cuda')] + torch.randn(few, 2, device='cuda') / 20
    extent = torch.tensor([[WIDTH / 2, HEIGHT / 2]], device='cuda')
    means = torch.cat([places * depths * extent / FOCUS, depths], 1)[torch.randperm(count, device='cuda')]
    means[count - count // 16:] = means[:count // 16]
    quats = torch.nn.functional.normalize(torch.randn(count, 4, device='cuda'), dim=1)
    scales = torch.exp(torch.randn(count, 3, device='cuda') / 2 - 4)
    colors, opacities = torch.rand(count, 3, device='cuda'), torch.rand(count, device='cuda')
    camera = torch.tensor([[[FOCUS, 0, WIDTH / 2], [0, FOCUS, HEIGHT / 2], [0, 0, 1]]], device='cuda')
    return means, quats, scales, opacities, colors, torch.eye(4, device='cuda')[None], camera, WIDTH, HEIGHT


def own_scenes():
    for name, even in (('even', True), ('clusters', False)):
        few = 1 << 17
        each = len(Client(scene(few, even)).keys) / few
        for millions in (1, 4, 16):
            yield name, Client(scene(round(millions * 1e6 / each), even))


def garden(file):
    """The scene that gsplat's profiling/main.py renders, in the same way: a garden, and a grid of copies of it."""
    import torch
    from gsplat._helper import load_test_data

    for copies, across, down in ((1, 1280, 720), (5, 1920, 1080), (9, 3840, 2160)):
        torch.manual_seed(copies)
        *gaussians, views, cameras, width, height = load_test_data(file, scene_grid=copies)
        camera = cameras[:1] * torch.tensor([[across / width], [down / height], [1]], device='cuda')
        yield (f'garden, {across} x {down}',
               Client((*gaussians, views[:1], camera, across, down), near_plane=0.01, far_plane=100.0, radius_clip=3.0))


def same(ours, theirs):
    """Whether tensors have the same bits."""
    import torch

    return all(torch.equal(one.view(torch.uint8), other.view(torch.uint8)) for one, other in zip(ours, theirs, strict=True))


class Client:
    """A scene, and gsplat's work on it by a sort that is chosen."""

    def __init__(self, arguments, **options):
        import gsplat
        from gsplat import csrc

        self.gsplat, self.csrc, self.arguments, self.options = gsplat, csrc, arguments, options
        meta = self.render(0)[2]
        shape = [meta[name] for name in ('means2d', 'radii', 'depths', 'tile_size', 'tile_width', 'tile_height')]
        self.keys, self.values = gsplat.isect_tiles(*shape, sort=False, packed=True, n_images=1, image_ids=meta['camera_ids'],
                                                    gaussian_ids=meta['gaussian_ids'])[1:]
        self.tile_bits = (meta['tile_width'] * meta['tile_height']).bit_length()
        self.key_bits = 32 + self.tile_bits + 1  # of the depth, the tile, the image

    def render(self, choice):
        self.csrc.choose_sort(choice)
        return self.gsplat.rasterization(*self.arguments, **self.options)

    def time_image(self, choice):
        import torch

        torch.cuda.synchronize()
        start = time.perf_counter()
        self.render(choice)
        torch.cuda.synchronize()
        return 1000 * (time.perf_counter() - start)

    def sort(self, choice):
        """Milliseconds of the device; bytes that the sort allocated; sorted keys and values."""
        import torch

        self.csrc.choose_sort(choice)
        given = self.keys.clone(), self.values.clone()
        found = torch.empty_like(self.keys), torch.empty_like(self.values)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        torch.cuda._sleep(PAUSE)
        begin.record()
        self.csrc.radix_sort_double_buffer(len(self.keys), 1, self.tile_bits, *given, *found)
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end), torch.cuda.max_memory_allocated() - before, found

    def check(self):
        """The number of keys that equal the one before; fails unless all sorts and images are the same."""
        import torch

        keys, order = torch.sort(self.keys, stable=True)
        expected, image = (keys, self.values[order]), self.render(0)
        assert image[0].std() > 0.01 and not torch.equal(keys, self.keys), 'the scene is empty'
        for choice, name in enumerate(SORTS):
            assert same(self.sort(choice)[2], expected), f'wrong order: {name}'
            found = self.render(choice)
            assert same((found[2]['isect_ids'], found[2]['flatten_ids']), expected), f'wrong intersections: {name}'
            assert same(found[:2], image[:2]), f'another image: {name}'
        return int((keys[1:] == keys[:-1]).sum())


def medians(measure, rounds):
    """The medians of measure(choice), whose turns rotate."""
    found = [[] for _ in SORTS]
    for number in range(rounds + 2):
        for turn in range(len(SORTS)):
            choice = (number + turn) % len(SORTS)
            value = measure(choice)
            if number >= 2:  # before, the device and the allocator warm up
                found[choice].append(value)
    return [statistics.median(values) for values in found]


def run(folder, rounds):
    sys.path.insert(0, str(folder.resolve()))  # before the folder of this file, which is no gsplat to import
    import gsplat
    import torch

    print(f'gsplat {gsplat.__version__}, torch {torch.__version__}, {torch.cuda.get_device_name()}; medians of {rounds} '
          'rounds, milliseconds\n')
    columns = ('gaussians', 'intersections', 'ties', 'bits', *(f'sort: {name}' for name in SORTS), 'CUB / better recsort',
               'MB: CUB', 'MB: recsort', *(f'image: {name}' for name in SORTS))
    print(f'| scene | {" | ".join(columns)} |\n| --- |' + ' ---: |' * len(columns))
    scenes = [own_scenes()]
    if (folder / GARDEN).exists():
        scenes.append(garden(folder / GARDEN))
    with torch.no_grad():
        for name, client in itertools.chain.from_iterable(scenes):
            ties = client.check()
            sorts = medians(lambda choice: client.sort(choice)[0], rounds)
            images = medians(client.time_image, rounds)
            row = [name, f'{len(client.arguments[0]):,}', f'{len(client.keys):,}', f'{ties:,}', client.key_bits,
                   *(f'{ms:.3f}' for ms in sorts), f'{sorts[0] / min(sorts[1:]):.2f}',
                   *(f'{client.sort(choice)[1] / 1e6:.0f}' for choice in (0, 1)), *(f'{ms:.2f}' for ms in images)]
            print('| ' + ' | '.join(map(str, row)) + ' |', flush=True)
    print('\nAll sorts gave the same keys, values, colours and alphas, bit for bit.')


if __name__ == '__main__':
    if sys.argv[1] == 'build':
        build(Path(sys.argv[2]), *sys.argv[3:])
    else:
        run(Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 31)
