# An open file, named through /dev or /proc, is written to at its current position.
entities make 4000 >in
entities sort desc <in >expected
sorted() {
  recsort -s "$SCHEMAS/entity.yaml" "$@"
}
ln -s /dev/fd/3 link
for name in /dev/fd/3 /proc/self/fd/3 /proc/thread-self/fd/3 link; do
  echo before >log
  sorted in -o $name 3>>log
  echo "$name: exit $?, $(head -n 1 log)"
  tail -c +8 log | cmp - expected
  printf 'header\n' >file
  (
    head -c 7 >/dev/null # both share the position in the file
    sorted in -o $name
  ) 3<>file <&3
  tail -c +8 file | cmp - expected
  sorted in -o $name 3>&1 | cmp - expected
done
echo before >log
sorted in -o /dev/stderr 2>>log
tail -c +8 log | cmp - expected
sorted -m expected -o /dev/fd/3 3>new
cmp new expected

echo "files without a name, another process's, and wrong ones"
python3 - "$SCHEMAS/entity.yaml" <<'END'
import os, socket, subprocess, sys
def run(output, *descriptors):
    command = ["recsort", "-s", sys.argv[1], "in", "-o", output]
    return subprocess.run(command, pass_fds=descriptors).returncode
with open("expected", "rb") as file:
    expected = file.read()
def show(what, status, descriptor):
    print(f"{what}: exit {status}, {os.pread(descriptor, 1 << 20, 0) == expected}")
for prefix in "/dev/fd", "/proc/self/fd", f"/proc/{os.getpid()}/fd":
    memory = os.memfd_create("memory")
    show("memfd", run(f"{prefix}/{memory}", memory), memory)
    gone = os.open("gone", os.O_RDWR | os.O_CREAT)
    os.unlink("gone")
    show("removed", run(f"{prefix}/{gone}", gone), gone)
here, there = socket.socketpair()
print(f"socket: exit {run(f'/dev/fd/{here.fileno()}', here.fileno())}")
here.close()
with there.makefile("rb") as stream:
    print(stream.read() == expected)
END
sorted in -o /dev/fd/3 3<expected
echo "exit $?"
sorted in -o /dev/fd/3 3>&-
echo "exit $?"
sorted in -o /dev/fd/3 3>/dev/full
echo "exit $?"
(ulimit -f 100 && sorted in in in -o /dev/fd/3 3>limited)
echo "exit $?"
ls -A
