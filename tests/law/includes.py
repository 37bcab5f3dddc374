#!/usr/bin/env python3
"""The include law: data flows one way, and the folders show it.

Usage: includes.py SOURCE-FOLDER

The source is four slabs, and no file includes a header of a slab above its own. Within the slabs, every
#include is looked up in the table below. A folder may always include its own headers and those of the
system; the table says what else it may include. In some folders the files are in an order too.
"""
import re
import sys
from pathlib import Path

# From the ground up.
SLABS = ('core', 'plugins', 'files', 'tools')

PUBLIC = 'recsort/recsort.h'
JOB = 'recsort/job.h'
TOOLS = 'recsort/tools.h'
PARTITION = 'recsort/partition.h'
MPI = 'recsort/mpi.h'
FILE = 'recsort/file.h'
ABI = 'recsort/plugin.h'
PROGRAM = 'recsort/plugin_keys.h'
KEYS = 'recsort/key_interpreter.h'
COMPUTED = 'recsort/computed_key.h'
TEAM = 'recsort/team.h'
HASH = 'recsort/record_hash.h'
# What plugins take from the core besides: headers without an object file.
GROUND = ['base/assert.h', 'base/avx.h', 'base/bits.h', 'base/co_rank.h', 'base/load_least.h', 'base/stream_copy.h', 'base/work_size.h']

# What every kernel may include.
DEVICE_GROUND = ['base/assert.h', 'cuda/balance.cuh', 'cuda/decision.cuh', 'cuda/device.h', 'cuda/key_words.h', 'cuda/pair.cuh', 'cuda/plan.h', 'cuda/record_units.cuh',
                 'cuda/runs.cuh', 'cuda/workspace.cuh']

