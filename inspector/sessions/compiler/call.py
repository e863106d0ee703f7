"""One inspected call of a compiled function: here with references counted, or in a forked child."""

# SPDX-License-Identifier: MIT
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from inspector import _native
from inspector.facts.compiled import CellCall
from inspector.facts.unknown import Unknown
from inspector.objects import isolation
from inspector.sessions.compiler.balance import Balance

DEADLINE_S: Final = 60.0
MEMORY_LIMIT_BYTES: Final = 4 << 30
SHOWN_MAX: Final = 60


def here(
    function: Callable[..., Any], arguments: Mapping[str, Any]
) -> tuple[Any, CellCall, Exception | None]:
    """Call it in this process; return the result (None after an exception), the facts, and the exception."""
    values = tuple(arguments.values())
    balance = Balance(arguments)
    box: list[Any] = []
    error = None
    start = time.perf_counter_ns()
    try:
        box.append(function(*values))
    except Exception as raised:
        error = raised
    ns = time.perf_counter_ns() - start
    rows = balance.rows(box)
    result = box.pop() if box else None
    return result, _fact(function, ns, False, error, _shown(result), rows), error


def apart(
    function: Callable[..., Any], arguments: Mapping[str, Any], deadline_s: float = DEADLINE_S
) -> tuple[Any, CellCall]:
    """Call it in a forked child: a crash there does no harm here. Arrays come back as copies."""
    values = tuple(arguments.values())
    start = time.perf_counter_ns()
    packed = isolation.run(lambda: _packed(function(*values)), deadline_s, MEMORY_LIMIT_BYTES)
    ns = time.perf_counter_ns() - start
    if isinstance(packed, Unknown):
        return packed, _fact(function, ns, True, None, packed, ())
    result = _unpacked(packed)
    return result, _fact(function, ns, True, None, _shown(result), ())


def _fact(
    function: Callable[..., Any], ns: int, isolated: bool, error: Exception | None, shown: Any, rows: Any
) -> CellCall:
    words = f"{type(error).__name__}: {error}" if error is not None else ""
    name = getattr(function, "__name__", type(function).__name__)  # a compiled graph has none
    return CellCall(name, ns, isolated, words, shown, rows)


def _packed(result: Any) -> Any:
    """`result` as plain values: an array as ("array", type code, shape, bytes)."""
    import numpy

    if isinstance(result, tuple):
        return ("tuple", [_packed(one) for one in result])
    if isinstance(result, numpy.ndarray):
        return ("array", result.dtype.str, result.shape, result.tobytes())
    return ("plain", result)


def _unpacked(packed: Any) -> Any:
    import numpy

    kind, *rest = packed
    if kind == "tuple":
        return tuple(_unpacked(one) for one in rest[0])
    if kind == "array":
        code, shape, raw = rest
        return numpy.frombuffer(raw, code).reshape(shape).copy()
    return rest[0]


def _shown(result: Any) -> str:
    """Bounded text of a result; for an array its type and shape, since it may be large."""
    import numpy

    if isinstance(result, tuple):
        return ", ".join(_shown(one) for one in result)
    if isinstance(result, numpy.ndarray):
        return f"ndarray {result.dtype.name} {result.shape}"
    if result is None or _native.exactly(result, bool, int, float, str, bytes):
        return repr(result)[:SHOWN_MAX]
    return type(result).__name__
