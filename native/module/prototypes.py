"""Write the prototypes of CPython's public C API, one a line, from the headers of the build.

CMake runs it: module/prototypes.py INCLUDE prototypes.txt. Functions of Windows, private ones and those that
take a pointer to a function as C spells it are left out.
"""

# SPDX-License-Identifier: MIT
import re
import sys
from pathlib import Path

COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.DOTALL | re.MULTILINE)
FUNCTION = re.compile(r"\bPyAPI_FUNC\(([^()]*)\)\s*(Py\w+)\s*\(([^()]*)\)[^;{]*;")


def prototypes(text):
    """`result name(parameters)` of each function that a header declares."""
    for result, name, parameters in FUNCTION.findall(COMMENTS.sub("", text)):
        yield " ".join(f"{result.strip()} {name}({parameters.strip()})".split()).replace("* ", "*")


def main(include, written):
    """Write `written` from the headers in `include` and its folder cpython."""
    headers = sorted(path for folder in ("", "cpython") for path in Path(include, folder).glob("*.h"))
    found = {line for path in headers for line in prototypes(path.read_text(encoding="utf-8"))}
    Path(written).write_text("\n".join(sorted(found)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
