"""What of torch keeps memory. As a program it says of each what it keeps, and what deleting it frees.

With PYTHONMALLOC=malloc one allocator counts Python's objects too. Lines "kind<tab>said<tab>freed".
"""

# SPDX-License-Identifier: MIT
import ctypes
import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import inspector

nn = torch.nn
_NAMES = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class _Mallinfo(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_size_t) for name in _NAMES.split())


_mallinfo = ctypes.CDLL(None).mallinfo2
_mallinfo.restype = _Mallinfo


def in_use() -> int:
    found = _mallinfo()
    return int(found.hblkhd + found.uordblks)


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
    "attention": lambda: nn.MultiheadAttention(64, 4)(*[torch.randn(200, 4, 64) for _ in range(3)])[0].sum(),
    "module": model,
    "gradients": with_gradients,
    "optimizer": optimizer,
}


def stepped(kind: Any, **options: Any) -> Any:
    made = model()
    found = kind(made.parameters(), **options)

    def closure() -> Any:
        found.zero_grad()
        value = (made(torch.ones(10, 300)) ** 2).sum()
        value.backward()
        return value

    found.step(closure)
    return found


def tied() -> Any:
    made = nn.Sequential(nn.Embedding(2000, 100), nn.Linear(100, 2000, bias=False))
    made[1].weight = made[0].weight
    return made


def buffered() -> Any:
    made = nn.BatchNorm1d(50_000)
    made.register_buffer("table", torch.ones(300, 300), persistent=False)
    return made


def hooked(how: str) -> Any:
    """A graph whose node has a hook with an array of its own."""
    y, held = torch.ones(300, 300, requires_grad=True) * 2, torch.ones(300, 300)
    at = y if how == "tensor" else y.grad_fn
    (at.register_prehook if how == "before" else at.register_hook)(lambda *_: held and None)
    return y.sum()


def second_order() -> Any:
    x = torch.ones(300, 300, requires_grad=True)
    (gradient,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    return (gradient**2).sum()


def used() -> Any:
    out = loss()
    out.backward()
    return out


KEPT |= {
    "SGD": lambda: stepped(torch.optim.SGD, lr=0.1, momentum=0.9),
    "AdamW": lambda: stepped(torch.optim.AdamW, amsgrad=True),
    "RMSprop": lambda: stepped(torch.optim.RMSprop, centered=True),
    "LBFGS": lambda: stepped(torch.optim.LBFGS, lr=0.1, max_iter=3),
    "Adagrad": lambda: stepped(torch.optim.Adagrad),
    "scheduler": lambda: torch.optim.lr_scheduler.StepLR(optimizer(), 3),
    "tied": tied,
    "buffers": buffered,
    "state_dict": lambda: model().state_dict(),
    "transformer": lambda: nn.TransformerEncoderLayer(100, 4)(torch.randn(50, 5, 100)).sum(),
    "hook of a tensor": lambda: hooked("tensor"),
    "hook before a node": lambda: hooked("before"),
    "hook after a node": lambda: hooked("after"),
    "second order": second_order,
    "used graph": used,
    "CSR": lambda: torch.ones(300, 300).to_sparse_csr(),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(900, 900), 0.1, 0, torch.qint8),
    "generators": lambda: [torch.Generator() for _ in range(30)],
    "averaged": lambda: torch.optim.swa_utils.AveragedModel(model()),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(100, 50), torch.ones(200, 50)]),
    "loader": lambda: torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(500, 300))),
}


def held_after_leaf() -> Any:
    made, held = model(), torch.ones(300, 300)
    made[0].weight.register_post_accumulate_grad_hook(lambda _: held and None)
    return made


def small_steps() -> Any:
    """What a node has besides its struct counts where tensors are small."""
    x = torch.ones(4, 4, requires_grad=True)
    for _ in range(500):
        x = x.sigmoid() + x
    return x


def batches() -> Any:
    rows = torch.utils.data.TensorDataset(torch.ones(500, 300))
    return torch.utils.data.DataLoader(rows, batch_size=300)


