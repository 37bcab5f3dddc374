#!/usr/bin/env python3
"""Sorts by way of temporary files that are killed, that have too little space, or whose folders go.

Usage: files_faults.py BUILD FOLDER PART [NUMBER]    BUILD: a Release; FOLDER: on a disk, with 300 MiB of space

The PARTs, each of which prints a part of the result:
  head            the commit, the machine, the date
  kills [COUNT]   signals at random instants
  space           file systems with too little space, limits on the size of files, quotas. Needs root
  folders         temporary folders that go, that fail, or that refuse. Needs root

After each sort the output must be the old file or the new one, complete, the inputs must be as they were, no folder
may have a name that it did not have before, and no process may be left. Where recsort could end by itself, exit
status 0 means the new file, and 2 the old one and one line.
"""
import collections
import contextlib
import fcntl
import os
import platform
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
SCHEMA = HERE / 'schemas/entity.yaml'
RECORDS, SIZE = 150000, 20 * 150000
MEMORY = '600K'  # so little that runs, groups and merges come
PHASES = {'reading': 'runs', 'merging groups': 'groups', 'merging': 'merge'}


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, **more)


class Place:
    """The inputs, and folders for the output and for temporary files, with all that must not change."""

    def __init__(self, tools, folder):
        self.recsort = Path(tools) / 'recsort'
        self.folder = folder
        self.out, self.temporary = folder / 'out', [folder / 'temporary-1', folder / 'temporary-2']
        for name in [self.out, *self.temporary]:
            name.mkdir(parents=True)
        for name, seed, count in (('a', 1, RECORDS), ('b', 2, RECORDS // 3), ('few', 3, 1000)):
            run(Path(tools) / 'recgen', '-s', SCHEMA, '-n', count, '--seed', seed, '-o', folder / name)
            run(self.recsort, '-s', SCHEMA, folder / name, '-o', folder / f'{name}.sorted')
        self.data = {}
        for name in ('a', 'b', 'few', 'a.sorted', 'b.sorted'):
            self.data[name] = (folder / name).read_bytes()
        self.news = {}
        self.watched = [self.out, *self.temporary]

    def new(self, options, inputs):
        """What a sort in memory makes of the inputs."""
        key = (*options, *inputs)
        if key not in self.news:
            self.news[key] = run(self.recsort, '-s', SCHEMA, *options, *[self.folder / name for name in inputs],
                                 stdout=subprocess.PIPE).stdout
        return self.news[key]

    def names(self, expected):
        """Names in the folders besides the expected one."""
        return sorted(path for folder in self.watched for path in folder.iterdir()
                      if path != expected and path.name != 'lost+found')

    def inputs_stay(self):
        return all((self.folder / name).read_bytes() == data for name, data in self.data.items())


def processes(folder):
    """Processes with the folder's name in their arguments, besides this one."""
    found = []
    for entry in Path('/proc').iterdir():
        try:
            if entry.name.isdigit() and int(entry.name) not in (os.getpid(), os.getppid()) and \
                    str(folder).encode() in (entry / 'cmdline').read_bytes():
                found.append(entry.name)
        except OSError:
            pass
    return found


def outcome(path, old, new):
    data = path.read_bytes() if path.exists() else None
    return 'new' if data == new else 'old' if data == old else 'torn'


# ---- Kills ----

# name, options, inputs, output: an input, or a file that exists, that does not exist, or a pipe
JOBS = [
    ('in place', [], ['a'], 'place'),
    ('onto a file', [], ['a'], 'exists'),
    ('a new file', [], ['a'], 'new'),
    ('several inputs', [], ['a', 'few', 'b'], 'exists'),
    ('several, onto one', [], ['b', 'a'], 'place'),
    ('--unique', ['--unique'], ['a'], 'exists'),
    ('--index', ['--index'], ['a'], 'exists'),
    ('--head', ['--head', '100000'], ['a'], 'place'),
    ('--merge', ['--merge'], ['a.sorted', 'b.sorted'] * 40, 'exists'),
    ('from a pipe', [], ['a'], 'pipe in'),
    ('to a pipe', [], ['a'], 'pipe out'),
]


class Job:
    def __init__(self, place, job, wide):
        self.place, self.wide = place, wide
        self.name, self.options, self.inputs, self.kind = job
        self.new = place.new(self.options, self.inputs)
        self.path = place.out / 'file'
        self.old = {'place': place.data[self.inputs[-1]], 'new': None}.get(self.kind, b'the old file')

    def command(self):
        place = self.place
        names = [str(place.folder / name) for name in self.inputs]
        if self.kind == 'place':
            names[-1] = str(self.path)
        folders = [word for folder in place.temporary for word in ('-T', str(folder))] if self.wide else []
        command = [str(place.recsort), '-s', str(SCHEMA), '--threads', '2', '-S', MEMORY, '--progress=always',
                   *folders, *self.options]
        if self.kind == 'pipe in':
            names = []
        return command + names + ([] if self.kind == 'pipe out' else ['-o', str(self.path)])

    def restore(self):
        for path in self.place.names(None):
            path.unlink()
        if self.old is not None and self.kind != 'pipe out':
            self.path.write_bytes(self.old)

    def start(self):
        self.restore()
        self.said = open(self.place.folder / 'said', 'w+b')
        self.taken = open(self.place.folder / 'taken', 'w+b')
        source = open(self.place.folder / self.inputs[0], 'rb')
        self.feeder = self.eater = None
        if self.kind == 'pipe in':
            self.feeder = subprocess.Popen(['cat'], stdin=source, stdout=subprocess.PIPE)
        self.sort = subprocess.Popen(self.command(), stderr=self.said,
                                     stdin=self.feeder.stdout if self.feeder else subprocess.DEVNULL,
                                     stdout=subprocess.PIPE if self.kind == 'pipe out' else subprocess.DEVNULL)
        if self.kind == 'pipe out':
            self.eater = subprocess.Popen(['cat'], stdin=self.sort.stdout, stdout=self.taken)
        for pipe in (self.feeder and self.feeder.stdout, self.sort.stdout):
            if pipe:
                pipe.close()
        source.close()

    def wait(self):
        self.sort.wait()
        for other in (self.feeder, self.eater):
            if other:
                other.wait()

    def phase(self):
        """The last stage that was shown."""
        self.said.seek(0)
        stages = re.findall(rb'recsort: ([a-z ]+?) *(?:\[|$|\r)', self.said.read())
        ended = self.sort.returncode == 0
        return 'ended' if ended else PHASES.get(stages[-1].decode(), stages[-1].decode()) if stages else 'start'

    def outcome(self):
        if self.kind != 'pipe out':
            return outcome(self.path, self.old, self.new)
        self.taken.seek(0)
        data = self.taken.read()  # what has been written is the beginning
        return 'new' if data == self.new else 'old' if self.new.startswith(data) else 'torn'


def time_whole(job):
    seconds = []
    for _ in range(3):
        start = time.monotonic()
        job.start()
        job.wait()
        seconds.append(time.monotonic() - start)
        if job.sort.returncode != 0 or job.outcome() != 'new':
            sys.exit(f'{job.name}: a whole run is wrong')
    return sorted(seconds)[1]


def kills(place, count):
    """Half of the instants lie anywhere in the sort, half near the one where the output changes."""
    draw = random.Random(20261128)
    jobs = [Job(place, job, wide) for job in JOBS for wide in (False, True)]
    whole = [time_whole(job) for job in jobs]
    turn = list(whole)
    table, faults = collections.defaultdict(collections.Counter), collections.Counter()
    for i in range(count):
        number = draw.choice([signal.SIGKILL] * 5 + [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
        which = i % len(jobs)
        job, close = jobs[which], draw.random() < 0.5
        delay = turn[which] * draw.gauss(1, 0.08) if close else whole[which] * draw.uniform(0, 1.1)
        start = time.monotonic()
        job.start()
        time.sleep(max(0, delay - (time.monotonic() - start)))
        job.sort.send_signal(number)
        job.wait()
        found, phase = job.outcome(), job.phase()
        if close:
            turn[which] *= 1.04 if found == 'old' else 1 / 1.04
        left = job.place.names(job.path)
        row = table[number.name, phase]
        row[found] += 1
        row['named'] += len(left)
        faults['torn'] += found == 'torn'
        faults['inputs changed'] += not place.inputs_stay()
        faults['processes left'] += len(processes(place.folder))
        faults['status 0 without the new file'] += job.sort.returncode == 0 and found != 'new'
        faults['other status'] += job.sort.returncode not in (0, -number, 128 + number)
        faults['names left by a signal that can be caught'] += len(left) if number != signal.SIGKILL else 0
        faults['names in a temporary folder'] += sum(path.parent != place.out for path in left)
        if left:  # the next sort to this output removes it
            if job.kind == 'pipe out':
                continue
            run(*job.command(), stderr=subprocess.DEVNULL,
                stdin=open(place.folder / job.inputs[0], 'rb') if job.kind == 'pipe in' else None)
            faults['names that the next sort leaves'] += len(place.names(job.path))
    job.restore()
    print(f'{count} signals at random instants of {len(jobs)} sorts by way of temporary files: '
          + ', '.join(job[0] for job in JOBS) + '; each with the output\'s folder and with two others.')
    print('"named": the output\'s next file had its name already, which the next sort to it removes.\n')
    print('| signal | phase | old | new | torn | named |')
    print('| --- | --- |' + ' ---: |' * 4)
    for (name, phase), row in sorted(table.items()):
        print(f'| {name} | {phase} | ' + ' | '.join(str(row[word]) for word in ('old', 'new', 'torn', 'named')) + ' |')
    print('\n' + ', '.join(f'{name}: {number}' for name, number in faults.items()) + '\n')


# ---- Space ----

EXT4, TMPFS = 'ext4', 'tmpfs'


class Disk:
    """A file system of 48 MiB, of which a file that fills it leaves as much as is wanted."""

    def __init__(self, kind, folder, *options):
        self.kind, self.folder, self.filler = kind, folder, folder / 'lost+found' / 'filler'
        folder.mkdir(exist_ok=True)
        if kind == TMPFS:
            run('mount', '-t', 'tmpfs', '-o', 'size=48m,mode=755', 'tmpfs', folder)
            self.filler.parent.mkdir()
        else:
            image = Path(f'{folder}.image')
            with open(image, 'wb') as file:
                file.truncate(48 << 20)
            run('mkfs.ext4', '-q', '-m', '0', '-b', '4096', *options, image)
            run('mount', '-o', 'loop', image, folder)
            image.unlink()

    def free(self):
        disk = os.statvfs(self.folder)
        return disk.f_bavail * disk.f_frsize

    def leave(self, size):
        """Leaves at most so much, less than a few blocks less; says how much."""
        self.filler.unlink(missing_ok=True)
        with open(self.filler, 'wb') as file:
            end = max(0, self.free() - size)
            while self.free() > size:
                with contextlib.suppress(OSError):  # the tree that says where the file is takes blocks, too
                    os.posix_fallocate(file.fileno(), 0, end)
                end += 4096
                if end > 48 << 20:
                    break
        return self.free()

    def close(self):
        run('umount', '-l', self.folder)


USER = 65534  # nobody


class Trial:
    """Sorts that may fail."""

    def __init__(self, place):
        self.place, self.faults, self.said = place, collections.Counter(), ''

    def run(self, path, old, new, options, data=None, before=(), **more):
        """True if it sorted."""
        place = self.place
        names = place.names(path)
        command = [*before, place.recsort, '-s', SCHEMA, '--threads', '2', '-S', MEMORY, *options, '-o', path]
        done = subprocess.run([str(word) for word in command], input=data, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=300, **more)
        return self.judge(done.returncode, done.stderr.decode(), outcome(path, old, new), place.names(path) != names)

    def judge(self, status, said, found, left):
        self.said = said.strip()
        self.faults.update({
            'torn': found == 'torn',
            'status 0 without the new file': status == 0 and found != 'new',
            'status 2 with the new file': status == 2 and found != 'old',
            'other status': status not in (0, 2),
            'not one line': status == 2 and not (said.startswith('recsort: ') and said.count('\n') == 1),
            'names left': left,
            'inputs changed': not self.place.inputs_stay()})
        return found == 'new'

    def report(self):
        print('\n' + ', '.join(f'{name}: {number}' for name, number in self.faults.items()) + '\n')


SPACE = re.compile('No space left|no room|not enough space|[Qq]uota exceeded|File too large')


def space_jobs(place, disk):
    """name, options, the output's folder, inputs, whether they come through a pipe"""
    small, large = ['-T', disk.folder], ['-T', place.out]
    for name, options, inputs in (('sort', [], ['a']), ('--index', ['--index'], ['a']),
                                  ('two inputs', [], ['a', 'b'])):
        yield f'{name}: temporary files', [*options, *small], place.out, inputs, False
        yield f'{name}: output', [*options, *large], disk.folder, inputs, False
        yield f'{name}: both', options, disk.folder, inputs, False
        yield f'{name}: one of two folders', [*options, *small, *large], place.out, inputs, False
    yield 'in place: both', [], disk.folder, None, False
    yield 'in place: output', large, disk.folder, None, False
    yield 'a pipe: temporary files', small, place.out, ['a'], True
    yield 'a pipe: both', [], disk.folder, ['a'], True


def try_spaces(trial, disk):
    """Each sort with each amount of space, in eighths of the input."""
    place = trial.place
    for name, options, folder, inputs, piped in space_jobs(place, disk):
        path, row, least = folder / 'file', collections.Counter(), None
        names = [place.folder / word for word in inputs] if inputs else [path]
        data = b''.join(place.data[word] for word in inputs or ['a'])
        new, old = place.new([word for word in options if str(word).startswith('--')], inputs or ['a']), b'the old file'
        old = old if inputs else data
        for step in range(26):
            disk.leave(48 << 20)
            path.write_bytes(old)
            room = disk.leave(step * len(data) // 8)
            done = trial.run(path, old, new, options if piped else [*options, *names], data if piped else None)
            if done:
                row['sorted'] += 1
                least = step / 8 if least is None else least
                continue
            row['beforehand' if 'not enough space' in trial.said else 'on the way'] += 1
            row['says how much'] += bool(re.search(r'\d MiB', trial.said))
            trial.faults['does not say that it is space'] += not SPACE.search(trial.said)
            trial.faults['names no folder or file'] += not any(str(at) in trial.said for at in (disk.folder, place.out))
            trial.faults['keeps space'] += room - disk.free() > 8192
            trial.faults['refused with more than what was enough'] += least is not None
        path.unlink()
        print(f'| {disk.kind} | {name} | ' + ' | '.join(str(row[word]) for word in (
            'beforehand', 'on the way', 'says how much', 'sorted')) + f' | {least} |')


def limit_files(size, ignores):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN if ignores else signal.SIG_DFL)


def try_limits(trial):
    """RLIMIT_FSIZE, in eighths of the input."""
    place, path = trial.place, trial.place.out / 'file'
    counts = collections.Counter()
    for name, options in (('sort', []), ('--unique', ['--unique']), ('two folders', ['-T', *place.temporary[:1], '-T', place.out])):
        new = place.new([word for word in options if str(word).startswith('--')], ['a'])
        for step in range(18):
            for ignores in (False, True):
                path.write_bytes(b'the old file')
                done = trial.run(path, b'the old file', new, [*options, place.folder / 'a'], restore_signals=False,
                                 preexec_fn=lambda: limit_files(step * SIZE // 8, ignores))
                counts['sorted' if done else 'refused'] += 1
                trial.faults['does not say that it is space'] += not done and not SPACE.search(trial.said)
    print(f"RLIMIT_FSIZE in eighths of the input: {counts['sorted']} sorted, {counts['refused']} refused")


def try_quotas(trial):
    """A write that fails as by a quota: strace makes it fail, as not every kernel has quotas."""
    place, path = trial.place, trial.place.out / 'file'
    path.write_bytes(b'the old file')
    done = trial.run(path, b'the old file', place.new([], ['a']), [place.folder / 'a'],
                     before=['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'inject=pwrite64:error=EDQUOT:when=1'])
    print(f"a write that strace makes fail by EDQUOT: {'sorted' if done else re.sub('.*MiB: ', '', trial.said)}. "
          'Real quotas were not tried')


def space(place):
    trial = Trial(place)
    print('Space from none up to 25 eighths of the input. "least": of the sizes that were tried, the least one that was enough, in '
          'inputs. Refused beforehand: before anything was written.\n')
    print('| file system | sort | beforehand | on the way | says how much | sorted | least |')
    print('| --- | --- |' + ' ---: |' * 5)
    disks = [Disk(kind, place.folder / kind) for kind in (EXT4, TMPFS)]
    for disk in disks:
        place.watched.append(disk.folder)
        try_spaces(trial, disk)
    print()
    try_limits(trial)
    try_quotas(trial)
    trial.report()
    for disk in disks:
        disk.close()


# ---- Folders ----

SHUTDOWN = 0x8004587d  # EXT4_IOC_SHUTDOWN: the disk is gone


def shut_down(folder):
    fd = os.open(folder, os.O_RDONLY)
    fcntl.ioctl(fd, SHUTDOWN, struct.pack('I', 2))  # nothing that waits is written
    os.close(fd)


def remove_folder(folder):
    shutil.rmtree(folder)


def detach(folder):
    run('umount', '-l', folder)


def fed(trial, folder, out, action, share):
    """A sort of a pipe; something happens to a folder once it has got a share of the input. With a share over 1, when it
    has shown that it merges."""
    place, path = trial.place, out / 'file'
    path.write_bytes(b'the old file')
    before = place.names(path)
    command = [place.recsort, '-s', SCHEMA, '--threads', '2', '-S', MEMORY, '-T', folder, '-o', path]
    data, at = place.data['a'], int(SIZE * min(share, 1))
    sort = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    with contextlib.suppress(BrokenPipeError):
        sort.stdin.write(data[:at])
        sort.stdin.flush()
        if share > 1:
            sort.stdin.close()
        time.sleep(random.uniform(0, 0.1))
        action(folder)
        if share <= 1:
            sort.stdin.write(data[at:])
    with contextlib.suppress(BrokenPipeError):
        sort.stdin.close()
    said = sort.stderr.read().decode()
    sort.stderr.close()
    status = sort.wait()
    left = [name for name in place.names(path) if name not in before]
    return trial.judge(status, said, outcome(path, b'the old file', place.new([], ['a'])), bool(left))


def folders(place):
    trial, rows = Trial(place), collections.defaultdict(collections.Counter)
    number = 0
    for kind, name, action in (('disk', 'removed', remove_folder), (TMPFS, 'detached', detach),
                               (EXT4, 'detached', detach), (EXT4, 'shut down', shut_down)):
        for share in (0, 0.02, 0.3, 0.6, 0.9, 1.1, 1.1, 1.1):
            number += 1
            folder = place.folder / f'gone-{number}'
            disk = Disk(kind, folder) if kind != 'disk' else folder.mkdir()
            row = rows[f'{name} ({kind})', 'runs' if share <= 1 else 'groups, merge']
            done = fed(trial, folder, place.out, action, share)
            row['sorted' if done else 'refused'] += 1
            if not done:
                row[re.sub(r'.*: ', '', trial.said)] += 1
            if disk and name == 'shut down':
                disk.close()
    print('| folder of temporary files | when | sorted | refused | why |')
    print('| --- | --- | ---: | ---: | --- |')
    for key, row in rows.items():
        why = ', '.join(f'{word}: {count}' for word, count in row.items() if word not in ('sorted', 'refused'))
        print(f"| {' | '.join(key)} | {row['sorted']} | {row['refused']} | {why} |")
    print()
    path = place.out / 'file'
    path.write_bytes(b'the old file')
    disk = Disk(TMPFS, place.folder / 'read-only')
    run('mount', '-o', 'remount,ro', disk.folder)
    closed = place.folder / 'closed'
    closed.mkdir(mode=0o555)
    for folder, more in ((disk.folder, {}), (place.folder / 'missing', {}), (place.folder / 'a', {}),
                         (closed, {'user': USER, 'group': USER})):
        out = path
        if more:
            out = place.folder / 'user' / 'file'
            out.parent.mkdir()
            out.write_bytes(b'the old file')
            for name in (out, out.parent):
                os.chown(name, USER, USER)
        done = trial.run(out, b'the old file', place.new([], ['a']), ['-T', folder, place.folder / 'a'], **more)
        print(f"{folder.name}: {'sorted' if done else re.sub(r'.*: ', '', trial.said)}")
    disk.close()
    trial.report()


# ---- The program ----

def head(build):
    def said(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    compiler = re.search(r'CMAKE_C_COMPILER:\w+=(.*)', (build / 'CMakeCache.txt').read_text())[1]
    model = re.search(r'model name\s*: (.*)', Path('/proc/cpuinfo').read_text())
    print(f"commit {said('git', '-C', str(HERE), 'describe', '--always', '--dirty')}, {time.strftime('%Y-%m-%d')}")
    print(f"{model[1] if model else platform.machine()}, {os.cpu_count()} processors; Linux {platform.release()}; "
          f"{said(compiler, '--version').splitlines()[0]}")
    print(f'{RECORDS:,} Entities of 20 bytes, --memory {MEMORY}, unless it says otherwise\n')


def main():
    build, folder, part = Path(sys.argv[1]), Path(sys.argv[2]) / 'files-faults', sys.argv[3]
    if part == 'head':
        return head(build)
    if part != 'kills' and len(sys.argv) < 5:  # mounts that end with this program
        os.execvp('unshare', ['unshare', '-m', sys.executable, *sys.argv, 'apart'])
    folder.mkdir(parents=True)
    try:
        place = Place(build / 'tools', folder)
        if part == 'kills':
            kills(place, int(sys.argv[4]) if len(sys.argv) > 4 else 500)
        elif part == 'space':
            space(place)
        else:
            folders(place)
    finally:
        shutil.rmtree(folder)


main()
