"""Resolve EXPR in another process: names, attributes and indexes, by reading its memory, never running code.

`x`, `module.name`, `x[3]`, `x["k"]`, `obj.attr` work. What must be computed (a property, a call, a
`__getattr__`) is refused with the reason.
"""

# SPDX-License-Identifier: MIT
import ast
from typing import Final, NamedTuple

from inspector.debugger.attach import object_layout as at
from inspector.debugger.attach.module_globals import with_global
from inspector.debugger.attach.objects import Objects
from inspector.debugger.memory.remote_memory import Unreadable
from inspector.errors import InspectorError
from inspector.objects.quiet_compile import quietly

NAMES_LISTED: Final = 6


class Step(NamedTuple):
    """`.name` or `[key]`."""

    attribute: bool
    key: str | int | bytes | float | bool | tuple[object, ...] | None

    def __str__(self) -> str:
        return f".{self.key!s}" if self.attribute else f"[{self.key!r}]"


def parsed(expression: str) -> tuple[str, list[Step]]:
    """(first name, steps). Raises InspectorError not-a-path."""
    try:
        with quietly():
            node: ast.expr = ast.parse(expression.strip(), mode="eval").body
        steps: list[Step] = []
        while not isinstance(node, ast.Name):
            if isinstance(node, ast.Attribute):
                steps.append(Step(True, node.attr))
            elif isinstance(node, ast.Subscript):
                steps.append(Step(False, ast.literal_eval(node.slice)))
            else:
                raise ValueError
            node = node.value
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise InspectorError(
            f"not a path: {expression.strip()[:60]!r}.",
            slug="not-a-path",
            why="no code runs in the other process: its memory is read, step by step",
            do='use names, attributes and constant indexes: module.name, x[3], x["key"], obj.attr',
        ) from None
    return node.id, steps[::-1]


class Root(NamedTuple):
    """The object that a path begins with, and its first global."""

    address: int
    steps: list[Step]
    """The remaining steps."""
    module: str = ""
    """The module of the global; "" for a module itself and for a builtin."""
    name: str = ""


def resolved(objects: Objects, modules: int, expression: str) -> int:
    """The address of the object at a path. Raises InspectorError: not-a-path, no-such-path."""
    return followed(objects, root(objects, modules, expression), expression)


def root(objects: Objects, modules: int, expression: str) -> Root:
    """The first object of a path. Raises InspectorError: not-a-path, no-such-path."""
    return _root(objects, modules, *parsed(expression))


def followed(objects: Objects, begun: Root, expression: str) -> int:
    """The address of the object after all steps of a path. Raises InspectorError: no-such-path."""
    address, steps = begun[:2]
    said = parsed(expression)[0]
    for step in steps:
        try:
            address = _followed(objects, address, step, said)
        except Unreadable as error:
            raise _missing(said, step, f"its memory cannot be read at {error}") from None
        said += str(step)
    return address


def _root(objects: Objects, modules: int, name: str, steps: list[Step]) -> Root:
    """A global of __main__, else the module with the longest dotted name that is loaded, else a builtin."""
    loaded = dict(objects.text_items(modules))
    scope = _module_dict(objects, loaded.get("__main__", 0))
    if scope and name not in ("__main__", "__builtins__") and (found := objects.named(scope, name)):
        return Root(found, steps, "__main__", name)
    dotted, best, used = name, loaded.get(name, 0), 0
    for i, step in enumerate(steps):
        if not step.attribute:
            break
        dotted += f".{step.key!s}"
        if dotted in loaded:
            best, used = loaded[dotted], i + 1
    if best:
        inside = steps[used].key if len(steps) > used and steps[used].attribute else ""
        return Root(best, steps[used:], ".".join([name, *(str(s.key) for s in steps[:used])]), str(inside))
    builtins = _module_dict(objects, loaded.get("builtins", 0))
    if builtins and (found := objects.named(builtins, name)):
        return Root(found, steps)
    raise InspectorError(
        f"there is no {name!r} in the other process.",
        slug="no-such-path",
        why="it is no global of __main__, no loaded module, no builtin",
        do=_as_written(name, with_global(objects, modules, name))
        or _listed("globals of __main__", [key for key, _ in objects.text_items(scope)] if scope else []),
    )


def _as_written(name: str, modules: list[str]) -> str:
    """How to write a global that other modules have; "" where none has it."""
    shown = ", ".join(f"{module}.{name}" for module in modules[:NAMES_LISTED])
    more = f" and {len(modules) - NAMES_LISTED} more" if len(modules) > NAMES_LISTED else ""
    return f"{'a global' if len(modules) == 1 else 'globals'} of that name: {shown}{more}" if modules else ""


def _module_dict(objects: Objects, module: int) -> int:
    try:
        return objects.memory.word(module + at.MODULE_DICT) if module else 0
    except Unreadable:
        return 0


def _followed(objects: Objects, address: int, step: Step, said: str) -> int:
    if step.attribute:
        return _attribute(objects, address, str(step.key), said)
    if objects.is_a(address, at.DICT):
        return _entry(objects, address, step, said)
    if objects.is_a(address, at.LIST) or objects.is_a(address, at.TUPLE):
        start, count = objects.sequence(address)
        index = step.key
        if not isinstance(index, int):
            raise _missing(said, step, "its indexes are numbers")
        if not -count <= index < count:
            raise _missing(said, step, f"it has {count:,} items")
        return objects.memory.word(start + 8 * (index % count))
    kind = objects.type_name(address)
    raise _missing(said, step, f"a {kind} computes its items: only dict, list and tuple are read")


def _entry(objects: Objects, address: int, step: Step, said: str) -> int:
    wanted = step.key
    text = isinstance(wanted, str)
    said_key = repr(wanted)
    for key, value, _ in objects.items(address):
        if text:
            if objects.text(key) == wanted:
                return value
        elif objects.key(key) == said_key and objects.type_name(key) == type(wanted).__name__:
            return value
    keys = [objects.key(key) for key, _, _ in objects.items(address)]
    raise _missing(said, step, "no such key", _listed("keys", keys))


def _attribute(objects: Objects, address: int, name: str, said: str) -> int:
    for found, value, _ in objects.attributes(address):
        if found == name:
            return value
    is_type = objects.memory.word(objects.type_of(address) + at.TYPE_FLAGS) >> 31 & 1
    for base in objects.bases(address if is_type else objects.type_of(address)):
        scope = objects.memory.word(base + at.TYPE_DICT)
        value = objects.named(scope, name) if scope else 0
        if value:
            kind = objects.type_name(value)
            if not is_type and kind in ("property", "getset_descriptor", "member_descriptor"):
                raise _missing(said, Step(True, name), f"a {kind} computes it: no code runs there")
            return value
    names = [found for found, _, _ in objects.attributes(address)]
    why = "no attribute of that name is stored with it or its type"
    raise _missing(said, Step(True, name), why, _listed("stored", names))


def _missing(said: str, step: Step, why: str, do: str = "") -> InspectorError:
    return InspectorError(f"{said} has no {str(step)!r:.60} to read.", slug="no-such-path", why=why, do=do)


def _listed(what: str, names: list[str]) -> str:
    names = [name for name in names if not name.startswith("__")]
    more = f", and {len(names) - NAMES_LISTED:,} more" if len(names) > NAMES_LISTED else ""
    return f"{what}: {', '.join(names[:NAMES_LISTED])}{more}" if names else f"{what}: none"
