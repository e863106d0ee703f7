"""ibis: expressions (queries), and memtables, which hold their source data."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any

from inspector.adapters.base import Adapter, stored, type_name
from inspector.adapters.told import Layer, Told, attribute, of_type, recipe
from inspector.facts.unknown import Unknown

MOST_PROXIES = 3


class IbisExpressions(Adapter):
    """Expr and all its subclasses: reads the slot `_arg`, calls no method."""

    library = "ibis"
    versions = ("9.5", "13")
    inherited = ("expr.types.core.Expr",)

    def self_test(self) -> None:
        """A table expression holds its operation."""
        table = sys.modules["ibis"].table({"a": "int64"}, name="inspector")
        if type_name(type(stored(table, "_arg"))) != "UnboundTable":
            raise ValueError("Expr._arg is not its operation")

    def owns(self, x: Any) -> bool | Unknown:
        """No bytes of its own."""
        return False

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """The data of a memtable."""
        found = _memory(x)
        return () if found is None else (("data of the memtable", found),)

    def layers(self, x: Any) -> Told:
        """lazy; in interactive mode repr runs the query too."""
        operation = type_name(type(stored(x, "_arg")))
        interactive = _interactive()
        said = (of_type(operation), attribute("ibis.options.interactive", interactive))
        if (found := _memory(x)) is not None:
            title = f"memtable over a {type_name(type(found))}"
            return Told((Layer("wrapper", title, storage="heap", title="foreign", evidence=said),))
        size = Unknown("known when the query has run")
        runs, does_not = (("repr",), ("schema()",)) if interactive is True else ((), ("repr", "schema()"))
        return recipe(
            operation,
            "execute()",
            *said,
            also=("to_pyarrow()", *runs),
            would_not=does_not,
            logical_bytes=size,
        )


def _interactive() -> bool | None:
    """The stored option; None if it is not stored."""
    said = stored(sys.modules["ibis"].options, "interactive")
    return said if type(said) is bool else None


def _memory(x: Any) -> Any:
    """The source of a memtable, taken out of its proxies."""
    operation = stored(x, "_arg")
    if type_name(type(operation)) != "InMemoryTable":
        return None
    inner = stored(operation, "data")
    for _ in range(MOST_PROXIES):
        inner = stored(inner, "obj", inner)
    return inner


ADAPTER = IbisExpressions()
