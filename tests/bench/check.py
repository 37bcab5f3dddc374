"""check.py JSON SVG - checks what recbench wrote for 1,000 records, 3 turns and 1 and 3 threads."""

import json
import statistics
import sys
from xml.etree import ElementTree

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)

assert report["format"] == 1
for name in ("recsort", "commit", "date"):
    assert report[name], name
for name in ("cpu", "cores", "memory", "kernel", "compiler", "build"):
    assert report["machine"][name], name

groups = report["groups"]
inputs, methods, walls, stages = set(), set(), set(), {"encode", "sort", "verify", "permute", "held"}
for group in groups:
    suite = group["suite"]
    for contender in group["contenders"]:
        method, variant, threads = contender["method"], contender.get("variant"), contender["threads"]
        inputs.add((suite, contender["record"], contender["distribution"], contender["count"], contender.get("runs")))
        methods.add((suite, method, variant, threads))
        for name, series in contender["series"].items():
            each = series["each"]
            assert len(each) == 3 and series["unit"], name
            assert series["min"] == min(each) and series["max"] == max(each), name
            assert series["median"] == statistics.median(each), name
        assert contender["series"]["wall"]["min"] > 0
        walls.update(contender["series"]["wall"]["each"])
        if method == "recsort" and variant != "first":
            assert ({"held"} if suite == "merge" else stages) <= set(contender["series"])
        for peer, speed in contender["times_as_fast_as"].items():
            peer_threads = 1 if peer == "std::stable_sort" else threads
            median, = (one["series"]["wall"]["median"] for one in group["contenders"] if one["method"] == peer
                       and one["threads"] == peer_threads and one["distribution"] == contender["distribution"])
            assert speed == median / contender["series"]["wall"]["median"], (peer, contender)
        assert suite in ("merge", "file") or "std::stable_sort" in contender["times_as_fast_as"]
    for target in group["targets"]:
        if "at_least" in target:
            assert target["met"] == (target["value"] >= target["at_least"])
        else:
            assert target["met"] == (target["value"] <= target["at_most"])

assert len(walls) > 100, walls

expected = {("entity", "entity", "random", 1000, None), ("file", "entity", "random", 65536 // 20, None)}
expected |= {("keys", record, "random", 1000, None) for record in ("key64", "key128", "gensort")}
expected |= {("distributions", "entity", order, 1000, None)
             for order in ("random", "sorted", "reverse", "nearly", "few", "equal")}
expected |= {("merge", record, "random", 1000, runs) for record in ("word", "entity") for runs in (2, 16, 256)}
assert inputs == expected, inputs ^ expected

sorts = {("recsort", variant, threads) for variant in (None, "to", "first") for threads in (1, 3)}
merges = {("recsort", variant, threads) for variant in (None, "in place") for threads in (1, 3)}
files = {("recsort", None, 3), ("recsort", "first", 3), ("recsort FILE", None, 3), ("cp", None, 1)}
files |= {found for variant in ("2 files", "16 files")
          for found in (("recsort --merge", variant, 3), ("sort -m of text", variant, 1))}
wanted = {(suite, *one) for suite in ("entity", "keys", "distributions") for one in {*sorts, ("std::stable_sort", None, 1)}}
wanted |= {("merge", *one) for one in {*merges, ("std::merge", None, 1), ("std::priority_queue", None, 1)}}
wanted |= {("file", *one) for one in files}
rest = {found for found in methods - wanted if "gnu_parallel" not in found[1]}
assert wanted <= methods and not rest, (wanted - methods, rest)

ElementTree.parse(sys.argv[2])
print(sum(len(group["contenders"]) for group in groups), "contenders checked")
