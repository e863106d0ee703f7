"""A few lines that show a loss with one package and the standard library only."""

# SPDX-License-Identifier: MIT
import ast

COUNTS = {
    "blocks": "sys.getallocatedblocks()",
    "bytes": "given().all[4] + given().all[7]",
    "resident": "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss",
}
OF_CLASS = "sum(sys.getrefcount(o) for o in gc.get_objects() if isinstance(o, type) and o.__name__ == {!r})"
SOME = "(*gc.get_objects(), *globals().values(), *call.__code__.co_consts)"
OF_TYPE = f"sum(sys.getrefcount(o) for o in {SOME} if type(o).__name__ == {{!r}})"
MALLOC = """class Given(ctypes.Structure): _fields_ = [("all", ctypes.c_size_t * 10)]  # mallinfo2(3)
given = ctypes.CDLL(None).mallinfo2; given.restype = Given"""
LOOP = """for n in range(2_000):
    with contextlib.suppress(Exception): call()
    if n == 999: first = count()
print(count() - first)"""


def repro(setup, call, seen, kind):
    """The program: what the call needs of `setup`, and what the last 1,000 calls leave of this kind."""
    if "died" in seen or seen["raised"] == "SystemError":
        return "\n".join((*needed(setup, call), call))
    of_kind = OF_CLASS if kind.startswith("class ") else OF_TYPE
    counts = of_kind.format(kind.removeprefix("class ")) if kind in seen["rises"] | seen["falls"] else ""
    count = counts or next(code for key, code in COUNTS.items() if seen[key])
    malloc = [MALLOC] * (count == COUNTS["bytes"])
    parts = [*needed(setup, call), *malloc, f"def call(): {call}", f"def count(): return {count}", LOOP]
    modules = [
        one for one in ("contextlib", "ctypes", "gc", "resource", "sys") if f"{one}." in "\n".join(parts)
    ]
    return "\n".join((f"import {', '.join(modules)}", *parts))


def needed(setup, call):
    """The statements of `setup` that bind, or work on, a name that the call or one of them uses."""
    statements, chosen, names = ast.parse(setup).body, set(), _names(ast.parse(call))
    while more := [one for one in statements if one not in chosen and _makes(one) & names]:
        chosen.update(more)
        names |= set().union(*map(_names, more))
    return [ast.unparse(one) for one in statements if one in chosen]


def _names(tree):
    return {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}


def _makes(statement):
    """The names that a statement binds, or works on."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(one.asname or one.name).partition(".")[0] for one in statement.names}
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement]
    return set().union(*map(_names, targets))
