"""torch's operators while a trace runs: which made memory, which copied, which wrote over memory.

A dispatch mode of ours sees each operator below autograd, in the thread that began the trace. It calls the
operator as it came, and compares storages before and after. Where another mode or transform is active when
the trace begins, or torch is imported, nothing is watched.
"""

# SPDX-License-Identifier: MIT
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, Final, Literal

from inspector import _native
from inspector.facts.statements import Operator
from inspector.objects.call_site import called_in, is_users

COPIES: Final = frozenset((
    "clone", "_to_copy", "copy_", "cat", "stack", "index", "index_select", "gather", "take",
    "masked_select", "repeat", "repeat_interleave", "roll", "flip", "rot90", "embedding",
    "lift_fresh_copy", "tril", "triu", "constant_pad_nd", "diag_embed", "slice_scatter", "select_scatter",
    "sort", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "im2col", "scatter", "topk",
    "dequantize", "_unique2", "unique_dim", "unique_consecutive", "where", "index_put", "index_copy",
    "index_fill", "masked_fill", "masked_scatter", "put", "diagonal_scatter", "as_strided_scatter",
    "_unsafe_index", "_pin_memory", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d",
    "replication_pad1d", "replication_pad2d", "replication_pad3d",
    "block_diag", "_to_dense", "_to_sparse",
))  # fmt: skip
"""Operators whose result has elements of an operand, moved and not computed; so have all named `..._copy`."""
NO_BYTES: Final = ("aten::_lazy_clone", "aten::set_")
"""The result has a storage of its own, and no byte was written yet."""
LAYOUT: Final = frozenset((
    "set_", "t_", "transpose_", "squeeze_", "unsqueeze_", "swapaxes_", "swapdims_", "as_strided_", "detach_",
    "resize_", "resize_as_", "_resize_output_", "rename_", "set_data", "requires_grad_",
))  # fmt: skip
"""Operators that change which bytes a tensor shows, and how; they write to none."""
MOST: Final = 10_000
STARTS: Final = 8
Did = Literal["copied", "new", "in place"]
Key = tuple[str, int, str, str, Did, str]
Given = list[tuple[int, bool, Any]]
"""(address of the storage, whether the operator writes to it, the tensor)."""


class Operators:
    """The operators that ran between `begin` and `end`."""

    def __init__(self) -> None:
        self.rows: dict[Key, list[Any]] = {}
        """What an operator did in a line -> [bytes, times, addresses of results]."""
        self._mode: Any = None
        self._thread = 0
        """That waits for torch; 0: none does."""
        self._users: dict[str, bool] = {}
        self._called: dict[tuple[CodeType, int], str] = {}

    def begin(self) -> None:
        """Watch the operators of this thread, at once or when it has imported torch."""
        self._thread = threading.get_ident()
        self.widen()

    def widen(self) -> None:
        """Begin once torch is imported, if then nothing else changes what its operators do."""
        _not_compiled()
        if threading.get_ident() != self._thread or not hasattr(sys.modules.get("torch"), "optim"):
            return
        from inspector.adapters.torch_tensors import is_plain

        self._thread = 0  # later this may be called within another mode's work
        if is_plain():
            self._mode = _mode()(self)
            self._mode.__enter__()

    def end(self) -> None:
        """Stop watching; modes that were entered meanwhile stay as they are."""
        mode, self._mode = self._mode, None
        if mode is None:
            return
        mode.operators = None
        c = sys.modules["torch"]._C
        depth = c._len_torch_dispatch_stack()
        if depth and c._get_dispatch_stack_at(depth - 1) is mode:
            mode.__exit__(None, None, None)

    def found(self) -> tuple[Operator, ...]:
        """What was seen, in the order of the first time."""
        return tuple(
            Operator(*key, bytes=size, times=times, starts=tuple(starts))
            for key, (size, times, starts) in self.rows.items()
        )

    def note(self, known: "_Known", given: Given, result: Any, frame: FrameType | None) -> None:
        """One operator that has run; `given`: storages of its arguments."""
        did, made = judged(known, given, result)
        place = self._place(frame) if did else None
        if not did or place is None:
            return
        first = made[0]
        key = (place[0], place[1], known.name, place[2], did, f"{str(first.dtype)[6:]} {tuple(first.shape)}")
        if key not in self.rows and len(self.rows) >= MOST:
            return
        row = self.rows.setdefault(key, [0, 0, []])
        row[0] += sum(one.numel() * one.element_size() for one in made)
        row[1] += 1
        row[2] = [*row[2][1 - STARTS :], first.const_data_ptr()]

    def _place(self, frame: FrameType | None) -> tuple[str, int, str] | None:
        """(file, line of the user's, what the innermost frame called); None for code of ours."""
        inner = frame
        while frame is not None:
            file = frame.f_code.co_filename
            if "/inspector/" in file and frame.f_globals.get("__name__", "").startswith("inspector."):
                return None
            if file not in self._users:
                self._users[file] = is_users(file)
            if self._users[file]:
                return file, frame.f_lineno, self._name(inner)
            frame = frame.f_back
        return None

    def _name(self, frame: FrameType | None) -> str:
        if frame is None:
            return ""
        key = frame.f_code, frame.f_lasti
        if key not in self._called:
            self._called[key] = called_in(frame)
        return self._called[key]


