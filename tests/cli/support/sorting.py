"""Shared code of the tests that replace files: the old file, the new one, and leftovers."""
import os
import shutil
import subprocess
import time

# Leak detection does not work under a tracer, and complains when it is killed.
os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
SCHEMA = os.environ["SCHEMAS"] + "/entity.yaml"
COMMAND = ["recsort", "-s", SCHEMA, "--threads", "4", "file", "-o", "file"]
SANITIZED = b"__asan_init" in open(shutil.which("recsort"), "rb").read()


def entities(*arguments, data=b""):
    return subprocess.run(["entities", *arguments], input=data, stdout=subprocess.PIPE,
                          check=True).stdout


def wait_for(condition):
    """Waits until a condition holds, but not for ever."""
    end = time.monotonic() + 600
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("it does not come")
        time.sleep(0.001)


class Replacement:
    """A file of `count` entities, alone in a folder, to be sorted in place."""

    def __init__(self, count):
        self.old = entities("make", str(count))
        self.new = entities("sort", "desc", data=self.old)
        assert self.old != self.new
        self.folder = os.path.join(os.getcwd(), "folder")
        os.mkdir(self.folder)
        self.path = os.path.join(self.folder, "file")

    def restore(self):
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))
        with open(self.path, "wb") as file:
            file.write(self.old)

    def outcome(self):
        """"old", "new" or "torn"."""
        with open(self.path, "rb") as file:
            data = file.read()
        return "old" if data == self.old else "new" if data == self.new else "torn"

    def leftovers(self):
        return len(os.listdir(self.folder)) - 1
