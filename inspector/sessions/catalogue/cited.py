"""The verb `conversions(x)`: what a conversion does here, and what the catalogue says of the same call."""

# SPDX-License-Identifier: MIT
import sys
from dataclasses import replace
from typing import Any

from inspector.adapters.base import type_module, type_name
from inspector.facts.preview import Previews
from inspector.sessions.catalogue import stored
from inspector.sessions.catalogue.kinds import ARRAYS
from inspector.sessions.catalogue.rules import rule
from inspector.sessions.preview import tried_for


def conversions(x: Any, to: str | tuple[str, ...] | list[str] = ()) -> Previews:
    """Return what converting `x` for each library would do: copy, lose values, materialize, fail; and why.

    `to`: one or more import names, also "bytes" and "memoryview"; () for all imported libraries. The real
    conversion runs in a forked child, within 2 s and 4 GB; a large object by its first part; nothing changes
    here. Where a fork is not safe (torch, polars or jax loaded, threads running) rules answer, and `found`
    says so. Raises InspectorError `unknown-consumer`. Example: `conversions(x, to="torch")`.
    """
    owner = type_module(type(x)).partition(".")[0], type_name(type(x)).rpartition(".")[2]
    rows = tried_for(x, to)
    return Previews(tuple(replace(one, catalogue=cited(*owner, one.function)) for one in rows))


def cited(library: str, kind: str, function: str) -> str:
    """What a conversion of an object of a type does: "pandas 3.1.1: pd.DataFrame(x): view"; "" if unknown.

    The release that is loaded is meant, or the newest stored one.
    """
    by_type = function == "numpy.asarray" and kind != "ndarray"
    operation = f"{library}.{kind}.__array__" if by_type else function
    operation = operation if "." in operation else f"builtins.{operation}"
    name = operation.partition(".")[0]
    loaded = str(getattr(sys.modules.get(name), "__version__", ""))
    found = dict(stored.cases_of(name, operation))
    version = loaded if loaded in found else next(reversed(found), "")
    alone = [one for one in found.get(version, ()) if one.call.endswith("(x)") and one.did != "unknown"]
    like = [one for one in alone if _is_of(one.kind, kind) and one.call == alone[0].call]
    return f"{name} {version}: {like[0].call}: {rule(like)}" if like else ""


def _is_of(name: str, kind: str) -> bool:
    """Whether a kind of argument is one of objects of a type."""
    plain = kind == "ndarray" and name in dict(ARRAYS)
    return plain or kind in name.replace(",", "").split()
