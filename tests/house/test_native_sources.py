"""The C of the house: ownership words, parts that keep apart, versions in one place, enough prose."""

# SPDX-License-Identifier: MIT
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
import sources

pytestmark = pytest.mark.quick

WORD = re.compile(r"\b(owned|borrowed|new|stolen|steals|strong|_owned_)\b", re.IGNORECASE)
POINTER = r"(?:PyObject|PyTypeObject)\s*\*"
PROTOTYPE = re.compile(r"((?:^//[^\n]*\n)*)^(?!static|#|typedef)(\w[^;{}#]*\([^;{}]*\);)", re.MULTILINE)
LISTED = re.compile(r"^    PART\((\w+)\)", re.MULTILINE)
DEFINED = re.compile(r"^(?:int (\w+)_exec\(|PART_FUNCTIONS\((\w+))", re.MULTILINE)
PROSE_MIN = 0.10
"""Share of lines that hold a comment; 0.15 is the aim: this number may only go up."""
FUNCTION = re.compile(
    r"^(?!static|#|typedef|extern)\w[\w \*]*?(\w+)\((?:[^;{}()]|\([^;{}()]*\))*\) \{", re.MULTILINE
)
LOCAL = r"^(?:static (?:inline )?|ALWAYS_INLINE )\w[\w \*]*?"
INLINE = re.compile(LOCAL + r"(\w+)\((?:[^;{}()]|\([^;{}()]*\))*\) \{", re.MULTILINE)
STATIC = re.compile(LOCAL + r"\b(\w+)\(", re.MULTILINE)
PROTOTYPES = re.compile(
    r"^(?!typedef|#|static)\w[\w \*]*?\b\w+\((?:[^;{}()]|\([^;{}()]*\))*\)[^;{}]*;", re.MULTILINE
)
PARTS = sorted(path for path in sources.C if path.suffix == ".c")


def structs(text: str) -> list[tuple[int, str]]:
    """(line, text) of each field line of the structs a file defines."""
    found = []
    for match in re.finditer(r"struct\s*\w*\s*\{(.*?)^\}", text, re.DOTALL | re.MULTILINE):
        start = text[: match.start(1)].count("\n") + 1
        found += [(start + n, line) for n, line in enumerate(match[1].split("\n"))]
    return found


def prototypes(text: str) -> list[tuple[int, str]]:
    """(line, text) of each prototype in a header that speaks of objects, with the comment above it."""
    found = []
    for match in PROTOTYPE.finditer(text):
        if re.search(POINTER, match[2]):
            found.append((text[: match.start(2)].count("\n") + 1, match[1] + match[2]))
    return found


def unsaid(text: str, header: bool) -> list[int]:
    """Lines that hold an object and do not say whose it is."""
    fields, wrong = structs(text), []
    for n, (line, field) in enumerate(fields):
        above = fields[n - 1][1] if n else ""
        said = WORD.search(field + (above if above.strip().startswith("//") else ""))
        if re.match(rf"\s*{POINTER}\s*\w+(\[\w*\])?;", field) and not said:
            wrong.append(line)
    if header:
        for line, prototype in prototypes(text):
            parameters = len(re.findall(POINTER, prototype.partition("(")[2]))
            result = bool(re.match(POINTER, re.sub(r"(^//[^\n]*\n)*", "", prototype)))
            if len(WORD.findall(prototype)) < parameters + result:
                wrong.append(line)
    return wrong


def test_ownership_is_written_down() -> None:
    """At each field, and at each prototype in a header: owned, borrowed, new or stolen.

    Inside a part the convention of CPython holds unless a word says otherwise: parameters are borrowed,
    a result is new.
    """
    wrong = {path: unsaid(path.read_text(), path.suffix == ".h") for path in sources.C}
    assert [f"{sources.name(path)}:{line}" for path, lines in wrong.items() for line in lines] == []


def test_the_lint_sees_a_missing_word() -> None:
    assert unsaid("typedef struct {\n    int n;\n    PyObject *kept;\n} Box;\n", False) == [3]
    assert unsaid("typedef struct {\n    PyObject *kept; // owned\n} Box;\n", False) == []
    assert unsaid("PyObject *box_get(PyObject *box /* borrowed */);\n", True) == [1]
    assert unsaid("// A new reference.\nPyObject *box_get(PyObject *box /* borrowed */);\n", True) == []


def called(texts: dict[str, str]) -> dict[str, set[str]]:
    """Parts by the parts whose functions they name; a header's inline functions are its part's own."""
    code = {name: _code(name, text) for name, text in texts.items()}
    homes = {
        function: name[:-2]
        for name, text in code.items()
        for function in (FUNCTION if name.endswith(".c") else INLINE).findall(text)
    }
    found: dict[str, set[str]] = {name[:-2]: set() for name in code}
    for name, text in code.items():
        words = set(re.findall(r"(?<![.>])\b\w+", text)) - set(STATIC.findall(text))
        found[name[:-2]] |= {homes[word] for word in words & set(homes)} - {name[:-2]}
    return found


