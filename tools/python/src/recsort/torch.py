"""Sorts as operators of torch, which torch.compile and torch.export see.

>>> import torch, recsort.torch
>>> rows = torch.tensor([[1., 5.], [2., 2.], [3., 5.]])
>>> recsort.torch.sort(rows, '-1')[:, 0].tolist()
[1.0, 3.0, 2.0]

`keys` are column numbers with commas between them, the most important first, such as '-4,0': by column 4, descending, then
by column 0. Without them, tensors have one dimension. NaN comes last, and ties keep their order. Tensors on a GPU are sorted
there, on the current stream: nothing waits, so that graphs may capture it. Others are sorted by the CPU. Importing this
module takes torch 2.4 or later, and makes torch.ops.recsort.
"""

import functools
from typing import Any

import torch

from . import _functions
from ._device import DeviceSorter

__all__ = ['argsort', 'sort', 'sort_pairs']


def _names(keys: str) -> list[int | str] | None:
    """What the rest of the package takes."""
    words = [word.strip() for word in keys.split(',')] if keys else []
    return [int(word) if word.isdecimal() else word for word in words] or None


@functools.lru_cache(maxsize=64)
def _sorter(
    dtype: torch.dtype, shape: tuple[int, ...], device: torch.device, keys: str, reverse: bool
) -> DeviceSorter:
    return DeviceSorter(
        torch.empty((1, *shape), dtype=dtype, device=device), keys=_names(keys), reverse=reverse
    )


def _sorter_of(rows: torch.Tensor, keys: str, reverse: bool = False) -> DeviceSorter:
    return _sorter(rows.dtype, tuple(rows.shape[1:]), rows.device, keys, reverse)


def _order(rows: torch.Tensor, keys: str, reverse: bool = False) -> torch.Tensor:
    if not rows.is_cuda:
        order = _functions.argsort(rows.numpy(), keys=_names(keys), reverse=reverse)
        return torch.from_numpy(order.astype('int64'))
    order = torch.empty(rows.shape[0], dtype=torch.int64, device=rows.device)
    return _sorter_of(rows, keys, reverse).argsort(rows, out=order)


@torch.library.custom_op('recsort::argsort', mutates_args=())
def argsort(rows: torch.Tensor, keys: str = '') -> torch.Tensor:
    """The indices, of int64, that sort the rows."""
    return _order(rows.detach().contiguous(), keys)


@argsort.register_fake
def _(rows: torch.Tensor, keys: str = '') -> torch.Tensor:
    return rows.new_empty(rows.shape[0], dtype=torch.int64)


@torch.library.custom_op('recsort::sort', mutates_args=())
def sort(rows: torch.Tensor, keys: str = '') -> torch.Tensor:
    """The rows, sorted. Gradients go back to where the rows were."""
    rows = rows.detach().contiguous()
    if not rows.is_cuda:
        return rows[_order(rows, keys)]
    return _sorter_of(rows, keys).sort(rows, out=torch.empty_like(rows))


@sort.register_fake
def _(rows: torch.Tensor, keys: str = '') -> torch.Tensor:
    return torch.empty_like(rows, memory_format=torch.contiguous_format)


def _keep(ctx: Any, inputs: tuple[torch.Tensor, str], output: torch.Tensor) -> None:
    rows, ctx.keys = inputs
    ctx.save_for_backward(rows)


def _send_back(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
    (rows,) = ctx.saved_tensors
    return torch.empty_like(gradient).index_copy_(0, argsort(rows, ctx.keys), gradient), None


sort.register_autograd(_send_back, setup_context=_keep)


@torch.library.custom_op('recsort::sort_pairs', mutates_args=())
def sort_pairs(
    keys: torch.Tensor, values: torch.Tensor, descending: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys of one dimension, sorted, and the elements of the first dimension of `values`, moved as they are."""
    keys, values = keys.detach().contiguous(), values.detach().contiguous()
    if not keys.is_cuda:
        order = _order(keys, '', descending)
        return keys[order], values[order]
    moved = torch.empty_like(values)
    return _sorter_of(keys, '', descending).sort(
        keys, out=torch.empty_like(keys), also=[(values, moved)]
    ), moved


@sort_pairs.register_fake
def _(
    keys: torch.Tensor, values: torch.Tensor, descending: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    return (
        torch.empty_like(keys, memory_format=torch.contiguous_format),
        torch.empty_like(values, memory_format=torch.contiguous_format),
    )
