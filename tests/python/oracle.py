"""Random records, and the order that they should have by NumPy's own sorts. Shares no code with the package."""

import os

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get('RECSORT_PYTHON_EXAMPLES', '0'))
settings.register_profile(
    'recsort',
    max_examples=EXAMPLES or 60,
    deadline=None,
    database=None,
    derandomize=not EXAMPLES,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile('recsort')

SCALARS = ['?', 'i1', 'u1', 'S1', 'S5', 'V1', 'V3'] + [
    order + name
    for order in '<>'
    for name in (
        'i2',
        'i4',
        'i8',
        'u2',
        'u4',
        'u8',
        'f2',
        'f4',
        'f8',
        'g',
        'c8',
        'c16',
        'G',
        'M8[D]',
        'M8[ns]',
        'm8[s]',
        'U1',
        'U3',
    )
]
NAMES = ['x', 'y', '-x', 'a.b', 'p[0]', 'naïve', 'size']

scalars = st.sampled_from(SCALARS).map(np.dtype)


@st.composite
def structs(draw, depth=2, choice=NAMES):
    names = draw(st.lists(st.sampled_from(choice), min_size=1, max_size=4, unique=True))
    inner = scalars if depth == 0 else st.one_of(scalars, scalars, structs(depth - 1, choice))
    shapes = st.sampled_from([(), (), (), (2,), (2, 3)])
    return np.dtype([(name, draw(inner), draw(shapes)) for name in names], align=draw(st.booleans()))


dtypes = st.one_of(scalars, structs())


def fields_of(array):
    """The values of records as arrays of one dimension, views in the order of their fields."""
    if array.ndim > 1:
        elements = [array[(slice(None), *at)] for at in np.ndindex(array.shape[1:])]
    elif array.dtype.names is not None:
        elements = [array[name] for name in array.dtype.names]
    else:
        return [array]
    return [column for element in elements for column in fields_of(element)]


def pool(dtype, rng):
    """A few values of a dtype: those where orders go wrong, and random ones."""
    kind, size = dtype.kind, dtype.itemsize
    if kind == '?' or kind == 'b':
        values = [False, True]
    elif kind in 'iu':
        limits = np.iinfo(dtype)
        values = [
            limits.min,
            limits.max,
            0,
            1,
            *rng.integers(limits.min, limits.max, 3, dtype.newbyteorder('='), True),
        ]
    elif kind == 'f':
        near = dtype.type(1) + np.finfo(dtype).eps
        values = [
            np.nan,
            -np.nan,
            np.inf,
            -np.inf,
            0.0,
            -0.0,
            1,
            near,
            -near,
            np.finfo(dtype).max,
            np.finfo(dtype).smallest_subnormal,
            *rng.normal(size=3),
        ]
    elif kind == 'c':
        parts = [np.nan, np.inf, -np.inf, 0.0, -0.0, *rng.normal(size=2)]
        values = [complex(real, imag) for real in parts for imag in parts]
    elif kind in 'Mm':
        values = np.array([-(2**63), -(2**63) + 1, 2**63 - 1, 0, -1, *rng.integers(-99, 99, 3)]).astype(
            dtype.newbyteorder('=')
        )
    elif kind == 'S':
        values = [b'', b'a', b'a\0b', b'ab', b'\xff', b'\x80z']
    elif kind == 'U':
        values = ['', 'a', 'ab', 'a\0b', '\xff', 'Ā', '\uffff', '😀', 'a😀']
    else:
        values = [bytes(rng.integers(0, 256, size, np.uint8)) for _ in range(4)]
    values = np.array(list(values), dtype)
    return values[rng.permutation(len(values))[: rng.integers(1, len(values) + 1)]]


def records_of(dtype, count, rng):
    """Records with ties. Padding is random too."""
    records = np.frombuffer(rng.bytes(count * dtype.itemsize), np.uint8).copy().view(dtype)
    for column in fields_of(records):
        values = pool(column.dtype, rng)
        column[...] = values[rng.integers(0, len(values), count)]
    return records


def is_missing(values):
    return np.isnat(values) if values.dtype.kind in 'Mm' else np.isnan(values)


def plain_ranks(values):
    """Numbers in the order of values, equal for equal values; by NumPy's own stable sort."""
    if values.dtype.kind == 'V':
        words = [value.tobytes() for value in values]
        return np.array([sorted(set(words)).index(word) for word in words], int)
    order = np.argsort(values, kind='stable')
    ranks, following = np.zeros(len(values), int), values[order]
    ranks[order[1:]] = np.cumsum(following[1:] != following[:-1])
    return ranks


def total_ranks(values):
    """The rank of floats by IEEE 754's totalOrder."""
    native = values.astype(values.dtype.newbyteorder('='))
    bits = native.view(f'i{native.itemsize}')
    return plain_ranks(np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits))


def rank(values, descending, nan):
    """The ranks of one column, as a list of columns of integers."""
    sign, kind = (-1 if descending else 1), values.dtype.kind
    if kind == 'c':
        real, imag = np.ascontiguousarray(values).real, np.ascontiguousarray(values).imag
        halves = rank(real, descending, nan) + rank(imag, descending, nan)
        missing = 2 * np.isnan(real).astype(int) + np.isnan(imag)
        return halves if nan == 'total' else [missing if nan == 'last' else -missing] + halves
    if kind == 'f' and nan == 'total':
        return [sign * total_ranks(values)]
    if kind in 'Mm' and nan == 'total':
        return [sign * plain_ranks(values.astype(np.int64))]
    if kind in 'fMm':
        missing = is_missing(values)
        ranks = np.zeros(len(values), int)
        ranks[~missing] = sign * plain_ranks(values[~missing])
        ranks[missing] = len(values) if nan == 'last' else -len(values)
        return [ranks]
    return [sign * plain_ranks(values)]


def order_of(columns, nan):
    """The stable order of rows by (values, descending), and whether each row equals the next in it."""
    ranks = [part for values, descending in columns for part in rank(values, descending, nan)]
    order = np.lexsort(ranks[::-1])
    table = np.stack(ranks)[:, order]
    return order, (table[:, 1:] == table[:, :-1]).all(axis=0)
