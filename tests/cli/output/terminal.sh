# Records go to a terminal only if -o - asks for it; messages there are red, unless that is not wanted.
entities of 3 1 >in
python3 - <<'END'
import os, pty, subprocess

def run(command, terminal, **settings):
    """The exit status, and what came to a terminal that is standard output (1) or error (2)."""
    ours, theirs = pty.openpty()
    streams = {1: "stdout", 2: "stderr"}
    environment = {**os.environ, "TERM": "xterm", **settings}
    environment.pop("NO_COLOR", None) if "NO_COLOR" not in settings else None
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL,
                          **{streams[terminal]: theirs, streams[3 - terminal]: subprocess.PIPE})
    os.close(theirs)
    text = b""
    try:
        while chunk := os.read(ours, 4096):
            text += chunk
    except OSError:  # no writer is left
        pass
    return done.returncode, text, done.stderr

schema = os.environ["SCHEMAS"] + "/entity.yaml"
for command in (["recsort", "-s", schema, "in"], ["recsort", "-s", schema, "-m", "in"],
                ["recgen", "-s", schema, "-n", "3"]):
    status, shown, said = run(command, 1)
    print(command[0], status, len(shown), said.decode().strip())
    status, shown, said = run([*command, "-o", "-"], 1)
    print(command[0], status, len(shown) >= 40, said.decode().strip())
print(run(["recsort", "-s", schema, "-c", "in"], 1)[0], run(["recsort", "--help"], 1)[0])
missing = ["recsort", "-s", schema, "missing"]
print(run(missing, 2)[1])
print(run(missing, 2, NO_COLOR="1")[1], run(missing, 2, NO_COLOR="")[1][:4])
print(run(missing, 2, TERM="dumb")[1])
END
recsort -s "$SCHEMAS/entity.yaml" missing 2>&1
