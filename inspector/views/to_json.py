"""Writes facts as JSON text, the saved form of a report."""

# SPDX-License-Identifier: MIT
import json
from collections.abc import Mapping
from typing import Any

from inspector.facts.wire import SCHEMA, to_wire


def wire_form(name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The report as plain JSON values: its schema, kind, name and facts."""
    return {
        "schema": SCHEMA,
        "kind": "report",
        "name": name,
        "facts": {column: to_wire(fact) for column, fact in facts.items()},
    }


def to_json(name: str, facts: Mapping[str, Any], indent: int | None = 2) -> str:
    """The report as JSON text in ASCII; addresses are hex strings, units are in the field names."""
    return json.dumps(wire_form(name, facts), indent=indent, allow_nan=False)
