"""README.md and the pages of docs/ show what their examples print: each command is typed word for word."""

# SPDX-License-Identifier: MIT
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALL = [ROOT / "README.md", *ROOT.glob("docs/how-to/*.md"), *ROOT.glob("docs/reference/*.md")]
PAGES = [one for one in sorted(ALL) if re.search(r"^```(?:console|pycon|ipython)", one.read_text(), re.M)]


def run(page: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", str(ROOT / ".ci" / "examples.py"), str(page)]
    return subprocess.run(command, capture_output=True, text=True, timeout=110)


@pytest.mark.slow
@pytest.mark.debugger
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_its_examples_print(page: Path) -> None:
    ended = run(page)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_there_are_pages_with_examples() -> None:
    some = {"README", "is_it_a_copy", "my_extension_leaks", "debug_a_running_service"}
    assert some <= {page.stem for page in PAGES}


def test_a_page_that_shows_something_else_fails(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo shared\nshared\n```\n")
    assert run(page).returncode == 0
    page.write_text("```console\n$ echo copied\nshared\n```\n")
    ended = run(page)
    assert ended.returncode == 1 and "the run   copied" in ended.stdout
