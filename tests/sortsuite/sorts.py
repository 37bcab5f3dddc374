#!/usr/bin/env python3
"""Sorts of Python and its packages, as a program that sortsuite asks.

Usage: sortsuite --program 'python3 sorts.py NAME'      NAME: a word of SORTS below

A request is a line "COUNT BYTES KIND" and COUNT keys of BYTES each. The answer is a line "placed" and COUNT numbers of 64 bits,
for each place of the result the place in the input; or a line "refused". The end of the input ends the program.
"""
import struct
import sys

# What struct and NumPy call the kinds whose keys are one number, ascending, with NaNs last.
FORMATS = {'int8': 'b', 'uint8': 'B', 'int16': 'h', 'uint16': 'H', 'int32': 'i', 'uint32': 'I', 'int64': 'q', 'uint64': 'Q',
           'float16': 'e', 'float32': 'f', 'float64': 'd'}


def python_sorted(kind, count, data):
    keys = struct.unpack(f'<{count}{FORMATS[kind]}', data)
    return struct.pack(f'={count}Q', *sorted(range(count), key=keys.__getitem__))


def array_of(kind, data):
    import numpy
    return numpy.frombuffer(data, '<' + FORMATS[kind])


def numpy_stable(kind, count, data):
    return array_of(kind, data).argsort(kind='stable').astype('u8').tobytes()


def numpy_default(kind, count, data):
    return array_of(kind, data).argsort().astype('u8').tobytes()


def torch_on(device, kind, data):
    import torch
    keys = torch.from_numpy(array_of(kind, data).copy()).to(device)
    return torch.sort(keys, stable=True).indices.cpu().numpy().astype('u8').tobytes()


def torch_cpu(kind, count, data):
    return torch_on('cpu', kind, data)


def torch_cuda(kind, count, data):
    return torch_on('cuda', kind, data)


def cupy_stable(kind, count, data):
    import cupy
    return cupy.asnumpy(cupy.argsort(cupy.asarray(array_of(kind, data)), kind='stable')).astype('u8').tobytes()


def cudf_stable(kind, count, data):
    import cudf
    import cupy
    table = cudf.DataFrame({'key': cudf.Series(array_of(kind, data), nan_as_null=False), 'place': cupy.arange(count, dtype='u8')})
    return table.sort_values('key', kind='stable')['place'].to_numpy().astype('u8').tobytes()


SORTS = {'python': python_sorted, 'numpy': numpy_stable, 'numpy-default': numpy_default, 'torch-cpu': torch_cpu,
         'torch-cuda': torch_cuda, 'cupy': cupy_stable, 'cudf': cudf_stable}
# What packages raise for types that they do not sort.
REFUSALS = (TypeError, NotImplementedError)


def answer(sort, kind, count, data):
    if kind not in FORMATS:
        return b'refused\n'
    try:
        return b'placed\n' + sort(kind, count, data)
    except REFUSALS:
        return b'refused\n'
    except RuntimeError as error:
        if 'not implemented for' in str(error):  # torch
            return b'refused\n'
        raise


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in SORTS:
        sys.exit(__doc__ + 'SORTS: ' + ' '.join(SORTS))
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sort = SORTS[sys.argv[1]]
    sort('int32', 2, struct.pack('<2i', 2, 1))  # fails at once if something is missing
    while line := requests.readline():
        count, size, kind = line.decode().rstrip('\n').split(' ', 2)
        data = requests.read(int(count) * int(size))
        answers.write(answer(sort, kind, int(count), data))
        answers.flush()


main()
