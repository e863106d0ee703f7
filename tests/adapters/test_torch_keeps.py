"""torch: deleting an object frees what `retained` said, measured by the allocator; nothing is moved."""

# SPDX-License-Identifier: MIT
import ctypes
import gc
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import inspector
from inspector import _native
from inspector.facts.unknown import Unknown
from inspector.objects.probes.namespace import namespace

pytestmark = pytest.mark.libraries
torch = pytest.importorskip("torch", reason="not installed in this room: torch")
nn = torch.nn


_NAMES = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class _Mallinfo(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_size_t) for name in _NAMES.split())


_mallinfo = ctypes.CDLL(None).mallinfo2
_mallinfo.restype = _Mallinfo


def in_use() -> int:
    found = _mallinfo()
    return int(found.hblkhd + found.uordblks)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Workers of torch allocate when they please."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def model() -> Any:
    return nn.Sequential(nn.Linear(300, 300), nn.ReLU(), nn.Linear(300, 300))


def loss() -> Any:
    return (model()(torch.randn(500, 300)) ** 2).sum()


def optimizer() -> Any:
    made = model()
    found = torch.optim.Adam(made.parameters())
    made(torch.randn(10, 300)).sum().backward()
    found.step()
    return found


def with_gradients() -> Any:
    made = model()
    made(torch.randn(10, 300)).sum().backward()
    return made


def in_place() -> Any:
    y = torch.ones(500, 500, requires_grad=True) * 2
    y[2].mul_(3)
    return y.exp()


class Twice(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x, x * 2)
        ctx.more = [torch.ones(300, 300)]
        return x * 3

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient


KEPT: dict[str, Callable[[], Any]] = {
    "tensor": lambda: torch.ones(500, 500),
    "view": lambda: torch.ones(500, 500)[3:4],
    "view of a view": lambda: torch.ones(500, 500)[3:].t()[5],
    "storage": lambda: torch.ones(500, 500).untyped_storage(),
    "sparse": lambda: torch.ones(300, 300).to_sparse(),
    "copy-on-write": lambda: torch._lazy_clone(torch.ones(500, 500)),
    "NumPy from torch": lambda: torch.ones(500, 500).numpy(),
    "torch from NumPy": lambda: torch.from_numpy(np.ones((500, 500))),
    "dict": lambda: {"a": torch.ones(500, 500), "b": [torch.ones(500, 500)[1]]},
    "loss": loss,
    "losses": lambda: [loss() for _ in range(3)],
    "a node": lambda: loss().grad_fn,
    "function in Python": lambda: Twice.apply(torch.ones(300, 300, requires_grad=True)).sum(),
    "stack": lambda: torch.stack([torch.ones(200, 200, requires_grad=True) * 3 for _ in range(5)]).exp(),
    "in place": in_place,
    "lstm": lambda: nn.LSTM(50, 100)(torch.randn(20, 10, 50))[0].sum(),
    "convolution": lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.MaxPool2d(2))(
        torch.randn(4, 3, 64, 64)
    ).mean(),
    "attention": lambda: nn.MultiheadAttention(64, 4)(*[torch.randn(50, 4, 64) for _ in range(3)])[0].sum(),
    "module": model,
    "gradients": with_gradients,
    "optimizer": optimizer,
}


