"""Write docstrings.h from the stub inspector/_native.pyi, the one place where the docstrings are kept.

CMake runs it: module/docstrings.py _native.pyi docstrings.h. A row is {"name" or "Class.name", docstring}; a
function's docstring begins with its signature, as inspect.signature expects it of C (PEP 7, Argument Clinic).
"""

# SPDX-License-Identifier: MIT
import ast
import sys
from pathlib import Path


def rows(body, owner=""):
    """(dotted name, text) of each function and class of a stub."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield node.name, ast.get_docstring(node) or ""
            yield from rows(node.body, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            text = ast.get_docstring(node) or ""
            known = owner and node.decorator_list  # a property has no signature
            yield owner + node.name, text if known else f"{signature(node, owner)}\n--\n\n{text}"


def signature(node, owner):
    """name($self, a, b=1) without annotations; `/` where there is no parameter beside the receiver."""
    for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
        argument.annotation = None
    if owner:
        (node.args.posonlyargs or node.args.args).pop(0)
    written = ast.unparse(node.args)
    return f"{node.name}({'$self' if owner else '$module'}, {written or '/'})"


def literal(text):
    """A C string literal: ASCII, other bytes in octal."""
    escapes = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n"}
    raw = text.encode()
    return '"' + "".join(escapes.get(b, chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in raw) + '"'


def main(stub, header):
    """Write `header` from `stub`."""
    found = rows(ast.parse(Path(stub).read_text(encoding="utf-8")).body)
    lines = [f'    {{"{name}", {literal(text)}}},' for name, text in found if text]
    Path(header).write_text("\n".join(["static const docs_row docs_rows[] = {", *lines, "};", ""]))


if __name__ == "__main__":
    main(*sys.argv[1:])
