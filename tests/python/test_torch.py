"""Operators of torch, on a GPU if there is one, against torch's own stable sort."""

import pytest

torch = pytest.importorskip('torch')
ops = pytest.importorskip('recsort.torch')

DEVICES = ['cpu'] + ['cuda'] * torch.cuda.is_available()
ROWS = 5000


def rows_of(device, seed=1):
    """Rows of which many tie."""
    torch.manual_seed(seed)
    rows = torch.randint(-20, 20, (ROWS, 3)).float()
    rows[::97, 1] = float('nan')
    rows[:, 2] = torch.arange(ROWS)
    return rows.to(device)


def order_of(rows, keys):
    """Of columns, the least important first. torch's NaN is the greatest value, and here the last one."""
    order = torch.arange(len(rows), device=rows.device)
    for column, descending in reversed(keys):
        values = rows[order, column]
        values = torch.where(values.isnan(), torch.inf, -values if descending else values)
        order = order[torch.argsort(values, stable=True)]
    return order


@pytest.mark.parametrize('device', DEVICES)
def test_argsort_and_sort(device):
    rows = rows_of(device)
    expected = order_of(rows, [(1, True), (0, False)])
    assert torch.equal(ops.argsort(rows, '-1,0'), expected)
    assert torch.equal(ops.sort(rows, '-1, 0').nan_to_num(), rows[expected].nan_to_num())
    assert torch.equal(torch.ops.recsort.argsort(rows, '0'), order_of(rows, [(0, False)]))
    assert torch.equal(
        ops.argsort(rows[:, 0]), torch.argsort(rows[:, 0], stable=True)
    )  # is not contiguous
    assert len(ops.argsort(rows[:0], '0')) == 0


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('descending', [False, True])
def test_pairs(device, descending):
    rows = rows_of(device)
    keys, values = ops.sort_pairs(rows[:, 0], rows, descending)
    expected = torch.argsort(rows[:, 0], stable=True, descending=descending)
    assert torch.equal(keys, rows[expected, 0]) and torch.equal(values[:, 2], rows[expected, 2])


@pytest.mark.parametrize('device', DEVICES)
def test_torch_accepts_the_operators(device):
    rows = rows_of(device).nan_to_num().requires_grad_()
    torch.library.opcheck(ops.argsort, (rows.detach(), '0'))
    torch.library.opcheck(ops.sort, (rows, '-1,0'))
    torch.library.opcheck(ops.sort_pairs, (rows.detach()[:, 0], rows.detach()))


@pytest.mark.parametrize('device', DEVICES)
def test_a_compiled_function(device):
    def nearest(rows):
        return ops.sort(rows * 2, '-1,0')[:10] + 1

    rows = rows_of(device).nan_to_num()
    compiled = torch.compile(nearest, fullgraph=True, backend='aot_eager')
    assert torch.equal(compiled(rows), nearest(rows))


@pytest.mark.parametrize('device', DEVICES)
def test_gradients(device):
    rows = rows_of(device).nan_to_num().requires_grad_()
    weights = torch.arange(float(ROWS), device=device)[:, None]
    (ops.sort(rows, '-1') * weights).sum().backward()
    expected = torch.empty_like(rows)
    expected[order_of(rows.detach(), [(1, True)])] = weights.expand(-1, 3)
    assert torch.equal(rows.grad, expected)


@pytest.mark.skipif(not torch.cuda.is_available(), reason='needs a GPU')
def test_a_captured_graph():
    rows = rows_of('cuda')
    ops.sort(rows, '0')  # makes the sorter
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = ops.sort(rows, '0')
    for seed in 2, 3:
        rows.copy_(rows_of('cuda', seed))
        graph.replay()
        assert torch.equal(found.nan_to_num(), rows[order_of(rows, [(0, False)])].nan_to_num())


def test_what_is_refused():
    with pytest.raises(ValueError, match='no field "7"'):
        ops.argsort(torch.zeros(5, 2), '7')
