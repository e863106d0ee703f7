"""Common calls of pandas, pyarrow and lxml under the ledger: nobody is accused, and no result changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import inspector

pytestmark = pytest.mark.libraries


def frame() -> Any:
    import pandas as pd

    return pd.DataFrame({"k": ["a", "b", "a", "c"] * 50, "x": range(200), "y": [0.5, 1.5] * 100})


def table() -> Any:
    import pyarrow as pa

    return pa.table({"k": ["a", "b", None, "c"] * 50, "x": list(range(200))})


def tree() -> Any:
    from lxml import etree

    return etree.fromstring("<r>" + "".join(f"<e n='{n}'>text {n}</e>" for n in range(50)) + "</r>")


def written(root: Any) -> bytes:
    from lxml import etree

    return bytes(etree.tostring(root))


def grown(root: Any) -> list[str]:
    from lxml import etree

    for one in root.findall("e")[:3]:
        etree.SubElement(one, "more").text = "x"
    return [one.tag for one in root.iter()]


HONEST: dict[str, tuple[str, Callable[[], Any], Callable[[Any], Any]]] = {
    "pandas groupby": ("pandas", frame, lambda f: f.groupby("k")["x"].sum().to_dict()),
    "pandas merge": ("pandas", frame, lambda f: f.merge(f[:9], on="k")["x_x"].tolist()),
    "pandas text": ("pandas", frame, lambda f: f["k"].str.upper().value_counts().to_dict()),
    "pandas pivot": ("pandas", frame, lambda f: f.pivot_table(index="k", values="x").to_dict()),
    "pyarrow to lists": ("pyarrow", table, lambda t: t.to_pydict()),
    "pyarrow filter": ("pyarrow", table, lambda t: t.slice(3, 20).column("x").to_pylist()),
    "pyarrow group": ("pyarrow", table, lambda t: t.group_by("k").aggregate([("x", "sum")]).num_rows),
    "pyarrow to pandas": ("pyarrow", table, lambda t: t.to_pandas()["x"].sum()),
    "lxml find": ("lxml", tree, lambda r: [one.get("n") for one in r.findall("e")]),
    "lxml xpath": ("lxml", tree, lambda r: [str(one) for one in r.xpath("//e[@n>40]/text()")]),
    "lxml write": ("lxml", tree, written),
    "lxml grow": ("lxml", tree, grown),
}


@pytest.mark.parametrize("name", HONEST)
def test_a_library_is_not_accused(name: str) -> None:
    module, make, call = HONEST[name]
    pytest.importorskip(module, reason="cannot be installed")
    expected = call(make())
    subject = make()
    with inspector.leaks(module) as found:
        result = call(subject)
    assert [(one.kind, one.object, one.reason) for one in found if one.certain] == []
    assert result == expected
