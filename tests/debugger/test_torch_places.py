"""Breakpoints at torch's operators by name: each call once, its tensors as torch itself describes them."""

# SPDX-License-Identifier: MIT
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.debugger.presets.operators import Schema, parameters

PROGRAM = """
import torch
x = torch.arange(6.0).reshape(2, 3)
y = x + x.T.reshape(2, 3)
print(x.data_ptr(), y[:, 1:2].data_ptr())
torch.add(x, y[:, 1:2], alpha=2)
torch.ops.aten.add(x, y)

@torch.jit.script
def scripted(a, b):
    return a + b

scripted(x, y)
torch.ones(2, 3, requires_grad=True) + x
torch.add(x, y, out=torch.empty(2, 3))
torch.cat([x, y])
x.sum(dim=1)
x.add_(1.5)
"""
PLACES = ("aten::add", "aten::cat", "aten::sum.dim_IntList", "aten::add_.Tensor", "aten::nothing")


Recorded = tuple[dict[str, tuple[int, str]], list[dict[str, str]], str]


def recorded(tmp_path: Path, text: str, *places: str) -> Recorded:
    """Place -> (hits, what is said); arguments of each hit, its place under "at"; the program's output."""
    (tmp_path / "program.py").write_text(text)
    at = [word for place in places for word in ("--at", place)]
    own = [sys.executable, "-P", "-m", "inspector", "break", *at, "--json"]
    command = [*own, "--", sys.executable, "program.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=200, env=os.environ)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["facts"]["breaks"]
    rows = {row["place"]: (row["hits"], row["says"]) for row in found["places"]}
    hits = [
        {"at": hit["place"], **{one["name"]: one["value"] for one in hit["arguments"]}}
        for hit in found["hits"]
    ]
    return rows, hits, done.stderr


@pytest.mark.libraries
@pytest.mark.debugger
def test_an_operator_by_its_name(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="cannot be installed: torch")
    rows, hits, output = recorded(tmp_path, PROGRAM, *PLACES)
    assert rows["aten::nothing"] == (0, "libtorch_cpu.so declares no such operator")
    assert rows["aten::add.Tensor"][0] == 5  # +, torch.add, torch.ops, TorchScript, and with a gradient
    assert rows["aten::add.out"][0] == 1 and rows["aten::add.Scalar"][0] == 0
    assert [rows[place][0] for place in PLACES[1:4]] == [1, 1, 1]
    own, part = (int(word) for word in output.split()[:2])
    named = [hit for hit in hits if hit["at"] == "aten::add.Tensor"][1]
    assert named == {
        "at": "aten::add.Tensor",
        "self": f"float32 (2, 3) at {own:#x} in 24 B",
        "other": f"float32 (2, 1) strides (3, 1) at {part:#x} in 24 B",
        "alpha": "2",
    }
    joined = next(hit for hit in hits if hit["at"] == "aten::cat")
    assert joined["tensors"].startswith(f"[float32 (2, 3) at {own:#x}") and joined["dim"] == "0"
    summed = next(hit for hit in hits if hit["at"] == "aten::sum.dim_IntList")
    assert (summed["keepdim"], summed["dtype"]) == ("false", "None")
    assert next(hit for hit in hits if hit["at"] == "aten::add_.Tensor")["other"].startswith("float64 () at ")


KERNELS = """
#include <torch/library.h>
#include <ATen/ATen.h>
static at::Tensor op(const at::Tensor& x, double by, int64_t n, bool deep) { return x * by + n; }
static at::Tensor other(const at::Tensor& x, double by, int64_t n, bool deep) {
  static auto typed = c10::Dispatcher::singleton().findSchemaOrThrow("mylib::op", "")
      .typed<at::Tensor(const at::Tensor&, double, int64_t, bool)>();
  return typed.call(x, by, n, deep) + op(x, by, n, deep);
}
static void zero_(at::Tensor x) { x.zero_(); }
TORCH_LIBRARY(mylib, m) {
  m.def("op(Tensor x, float by, int n=3, bool deep=True) -> Tensor", &op);
  m.def("other(Tensor x, float by, int n=3, bool deep=True) -> Tensor", &other);
  m.def("zero_(Tensor(a!) x) -> ()");
}
TORCH_LIBRARY_IMPL(mylib, CPU, m) { m.impl("zero_", TORCH_FN(zero_)); }
"""
USES = """
import torch
torch.ops.load_library("./mylib.so")
x = torch.ones(2, 3)
for _ in range(2):
    torch.ops.mylib.op(x, 2.5)
    torch.ops.mylib.other(x, 0.5, 7, False)
torch.ops.mylib.zero_(x)

@torch.library.custom_op("mypy::twice", mutates_args=())
def twice(a: torch.Tensor, k: int) -> torch.Tensor:
    return a * k

@torch.library.custom_op("mypy::again", mutates_args=())
def again(a: torch.Tensor, k: int) -> torch.Tensor:
    return twice(a, k) * k

twice.register_autograd(lambda context, gradient: (gradient * 2, None))
twice(x, 3)
again(x, 4)
twice(x.requires_grad_(), 5)
"""
REGISTERED = ("mylib::op", "mylib::zero_", "mypy::twice", "mylib::nothing")


@pytest.mark.slow
@pytest.mark.libraries
@pytest.mark.debugger
@pytest.mark.parametrize("optimized", ["-O0", "-O2"])
def test_an_operator_that_an_extension_registers(tmp_path: Path, optimized: str) -> None:
    torch = pytest.importorskip("torch", reason="cannot be installed: torch")
    folder = Path(torch.__file__).parent
    (tmp_path / "mylib.cpp").write_text(KERNELS)
    flags = [optimized, "-g1", "-shared", "-fPIC", "-std=c++20", f"-I{folder}/include"]
    linked = ["mylib.cpp", "-o", "mylib.so", f"-L{folder}/lib", "-lc10", "-ltorch_cpu"]
    subprocess.run(["g++", *flags, *linked], check=True, cwd=tmp_path)
    rows, hits, _ = recorded(tmp_path, USES, *REGISTERED)
    assert {place: row[0] for place, row in rows.items()} == dict(zip(REGISTERED, (4, 1, 3, 0), strict=True))
    assert "no operator so named" in rows["mylib::nothing"][1]
    assert not hits[0]["x"].partition(" at 0x")[0].removeprefix("float32 (2, 3)")
    told = [(hit["by"], hit["n"], hit["deep"]) for hit in hits if hit["at"] == "mylib::op"]
    assert [tuple(map(str.lower, one)) for one in told] == [("2.5", "3", "true"), ("0.5", "7", "false")] * 2
    assert [hit["k"] for hit in hits if hit["at"] == "mypy::twice"] == ["3", "4", "5"]
    assert next(hit for hit in hits if hit["at"] == "mylib::zero_")["x"].startswith("float32 (2, 3) at 0x")


@pytest.mark.debugger
def test_without_torch_the_reason_is_told(tmp_path: Path) -> None:
    rows, hits, _ = recorded(tmp_path, "print(1)", "aten::add")
    assert rows == {"aten::add": (0, "torch was not loaded (no libtorch_cpu.so)")} and not hits


def registers(signature: str, names: str, result: str) -> dict[str, str]:
    found = parameters(Schema("op", "", tuple(names.split()), result), signature)
    assert found is not None
    return {one.name: one.register for one in found}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("signature", "names", "result", "expected"),
    [
        ("op::call(at::Tensor const&, double, long)", "self p n", "Tensor", "rsi xmm0 rdx"),
        ("op::call(at::Tensor&, c10::Scalar const&)", "self s", "Tensor(a!)", "rdi rsi"),
        ("op::call(at::Tensor const&)", "self", "Tensor(a)", "rsi"),
        ("op::call(at::Tensor const&)", "self", "bool", "rdi"),
        ("op::call(at::Tensor const&)", "self", "()", "rdi"),
        ("op::call(at::Tensor&, at::Tensor&)", "a b", "(Tensor(a!), Tensor(b!))", "rsi rdx"),
        ("op::call(at::Tensor const&, at::Tensor const&)", "a b", "(Tensor v, Tensor i)", "rsi rdx"),
        ("op::call(at::Tensor const&, c10::OptionalArrayRef<long>, bool)", "a d k", "Tensor", "rsi||rdx"),
        ("op::call(c10::DispatchKeySet, at::Tensor const&)", "self", "Tensor", "rdx"),
        ("op::call(c10::ArrayRef<long>, bool)", "size f", "Tensor", "rsi rdx|rcx"),
    ],
)
def test_registers_of_arguments(signature: str, names: str, result: str, expected: str) -> None:
    """The result's class decides whether the first register is taken by the address of the result."""
    wanted = expected.split("|") if "|" in expected else expected.split()
    assert list(registers(signature, names, result).values()) == wanted


@pytest.mark.quick
def test_registers_behind_an_unknown_class_are_not_guessed() -> None:
    assert registers("op::call(std::array<bool, 3ul>, long)", "mask n", "Tensor") == {"mask": "", "n": ""}
    assert parameters(Schema("op", "", ("a",), "Tensor"), "op::call(long, long)") is None
