"""SQLAlchemy: mapped objects whose columns may be expired or deferred, results, and statements."""

# SPDX-License-Identifier: MIT
import gc
import sys
from typing import Any

from inspector.adapters.base import Adapter, stored, type_attribute, type_name
from inspector.adapters.told import Layer, Told, attribute, of_type, recipe
from inspector.facts.unknown import Unknown
from inspector.objects.classes import type_bases

MOST_NAMED = 8
NOT_KNOWN = Unknown("known when the statement has run")
NOT_SHOWN = Unknown("a result does not show how many rows are left: fetching takes them")


class SqlalchemyRows(Adapter):
    """User classes that SQLAlchemy maps; results and statements with all subclasses."""

    library = "sqlalchemy"
    versions = ("2.0.30", "3")
    inherited = ("engine.Result", "sql.Executable", "orm.Query")
    marks = ("_sa_class_manager",)

    def self_test(self) -> None:
        """A statement is a recipe; a mapped class keeps its state in the instance dict."""
        sqlalchemy = sys.modules["sqlalchemy"]
        if self.layers(sqlalchemy.text("select 1")).state != "lazy":
            raise ValueError("text() is not an Executable")

    def owns(self, x: Any) -> bool | Unknown:
        """True: a mapped object owns its loaded values."""
        return type_attribute(type(x), "_sa_class_manager") is not None

    def layers(self, x: Any) -> Told:
        """Which columns are loaded; reading another one runs SQL."""
        if type_attribute(type(x), "_sa_class_manager") is not None:
            return _mapped(x)
        kind = type_name(type(x))
        if any(type_name(base) == "Result" for base in type_bases(type(x))):
            return _result(x)
        idle = ("str: it compiles, it does not run",)
        return recipe(kind, "execute()", of_type(kind), would_not=idle, logical_bytes=NOT_KNOWN)


def _mapped(x: Any) -> Told:
    state, columns = _instance_dict(x)
    kind = type_name(type(x))
    if state is None:
        why = Unknown("it has no instance state: its class was mapped after it was made")
        return Told((Layer("wrapper", kind, why),), why)
    names = [name for name in dict.keys(type_attribute(type(x), "_sa_class_manager")) if type(name) is str]
    missing = sorted(name for name in names if name not in columns)
    new = stored(state, "key") is None
    value: Any = "computed" if not missing or new else "lazy" if len(missing) == len(names) else "partial"
    expired = stored(state, "expired", False) is True
    few = ", ".join(missing[:MOST_NAMED]) + (", …" if len(missing) > MOST_NAMED else "")
    told = (
        attribute("unloaded", few or "none"),
        attribute("expired", expired),
        attribute(
            "session", "none: detached or transient" if stored(state, "session_id") is None else "there"
        ),
    )
    detached = stored(state, "session_id") is None and not new
    use = "raises DetachedInstanceError" if detached else "runs SQL"
    wrapper = Layer(
        "wrapper",
        f"{kind}, {len(names) - len(missing)} of {len(names)} columns loaded",
        value=value,
        storage="none" if value == "lazy" else "heap",
        evidence=told,
        would=(f"x.{missing[0]} {use}",) if missing and not new else (),
        would_not=("sqlalchemy.inspect(x).unloaded",),
    )
    return Told(
        (wrapper,), waits_for=f"{len(missing)} columns: reading one {use}" if missing and not new else ""
    )


def _instance_dict(x: Any) -> tuple[Any, dict[str, Any]]:
    """(InstanceState, instance dict) of a mapped object, by its references: creates neither."""
    state = stored(x, "_sa_instance_state")
    found = (
        held for held in gc.get_referents(x) if type(held) is dict and held.get("_sa_instance_state") is state
    )
    return state, next(found, {})


def _result(x: Any) -> Told:
    over = stored(x, "_soft_closed", False) is True
    hard = stored(x, "closed", False) is True or stored(x, "_hard_closed", False) is True
    value: Any = "closed" if hard else "consumed" if over else NOT_SHOWN
    said = (attribute("x._soft_closed", over), attribute("x.closed", hard))
    use = () if over or hard else ("fetchone()", "all()")
    layer = Layer("wrapper", type_name(type(x)), value, "none", "foreign", said, use, ("x.keys()",))
    return Told((layer,), value if not (hard or over) else ("closed" if hard else "consumed"))


ADAPTER = SqlalchemyRows()
