"""torch: deleting an object frees what `retained` said, measured by the allocator; nothing is moved."""

# SPDX-License-Identifier: MIT
import gc
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from apart import printed

import inspector
from inspector import _native
from inspector.facts.unknown import Unknown
from inspector.objects.probes.namespace import namespace

pytestmark = [pytest.mark.libraries, pytest.mark.timeout(250)]
torch = pytest.importorskip("torch", reason="not installed in this room: torch")
import torch_kept  # noqa: E402
from torch_kept import KEPT, in_use, loss, model  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Workers of torch allocate when they please."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def freed() -> dict[str, tuple[str, str]]:
    """Kind -> (bytes that were said, bytes that deleting freed), in a process with one allocator for all."""
    command = [sys.executable, "-P", "-W", "ignore", str(Path(torch_kept.__file__))]
    told = os.environ | {"PYTHONMALLOC": "malloc"}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=200, env=told)
    rows = [line.split("\t") for line in ended.stdout.splitlines()]
    assert {row[0] for row in rows} == set(KEPT), ended.stderr
    return {kind: (said, gone) for kind, said, gone in rows}


@pytest.mark.parametrize("kind", KEPT)
def test_deleting_frees_what_was_said(kind: str, freed: dict[str, tuple[str, str]]) -> None:
    """Within one percent."""
    said, gone = map(int, freed[kind])
    assert abs(said - gone) <= gone // 100, (said, gone)


@pytest.mark.filterwarnings("ignore:`torch.jit.script`")
def test_a_script_module_is_unknown() -> None:
    kept = inspector.retained(torch.jit.script(model())).retained_bytes
    assert isinstance(kept, Unknown) and "script module" in kept.reason


def test_a_view_whose_function_keeps_more_is_unknown() -> None:
    """Of a conjugate's imaginary part it keeps tensors between: 592 B were said of 720 kB."""
    kept = inspector.retained(torch.ones(300, 300, dtype=torch.complex64).conj().imag).retained_bytes
    assert isinstance(kept, Unknown) and "function keeps" in kept.reason


def test_a_tensor_of_safetensors_keeps_its_whole_file(tmp_path: Path) -> None:
    """The kernel says so: the file is mapped until the tensor goes. What the open file keeps is unknown."""
    safetensors = pytest.importorskip("safetensors", reason="not installed in this room: safetensors")
    from safetensors.torch import load_file, save_file

    path = tmp_path / "weights.safetensors"
    save_file({"large": torch.ones(300, 300), "small": torch.ones(50, 60)}, path)
    one = load_file(path)["small"]
    said = inspector.retained(one).retained_bytes
    assert isinstance(said, int) and abs(said - path.stat().st_size) <= path.stat().st_size // 100
    assert str(path) in Path("/proc/self/maps").read_text()
    del one
    assert str(path) not in Path("/proc/self/maps").read_text()
    opened = inspector.retained(safetensors.safe_open(path, "pt")).retained_bytes
    assert isinstance(opened, Unknown) and "safe_open" in opened.reason


FORGOTTEN = """
import ctypes, os, sys, torch
from inspector.ledger.lost import lost
def forget(x):  # as `new torch::Tensor(x)` does: one more to count on, so the tensor owns its Python object
    counted = ctypes.c_uint64.from_address(ctypes.c_uint64.from_address(id(x) + 16).value + 8)
    counted.value += 1
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(x))
kept = torch.ones(40)
forget(kept)
for _ in range(3):
    forget(torch.ones(40))
for _ in range(10):
    torch.ones(40)  # the stack's old words no longer lead to the last one
found = [row for row in lost().rows if "Tensor" in row.type_name]
print([(row.cause, row.objects, row.certain) for row in found])
sys.stdout.flush()
os._exit(0)
"""


def test_a_tensor_that_code_in_cpp_forgot_is_told_so() -> None:
    assert printed("-W", "ignore", "-c", FORGOTTEN).strip() == "[('count in C++', 3, False)]"


def test_torch_keeps_its_own_generator() -> None:
    assert inspector.retained(torch.default_generator).retained_bytes == torch.default_generator.__sizeof__()


def test_what_others_hold_is_not_counted() -> None:
    batch, made = torch.randn(500, 300), model()
    made(batch).sum()
    out = (made(batch) ** 2).sum()
    said = inspector.retained(out).retained_bytes
    gc.collect()  # what earlier tests left is none of its
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


def test_what_hooks_packed_is_told_by_what_it_frees() -> None:
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x.numpy(force=True), torch.from_numpy):
        out = torch.ones(300, 300, requires_grad=True).mul(2).pow(2).sum()
    assert "hooks packed what they saved; deleting it frees" in said(out)


