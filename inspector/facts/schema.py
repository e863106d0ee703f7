"""The JSON Schema of a saved report, generated from the facts' annotations.

`python -m inspector.facts.schema > docs/schema/report-2.json` writes the published copy: one definition
a line.
"""

# SPDX-License-Identifier: MIT
import dataclasses
import inspect
import json
import types
import typing
from typing import Any, Final

from inspector.facts.columns import COLUMNS, fact_class
from inspector.facts.unknown import Address, ImmortalType, Unknown
from inspector.facts.wire import SCHEMA, field_types

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: Final = {str: "string", int: "integer", bool: "boolean", float: "number"}


def report_schema() -> dict[str, Any]:
    """The schema of what `Report.to_json` writes (JSON Schema, draft 2020-12)."""
    definitions: dict[str, Any] = {}
    columns = {name: _of(fact_class(name) | Unknown, definitions) for name in COLUMNS}
    return {
        "$schema": DRAFT,
        "title": f"inspector report, schema {SCHEMA}",
        "type": "object",
        "required": ["schema", "kind", "name", "facts"],
        "properties": {
            "schema": {"const": SCHEMA},
            "kind": {"const": "report"},
            "name": {"type": "string", "description": "How the user knows the object."},
            "facts": {"type": "object", "properties": columns, "additionalProperties": False},
        },
        "$defs": dict(sorted(definitions.items())),
    }


def _of(annotation: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of one annotation; fact classes become definitions."""
    choices = typing.get_args(annotation) if _is_union(annotation) else (annotation,)
    parts = [_one(choice, definitions) for choice in choices]
    return parts[0] if len(parts) == 1 else {"anyOf": parts}


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


def _one(choice: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if choice is Address:
        return {"type": "string", "pattern": "^0x[0-9a-f]+$"}
    if choice is ImmortalType:
        return {"const": "immortal"}
    if dataclasses.is_dataclass(choice):
        return _fact(typing.cast(type, choice), definitions)
    origin, arguments = typing.get_origin(choice), typing.get_args(choice)
    if origin is tuple:
        return _tuple(arguments, definitions)
    if origin is dict:
        return {"type": "object", "additionalProperties": _of(arguments[1], definitions)}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    return {"type": _PLAIN[choice]}


def _tuple(arguments: tuple[Any, ...], definitions: dict[str, Any]) -> dict[str, Any]:
    if arguments[-1] is Ellipsis:
        return {"type": "array", "items": _of(arguments[0], definitions)}
    items = [_of(argument, definitions) for argument in arguments]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


def _fact(fact: type, definitions: dict[str, Any]) -> dict[str, Any]:
    if fact is Unknown:
        definitions["Unknown"] = {
            "type": "object",
            "description": _sentence(fact),
            "properties": {"unknown": {"type": "string", "description": "The reason."}},
            "required": ["unknown"],
            "additionalProperties": False,
        }
    elif fact.__name__ not in definitions:
        definitions[fact.__name__] = {}  # a fact may hold facts of its own class
        hints = field_types(fact)
        definitions[fact.__name__] |= {
            "type": "object",
            "description": _sentence(fact),
            "properties": {name: _of(hint, definitions) for name, hint in hints.items()},
            "required": list(hints),
        }
    return {"$ref": f"#/$defs/{fact.__name__}"}


def _sentence(fact: type) -> str:
    return inspect.getdoc(fact) or ""


def published() -> str:
    """The schema as docs/schema/report-2.json holds it: JSON with one column or definition a line."""
    schema = report_schema()
    columns, definitions = schema["properties"]["facts"].pop("properties"), schema.pop("$defs")
    head = _json(schema)[1:-1].replace(
        '"facts": {', '"facts": {"properties": {\n' + _lines(columns) + "\n}, "
    )
    return f'{{\n{head},\n"$defs": {{\n{_lines(definitions)}\n}}\n}}\n'


def _lines(members: dict[str, Any]) -> str:
    return ",\n".join(f"{_json(name)}: {_json(member)}" for name, member in members.items())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    import sys

    sys.stdout.write(published())
