# At a notebook: installs the wheel, sorts a frame of each library, an array and a file.
get python3-venv
python3 -m venv env
env/bin/pip install -q --no-index --find-links /release/others pandas polars pyarrow duckdb /release/python/recsort-*manylinux*x86_64.whl
cat > first.py << 'END_OF_PROGRAM'
import duckdb
import numpy as np
import pandas
import polars
import pyarrow

import recsort

columns = {"mag": [5.5, None, 2.1, 5.5], "id": [1, 2, 3, 4]}
frame = pandas.DataFrame(columns)
first = recsort.sort_table(frame, by=["-mag", "id"])
pandas.testing.assert_frame_equal(first, frame.sort_values(["mag", "id"], ascending=[False, True], kind="stable"))
assert recsort.sort_table(polars.DataFrame(columns), by=["-mag", "id"])["id"].to_list() == [1, 4, 3, 2]
assert recsort.sort_table(pyarrow.table(columns), by=["-mag", "id"])["id"].to_pylist() == [1, 4, 3, 2]
relation = duckdb.sql("select * from (values (2, 'b'), (1, 'a')) as t(n, name)")
assert recsort.sort_table(relation, by="n").fetchall() == [(1, "a"), (2, "b")]

stars = np.array([(5.5, 1), (2.1, 2), (5.5, 3)], [("mag", "f4"), ("id", "i4")])
assert recsort.argsort(stars, "-mag").tolist() == [0, 2, 1]
assert recsort.sort(stars, order=["mag"]) is stars and stars["id"].tolist() == [2, 1, 3]
assert recsort.searchsorted(stars, np.array([(5.5, 0)], stars.dtype), "mag").tolist() == [1]
np.save("stars.npy", stars)
recsort.sort_file(["stars.npy"], "sorted.npy", stars.dtype, "-mag")
assert np.load("sorted.npy")["id"].tolist() == [1, 3, 2]
try:
    recsort.sort(stars, keys="magnitude")
except Exception as error:
    assert "magnitude" in str(error), error
else:
    raise AssertionError("a key without a field is taken")
END_OF_PROGRAM
env/bin/python first.py
