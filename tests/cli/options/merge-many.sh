# More inputs than files may be open at once: --merge raises the limit that it may raise. Beyond the other one it
# says how many inputs there may be, and so many are merged.
python3 - <<'END'
import random, struct
random.seed(1)
runs = [sorted(random.randrange(9) for _ in range(5)) for _ in range(200)]
for i, run in enumerate(runs):
    open(f"in{i:03}", "wb").write(b"".join(struct.pack("<HH", x, i) for x in run))
for name, count in ("all", 200), ("some", 120):
    pairs = sorted(((x, i) for i, run in enumerate(runs[:count]) for x in run), key=lambda pair: pair[0])
    open(name, "wb").write(b"".join(struct.pack("<HH", *pair) for pair in pairs))
END
cat >s.yaml <<'END'
record: R
fields: [{name: x, type: uint16}, {name: file, type: uint16}]
keys: [x]
END
merge() { recsort -s s.yaml --merge "$@"; }
(ulimit -S -n 50 && merge in* -o out) && cmp all out && echo "200 files, more than 50"
(ulimit -S -n 50 && cat in000 | merge - in0[1-9]* in00[1-9] in1* >out); wc -c <out
for name in in*; do printf '%s\0' "$name"; done >names
(ulimit -S -n 20 && merge --files0-from names | cmp - all && echo "to a pipe")
(ulimit -n 140 && merge in0* in10* in11* -o out) && cmp some out && echo "120 files, as many as there may be and more"
echo old >out
(ulimit -n 50 && merge in* -o out) 2>message
echo "exit $?, $(cat out), $(wc -l <message) line"
sed 's/for [0-9]*:/for N:/' message
fits=$(sed 's/.* for \([0-9]*\):.*/\1/' message)
[ "$fits" -gt 30 ] && [ "$fits" -le 45 ] || echo "$fits fit"
(ulimit -n 50 && merge $(ls in* | head -n "$fits") -o out) && wc -c <out | grep -qx $((fits * 20)) && echo "so many fit"
(ulimit -n 50 && merge $(ls in* | head -n $((fits + 1))) -o out) 2>/dev/null
echo "exit $?"
(ulimit -n 50 && recsort -s s.yaml in* -o out) && cmp all out && echo "sorted, one open at a time"