# folder -> the headers, or folders (ending in '/'), that it may include. A key also applies to the
# folders in it, unless they have their own key; one that ends in '/*', to each folder directly in it
# that has none. A file may have a key too.
LAW = {
    'core/include': [JOB, ABI, PROGRAM, KEYS, COMPUTED],
    'core/base': [PUBLIC, TOOLS, TEAM, 'base/platform/'],
    'core/base/platform': ['base/assert.h', 'base/platform/'],
    'core/schema': [PUBLIC, TOOLS, 'base/'],
    'core/layout': [PUBLIC, TOOLS, 'base/', 'schema/'],
    'core/plan': [PUBLIC, ABI, COMPUTED, 'base/', 'layout/'],
    'core/key': [PUBLIC, ABI, KEYS, TEAM, 'base/', 'plan/'],
    'core/plugin': [PUBLIC, TOOLS, ABI, TEAM, 'base/'],
    'core/permute': [PUBLIC, TEAM, 'base/'],
    'core': [PUBLIC, TOOLS, PARTITION, ABI, HASH, 'base/', 'schema/', 'layout/', 'plan/', 'key/', 'plugin/', 'permute/'],
    'plugins': ['plugin/builtin.h', 'cpu/cpu_plugin.h'],
    'plugins/runs': [ABI, TEAM, 'plugin/builtin.h', *GROUND],
    'plugins/cpu': [ABI, TEAM, 'base/platform/clock.h', 'plugin/builtin.h', *GROUND, 'runs/kernels.h', 'runs/merge.h', 'runs/pair.h'],
    'plugins/gpu': [ABI, PROGRAM, KEYS, TEAM, HASH, *GROUND, 'runs/merge.h'],
    'plugins/cuda': [ABI, KEYS, TEAM, HASH, *GROUND, 'gpu/', 'cuda/sort/sample/sample.h', 'cuda/merge/merge.h'],
    'plugins/cuda/recsort.cuh': ['cuda/'],
    'plugins/cuda/call': ['cuda/', 'gpu/records.h', PROGRAM],
    'plugins/cuda/head': DEVICE_GROUND + ['cuda/pairs/pairs.cuh', 'cuda/records/offsets.cuh', 'cuda/records/reading.cuh', 'gpu/device_head.h'],
    'plugins/cuda/tally.cuh': [JOB],
    'plugins/cuda/pairs': DEVICE_GROUND + [KEYS, 'gpu/device_pairs.h'],
    'plugins/cuda/pairs/settle_few.cuh': ['cuda/tally.cuh'],
    'plugins/cuda/pairs/few.cuh': ['cuda/sort/sample/block/ranks.cuh'],
    'plugins/cuda/records': DEVICE_GROUND + [JOB, KEYS, HASH, 'cuda/tally.cuh', 'gpu/'],
    'plugins/cuda/segments': DEVICE_GROUND + ['cuda/records/offsets.cuh', 'cuda/records/reading.cuh', 'gpu/device_segments.h', 'gpu/records.h'],
    'plugins/cuda/segments/segment_order.cuh': ['cuda/sort/sample/block/'],
    'plugins/cuda/sort': DEVICE_GROUND,
    'plugins/cuda/sort/sample': ['base/assert.h', 'gpu/device_sort.h', 'cuda/device.h', 'cuda/pair.cuh', 'cuda/plan.h'],
    'plugins/cuda/sort/sample/block': ['cuda/device.h', 'cuda/pair.cuh', 'cuda/sort/sample/plan.h'],
    'plugins/cuda/sort/sample/agent': DEVICE_GROUND + ['cuda/sort/sample/plan.h', 'cuda/sort/sample/merge_plan.h',
                                                       'cuda/sort/sample/block/'],
    # mixed.cuh chooses among what other chapters sort, too; these headers only declare it
    'plugins/cuda/sort/sample/dispatch': ['cuda/device.h', 'cuda/sort/sample/', 'cuda/sort/carry/pair_sorts.cuh', 'cuda/merge/pair_sort.cuh'],
    'plugins/cuda/sort/sample/dispatch/sample_sort.cu': ['cuda/algorithms.h'],
    'plugins/cuda/sort/carry': DEVICE_GROUND + ['cuda/pairs/pairs.cuh', 'cuda/records/offsets.cuh', 'cuda/sort/sample/block/shares.cuh'],
    # a folder of sorts
    'plugins/cuda/sort/*': DEVICE_GROUND + ['cuda/algorithms.h', 'gpu/device_sort.h'],
    'plugins/cuda/merge': DEVICE_GROUND + ['cuda/algorithms.h', 'cuda/sort/sample/sample.h', 'cuda/sort/sample/merge_plan.h',
                                           'cuda/sort/sample/dispatch/', 'gpu/device_merge.h', 'gpu/device_shards.h', 'gpu/device_sort.h'],
    'files': [PUBLIC, FILE],
    'files/include': [PUBLIC],
    'tools': [PUBLIC, TOOLS, FILE, 'support/', 'files/available.h', 'files/task.h'],
    'tools/bench': [PUBLIC, TOOLS],
    'tools/bench/gpu': [PUBLIC],
    'tools/bench/mpi': [PUBLIC, MPI],
    'tools/recsort/page': [PUBLIC, 'support/', 'recsort/options.h'],
    'tools/recschema': [PUBLIC, TOOLS, 'support/', 'recschema/dwarf/'],
    'tools/recschema/dwarf': [PUBLIC, 'support/'],
    'tools/mpi': [PUBLIC, PARTITION, MPI, 'files/checksum.h'],
    'tools/recsort-mpi': [PUBLIC, FILE, MPI, 'files/checksum.h', 'mpi/rounds.h', 'mpi/votes.h', 'support/', 'recsort/cli_job.h', 'recsort/folders.h', 'recsort/names.h',
                          'files/store.h'],
    'tools/support': [PUBLIC, TOOLS, 'files/available.h', 'files/input.h', 'files/replace.h', 'files/store.h', 'files/task.h', 'files/temporary.h'],
    'core/include/recsort/recsort.hpp': [PUBLIC, TOOLS],
}

# Folders whose files are in an order, that of the steps of a sort: a file may include only those above it.
IN_ORDER = {
    'plugins/cuda/sort/sample/agent': [
        'policy.cuh', 'args.cuh', 'load.cuh', 'bucket_tiles.cuh',
        'tile_bins.cuh', 'overfull_bins.cuh', 'tile_sort.cuh',  # how a block sorts a tile
        'splitters.cuh', 'bucket_lookup.cuh', 'scatter.cuh', 'overflow.cuh', 'sort_padded.cuh',  # many
        'small_ranks.cuh',  # few pairs
        'order_flags.cuh', 'detect_order.cuh', 'drop_merge.cuh',  # pairs in order, or nearly
        'merge_pieces.cuh',  # sorted runs
    ],
    'plugins/cuda/sort/carry': [
        'plan.h', 'elements.cuh', 'certificate.cuh', 'runs.cuh', 'lookup.cuh', 'block_sort.cuh', 'split.cuh',
        'segments.cuh', 'sections.cuh', 'splitters.cuh', 'sort_parts.cuh', 'keys_only.cuh', 'carry_sort.cuh', 'pair_sorts.cuh', 'pair_sort.cuh', 'device_carry.cu',
        'keys_32.cu', 'keys_64.cu', 'keys_128.cu',
    ],
}

