"""The verbs `no_copy` and `no_materialize`: blocks that raise if bytes are copied or data materializes."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from inspector.errors import InspectorError
from inspector.facts.conversion import Copy, Materialized
from inspector.facts.unknown import Unknown
from inspector.sessions.trace import Traced

if TYPE_CHECKING:
    from types import ModuleType

    from inspector.tracing.record.recorder import Recorder

P = ParamSpec("P")
R = TypeVar("R")


class NoCopy(Traced):
    """A trace that raises at its end if bytes were copied."""

    by_statement = False

    def __init__(self, recorder: Recorder, least_bytes: int) -> None:
        super().__init__(recorder, name="no_copy")
        self._least_bytes = least_bytes

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        super().__exit__(kind, error, trace)
        breaches = [copy for copy in self.copies if copy.copied_bytes >= self._least_bytes]
        if error is None and breaches:
            raise _copied(breaches)


def no_copy(*modules: str | ModuleType, least_bytes: int = 1) -> NoCopy:
    """Return a block, also a decorator, that raises InspectorError `copied` if bytes are copied in it.

    `modules` as in `trace`; smaller copies than `least_bytes` pass. Example: `with no_copy("numpy"): ...`.
    """
    from inspector.sessions.chosen_modules import names_of
    from inspector.tracing.record.recorder import Recorder

    return NoCopy(Recorder(names_of(modules)), least_bytes)


class NoMaterialize:
    """A block, also a decorator, in which no data may be materialized."""

    def __init__(self, least_bytes: int) -> None:
        from inspector.tracing.arm.materializing import Materializations

        self._least_bytes = least_bytes
        self._recorder = Materializations()
        self.materialized: tuple[Materialized, ...] = ()
        """The data materialized in the block."""

    def __enter__(self) -> NoMaterialize:
        self._recorder.rows.clear()
        self._recorder.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self._recorder.end()
        self.materialized = tuple(self._recorder.rows)
        breaches = [row for row in self.materialized if _is_least(row, self._least_bytes)]
        if error is None and breaches:
            raise _materialized(breaches)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return `function` wrapped: each call runs in such a block."""

        @functools.wraps(function)
        def promised(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return promised


def no_materialize(*, least_bytes: int = 1) -> NoMaterialize:
    """Return a block, also a decorator, that raises InspectorError `materialized` if data is materialized.

    Covers lazy vectors, pandas' RangeIndex, xarray's cache, Pillow's load, awkward's virtual buffers, dask's
    compute and h5py's reads, if the library was imported before. Data known to be under `least_bytes` passes.
    """
    return NoMaterialize(least_bytes)


def _is_least(row: Materialized, least_bytes: int) -> bool:
    return isinstance(row.materialized_bytes, Unknown) or row.materialized_bytes >= least_bytes


def _materialized(breaches: list[Materialized]) -> InspectorError:
    first, size = breaches[0], breaches[0].materialized_bytes
    more = f", and {len(breaches) - 1} more" if len(breaches) > 1 else ""
    amount = "an unknown number of" if isinstance(size, Unknown) else f"{size:,}"
    return InspectorError(
        f"{first.type_name} materialized {amount} bytes at {first.site.file}:{first.site.line}{more}.",
        slug="materialized",
        why=f"{first.cause}: {first.site.text or 'no source'}",
        do="use a part of it, or materialize it before the block",
    )


def _copied(breaches: list[Copy]) -> InspectorError:
    first = breaches[0]
    more = f", and {len(breaches) - 1} more" if len(breaches) > 1 else ""
    return InspectorError(
        f"{first.site.text or first.function} copied {first.copied_bytes:,} bytes"
        f" at {first.site.file}:{first.site.line}{more}.",
        slug="copied",
        why=f"{first.reason} ({first.function}: {first.source} → {first.result})",
        do=first.avoid or "share the bytes where no code writes to them",
    )