def test_a_result_that_a_hook_packed_keeps_itself() -> None:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        out = torch.ones(300, 300, requires_grad=True).mul(2).exp().sum()
    text = said(out)
    assert "360 kB of saved activations; 72" in text and "are never freed, because a packed" in text


@pytest.mark.parametrize("kept", ["view", "parameter", "view of a parameter"])
def test_a_container_of_tensors_without_a_graph_knows_all(kept: str) -> None:
    """A view has fields of autograd as well, which only say of what it is one."""
    weight = torch.nn.Parameter(torch.ones(300, 300))
    x = {"view": torch.ones(300, 300)[1:], "parameter": weight, "view of a parameter": weight.detach()[1:]}
    text = said([x[kept]])
    assert "in all" in text and "is not known" not in text and "graph" not in text


@pytest.mark.parametrize("kind", ["cycle", "checkpoint", "saved on cpu"])
def test_what_a_hook_packed_with_its_graph_is_never_freed(kind: str) -> None:
    """torch never frees a result that hooks packed with its graph: what deleting frees is less."""
    x = torch.ones(300, 300, requires_grad=True)
    if kind == "checkpoint":
        out = torch.utils.checkpoint.checkpoint(model(), x, use_reentrant=False).sum()
    else:
        hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: ("held", t), lambda held: held[1])
        with torch.autograd.graph.save_on_cpu() if kind == "saved on cpu" else hooks:
            out = x.mul(2).exp().sum()
    told = inspector.retained(out)
    assert isinstance(told.retained_bytes, int) and isinstance(told.never_freed_bytes, int)
    assert (told.never_freed_bytes > 350_000) == (kind != "checkpoint")
    assert ("are never freed" in said(out)) == (kind != "checkpoint")


def test_the_first_look_runs_no_hook_of_a_user() -> None:
    """Inside a context of hooks an adapter that makes a graph of its own would call them."""
    program = """
import inspector, torch
x, ran = (torch.ones(2, requires_grad=True) * 2).exp(), []
with torch.autograd.graph.saved_tensors_hooks(lambda t: ran.append(t) or t, lambda t: t):
    print(inspector.inspect(x).autograd.nodes, len(ran))
"""
    command = [sys.executable, "-P", "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert ended.stdout.strip() == "2 0", ended.stdout + ended.stderr


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
    assert "is not known" not in text


def test_what_graphs_keep_is_told_once() -> None:
    """The parameters, which the model's name keeps as well, made what is kept more than what goes."""
    made = model()
    rows = [(made(torch.randn(500, 300)) ** 2).sum() for _ in range(3)]
    assert "5.4 MB of saved activations" in (text := said(rows)) and "do not show" not in text


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


def test_what_a_graph_keeps_is_no_larger_buffer_that_the_tensor_shows() -> None:
    batch = torch.randn(300, 400)
    error = ((torch.nn.Linear(400, 400)(batch) - batch) ** 2).mean()
    slugs = {row.slug for row in inspector.inspect(error, name="error").answers.rows}
    assert "keeps-graph" in slugs and "keeps-buffer" not in slugs


def mapped(path: Path) -> int:
    """Bytes of the process's address space that show a file."""
    rows = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    spans = [row[0].split("-") for row in rows if row[-1] == str(path)]
    return sum(int(stop, 16) - int(start, 16) for start, stop in spans)


@pytest.mark.parametrize("kept", ["all", "one", "part"])
def test_a_tensor_of_a_mapped_checkpoint_keeps_the_whole_mapping(kept: str, tmp_path: Path) -> None:
    """The storages of torch.load(mmap=True) show parts of one storage of the file."""
    path = tmp_path / "checkpoint.pt"
    torch.save({"a": torch.ones(700, 700), "b": torch.ones(300, 300)}, path)
    x = torch.load(path, mmap=True)
    x = {"all": x, "one": x["b"], "part": x["b"].untyped_storage()[:400]}[kept]
    gc.collect()
    said, before = inspector.retained(x).retained_bytes, mapped(path)
    del x
    gc.collect()
    freed = before - mapped(path)
    assert freed > 2_000_000 and mapped(path) == 0
    assert isinstance(said, int) and abs(said - freed) <= freed // 100, (said, freed)


def test_a_tensor_of_dlpack_names_its_array_and_not_what_it_cannot_know() -> None:
    """NumPy's deleter releases an array; torch's own releases an object of C++ that tells no more."""
    assert "1.3 MB, which lie in an unnamed ndarray, its base" in said(torch.from_dlpack(np.ones((400, 400))))
    capsule = torch.utils.dlpack.to_dlpack(torch.ones(400, 400))
    kept = inspector.retained(torch.utils.dlpack.from_dlpack(capsule)).retained_bytes
    assert isinstance(kept, Unknown) and "another library" in kept.reason
