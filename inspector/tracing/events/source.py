"""The statements of a source file: where each stands, what it binds and which names it reads."""

# SPDX-License-Identifier: MIT
import ast
import linecache
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from inspector.facts.conversion import Site
from inspector.facts.statements import Bound, Written
from inspector.objects.call_site import is_users
from inspector.objects.quiet_compile import quietly
from inspector.tracing.events.decode import Events

LONGEST_FILE = 50_000
"""Lines; a longer file is not parsed."""
MOST_NAMES = 12
"""Names that are noted of one statement."""
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Kind = Literal["assign", "augmented", "return", "import", "other"]


class Source:
    """The statements of one file, by line."""

    def __init__(self, file: str, names: dict[str, object] | None = None) -> None:
        self.file = file
        self.lines = linecache.getlines(file, names)
        self._by_line: dict[int, Written] = {}
        for found in self._statements():
            for line in range(found.line, found.last_line + 1):
                known = self._by_line.get(line)
                self._by_line[line] = found if known is None else _joined(known, found)

    def at(self, line: int) -> Written | None:
        """The innermost statement that a line belongs to; None without source."""
        return self._by_line.get(line)

    def _statements(self) -> Iterator[Written]:
        if not 0 < len(self.lines) <= LONGEST_FILE:
            return
        try:
            with quietly():
                tree = ast.parse("".join(self.lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        yield from self._within(tree.body, 0)

    def _within(self, body: list[ast.stmt], loop: int) -> Iterator[Written]:
        for node in body:
            yield self._written(node, loop)
            inner = 0 if isinstance(node, _SCOPES) else loop
            if isinstance(node, _LOOPS):
                inner = loop or node.lineno
            for block in _blocks(node):
                yield from self._within(block, inner)

    def _written(self, node: ast.stmt, loop: int) -> Written:
        last = _last_line(node)
        own = loop or (node.lineno if isinstance(node, _LOOPS) else 0)
        value = _value(node)
        return Written(
            self.file,
            node.lineno,
            last,
            " ".join(" ".join(self.lines[node.lineno - 1 : last]).split()),
            tuple(_targets(node)),
            _names(node),
            _root(value),
            own,
            _kind(node),
        )


def _joined(one: Written, other: Written) -> Written:
    """Two statements on one line count as one: a record knows its line only."""
    targets = tuple(dict.fromkeys((*one.targets, *other.targets)))
    names = tuple(dict.fromkeys((*one.names, *other.names)))
    return Written(
        one.file, one.line, max(one.last_line, other.last_line), one.text, targets, names[:MOST_NAMES],
        one.library or other.library, one.loop or other.loop, one.kind if one.kind != "other" else other.kind,
    )  # fmt: skip


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        found = getattr(node, field, None)
        if isinstance(found, list):
            yield found
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def _last_line(node: ast.stmt) -> int:
    """The last line of a simple statement, or of the head of a compound one."""
    body = getattr(node, "body", None)
    if not isinstance(body, list) or not body:
        return node.end_lineno or node.lineno
    first = min([body[0].lineno, *(one.lineno for one in getattr(body[0], "decorator_list", ()))])
    return max(node.lineno, int(first) - 1)


def _kind(node: ast.stmt) -> Kind:
    if isinstance(node, ast.AugAssign):
        return "augmented"
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return "assign"
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return "import"
    return "return" if isinstance(node, ast.Return) else "other"


def _value(node: ast.stmt) -> ast.expr | None:
    """The expression whose value the statement binds or drops."""
    found = getattr(node, "value", None) or getattr(node, "iter", None)
    return found if isinstance(found, ast.expr) else None


def _targets(node: ast.stmt) -> Iterator[str]:
    """What a statement binds, as it is written; subscripts only by a constant."""
    if isinstance(node, ast.Assign):
        bound: list[ast.expr] = list(node.targets)
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
        bound = [node.target]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        bound = [item.optional_vars for item in node.items if item.optional_vars is not None]
    else:
        bound = []
    for one in bound:
        yield from _bound(one)
    for part in ast.walk(_value(node) or ast.Pass()):
        if isinstance(part, ast.NamedExpr):
            yield part.target.id


def _bound(node: ast.expr) -> Iterator[str]:
    if isinstance(node, (ast.Tuple, ast.List)):
        for one in node.elts:
            yield from _bound(one)
    elif isinstance(node, ast.Starred):
        yield from _bound(node.value)
    elif _is_path(node):
        yield ast.unparse(node)


def _is_path(node: ast.expr) -> bool:
    """A name, or attributes and items by constants of one: what can be read without running code."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name)


def _names(node: ast.stmt) -> tuple[str, ...]:
    """Names that the statement's own expressions read, and attributes of them ("m.x"), without its blocks."""
    found: dict[str, None] = {}
    stack: list[ast.AST] = [node]
    called: set[ast.AST] = set()
    own: set[str] = set()
    """Variables of comprehensions and lambdas, which are none of the statement's."""
    while stack:
        one = stack.pop(0)
        own |= _variables(one)
        if isinstance(one, ast.Call):
            called.add(one.func)
        if (isinstance(one, ast.Name) or _is_attribute(one, called)) and (
            isinstance(one.ctx, ast.Load) or isinstance(node, ast.AugAssign)  # type: ignore[attr-defined]
        ):
            found[ast.unparse(one)] = None
        inner = ast.iter_child_nodes(one)
        stack += [child for child in inner if not isinstance(child, (ast.stmt, ast.excepthandler))]
    return tuple(name for name in found if name.partition(".")[0] not in own)[:MOST_NAMES]


def _variables(node: ast.AST) -> set[str]:
    """What a comprehension or a lambda binds."""
    if isinstance(node, ast.comprehension):
        return {one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)}
    given = ast.walk(node.args) if isinstance(node, ast.Lambda) else ()
    return {one.arg for one in given if isinstance(one, ast.arg)}


def _is_attribute(node: ast.AST, called: set[ast.AST]) -> bool:
    """Whether it is attributes of a name, and not the method or the function that is called."""
    is_path = isinstance(node, ast.Attribute) and node not in called
    while is_path and isinstance(node, ast.Attribute):
        node = node.value
    return is_path and isinstance(node, ast.Name)


def _root(node: ast.expr | None) -> str:
    """The name that an expression's outermost call begins with: "pd" of `pd.concat(parts)`."""
    if isinstance(node, (ast.Await, ast.Starred)):
        return _root(node.value)
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


@lru_cache(1024)
def written_as(text: str, name: str) -> str:
    """The longest path by constants that begins with `name` and ends with an item, if a statement has the
    name only there: "df['a']" of `df['a'].to_numpy()`; else the name."""
    try:
        with quietly():
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return name
    paths = [one for one in ast.walk(tree) if isinstance(one, (ast.Name, ast.Attribute, ast.Subscript))]
    written = [ast.unparse(one) for one in paths if _is_path(one)]
    longer = [one for one in written if one.startswith(f"{name}[") and one.endswith("]")]
    return longer[0] if written.count(name) == 1 and longer else name


def may_change(written: Written) -> bool:
    """Whether it may change an operand in place: it binds no name, or an item or attribute, or calls one."""
    binds = written.kind in ("assign", "augmented")  # to what is no path by constants, if no target is known
    no_name = any("[" in path or "." in path for path in written.targets) or (binds and not written.targets)
    return written.kind == "other" or no_name or "(" in written.text


def written_of(
    events: Events, bound: Iterable[Bound | Site] = (), known: Mapping[str, Source] | None = None
) -> tuple[Written, ...]:
    """The statements of the user's files that records or values of a trace belong to, in the order of files.

    A file that is not `known` is read now: afterwards it may change.
    """
    sites = [site for site in events.sites if isinstance(site.file, str) and is_users(site.file)]
    places = [(site.file, site.line, site.cell) for site in sites]
    places += [(one.file, one.line, -1) for one in bound]
    sources = dict(known or {})
    cells = {file: cell for file, _, cell in places if isinstance(cell, int) and cell >= 0}
    found: dict[Written, None] = {}
    for file, line, _ in places:
        if not isinstance(file, str) or not isinstance(line, int):
            continue
        if file not in sources:
            sources[file] = Source(file)
        if (one := sources[file].at(line)) is not None:
            found[replace(one, cell=cells.get(file, -1))] = None
    return tuple(found)