def _code(name: str, text: str) -> str:
    """Without comments and declarations: what a file offers or is told of is no call."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"^extern [^;]*;|^ *PART\(\w+\)", "", text, flags=re.MULTILINE)
    return PROTOTYPES.sub("", text) if name.endswith(".h") else text


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Names that lead to each other in a circle, the first named twice; [] where none do."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def rooms(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """The same graph of the parts' folders."""
    found: dict[str, set[str]] = {}
    for name, others in graph.items():
        here = name.rpartition("/")[0]
        found.setdefault(here, set()).update({other.rpartition("/")[0] for other in others} - {here})
    return found


def test_calls_between_parts_and_between_rooms_go_down() -> None:
    graph = called({sources.name(path): path.read_text() for path in sources.C})
    assert circle(graph) == [] and circle(rooms(graph)) == []


def test_includes_go_down() -> None:
    """No file of a room includes a header of a room that calls it."""
    graph: dict[str, set[str]] = {}
    for path in sources.C:
        included = {
            Path(one).parent.as_posix()
            for one in re.findall(r'#include "([\w./]+/\w+\.\w+)"', path.read_text())
        }
        here = path.parent.relative_to(sources.ROOT / "native").as_posix()
        graph.setdefault(here, set()).update(included - {here})
    assert circle(graph) == []


def test_the_lint_sees_a_circle() -> None:
    down = {"a.c": "int above(void) {\n    return below();\n}\n", "b.c": "int below(void) {\n}\n"}
    assert called(down) == {"a": {"b"}, "b": set()} and circle(called(down)) == []
    up = {"b.c": "int below(void) {\n    return above(); // up\n}\n"}
    assert set(circle(called({**down, **up}))) == {"a", "b"}
    assert circle(called({**down, "b.c": "int below(void) { // not above()\n}\n"})) == []
    macro = "EACH(0, row)\n\nvoid *below(void (*each)(int), int n) {\n    return above(); // up\n}\n"
    assert set(circle(called({**down, "b.c": macro}))) == {"a", "b"}
    inline = {"b.h": "static inline int under(void) {\n    return above();\n}\nint below(void);\n"}
    assert set(circle(called({**down, **inline}))) == {"a", "b"}
    assert circle(called({**down, "b.h": "int above(void); // declared only\n"})) == []
    assert rooms({"x/a": {"y/b"}, "y/b": {"x/c"}, "x/c": set()}) == {"x": {"y"}, "y": {"x"}}


def test_a_part_includes_no_other_part() -> None:
    native = sources.ROOT / "native"
    tables = {table.relative_to(native).as_posix() for table in native.glob("**/*.def")}
    headers = {one.relative_to(native).as_posix() for one in sources.C if one.suffix == ".h"}
    for path in PARTS:
        included = set(re.findall(r'#include "([\w./]+)"', path.read_text()))
        assert included <= headers | tables | {"docstrings.h"}, sources.name(path)


def test_every_part_is_in_the_list() -> None:
    listed = set(LISTED.findall((sources.ROOT / "native" / "module" / "native.h").read_text()))
    defined = {one or other for path in PARTS for one, other in DEFINED.findall(path.read_text())}
    assert defined == listed


def test_versions_differ_only_in_compat() -> None:
    assert [
        f"{sources.name(path)}:{number}"
        for path in sources.C
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if "PY_VERSION_HEX" in line and not path.name.startswith("compat")
    ] == []


def test_processors_differ_only_in_machine() -> None:
    asked = re.compile(r"__(?:x86_64|amd64|aarch64|arm)__|__AVX|__ARM_")
    found = {sources.name(path) for path in sources.C if asked.search(path.read_text())}
    assert "machine/machine.h" in {one.removeprefix("native/") for one in found}
    assert not [one for one in found if not one.removeprefix("native/").startswith("machine/")]


def test_there_is_enough_prose() -> None:
    comment = code = 0
    for path in sources.C:
        inside = False
        for line in (line.strip() for line in path.read_text().splitlines()):
            inside = inside or line.startswith("/*")
            comment += bool(line) and (inside or "//" in line)
            code += bool(line) and not (inside or line.startswith("//"))
            inside = inside and "*/" not in line
    assert comment / (comment + code) >= PROSE_MIN


def test_the_flags_of_a_span_are_numbered_alike_in_c_and_python() -> None:
    """native/objects/spans.h numbers them; a launched program reads them without the extension's tables."""
    numbered = re.compile(r"^ *(SPAN_[A-Z]+)(?:: Final)? = (\d+)\b", re.MULTILINE)
    header, table = (
        numbered.findall((sources.ROOT / path).read_text())
        for path in ("native/objects/spans.h", "inspector/tracing/events/span_flags.py")
    )
    assert len(table) == 8 and table == header
