"""Sorts files of other programs as they are, and reads the results back with readers that share no code with
recsort: NumPy, laspy, astropy, plyfile, pyshp, dbfread, segyio, the C library, Python's wave.

usage: readers.py RECSORT SCHEMAS [TEST...]"""
import ctypes
import io
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import wave
import warnings
import zlib

import astropy.io.fits
import dbfread
import laspy
import numpy
import plyfile
import segyio
import shapefile
from numpy.lib.recfunctions import repack_fields

recsort, schemas = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
random = numpy.random.default_rng(7)


def run(*words, **rest):
    return subprocess.run([recsort, *map(str, words)], check=True, capture_output=True, **rest).stdout


def refused(*words, **rest):
    done = subprocess.run([recsort, *map(str, words)], capture_output=True, **rest)
    assert done.returncode == 2 and done.stdout == b"" and done.stderr.count(b"\n") == 1, (words, done.returncode, done.stderr)
    return done.stderr.decode()


def same(a, b, what):
    """The same bytes: ties and NaNs too. NumPy does not sort the padding between fields."""
    assert a.dtype == b.dtype and a.shape == b.shape, (what, a.dtype, b.dtype, a.shape, b.shape)
    for part in [[name] for name in a.dtype.names or []] or [...]:
        assert repack_fields(a[part]).tobytes() == repack_fields(b[part]).tobytes(), what


def values(kind, count):
    """Few values, so that there are ties, and the special ones."""
    if kind == "f":
        return random.choice([1.5, -2.5, numpy.nan, 0.0, -0.0, numpy.inf, -numpy.inf], count)
    if kind == "m":
        return random.choice(numpy.array(["NaT", -3, 0, 8], "m8"), count)
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
    types += ["<M8[Y]", ">M8[h]", "<M8[25s]", "<M8[ps]", "<M8", "<m8[ns]", ">m8[7D]", "<m8"]
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
    beside = numpy.zeros(2000, numpy.dtype({"names": ["c", "g", "padding", "x[m]", "x.m", "k"], "offsets": [0, 16, 48, 49, 50, 52],
                                            "formats": ["c16", numpy.longdouble, "i1", "i1", "i1", "m8[h]"], "itemsize": 64}))
    for name, kind in ("c", "f"), ("g", "f"), ("padding", "i"), ("x[m]", "i"), ("x.m", "i"), ("k", "m"):
        beside[name] = values(kind, 2000).astype(beside[name].dtype)
    numpy.save("a.npy", beside)
    for name, key in ("padding", "padding"), ("x[m]", "x_m_"), ("x.m", "x_m"), ("k", "k"):
        run("a.npy", "-k", key, "-o", "b.npy")
        assert numpy.load("b.npy").tobytes() == beside[numpy.argsort(beside[name], kind="stable")].tobytes(), name
    # Where recsort's order is not that of numpy.sort: by elements, and NaN is the last.
    arrays = numpy.zeros(2000, [("a", "<i4", (2,)), ("half", "<f2")])
    arrays["a"], arrays["half"] = random.choice([-1, 0, 1, 256], (2000, 2)), values("f", 2000)
    numpy.save("a.npy", arrays)
    for key, order in ("a", numpy.lexsort(arrays["a"].T[::-1])), ("half", numpy.argsort(arrays["half"], kind="stable")):
        run("a.npy", "-k", key, "-o", "b.npy")
        assert numpy.load("b.npy").tobytes() == arrays[order].tobytes(), key
    for bad in numpy.zeros(3, complex), numpy.zeros(3, "g"), numpy.zeros(3, "O"), beside:
        numpy.save("bad.npy", bad)
        refused("bad.npy")
    for count in 0, 1, 9, 10, 99999:
        numpy.save("a.npy", values("f", count))
        numpy.save("b.npy", values("f", 12))
        run("a.npy", "b.npy", "-o", "c.npy")
        both = numpy.concatenate([numpy.load("a.npy"), numpy.load("b.npy")])
        same(numpy.load("c.npy"), numpy.sort(both, kind="stable"), count)


