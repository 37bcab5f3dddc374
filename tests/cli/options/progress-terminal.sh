# --progress=auto draws only if standard error is a terminal; `never` does not draw.
entities make 1000 >in
python3 - <<'END'
import os, pty, subprocess

def drawn(*options):
    ours, theirs = pty.openpty()
    done = subprocess.run(["recsort", "-s", os.environ["SCHEMAS"] + "/entity.yaml", *options, "in"],
                          stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    text = b""
    try:
        while chunk := os.read(ours, 4096):
            text += chunk
    except OSError:  # no writer is left
        pass
    return done.returncode, b"sorting" in text, len(text) > 0

print("auto", *drawn())
print("auto", *drawn("--progress=auto"))
print("never", *drawn("--progress=never"))
END
recsort -s "$SCHEMAS/entity.yaml" in 2>&1 >out | wc -c