KEPT |= {
    "sorted": lambda: torch.rand(300, 300).sort(),
    "real view": lambda: torch.view_as_real(torch.ones(300, 300, dtype=torch.complex64)),
    "split": lambda: (torch.ones(300, 300, requires_grad=True) * 2).split(10),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(300, 100), torch.ones(100, 100)]),
    "jagged": lambda: torch.nested.nested_tensor([torch.ones(900, 100)], layout=torch.jagged),
    "hook after a leaf": held_after_leaf,
    "small steps": small_steps,
    "imaginary part": lambda: torch.ones(300, 300, dtype=torch.complex64).imag[2:][:5],
    "quantized by channel": lambda: torch.quantize_per_channel(
        torch.ones(900, 900), torch.ones(900), torch.zeros(900, dtype=torch.long), 0, torch.qint8
    ),
    "rows with scales": lambda: torch.quantize_per_channel(
        torch.ones(900, 900), torch.ones(900), torch.zeros(900, dtype=torch.long), 1, torch.qint8
    )[:5],
    "batch": lambda: next(iter(batches())),
    "batches": lambda: iter(batches()),
    "averaged": lambda: torch.optim.swa_utils.AveragedModel(model()),
    "packed sequence": lambda: nn.utils.rnn.pack_sequence([torch.ones(900, 100), torch.ones(9, 100)]),
}


def hooks_of(pack: Any, unpack: Any) -> Any:
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        return loss()


def checkpointed(is_reentrant: bool) -> Any:
    rows = torch.ones(300, 300, requires_grad=True)
    return torch.utils.checkpoint.checkpoint(model(), rows, use_reentrant=is_reentrant).sum()


def checkpointed_sequence() -> Any:
    rows = torch.ones(300, 300, requires_grad=True)
    layers = nn.Sequential(*(nn.Linear(300, 300) for _ in range(4)))
    return torch.utils.checkpoint.checkpoint_sequential(layers, 2, rows, use_reentrant=False).sum()


def saved_on_cpu() -> Any:
    with torch.autograd.graph.save_on_cpu():
        return loss()


KEPT |= {
    "reentrant checkpoint": lambda: checkpointed(True),
    "DLPack": lambda: torch.from_dlpack(np.ones((500, 500))),
    "DLPack without a version": lambda: torch.utils.dlpack.from_dlpack(np.ones((500, 500)).__dlpack__()),
    "packed as half": lambda: hooks_of(lambda x: x.half(), lambda x: x.float()),
    "packed for NumPy": lambda: hooks_of(lambda x: x.detach().numpy().copy(), torch.from_numpy),
    "checkpoint": lambda: checkpointed(False),
    "checkpointed sequence": checkpointed_sequence,
    "saved on cpu": saved_on_cpu,
    "packed with its graph": lambda: hooks_of(lambda x: ("held", x), lambda held: held[1]),
    "packed with its dtype": lambda: hooks_of(lambda x: (x.dtype, x.half()), lambda x: x[1].to(x[0])),
    "packed in a tuple": lambda: hooks_of(lambda x: (3, x.detach().clone()), lambda x: x[1]),
}


def measured(kind: str) -> tuple[Any, int]:
    """(bytes that `retained` says, bytes that deleting frees): the first of three that agree."""
    said, freed = None, 0
    for _ in range(3):  # what torch keeps for ever, it keeps the first time; other threads allocate too
        x = KEPT[kind]()
        gc.collect()
        said = inspector.retained(x).retained_bytes
        gc.collect()  # what was made for the answer is no part of it
        before = in_use()
        del x
        gc.collect()
        freed = before - in_use()
        if isinstance(said, int) and abs(said - freed) <= freed // 100:
            break
    return said, freed


if __name__ == "__main__":
    torch.set_num_threads(1)
    measured("loss")
    gc.freeze()  # a collection looks at what is new
    for kind in KEPT:
        print(kind, *measured(kind), sep="\t")