# system header, the folders where it may be included, and in how many files (0: any number).
SYSTEM = [
    (re.compile(r'yaml\.h$'), 'core/schema', 1),
    (re.compile(r'mpi\.h$'), 'tools', 0),
    (re.compile(r'dlfcn\.h$'), 'core/base/platform', 1),
    (re.compile(r'elfutils/|dwarf\.h$'), 'tools/recschema/dwarf', 0),
    (re.compile(r'cuda|cub/|cooperative_groups'), 'plugins/cuda tools/bench/gpu', 0),
]

# The library and its CPU plugin are C11; what differs between systems is in one folder. The public headers
# that say how Windows exports a function are the only others that may ask for the system.
PORTABLE = ('core', 'plugins/runs', 'plugins/cpu')
PLATFORM = 'core/base/platform'
EXPORTS = {'core/include/recsort/recsort.h', 'core/include/recsort/plugin.h'}
STANDARD = re.compile(r'(assert|errno|float|limits|locale|math|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|'
                      r'stdio|stdlib|string|[ei]mmintrin|avx2?intrin)\.h$|[a-z_]+$')
SYSTEM_MACRO = re.compile(r'\b(_WIN(32|64)|__MINGW\w+|__(linux|unix|APPLE)__|_(GNU|DEFAULT|POSIX_C|XOPEN)_SOURCE)\b')

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCES = {'.c', '.inc', '.h', '.cpp', '.hpp', '.cu', '.cuh'}


def sources(root):
    for top in SLABS:
        for path in sorted((root / top).rglob('*')):
            if path.suffix in SOURCES:
                yield path


def rises(root, name, header):
    """True for a header of a slab above the file's, whatever the table says."""
    level = SLABS.index(name.parts[0]) + 1

    def is_in(folders):
        return any((root / folder / header).is_file() for folder in folders)
    return is_in(SLABS[level:]) and not is_in(('core/include', *SLABS[:level]))


def law_of(folder):
    """The entry for the nearest folder that has one."""
    for parent in (folder, *folder.parents):
        for key in (parent.as_posix(), f'{parent.parent.as_posix()}/*'):
            if key in LAW:
                return LAW[key]
    return None


def is_own(folder, header):
    """True for a header of the folder itself: "x.h", or "folder/x.h". A name that begins with recsort/
    is a public header, even in the folder of the tool recsort."""
    parent = Path(header).parent
    if header.startswith('recsort/'):
        return False
    return parent == Path('.') or parent == Path(*folder.parts[1:])


def is_above(name, header):
    """False for a header that comes after the file, or if one of them has no place, in a folder in order."""
    order, header = IN_ORDER.get(name.parent.as_posix()), Path(header).name
    if order is None:
        return True
    return name.name in order and header in order and order.index(header) < order.index(name.name)


def allows(name, header):
    folder = name.parent
    law = LAW.get(name.as_posix()) or law_of(folder)
    if law is None or '..' in Path(header).parts:
        return False
    if is_own(folder, header):
        return is_above(name, header)
    return any(header.startswith(one) if one.endswith('/') else header == one for one in law)


def unportable(name, text):
    """What a file of the library uses that not every system has."""
    if name.is_relative_to(PLATFORM) or not any(name.is_relative_to(folder) for folder in PORTABLE):
        return
    for bracket, header in INCLUDE.findall(text):
        known = header.startswith('recsort/') or any(pattern.search(header) for pattern, _, _ in SYSTEM)
        if bracket == '<' and not known and not STANDARD.match(header):
            yield f'{name}: <{header}> is for {PLATFORM} only'
    if name.as_posix() not in EXPORTS:
        for found in SYSTEM_MACRO.finditer(text):
            yield f'{name}: {found[0]} is for {PLATFORM} only'


def check(root):
    """The violations, one line each, and the number of files that were checked."""
    violations, users, count = [], {}, 0
    for path in sources(root):
        count += 1
        name = path.relative_to(root)
        text = path.read_text()
        for bracket, header in INCLUDE.findall(text):
            ours = bracket == '"' or header.startswith('recsort/')
            if ours and (rises(root, name, header) or not allows(name, header)):
                violations.append(f'{name}: must not include "{header}"')
            for number, (pattern, folders, most) in enumerate(SYSTEM):
                if ours or not pattern.search(header):
                    continue
                if not any(map(name.is_relative_to, folders.split())):
                    violations.append(f'{name}: <{header}> is for {folders} only')
                    continue
                users.setdefault(number, set()).add(name)
                if most and len(users[number]) > most:
                    violations.append(f'{name}: <{header}> is included in another file already')
        violations += unportable(name, text)
    return violations, count


def main():
    violations, count = check(Path(sys.argv[1]))
    for line in violations:
        print(line)
    print(f'{count} files, {len(violations)} violations')
    return 1 if violations or count == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
