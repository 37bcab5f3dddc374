"""check.py FILE - checks that recbench's JSON has what tools/results/README.md promises."""

import json
import statistics
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)

assert report["format"] == 1
for name in ("recsort", "commit", "date"):
    assert report[name], name
for name in ("cpu", "cores", "memory", "kernel", "compiler", "build"):
    assert report["machine"][name], name

groups = report["groups"]
suites = {group["suite"] for group in groups}
assert suites == {"entity", "keys", "distributions", "merge", "file"}, suites
inputs = set()
methods = set()
variants = set()
runs = set()
for group in groups:
    for contender in group["contenders"]:
        inputs.add((contender["record"], contender["distribution"], contender["count"]))
        methods.add((contender["method"], contender.get("algorithm"), contender["threads"]))
        for name, series in contender["series"].items():
            each = series["each"]
            assert len(each) == 3 and series["unit"], name
            assert series["min"] == min(each) and series["max"] == max(each), name
            assert series["median"] == statistics.median(each), name
        assert contender["series"]["wall"]["min"] > 0
        variants.add(contender.get("variant"))
        runs.add(contender.get("runs"))
        if contender["method"] == "recsort" and group["suite"] == "merge":
            assert "held" in contender["series"]
        elif contender["method"] == "recsort" and contender.get("variant") != "first":
            assert {"encode", "sort", "verify", "permute", "held"} <= set(contender["series"])
    for target in group["targets"]:
        if "at_least" in target:
            assert target["met"] == (target["value"] >= target["at_least"])
        else:
            assert target["met"] == (target["value"] <= target["at_most"])

for distribution in ("random", "sorted", "reverse", "nearly", "few", "equal"):
    assert ("entity", distribution, 1000) in inputs
for record in ("key64", "key128", "gensort"):
    assert (record, "random", 17) in inputs
for algorithm in ("merge", "sequential"):
    assert ("recsort", algorithm, 1) in methods and ("recsort", algorithm, 3) in methods
assert ("cp", None, 1) in methods and ("recsort FILE", "merge", 3) in methods

assert variants == {None, "to", "first", "in place", "2 files", "16 files"}, variants
assert ("recsort --merge", None, 3) in methods and ("sort -m of text", None, 1) in methods
assert runs == {None, 2, 16, 256}, runs
for method in ("std::merge", "std::priority_queue"):
    assert (method, None, 1) in methods
for count in (17, 1000):
    assert ("word", "random", count) in inputs

print(sum(len(group["contenders"]) for group in groups), "contenders checked")
