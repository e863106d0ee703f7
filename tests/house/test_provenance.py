"""Where each file comes from: a source file has the licence line, any other a row in docs/provenance.md."""

# SPDX-License-Identifier: MIT
import re
import subprocess
from collections.abc import Iterable
from fnmatch import fnmatch
from functools import cache

import sources

SUFFIXES = {"py", "pyi", "c", "h", "cpp", "pyx", "def", "swift", "R", "js", "css", "toml", "sh"}
NAMES = {"Makefile", "CMakeLists.txt", ".ci/run"}
"""Source files by their whole name."""
LICENCE = re.compile(r"^(?:#|//|/\*) SPDX-License-Identifier: MIT(?: \*/)?$", re.MULTILINE)
OTHERS = re.compile(
    r"copyright (?:\(c\)|©|\d)|all rights reserved|licensed under|SPDX-License-Identifier: (?!MIT)",
    re.IGNORECASE,
)
"""What somebody else's file says of itself."""
TEXT = ("py", "md", "txt", "ipynb", *SUFFIXES)


@cache
def tracked() -> tuple[str, ...]:
    """Paths of the files that git has or is about to have."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=sources.ROOT)
    return tuple(name for name in listed.stdout.splitlines() if (sources.ROOT / name).exists())


def is_source(name: str) -> bool:
    path = sources.Path(name)
    return name in NAMES or path.name in NAMES or path.suffix[1:] in SUFFIXES


def is_licensed(text: str) -> bool:
    """Whether the licence line stands near the top: in the first comment, or below the docstring."""
    return LICENCE.search("\n".join(text.splitlines()[:100])) is not None


@cache
def rows() -> tuple[str, ...]:
    """The names, with `*`, in the first column of the page's tables."""
    page = (sources.ROOT / "docs" / "provenance.md").read_text()
    cells = re.findall(r"^\| (`[^|]*`) \|", page, re.MULTILINE)
    return tuple(name for cell in cells for name in re.findall(r"`([^`]+)`", cell))


def without_row(names: Iterable[str]) -> list[str]:
    return [name for name in names if not any(fnmatch(name, row) for row in rows())]


def test_a_source_file_has_the_licence_line() -> None:
    texts = {name: (sources.ROOT / name).read_text() for name in tracked() if is_source(name)}
    assert [name for name, text in texts.items() if not is_licensed(text)] == []
    assert len(texts) > 500


def test_any_other_file_has_a_row_that_says_where_it_comes_from() -> None:
    assert without_row(name for name in tracked() if not is_source(name)) == []


def test_each_row_names_files_that_are_there() -> None:
    assert [row for row in rows() if not any(fnmatch(name, row) for name in tracked())] == []
    assert len(rows()) > 20


def test_no_file_says_that_it_is_somebody_else_s() -> None:
    texts = {name: sources.ROOT / name for name in tracked() if name.rpartition(".")[2] in TEXT}
    own = {"tests/house/test_provenance.py", "docs/provenance.md"}
    said = {name for name, path in texts.items() if OTHERS.search(LICENCE.sub("", path.read_text()))}
    assert said - own == set()


def test_the_checks_find_what_is_planted() -> None:
    theirs = "// Copyright (c) 2019 Someone Else\n// Licensed under Apache License v2.0\nimport Glibc\n"
    assert not is_licensed(theirs) and OTHERS.search(theirs)
    assert not is_licensed('"""One module."""\nx = "SPDX-License-Identifier: MIT"\n')
    for mark in ("# {}", "// {}", "/* {} */"):
        assert is_licensed("\n" + mark.format("SPDX-License-Identifier: MIT") + "\n")
    assert is_source("a/b.swift") and is_source("native/CMakeLists.txt") and not is_source("docs/a.md")
    strangers = ["data/table.csv", "docs/new.png"]
    assert without_row([*strangers, "docs/reference/lazy.md"]) == strangers