def sort_all(schema, names, check):
    """Sorts two files by each way that changes how many records there are, and checks what comes out."""
    run("-s", schema, names[0], "-o", "sorted")
    check("sorted", "first")
    run("-s", schema, names[1], "-o", "other")
    for words in names, ("--merge", "sorted", "other"):
        run("-s", schema, *words, "-o", "out")
        check("out", "both")
    for words, what in (("--head", 10), "head"), (("--unique",), "unique"), (("--head", 0), "none"):
        run("-s", schema, *words, names[0], "-o", "out")
        check("out", what)


def orders(a, b, keys):
    """What each of these ways leaves, by numpy.lexsort."""
    order = lambda a: a[numpy.lexsort([a[key] for key in reversed(keys)])]
    first = order(a)
    same = numpy.logical_and.reduce([first[key][1:] == first[key][:-1] for key in keys])
    return {"first": first, "both": order(numpy.concatenate([a, b])), "head": first[:10].copy(), "none": first[:0].copy(),
            "unique": first[numpy.r_[True, ~same]]}


def las():
    """Points of LAS 1.0 to 1.4, with all that may be around them, by time; laspy reads what each option writes."""
    def write(name, count, seed, version, kind, more):
        header = laspy.LasHeader(point_format=kind, version=version)
        if more:
            header.add_extra_dim(laspy.ExtraBytesParams("amplitude", "f4"))
        data, rng = laspy.LasData(header), numpy.random.default_rng(seed)
        data.x, data.y, data.z = rng.random((3, count)) * 1000
        data.intensity = numpy.arange(count) % 65536
        data.gps_time = rng.integers(0, count // 3 + 1, count).astype(float)
        data.classification = rng.integers(0, 5, count)
        data.header.vlrs.append(laspy.VLR("test", 1, "a record", b"x" * (7 * seed)))
        if version == "1.4":
            data.evlrs = laspy.vlrs.vlrlist.VLRList([laspy.VLR("test", 2, "behind", b"E" * 333)])
        data.write(name)
        points, file = laspy.read(name).points.array, bytearray(open(name, "rb").read())
        if version == "1.3":  # packets of waves behind the points
            struct.pack_into("<Q", file, 227, len(file))
            open(name, "wb").write(file + b"waves")
        if version == "1.4" and kind < 6 and seed == 1:  # laspy leaves the older count at 0
            struct.pack_into("<I", file, 107, count)
            open(name, "wb").write(file)
        return points

    def number(name, at, form):
        return struct.unpack_from(form, open(name, "rb").read(at + 8), at)[0]

    def read(name, want, version, what):
        file = laspy.read(name)
        same(file.points.array, want, what)
        count, end = len(want), number(name, 96, "<I") + number(name, 105, "<H") * len(want)
        assert file.header.point_count == count, what
        assert [v.record_data_bytes() for v in file.vlrs if v.user_id == "test"] == [b"x" * 7], what
        if version == "1.4":
            assert [v.record_data_bytes() for v in file.evlrs] == [b"E" * 333], what
            assert number(name, 247, "<Q") == count and number(name, 235, "<Q") == end, what
            assert number(name, 107, "<I") == (0 if file.header.point_format.id > 5 else count), what
        if version == "1.3":
            assert number(name, 227, "<Q") == end and open(name, "rb").read()[end:] == b"waves", what

    for version, kind, more in (("1.1", 1, False), ("1.2", 3, False), ("1.2", 1, True), ("1.3", 1, False), ("1.3", 5, True),
                                ("1.4", 1, True), ("1.4", 6, False), ("1.4", 7, True), ("1.4", 10, False)):
        schema = schemas / ("las.yaml" if kind < 6 else "las6.yaml")
        points = [write("a.las", 5000, 1, version, kind, more), write("b.las", 3000, 2, version, kind, more)]
        want = orders(*points, ["gps_time"])
        sort_all(schema, ("a.las", "b.las"), lambda name, what: read(name, want[what], version, (version, kind, what)))

    schema = schemas / "las.yaml"
    points = write("a.las", 5000, 1, "1.2", 1, False)
    want = orders(points, points, ["gps_time"])
    old = bytearray(open("a.las", "rb").read())  # version 1.0 has a signature in front of the points
    skip = number("a.las", 96, "<I")
    struct.pack_into("<I", old, 96, skip + 2)
    old[25] = 0
    open("old.las", "wb").write(old[:skip] + b"\xdd\xcc" + old[skip:])
    run("-s", schema, "--head", 10, "old.las", "-o", "out.las")
    struct.pack_into("<I", old, 107, 10)
    assert open("out.las", "rb").read() == old[:skip] + b"\xdd\xcc" + want["head"].tobytes()
    write("more.las", 3000, 2, "1.2", 1, True)
    assert "28" in (text := refused("-s", schema, "a.las", "more.las")) and "32" in text
    file = open("a.las", "rb").read()
    open("cut.las", "wb").write(file[:-28 * 3])
    assert "its header says 5000 records, and its size allows 4997" in refused("-s", schema, "cut.las")
    for kind in 0, 2, 6, 0x81:
        open("other.las", "wb").write(file[:104] + bytes([kind]) + file[105:])
        for words in ("other.las",), ("a.las", "other.las"), ("--check", "other.las"):
            assert f"other.las: it is not what the schema expects: at offset 104 there is {kind}" in refused("-s", schema, *words)
    open("stream.las", "wb").write(file[:107] + bytes(4) + file[111:])
    assert "zero: all" in refused("-s", schema, "stream.las", "-o", "stream.las")
    open("all.yaml", "w").write(schema.read_text() + "zero: all\n")
    run("-s", "all.yaml", "stream.las", "-o", "out.las")
    read("out.las", want["first"], "1.2", "streamed")
    assert "not what the schema expects" in refused("-s", schema, input=b"RIFF" + file[4:])


def fits():
    """Rows of binary tables, with what is in FITS behind them; astropy reads what each option writes."""
    def write(name, count, seed, columns, behind, heap):
        rng = numpy.random.default_rng(seed)
        rows = numpy.zeros(count, [("star", ">i4"), ("flux", ">f4")] + columns)
        rows["star"], rows["flux"] = rng.integers(0, count // 4, count), rng.integers(0, 3, count)
        for column, _ in columns:
            rows[column] = numpy.arange(count)
        table = astropy.io.fits.BinTableHDU(rows, name="STARS")
        if heap:
            lists = numpy.array([numpy.arange(i % 5) + i for i in range(count)], dtype=object)
            own = [c for c in table.columns] + [astropy.io.fits.Column("list", "PJ()", array=lists)]
            table = astropy.io.fits.BinTableHDU.from_columns(own, name="STARS")
        image = [astropy.io.fits.ImageHDU(numpy.arange(600.0), name="IMAGE")] if behind else []
        astropy.io.fits.HDUList([astropy.io.fits.PrimaryHDU(), table, *image]).writeto(name, overwrite=True)
        return rows

    def read(name, want, behind, heap, what):
        assert os.path.getsize(name) % 2880 == 0, what
        with astropy.io.fits.open(name, memmap=False) as file:
            file.verify("exception")
            data = file[1].data
            for column in want.dtype.names:
                assert (numpy.asarray(data[column]) == want[column]).all() and len(data) == len(want), (what, column)
            if heap:
                lists = {(row["star"], row["flux"], row["id"]): row["id"] for row in want}
                assert all(list(row["list"]) == list(range(row["id"], row["id"] + row["id"] % 5)) for row in data), what
            assert len(file) == (3 if behind else 2), what
            assert not behind or (file[2].data == numpy.arange(600.0)).all(), what

    table_size = lambda file: int(file[3130:3150])
    schema = schemas / "fits.yaml"
    # flux falls, so its numbers change their sign for the oracle
    for columns in [], [("id", ">i4")], [("id", ">i2"), ("name", ">f8")]:
        for behind in True, False:
            rows = [write(f"{n}.fits", c, c, columns, behind, False) for n, c in (("a", 1000), ("b", 777))]
            for one in rows:
                one["flux"] *= -1
            want = orders(*rows, ["star", "flux"])
            for one in want.values():
                one["flux"] *= -1
            sort_all(schema, ("a.fits", "b.fits"),
                     lambda name, what: read(name, want[what], behind, False, (columns, behind, what)))
    for behind in True, False:  # an array of each row, in a heap: kept with fewer rows
        rows = write("a.fits", 600, 5, [("id", ">i4")], behind, True)
        order = rows[numpy.lexsort((-rows["flux"], rows["star"]))]
        for words, count in ((), 600), (("--head", 33), 33):
            run("-s", schema, *words, "a.fits", "-o", "b.fits")
            read("b.fits", order[:count], behind, True, ("heap", behind, count))
    file = open("a.fits", "rb").read()  # the same with a gap in front of the heap: THEAP says where it begins
    rows_end, gap = 5760 + 600 * table_size(file), 96
    heap_size = int(file[3290:3310])
    end = file.index(b"END     ", 2880)
    heads = bytearray(file[:5760])
    heads[3290:3310] = b"%20d" % (heap_size + gap)
    heads[end:end + 160] = (b"THEAP   = %20d" % (rows_end - 5760 + gap)).ljust(80) + b"END".ljust(80)
    body = file[5760:rows_end] + bytes(gap) + file[rows_end:rows_end + heap_size]
    open("gap.fits", "wb").write(heads + body + bytes(-len(body) % 2880))
    open("gap.yaml", "w").write(schema.read_text() + f"after: {{offset: {end + 10}, type: char, count: 20, unpadded: true}}\n")
    for words, count in ((), 600), (("--head", 33), 33):
        run("-s", "gap.yaml", *words, "gap.fits", "-o", "b.fits")
        read("b.fits", order[:count], False, True, ("gap", count))
    open("c.fits", "wb").write(file.replace(b"TFORM1  = 'J", b"TFORM1  = 'I"))
    assert "at offset 3600 there is" in refused("-s", schema, "c.fits")


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
    """Frames of two channels, with a chunk behind them; Python's wave reads what each option writes."""
    def write(name, count, seed):
        rng = numpy.random.default_rng(seed)
        frames = numpy.zeros(count, [("left", "<i2"), ("right", "<i2")])
        frames["left"], frames["right"] = rng.integers(-5, 5, count), rng.integers(0, 50, count)
        with wave.open(name, "wb") as file:
            file.setparams((2, 2, 44100, 0, "NONE", ""))
            file.writeframes(frames.tobytes())
        data = bytearray(open(name, "rb").read() + chunk)
        struct.pack_into("<I", data, 4, len(data) - 8)
        open(name, "wb").write(data)
        return frames

    def read(name, want, what):
        data = open(name, "rb").read()
        assert struct.unpack_from("<I", data, 4)[0] == len(data) - 8 and data.endswith(chunk), what
        with wave.open(name) as file:
            assert file.getnframes() == len(want), what
            same(numpy.frombuffer(file.readframes(len(want)), want.dtype), want, what)

    schema = schemas / "wav.yaml"
    for chunk in b"", b"LIST" + struct.pack("<I", 4) + b"INFO":
        frames = write("a.wav", 5000, 1), write("b.wav", 300, 2)
        want = orders(*frames, ["left", "right"])
        sort_all(schema, ("a.wav", "b.wav"), lambda name, what: read(name, want[what], (chunk, what)))
    write("a.wav", 5000, 1)
    data = open("a.wav", "rb").read()
    for at, form, value in (20, "<H", 3), (22, "<H", 1), (34, "<H", 24), (0, "4s", b"RIFX"), (36, "4s", b"LIST"):
        other = bytearray(data)
        struct.pack_into(form, other, at, value)
        open("other.wav", "wb").write(other)
        assert f"at offset {at} there is" in refused("-s", schema, "other.wav", "-o", "other.wav")
    chunk = b""
    frames = write("a.wav", 5000, 1)
    data = open("a.wav", "rb").read()
    for size in bytes(4), b"\xff" * 4:  # as ffmpeg and arecord write into a pipe
        streamed = data[:4] + size + data[8:40] + size + data[44:]
        assert "zero: all" in refused("-s", schema, input=streamed)
        open("all.yaml", "w").write(schema.read_text().replace("trailer: any", "zero: all"))
        out = run("-s", "all.yaml", input=streamed)
        assert out == data[:4] + size + data[8:44] + orders(frames, frames, ["left", "right"])["first"].tobytes()
    mono = numpy.random.default_rng(3).integers(-5, 5, 999).astype("<i2")  # a schema of one's own
    with wave.open("mono.wav", "wb") as file:
        file.setparams((1, 2, 44100, 0, "NONE", ""))
        file.writeframes(mono.tobytes())
    open("mono.yaml", "w").write("record: F\nskip: 44\nlength: [{offset: 40, type: uint32}, {offset: 4, type: uint32, "
                                 "plus: 36}]\nfields: [{name: v, type: int16}]\nkeys: [v]\n")
    run("-s", "mono.yaml", "--head", 100, "mono.wav", "mono.wav", "-o", "out.wav")
    data = open("out.wav", "rb").read()
    assert data[44:] == numpy.sort(numpy.r_[mono, mono])[:100].tobytes() and struct.unpack_from("<I", data, 4)[0] == 236


def ply():
    """Coloured points; plyfile reads what each option writes."""
    dtype = [(c, "<f4") for c in "xyz"] + [(c, "u1") for c in ("red", "green", "blue")]
    def write(name, count, seed):
        rng = numpy.random.default_rng(seed)
        points = numpy.zeros(count, dtype)
        for field in points.dtype.names:
            points[field] = rng.integers(0, 9, count)
        plyfile.PlyData([plyfile.PlyElement.describe(points, "vertex")], byte_order="<", comments=["a comment"]).write(name)
        return points

    def read(name, want, what):
        file = plyfile.PlyData.read(name)
        same(numpy.array(file["vertex"].data), want, what)

    schema = schemas / "ply.yaml"
    points = write("a.ply", 998, 1), write("b.ply", 500, 2)  # both together have one digit more
    want = orders(*points, ["z", "y", "x"])
    sort_all(schema, ("a.ply", "b.ply"), lambda name, what: read(name, want[what], what))
    file = open("a.ply", "rb").read()
    for old, new in (b"binary_little", b"binary_big"), (b"uchar red", b"float red"), (b"float y", b"float z"):
        open("other.ply", "wb").write(file.replace(old, new))
        assert "its header has no line" in refused("-s", schema, "other.ply")
    more = numpy.zeros(998, dtype + [("alpha", "u1")])
    plyfile.PlyData([plyfile.PlyElement.describe(more, "vertex")], byte_order="<").write("other.ply")
    assert "998 records" in refused("-s", schema, "other.ply")
    faces = plyfile.PlyElement.describe(numpy.array([([0, 1, 2],)], [("vertex_indices", "i4", 3)]), "face")
    plyfile.PlyData([plyfile.PlyElement.describe(points[0], "vertex"), faces], byte_order="<").write("other.ply")
    assert "998 records" in refused("-s", schema, "other.ply")
    open("other.ply", "wb").write(file.replace(b"end_header\n", b"end_headers\n"))
    assert "end_header" in refused("-s", schema, "other.ply")
    open("crlf.ply", "wb").write(file[:file.index(b"end_header\n")].replace(b"\n", b"\r\n") + b"end_header\r\n" + points[0].tobytes())
    run("-s", schema, "crlf.ply", "-o", "out.ply")
    assert open("out.ply", "rb").read().endswith(b"end_header\r\n" + want["first"].tobytes())


def pcd():
    """Points of the Point Cloud Library; the reader is its documentation."""
    def header(count):
        return (f"# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z intensity\nSIZE 4 4 4 4\nTYPE F F F F\n"
                f"COUNT 1 1 1 1\nWIDTH {count}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {count}\nDATA binary\n").encode()

    def write(name, count, seed):
        rng = numpy.random.default_rng(seed)
        points = numpy.zeros(count, [(c, "<f4") for c in ("x", "y", "z", "intensity")])
        for field in points.dtype.names:
            points[field] = rng.integers(0, 20, count)
        open(name, "wb").write(header(count) + points.tobytes())
        return points

    def read(name, want, what):
        lines, _, data = open(name, "rb").read().partition(b"DATA binary\n")
        words = dict(line.split(maxsplit=1) for line in lines.splitlines())
        assert int(words[b"WIDTH"]) * int(words[b"HEIGHT"]) == int(words[b"POINTS"]) == len(want), what
        assert data == want.tobytes(), what

    schema = schemas / "pcd.yaml"
    points = write("a.pcd", 990, 1), write("b.pcd", 10, 2)
    want = orders(*points, ["intensity", "z"])
    sort_all(schema, ("a.pcd", "b.pcd"), lambda name, what: read(name, want[what], what))
    run("-s", schema, "a.pcd", "b.pcd", "-o", "out.pcd")
    assert open("out.pcd", "rb").read() == header(1000) + want["both"].tobytes()
    file = open("a.pcd", "rb").read()
    for old, new in (b"DATA binary\n", b"DATA ascii\n"), (b"DATA binary\n", b"DATA binary_compressed\n"), \
                    (b"y z intensity", b"y z rgb"), (b"HEIGHT 1", b"HEIGHT 2"), (b"SIZE 4 4 4 4", b"SIZE 4 4 4 8"), (b"WIDTH 990", b"WIDTH 99"):
        open("other.pcd", "wb").write(file.replace(old, new))
        refused("-s", schema, "other.pcd", "-o", "other.pcd")


def shp():
    """The index and the table of shapefiles; pyshp writes them, and it and dbfread read what each option writes."""
    def write(name, count, seed):
        rng = numpy.random.default_rng(seed)
        rows = [("ab" * int(rng.integers(0, 4)) + "x", int(rng.integers(0, 5))) for _ in range(count)]
        with shapefile.Writer(name, shapeType=shapefile.POLYLINE) as file:
            file.field("NAME", "C", 20)
            file.field("COUNT", "N", 10)
            file.field("NUMBER", "N", 6)
            for number, (text, size) in enumerate(rows):
                file.line([[(i, i) for i in range(2 + size)]])
                file.record(text, size, number)
        with open(name + ".dbf", "ab") as file:
            file.write(b"\x1a")  # the end, which pyshp does not write
        return numpy.array([(text, -size, number) for number, (text, size) in enumerate(rows)],
                           [("name", "U20"), ("count", "i8"), ("number", "i8")])

    def read_table(name, want, what):
        shutil.copy(name, "out.dbf")
        got = [(row["NAME"], -row["COUNT"], row["NUMBER"]) for row in dbfread.DBF("out.dbf")]
        assert got == [tuple(row) for row in want.tolist()], what
        data = open("out.dbf", "rb").read()
        assert data[-1:] == b"\x1a" and len(data) == 32 * 4 + 1 + 37 * len(want) + 1, what

    def read_index(name, want, what):
        data = open(name, "rb").read()
        assert struct.unpack_from(">i", data, 24)[0] * 2 == len(data), what
        got = numpy.frombuffer(data[100:], ">i4").reshape(-1, 2)
        assert (got[:, 1] * 2 == 48 + 16 * (2 - want["count"])).all() and len(got) == len(want), what
        if what != "both":
            with shapefile.Reader(shp=open("a.shp", "rb"), shx=open(name, "rb")) as file:
                assert [len(file.shape(i).points) for i in range(len(want))] == (2 - want["count"]).tolist(), what

    rows = write("a", 900, 1), write("b", 200, 2)
    want = orders(*rows, ["name", "count"])
    sort_all(schemas / "dbf.yaml", ("a.dbf", "b.dbf"), lambda name, what: read_table(name, want[what], what))
    index = orders(*rows, ["count"])
    sort_all(schemas / "shx.yaml", ("a.shx", "b.shx"), lambda name, what: read_index(name, index[what], what))
    file = open("a.dbf", "rb").read()
    for at, value in (0, 0x30), (36, 0x32), (48, 21), (75, 0x46):
        open("other.dbf", "wb").write(file[:at] + bytes([value]) + file[at + 1:])
        assert f"at offset {at} there is" in refused("-s", schemas / "dbf.yaml", "other.dbf")
    open("other.shx", "wb").write(struct.pack(">i", 9995) + open("a.shx", "rb").read()[4:])
    assert "at offset 0 there is 9995 instead of 9994" in refused("-s", schemas / "shx.yaml", "other.shx")


def segy():
    """Traces of two lengths, by ensemble and distance; segyio writes and reads them."""
    def write(name, count, samples, seed):
        rng = numpy.random.default_rng(seed)
        spec = segyio.spec()
        spec.format, spec.samples, spec.tracecount = 5, list(range(samples)), count
        rows = numpy.zeros(count, [("ensemble", "i4"), ("distance", "i4"), ("data", "f4", samples)])
        rows["ensemble"], rows["distance"] = rng.integers(0, 20, count), rng.integers(-5, 5, count)
        rows["data"] = rng.random((count, samples))
        with segyio.create(name, spec) as file:
            for i, row in enumerate(rows):
                file.header[i] = {segyio.su.cdp: int(row["ensemble"]), segyio.su.offset: int(row["distance"])}
                file.trace[i] = row["data"]
        return rows

    def read(name, want, what):
        if len(want) == 0:
            assert os.path.getsize(name) == 3600, what
            return
        with segyio.open(name, ignore_geometry=True) as file:
            assert file.trace.raw[:].tobytes() == want["data"].tobytes(), what
            assert (file.attributes(segyio.su.cdp)[:] == want["ensemble"]).all(), what

    schema = schemas / "segy.yaml"
    for samples in 50, 333:
        rows = write("a.sgy", 300, samples, 1), write("b.sgy", 100, samples, 2)
        want = orders(*rows, ["ensemble", "distance"])
        sort_all(schema, ("a.sgy", "b.sgy"), lambda name, what: read(name, want[what], (samples, what)))
    write("c.sgy", 10, 50, 3)
    assert "440" in (text := refused("-s", schema, "c.sgy", "a.sgy")) and "1572" in text
    file = open("a.sgy", "rb").read()
    for at, value in (3225, 3), (3505, 1):
        open("other.sgy", "wb").write(file[:at] + bytes([value]) + file[at + 1:])
        assert f"at offset {at - 1} there is" in refused("-s", schema, "other.sgy")


def fortran():
    """Records of Fortran, with their lengths around them; the reader is a struct."""
    record = lambda a: struct.pack("<i", a.nbytes) + a.tobytes() + struct.pack("<i", a.nbytes)
    open("f.yaml", "w").write("record: P\nlayout: packed\nskip: 4\ntrailer: 4\nlength: [{offset: 0, type: int32}, "
                              "{trailer: 0, type: int32}]\nfields: [{name: x, type: float64}, {name: id, type: uint32}]\nkeys: [id]\n")
    def make(name, count, seed):
        a = numpy.zeros(count, [("x", "<f8"), ("id", "<u4")])
        a["x"], a["id"] = numpy.arange(count), numpy.random.default_rng(seed).integers(0, count // 3, count)
        open(name, "wb").write(record(a))
        return a

    def read(name, want, what):
        assert open(name, "rb").read() == record(want), what

    arrays = make("a.bin", 900, 1), make("b.bin", 500, 2)
    want = orders(*arrays, ["id"])
    sort_all("f.yaml", ("a.bin", "b.bin"), lambda name, what: read(name, want[what], what))
    file = open("a.bin", "rb").read()
    open("c.bin", "wb").write(file[:-4] + struct.pack("<i", 12 * 899))
    assert "900" in (text := refused("-s", "f.yaml", "c.bin", "-o", "c.bin")) and "899" in text


def pcap():
    """Packets of one length are records with their headers; others are refused, and so is another byte order."""
    schema = schemas / "pcap.yaml"
    head = lambda order: struct.pack(order + "IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    packet = lambda i, size: struct.pack("<4I", random.integers(9), random.integers(3), size, size) + i.to_bytes(2, "big") + bytes(size - 2)
    packets = [packet(i, 60) for i in range(2000)]
    open("a.pcap", "wb").write(head("<") + b"".join(packets))
    run("-s", schema, "a.pcap", "-o", "b.pcap")
    open("c.pcap", "wb").write(head("<") + packets[0] + packet(1, 76) + packet(2, 44))
    open("d.pcap", "wb").write(head(">") + b"".join(packets))
    packets.sort(key=lambda p: struct.unpack_from("<II", p))
    assert open("b.pcap", "rb").read() == head("<") + b"".join(packets)
    assert "c.pcap: record 1: " in refused("-s", schema, "c.pcap")
    assert "at offset 0 there is" in refused("-s", schema, "d.pcap")


warnings.simplefilter("ignore")
tests = [npy, las, fits, stl, utmp, gensort, wav, ply, pcd, shp, segy, fortran, pcap]
for test in [test for test in tests if test.__name__ in sys.argv[3:]] or tests:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test()
        os.chdir("/")
    print(f"{test.__name__}: {test.__doc__.splitlines()[0]}")
