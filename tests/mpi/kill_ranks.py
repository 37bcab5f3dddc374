#!/usr/bin/env python3
"""kill_ranks.py MPIRUN RECSORT-MPI PLAIN TOOLS SCHEMA KILLS - kills a process of recsort-mpi under mpirun KILLS
times, each time at a random instant, and as often one of a plain MPI program that does the same with MPI and files
(plain.c). The two take turns, so that the machine is equally busy for both.

After a kill, mpirun has to end the other processes, and then itself. This fails
  - if a process of recsort-mpi is still there ten minutes after the kill,
  - if the output is neither the old one nor the new one,
  - or if a run without a kill is wrong.
It counts the trials in which mpirun itself is still there 20 seconds after all its processes have ended, and prints
where each of its threads waits. No program that it started has a part in that any more."""
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

RANKS = 4
RECORDS = 300000


def children(pid):
    """The state of each child, a letter as in proc(5), and its PID."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                if int(parent) == pid:
                    found[int(entry.name)] = state
        except OSError:
            pass
    return found


def living(pid):
    return [child for child, state in children(pid).items() if state not in "ZX"]


def until(bound, done):
    """Waits until done() is true; false if it is not after `bound` seconds."""
    end = time.monotonic() + bound
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def where(pid):
    """Where each thread of a process waits."""
    lines = [f"children: {children(pid) or 'none'}"]
    for task in sorted(pathlib.Path(f"/proc/{pid}/task").iterdir()):
        words = [(task / name).read_text().strip() for name in ("comm", "wchan", "syscall")]
        lines.append(f"thread {task.name}: {words[0]}, wchan {words[1]}, syscall {words[2].split()[0]}")
    if shutil.which("gdb"):
        out = subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 12"], timeout=60,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
        lines += [line for line in out.splitlines() if line.startswith(("Thread ", "#"))]
    return "\n".join("    " + line for line in lines)


class Contender:
    def __init__(self, name, mpirun, words, folder, old, new):
        self.name = name
        self.words = [mpirun, "-n", str(RANKS), *words]
        self.folder, self.output, self.old, self.new = folder, folder / "output", old, new
        self.seen = dict.fromkeys(["kills", "old", "new", "torn", "temporaries", "processes left", "mpirun left"], 0)
        self.places = []
        self.complete = [self.run()[0] for _ in range(3)] # seconds
        if self.output.read_bytes() != new:
            sys.exit(f"{name}: a run without a kill is wrong")

    def run(self, delay=None):
        """A run; after `delay` seconds one of its processes is killed. How long it took, and whether a process was."""
        self.output.write_bytes(self.old)
        start = time.monotonic()
        killed = False
        with open(self.folder.parent / "messages", "w+b") as messages:
            mpirun = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=messages, stderr=messages)
            ended = lambda: mpirun.poll() is not None
            if delay is not None and not until(delay, ended) and (alive := living(mpirun.pid)):
                os.kill(random.choice(alive), signal.SIGKILL)
                killed = True
            if not until(600, lambda: ended() or (killed and not living(mpirun.pid))) or not until(20, ended):
                self.give_up(mpirun)
            mpirun.wait()
        return time.monotonic() - start, killed

    def give_up(self, mpirun):
        self.seen["processes left" if living(mpirun.pid) else "mpirun left"] += 1
        self.places.append(where(mpirun.pid))
        for pid in [*living(mpirun.pid), mpirun.pid]:
            os.kill(pid, signal.SIGKILL)

    def trial(self):
        duration = statistics.median(self.complete[-5:]) # as busy as the machine is now
        taken, killed = self.run(random.uniform(0, 1.1) * duration)
        if not killed: # it had ended, or had not begun
            self.complete.append(taken)
            return
        self.seen["kills"] += 1
        found = self.output.read_bytes()
        self.seen["old" if found == self.old else "new" if found == self.new else "torn"] += 1
        for path in self.folder.iterdir():
            if path != self.output:
                self.seen["temporaries"] += 1
                path.unlink()

    def report(self):
        print(f"{self.name}: {', '.join(f'{count} {what}' for what, count in self.seen.items())}; "
              f"a run takes {statistics.median(self.complete):.2f} s")
        for place in self.places:
            print(f"  one that was left:\n{place}")


def main():
    mpirun, program, plain, tools, schema, kills = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        data, both = top / "input", []
        subprocess.run([f"{tools}/recgen", "-s", schema, "-n", str(RECORDS), "-d", "few", "-o", data], check=True)
        subprocess.run([f"{tools}/recsort", "-s", schema, data, "-o", top / "sorted"], check=True)
        old, size = data.read_bytes(), data.stat().st_size
        piece = size // RANKS // RANKS
        parts = [old[i * piece:(i + 1) * piece] for i in range(RANKS * RANKS)]
        exchanged = b"".join(parts[i * RANKS + j] for j in range(RANKS) for i in range(RANKS))
        for label, words, new in (
                ("recsort-mpi", [program, "-s", schema, data, "-o"], (top / "sorted").read_bytes()),
                ("plain", [plain, data], exchanged)):
            folder = top / label
            folder.mkdir()
            both.append(Contender(label, mpirun, [*words, folder / "output"], folder, old, new))
        while any(one.seen["kills"] < int(kills) for one in both):
            for one in both:
                if one.seen["kills"] < int(kills):
                    one.trial()
        for one in both:
            one.report()
    sys.exit(any(one.seen["torn"] > 0 for one in both) or both[0].seen["processes left"] > 0)


main()
