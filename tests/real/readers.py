"""Sorts files of other programs as they are, and reads the results back with readers that share no code with
recsort: NumPy, laspy, astropy, the C library, Python's wave.

usage: readers.py RECSORT SCHEMAS"""
import ctypes
import io
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import wave
import warnings
import zlib

import astropy.io.fits
import laspy
import numpy
from numpy.lib.recfunctions import repack_fields

recsort, schemas = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
random = numpy.random.default_rng(7)


def run(*words, **rest):
    return subprocess.run([recsort, *map(str, words)], check=True, capture_output=True, **rest).stdout


def refused(*words):
    done = subprocess.run([recsort, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done
    return done.stderr


def same(a, b, what):
    """The same bytes: ties and NaNs too. NumPy does not sort the padding between fields."""
    assert a.dtype == b.dtype and a.shape == b.shape, (what, a.dtype, b.dtype, a.shape, b.shape)
    for part in [[name] for name in a.dtype.names or []] or [...]:
        assert repack_fields(a[part]).tobytes() == repack_fields(b[part]).tobytes(), what


def values(kind, count):
    """Few values, so that there are ties, and the special ones."""
    if kind == "f":
        return random.choice([1.5, -2.5, numpy.nan, 0.0, -0.0, numpy.inf, -numpy.inf], count)
    if kind == "M":
        return random.choice(numpy.array(["NaT", "1969-12-31T23", "1970-01-01", "2026-11-23"], "M8[s]"), count)
    if kind == "U":
        return random.choice(["", "a", "ab", "é", "\U0001f600", "\uffff"], count)
    if kind == "S":
        return random.choice([b"", b"a", b"ab", b"\xff"], count)
    if kind == "b":
        return random.choice([True, False], count)
    return random.integers(0 if kind == "u" else -3, 4, count)


def npy():
    """Every dtype, order and shape that numpy.sort orders as recsort does."""
    types = [f"{e}{k}{s}" for e in "<>" for k, sizes in {"i": "248", "u": "248", "f": "248"}.items() for s in sizes]
    types += ["|i1", "|u1", "|b1", "S3", "<U3", ">U3"] + [f"{e}M8[{u}]" for e in "<>" for u in ("D", "s", "ms", "us", "ns")]
    for name in types:
        dtype = numpy.dtype(name)
        a = values(dtype.kind, 3000).astype(dtype)
        numpy.save("a.npy", a)
        run("a.npy", "-o", "b.npy")
        run("--check", "b.npy")
        same(numpy.load("b.npy"), numpy.sort(a, kind="stable"), name)
        order = numpy.frombuffer(run("a.npy", "--index=32"), "<u4")
        assert (order == numpy.argsort(a, kind="stable")).all(), name
    plain = numpy.dtype([("id", "<i2"), ("mag", "<f4"), ("flag", "?"), ("name", "U2"), ("when", "M8[ms]"),
                         ("in", [("a", ">i4"), ("b", "S3")])])
    aligned = numpy.dtype([("c", "i1"), ("d", "f8"), ("e", "i2")], align=True)
    titled = numpy.dtype({"names": ["x", "y"], "formats": ["<i2", "<f8"], "titles": ["first one", None],
                          "offsets": [4, 16], "itemsize": 30})
    for dtype in plain, aligned, titled:
        a = numpy.zeros(4000, dtype)
        for name in dtype.names:
            for part in (a[name],) if a[name].dtype.names is None else (a[name][n] for n in a[name].dtype.names):
                part[:] = values(part.dtype.kind, len(a)).astype(part.dtype)
        numpy.save("a.npy", a)
        run("a.npy", "-o", "b.npy")
        same(numpy.load("b.npy"), numpy.sort(a, kind="stable"), dtype)
        last = dtype.names[-1]
        if a[last].dtype.names is None:
            run("a.npy", "-k", last, "-o", "b.npy")
            same(numpy.load("b.npy"), a[numpy.argsort(a[last], kind="stable")], last)
    a = numpy.zeros(2000, [("id", "<i2"), ("mag", "<f4")])
    a["id"], a["mag"] = values("i", 2000), values("f", 2000)
    numpy.save("a.npy", a)
    run("a.npy", "-k", "mag", "-o", "b.npy")
    same(numpy.load("b.npy"), a[numpy.argsort(a["mag"], kind="stable")], "mag")
    assert open("a.npy", "rb").read(128) == open("b.npy", "rb").read(128)
    rows = values("i", 6000).reshape(2000, 3).astype(">i4")
    numpy.save("rows.npy", rows)
    run("rows.npy", "-o", "b.npy")
    same(numpy.load("b.npy"), rows[numpy.lexsort(rows.T[::-1])], "rows")
    out = run("-u", input=open("rows.npy", "rb").read())
    same(numpy.load(io.BytesIO(out)), numpy.unique(rows, axis=0).astype(">i4"), "unique rows")
    numpy.save("fortran.npy", numpy.asfortranarray(rows))
    assert "Fortran order" in refused("fortran.npy")
    for bad in numpy.zeros(3, complex), numpy.zeros(3, "M8[h]"), numpy.zeros(3, "m8[s]"):
        numpy.save("bad.npy", bad)
        refused("bad.npy")
    for count in 0, 1, 9, 10, 99999:
        numpy.save("a.npy", values("f", count))
        numpy.save("b.npy", values("f", 12))
        run("a.npy", "b.npy", "-o", "c.npy")
        both = numpy.concatenate([numpy.load("a.npy"), numpy.load("b.npy")])
        same(numpy.load("c.npy"), numpy.sort(both, kind="stable"), count)


def las():
    """Points of two files, by time; laspy reads what each option writes."""
    def write(name, count, seed):
        data = laspy.create(point_format=1, file_version="1.2")
        rng = numpy.random.default_rng(seed)
        data.x, data.y, data.z = rng.random((3, count)) * 1000
        data.intensity = numpy.arange(count) % 65536
        data.gps_time = rng.integers(0, count // 3 + 1, count).astype(float)
        data.classification = rng.integers(0, 5, count)
        data.header.vlrs.append(laspy.VLR("test", 1, "a record", b"x" * (7 * seed)))
        data.write(name)
        return laspy.read(name).points.array
    points = [write("a.las", 5000, 1), write("b.las", 3000, 2)]
    schema = schemas / "las.yaml"
    def read(name):
        file = laspy.read(name)
        assert file.header.point_count == len(file.points.array)
        return file.points.array
    order = lambda a: a[numpy.argsort(a["gps_time"], kind="stable")]
    run("-s", schema, "a.las", "-o", "s.las")
    same(read("s.las"), order(points[0]), "las")
    assert [v.record_data for v in laspy.read("s.las").vlrs] == [b"x" * 7]
    run("-s", schema, "b.las", "-o", "t.las")
    want = order(numpy.concatenate(points))
    for words in ("a.las", "b.las"), ("--merge", "s.las", "t.las"):
        run("-s", schema, *words, "-o", "both.las")
        same(read("both.las"), want, words)
    run("-s", schema, "--unique", "a.las", "-o", "once.las")
    first = order(points[0])
    same(read("once.las"), first[numpy.r_[True, numpy.diff(first["gps_time"]) != 0]], "unique")
    run("-s", schema, "--head", 10, "a.las", "-o", "ten.las")
    same(read("ten.las"), first[:10], "head")
    open("cut.las", "wb").write(open("a.las", "rb").read()[:-28 * 3])
    assert "its header says 5000 records, and its size allows 4997" in refused("-s", schema, "cut.las")
    open("more.las", "wb").write(open("a.las", "rb").read() + bytes(28))
    assert "its header says 5000 records, and its size allows 5001" in refused("-s", schema, "more.las", "-o", "more.las")
    laspy.convert(laspy.read("a.las"), point_format_id=3).write("other.las")
    assert "its header says 5000 records, and its size allows 6071" in refused("-s", schema, "other.las", "-o", "other.las")


def fits():
    """A binary table. NAXIS2, the number of rows, is the fifth card of its header; zeros follow the rows."""
    count = 1000
    rows = numpy.zeros(count, [("star", ">i4"), ("flux", ">f4"), ("name", "S10"), ("flags", ">i2"), ("e", ">f8"), ("f", ">i4")])
    rows["star"], rows["flux"] = values("i", count), numpy.arange(count)
    rows["name"], rows["e"] = values("S", count), values("f", count)
    table = astropy.io.fits.BinTableHDU(rows, name="STARS")
    image = astropy.io.fits.ImageHDU(numpy.arange(6.0))
    astropy.io.fits.HDUList([astropy.io.fits.PrimaryHDU(), table, image]).writeto("a.fits", checksum=False)
    schema = """record: Row
endian: big
layout: packed
skip: 5760
count: {offset: 3210, type: char, count: 20}
trailer: %s
fields:
  - {name: star, type: int32}
  - {name: flux, type: float32}
  - {name: name, type: char, count: 10}
  - {name: flags, type: int16}
  - {name: e, type: float64}
  - {name: f, type: int32}
keys: [star, {field: e, order: desc}]
"""
    open("any.yaml", "w").write(schema % "any")
    open("none.yaml", "w").write(schema % "0")
    run("-s", "any.yaml", "a.fits", "-o", "b.fits")
    down = numpy.where(numpy.isnan(rows["e"]), numpy.inf, -rows["e"])
    down = numpy.lexsort((down, numpy.isnan(rows["e"]), rows["star"]))
    with astropy.io.fits.open("b.fits") as file:
        file.verify("exception")
        assert numpy.asarray(file[1].data).tobytes() == rows[down].tobytes()
        assert (file[2].data == numpy.arange(6.0)).all()
    allowed = (len(open("a.fits", "rb").read()) - 5760) // 32
    assert f"its header says 1000 records, and its size allows {allowed}" in refused("-s", "none.yaml", "a.fits")
    run("-s", "any.yaml", "--head", 7, "a.fits", "-o", "c.fits")
    assert b"NAXIS2  =                    7" in open("c.fits", "rb").read()


def stl():
    """Triangles; the reader is a dtype."""
    dtype = numpy.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    a = numpy.zeros(3000, dtype)
    a["corners"] = random.integers(-2, 3, (3000, 3, 3))
    a["attribute"] = numpy.arange(3000)
    head = b"solid?".ljust(80)
    open("a.stl", "wb").write(head + struct.pack("<I", len(a)) + a.tobytes())
    z = a["corners"][:, :, 2]
    want = a[numpy.lexsort((z[:, 2], z[:, 1], z[:, 0]))]
    run("-s", schemas / "stl.yaml", "a.stl", "-o", "b.stl")
    assert open("b.stl", "rb").read() == head + struct.pack("<I", len(a)) + want.tobytes()
    out = run("-s", schemas / "stl.yaml", "-r", "--head", 5, input=open("a.stl", "rb").read())
    assert struct.unpack_from("<I", out, 80)[0] == 5 and len(out) == 84 + 5 * 50
    open("b.stl", "ab").write(bytes(50))
    assert "its header says 3000 records, and its size allows 3001" in refused("-s", schemas / "stl.yaml", "b.stl")


def utmp():
    """Logins, written and read back by the C library."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.getutent.restype = ctypes.POINTER(ctypes.c_char * 384)
    if ctypes.sizeof(ctypes.c_long) != 8 or not pathlib.Path("/lib/x86_64-linux-gnu").exists():
        return
    records = []
    for i in range(500):
        record = bytearray(384)
        struct.pack_into("<hxxi32s4s32s", record, 0, 7, i, b"pts/%d" % i, b"%d" % (i % 99), b"user%d" % (i % 9))
        struct.pack_into("<ii", record, 340, 1700000000 + int(random.integers(20)), int(random.integers(3)))
        records.append(bytes(record))
    open("wtmp", "wb").write(b"".join(records))
    run("-s", schemas / "utmp.yaml", "wtmp", "-o", "sorted")
    libc.utmpname(b"sorted")
    libc.setutent()
    got = []
    while entry := libc.getutent():
        got.append(bytes(entry.contents))
    libc.endutent()
    assert got == sorted(records, key=lambda r: struct.unpack_from("<ii", r, 340))


def gensort():
    """As valsort does: keys ascend, and the sum of all records' checksums stays."""
    records = [bytes(random.integers(32, 36, 10, "u1")) + i.to_bytes(4, "big") + bytes(random.integers(0, 256, 86, "u1"))
               for i in range(20000)]
    open("in", "wb").write(b"".join(records))
    run("-s", schemas / "gensort.yaml", "in", "-o", "out")
    data = open("out", "rb").read()
    got = [data[i:i + 100] for i in range(0, len(data), 100)]
    assert all((a[:10], a[10:14]) < (b[:10], b[10:14]) for a, b in zip(got, got[1:])) and len(data) == 2000000
    assert sum(map(zlib.crc32, got)) == sum(map(zlib.crc32, records))
    assert len({r[:10] for r in records}) < len(records)


def wav():
    """Frames of two channels, by the first one; the header says their bytes, not their number."""
    frames = random.integers(-5, 5, (5000, 2)).astype("<i2")
    frames[:, 1] = numpy.arange(5000)
    with wave.open("a.wav", "wb") as file:
        file.setparams((2, 2, 44100, 0, "NONE", ""))
        file.writeframes(frames.tobytes())
    open("frame.yaml", "w").write("record: Frame\nskip: 44\nfields: [{name: v, type: int16, count: 2}]\nkeys: [\"v[0]\"]\n")
    run("-s", "frame.yaml", "a.wav", "-o", "b.wav")
    with wave.open("b.wav") as file:
        assert file.getnframes() == 5000
        got = numpy.frombuffer(file.readframes(5000), "<i2").reshape(-1, 2)
    same(got, frames[numpy.argsort(frames[:, 0], kind="stable")], "wav")


def pcap():
    """Packets of one length are records with their headers; others are refused."""
    schema = """record: Packet
layout: packed
skip: 24
fields:
  - {name: seconds, type: uint32}
  - {name: micros, type: uint32}
  - {name: captured, type: enum, base: uint32, values: [{name: bytes60, value: 60}]}
  - {name: length, type: uint32}
  - {name: data, type: bytes, count: 60}
keys: [seconds, micros, captured]
"""
    open("packet.yaml", "w").write(schema)
    head = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    packet = lambda i, size: struct.pack("<4I", random.integers(9), random.integers(3), size, size) + i.to_bytes(2, "big") + bytes(size - 2)
    packets = [packet(i, 60) for i in range(2000)]
    open("a.pcap", "wb").write(head + b"".join(packets))
    run("-s", "packet.yaml", "a.pcap", "-o", "b.pcap")
    packets.sort(key=lambda p: struct.unpack_from("<II", p))
    assert open("b.pcap", "rb").read() == head + b"".join(packets)
    open("c.pcap", "wb").write(head + packets[0] + packet(1, 76) + packet(2, 44))
    assert "c.pcap: record 1: " in refused("-s", "packet.yaml", "c.pcap")


warnings.simplefilter("ignore")
tests = [npy, las, fits, stl, utmp, gensort, wav, pcap]
for test in tests:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test()
        os.chdir("/")
    print(f"{test.__name__}: {test.__doc__.splitlines()[0]}")