@dataclass(frozen=True, slots=True)
class _Known:
    """What the schema of an operator says."""

    name: str
    moves: bool
    """Whether its result has elements of an operand."""
    shows: bool
    """Whether it only changes which bytes a tensor shows."""
    takes: tuple[tuple[str, bool], ...]
    """Name of each argument that can be a tensor, and whether it is written to; "": it cannot be one."""


@lru_cache(4096)
def known_of(op: Any) -> _Known:
    """What is known of an operator before it runs."""
    name = op.name().partition(".")[0]
    short = name.partition("::")[2]
    takes = tuple(
        (
            one.name if "Tensor" in str(one.type) else "",
            one.alias_info is not None and one.alias_info.is_write,
        )
        for one in op._schema.arguments
    )
    return _Known(name, short in COPIES or short.endswith("_copy"), short in LAYOUT, takes)


def judged(known: _Known, given: Given, result: Any) -> tuple[Did | Literal[""], list[Any]]:
    """(what an operator did, the tensors that it made or wrote); "" for views and for what has no tensor."""
    before = {storage for storage, _, _ in given}
    made = [one for one, storage in _stored(result) if storage not in before]
    if not made and known.shows:
        return "", []
    if not made:
        made = [tensor for _, is_written, tensor in given if is_written]
        return (("copied" if known.moves else "in place") if made else ""), made
    if known.name in NO_BYTES:
        return "", []
    if known.moves:  # not the indexes that a sort gives too
        return "copied", [one for one in made if one.dtype == made[0].dtype]
    return "new", made


def storages(known: _Known, args: Any, kwargs: Any) -> Given:
    """The tensors among the arguments."""
    found: Given = []
    for at, (name, is_written) in enumerate(known.takes):
        if name:
            value = args[at] if at < len(args) else kwargs.get(name)
            found += [(storage, is_written, one) for one, storage in _stored(value)]
    return found


def _stored(value: Any) -> list[tuple[Any, int]]:
    """A tensor, or those of a list or tuple, with the address of its storage; only those that have one."""
    torch = sys.modules["torch"]
    base, address = torch._C.TensorBase, torch._C._storage_address
    several = value if isinstance(value, (list, tuple)) else (value,)
    return [
        (one, address(one))
        for one in several
        if isinstance(one, base) and one.layout is torch.strided and not one.is_meta
    ]


def _mode() -> Any:
    """The class of the mode, made once torch is there."""
    if _made:
        return _made[0]
    torch: Any = sys.modules["torch"]
    only_base = torch._C.DisableTorchFunctionSubclass
    base: Any = torch.utils._python_dispatch.TorchDispatchMode

    class InspectorMode(base):  # type: ignore[misc]
        is_of_the_inspector = True
        supports_higher_order_operators = True

        def __init__(self, operators: Operators) -> None:
            super().__init__()
            self.operators: Operators | None = operators

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            watched = self.operators if type(func) is torch._ops.OpOverload else None
            if watched is None:
                return func(*args, **kwargs)
            known = known_of(func)
            given = _tried(only_base, lambda: storages(known, args, kwargs))
            result = func(*args, **kwargs)
            if given is not None:
                frame = sys._getframe(1)
                _tried(only_base, lambda: watched.note(known, given, result, frame))
            return result

    _made.append(InspectorMode)
    return InspectorMode


_made: list[Any] = []


def _not_compiled() -> None:
    """Tell torch.compile, once it is imported, to leave functions of ours that run meanwhile as they are."""
    rules = sys.modules.get("torch._dynamo.trace_rules")
    if rules is not None and id(rules) not in _told:
        _told.add(id(rules))
        rules.add("inspector")


_told: set[int] = set()


def _tried(within: Callable[[], Any], look: Callable[[], Any]) -> Any:
    """What a look gives, unrecorded; None where it fails: an operator of the user's never does for it."""
    try:
        with within():
            return _native.unrecorded(look)
    except Exception:
        return None