@pytest.mark.parametrize("kind", KEPT)
def test_deleting_frees_what_was_said(kind: str) -> None:
    KEPT[kind]()  # what torch keeps for ever, it keeps now
    x = KEPT[kind]()
    gc.collect()
    said = inspector.retained(x).retained_bytes
    before = in_use()
    del x
    gc.collect()
    freed = before - in_use()
    assert isinstance(said, int) and abs(said - freed) <= max(freed // 100, 65_536), (said, freed)


def test_what_others_hold_is_not_counted() -> None:
    batch, made = torch.randn(500, 300), model()
    made(batch).sum()
    out = (made(batch) ** 2).sum()
    said = inspector.retained(out).retained_bytes
    kept = in_use()
    del out
    gc.collect()
    assert isinstance(said, int) and abs(said - (kept - in_use())) < 65_536
    assert said < 2 * batch.nbytes + 65_536, "the batch and the parameters have names"


def counts(out: Any) -> list[tuple[int, ...]]:
    """TensorImpl and nodes behind a result: counts, the bit for a Python object, the object."""
    found = [struct.unpack("8Q", _native.read(out._cdata, 64) or b"")]
    meta = struct.unpack("8Q", _native.read(found[0][3], 64) or b"")
    waiting = [meta[6]]
    for address in waiting:
        node = struct.unpack("16Q", _native.read(address, 128) or b"")
        found.append((node[1], node[14]))
        edges = range(node[11], node[12], 16)
        waiting += [one for at in edges if (one := struct.unpack("Q", _native.read(at, 8) or b"")[0])]
    return found


def test_a_look_makes_no_wrapper_and_moves_no_count() -> None:
    out = loss()
    before = counts(out)
    inspector.retained(out)
    inspector.inspect(out)
    namespace({"out": out}, history={})
    assert counts(out) == before


def test_a_graph_that_only_a_hook_knows_is_unknown() -> None:
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x.numpy(), torch.from_numpy):
        out = torch.ones(300, 300, requires_grad=True).exp().sum()
    kept = inspector.retained(out).retained_bytes
    assert isinstance(kept, Unknown) and "hook" in kept.reason
    assert "how many bytes that keeps is not known" in str(inspector.inspect(out))


def said(x: Any) -> str:
    return " ".join(str(inspector.inspect(x, name="x")).split())


def test_card_table_and_retained_say_one_number() -> None:
    x = loss()
    report = inspector.inspect(x, name="x")
    kept = inspector.retained(x).retained_bytes
    assert report.materialization.retained_bytes == report.autograd.retained_bytes == kept
    fact = namespace({"x": x}, history={})
    (row,) = fact.kept
    assert (row.place, row.by) == ("x", "base")
    assert abs(row.bytes - kept) < 1_000_000, "with the parameters, which the table counts once"
    assert (
        "Keeps its graph: 7 nodes, 1.8 MB of saved activations; x.detach() or x.item() keeps none." in said(x)
    )


def test_a_list_of_losses_says_what_its_graphs_keep() -> None:
    rows = [loss() for _ in range(3)]
    text = said(rows)
    assert "3 tensors in it keep a graph: 21 nodes, 5.4 MB of saved activations" in text
    assert "besides what C code keeps" not in text


def test_a_used_graph_says_so() -> None:
    out = loss()
    out.backward()
    assert "Its graph was used: backward() freed what 4 nodes had saved" in said(out)
    assert "freed what 4 nodes had saved" in said(out.grad_fn)


def test_leaves_and_plain_tensors_have_no_graph() -> None:
    assert "graph" not in said(torch.ones(3))
    assert "graph" not in said(torch.ones(3, requires_grad=True))


FIRST = """
import inspector, torch
with {context}:
    inspector.inspect(torch.ones(2))
{more}
x = (torch.ones(2, requires_grad=True) * 2).exp()
print(inspector.inspect(x).autograd.nodes, inspector.inspect(torch.nn.Linear(2, 2)).model.parameters)
"""


@pytest.mark.parametrize(
    ("context", "more"),
    [
        ("torch.no_grad()", ""),
        ("torch.inference_mode()", ""),
        ("torch.device('meta')", ""),
        ("torch._subclasses.fake_tensor.FakeTensorMode()", ""),
        ("torch.no_grad()", "torch.set_default_dtype(torch.float64)"),
        ("torch.no_grad()", "torch.vmap(lambda x: (inspector.inspect(x), x)[1])(torch.ones(2, 2))"),
    ],
)
def test_the_first_look_may_be_made_anywhere(context: str, more: str) -> None:
    program = FIRST.format(context=context, more=more)
    command = [sys.executable, "-P", "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert ended.stdout.strip() == "2 6", ended.stdout + ended.stderr
