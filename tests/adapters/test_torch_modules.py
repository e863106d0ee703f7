"""torch.nn.Module and optimizers: the numbers that torch gives by running its code, without running any."""

# SPDX-License-Identifier: MIT
import copy
from typing import Any

import pytest

import inspector
from inspector.facts.model import Model

pytestmark = pytest.mark.libraries
torch = pytest.importorskip("torch", reason="not installed in this room: torch")
nn = torch.nn


class Net(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.emb = nn.Embedding(100, 16)
        self.body = nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16))
        self.head = nn.Linear(16, 100, bias=False)
        self.head.weight = self.emb.weight
        self.again = self.body[0]

    def forward(self, x: Any) -> Any:
        return self.head(self.body(self.emb(x)))


def model_of(x: Any) -> Model:
    found = inspector.inspect(x, name="x").model
    assert isinstance(found, Model)
    return found


def said(x: Any) -> str:
    return " ".join(str(inspector.inspect(x, name="x")).split())


def test_the_sums_are_those_of_torch() -> None:
    net = Net()
    net(torch.arange(5)).sum().backward()
    net.body[0].weight.requires_grad_(False)
    fact = model_of(net)
    parameters = list(net.parameters())
    assert fact.parameters == sum(p.numel() for p in parameters)
    assert fact.trainable == sum(p.numel() for p in parameters if p.requires_grad)
    assert fact.parameter_bytes == sum(p.nbytes for p in parameters)
    assert fact.buffer_bytes == sum(b.nbytes for b in net.buffers())
    assert fact.gradient_bytes == sum(p.grad.nbytes for p in parameters if p.grad is not None)
    assert sum(part.bytes for part in fact.parts) == fact.parameter_bytes + fact.buffer_bytes
    assert fact.shared[0] == ("emb.weight", "head.weight")
    assert ("body.0.weight", "again.weight") in fact.shared
    text = said(net)
    assert "opaque" not in text and "emb.weight and head.weight share one storage" in text
    assert "256 of its numbers are frozen" in text


def test_an_optimizer_by_parameter() -> None:
    module = nn.Linear(30, 40)
    found = torch.optim.Adam(module.parameters())
    assert "No state yet, the first step() makes it" in said(found)
    module(torch.ones(2, 30)).sum().backward()
    found.step()
    fact = model_of(found)
    state = [t.nbytes for one in found.state.values() for t in one.values()]
    assert fact.state_bytes == sum(state) and {"exp_avg", "exp_avg_sq"} <= set(fact.state_names)
    assert (fact.parts[0].path, fact.parts[0].state_bytes) == ("params[0]", 2 * 4_800 + 4)
    assert "with 5.0 kB of gradients" in said(found)


def test_meta_and_lazy_parameters_have_no_bytes() -> None:
    with torch.device("meta"):
        there = nn.Linear(1000, 1000)
    fact = model_of(there)
    assert (fact.bytes, fact.meta_bytes) == (0, 4_004_000)
    assert (
        "On the meta device: 1,001,000 parameters have shapes and no bytes, and would take 4.0 MB."
        in said(there)
    )
    assert "2 tensors without a shape until the first forward()" in said(nn.LazyLinear(4))


def test_types_that_differ_are_told_and_counts_of_batches_are_not() -> None:
    assert "Mixed" not in said(nn.BatchNorm1d(4))
    both = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4).half())
    assert "Mixed: float32 on cpu 80 B and float16 on cpu 40 B." in said(both)


def test_two_modules_are_compared_tensor_by_tensor() -> None:
    first = torch.nn.Sequential(torch.nn.Linear(100, 100), torch.nn.Linear(100, 100))
    copied, tied = copy.deepcopy(first), torch.nn.Linear(100, 100)
    tied.weight = first[0].weight
    optimizer = torch.optim.Adam(first.parameters())
    pairs = ((first, copied), (first, tied), (first, optimizer), (copied, optimizer), (first, tied.weight))
    told = [inspector.compare(*pair, names=("a", "b")).answers[0].text for pair in pairs]
    assert told[0] == "No byte in common; equal values in all 4 tensors."
    assert told[1].startswith("Tensor `0.weight` shares, `0.bias`, `1.weight` and `1.bias` do not. 40 kB")
    assert told[2].startswith("All 4 tensors share.") and told[3] == "No byte in common."
    assert told[4].startswith("`b` shares the memory of `a.0.weight`.")
    with torch.no_grad():
        copied[1].bias[3] = 5.0
    assert (
        "different values: tensor `1.bias`, first at `[3]`"
        in inspector.compare(first, copied).answers[0].text
    )


def test_many_modules_are_summed_one_step_below() -> None:
    large = nn.Sequential(*[nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)) for _ in range(20)])
    fact = model_of(large)
    assert [part.path for part in fact.parts] == [str(i) for i in range(12)] and fact.parts_left_out == 8
    assert {part.bytes for part in fact.parts} == {96}
    lines = str(inspector.inspect(large, name="x")).splitlines()
    assert len(lines) <= 24 and "… 8 modules more" in map(str.strip, lines)


def test_no_code_of_the_class_runs_and_no_count_moves() -> None:
    class Lying(nn.Linear):  # type: ignore[misc]
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("ran")

        def parameters(self, recurse: bool = True) -> Any:
            raise RuntimeError("ran")

    x = nn.Linear(3, 4)
    x.__class__ = Lying
    held = x._parameters["weight"]
    before = (held._use_count(), torch._C._storage_Use_Count(held.untyped_storage()._cdata))
    assert model_of(x).parameters == 16
    assert (held._use_count(), torch._C._storage_Use_Count(held.untyped_storage()._cdata)) == before


def test_a_module_that_holds_itself_ends() -> None:
    x = nn.Linear(2, 2)
    x._modules["me"] = x
    assert model_of(x).parameters == 6


def test_a_node_of_python_says_what_it_saved_and_that_it_was_used() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, slope: Any) -> Any:
            return 2 * ctx.saved_tensors[0] * slope

    weight = torch.ones(3, requires_grad=True)
    y = Square.apply(weight)
    node = y.grad_fn
    assert node.saved_tensors[0] is weight
    assert "1 node, only parameters saved in it" in said(node)
    assert "12 B of saved activations" in said(Square.apply(weight + 1).grad_fn)
    y.sum().backward()
    assert "Its graph was used: backward() freed what it had saved" in said(node)
    assert "another's bytes" not in said(node), "no byte of it can be read"


def test_a_state_dict_shares_with_its_module_and_a_loaded_one_does_not() -> None:
    """The truth: a tensor of the one is written, and the other's is read."""
    one, two = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    state = one.state_dict()
    two.load_state_dict(state)
    shared, apart = inspector.compare(one, state), inspector.compare(two, state)
    assert shared.answers[0].text.startswith("All 2 tensors share.")
    assert apart.answers[0].text.startswith("No byte in common")
    with torch.no_grad():
        state["weight"].fill_(7)
    assert bool((one.weight == 7).all()) and not bool((two.weight == 7).any())
