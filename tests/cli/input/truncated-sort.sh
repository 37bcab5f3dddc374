# The same for a sort, which is stopped while it reads.
python3 - <<'END'
import os, signal, subprocess, time
SIZE = 20 << 25
seen = 0
for attempt in range(20):
    with open("in", "wb") as file:
        file.truncate(SIZE)
    child = subprocess.Popen(["recsort", "-s", os.environ["SCHEMAS"] + "/entity.yaml", "in"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    read = 0
    while read == 0 and child.poll() is None:
        with open(f"/proc/{child.pid}/io") as io:
            read = max(0, int(io.readline().split()[1]) - (8 << 20))
    child.send_signal(signal.SIGSTOP)
    with open(f"/proc/{child.pid}/io") as io:
        read = int(io.readline().split()[1])
    if read < SIZE // 2:
        os.truncate("in", SIZE // 4 * 3 // 20 * 20)
        seen += 1
    child.send_signal(signal.SIGCONT)
    text = child.communicate()[1]
    if read < SIZE // 2:
        print(child.returncode, text.strip())
    if seen == 2:
        break
END
