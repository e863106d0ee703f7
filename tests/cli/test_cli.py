"""The program as a user meets it: output, exit codes, pipes, colours, errors."""

# SPDX-License-Identifier: MIT
import importlib.util
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import SCRIPTS, in_terminal, inspector, plain

from inspector.faces.arguments import DRAW, LOOK, WRITE
from inspector.faces.cli import commands
from inspector.report import from_text

pytestmark = pytest.mark.core

ESCAPE = "\x1b["


def block(stderr: str) -> dict[str, str]:
    """An error block's parts; fails where stderr is anything else."""
    first, *rest = stderr.rstrip("\n").split("\n")
    assert first.startswith("inspector: "), stderr
    assert "Traceback" not in stderr
    labels = [line[2:7].strip() for line in rest]
    assert [label for label in labels if label][-1] == "more", stderr
    return {label: line[8:] for label, line in zip(labels, rest, strict=True) if label} | {"what": first[11:]}


@pytest.fixture
def app(tmp_path: Path) -> Callable[[str], str]:
    """`app(text)`: the path of a script with this text."""

    def written(text: str) -> str:
        (tmp_path / "app.py").write_text(text)
        return str(tmp_path / "app.py")

    return written


@pytest.mark.quick
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["help"], "memory grows     inspector memory --script app.py  %inspect --memory"),
        ([], "inspector help                         something is wrong: what to type"),
        (["app.py"], "inspector: app.py is a program; say what you want to know of it."),
        (["hepl"], "inspector: there is no command hepl."),
        (["attach", "4711"], "inspector: what do you want to know of process 4711?"),
        (["help", "stacks"], "Say what each thread of a process waits for, and print its frames."),
    ],
)
def test_a_newcomers_first_words_are_answered_within_78_columns(words: list[str], said: str) -> None:
    ran = inspector(*words, COLUMNS="80")
    lines = (ran.stdout + ran.stderr).splitlines()
    assert said in [line.strip() for line in lines]
    assert max(map(len, lines)) <= 78


def test_without_arguments_it_invites_and_python_m_too() -> None:
    ran = inspector()
    assert ran.returncode == 0
    assert "inspector show" in ran.stdout
    assert len(ran.stdout.splitlines()) <= 8
    assert plain(f"{SCRIPTS}/python", "-m", "inspector").stdout == ran.stdout


@pytest.mark.quick
def test_help_lists_commands_by_job_within_80_columns() -> None:
    shown = inspector("--help").stdout
    jobs = [line[:-1] for line in shown.splitlines() if line.endswith(":") and not line.startswith("usage")]
    assert jobs == ["inspect objects", "inspect running programs", "read saved reports", "check this machine"]
    commands = ("show", "heap", "diff", "report", "completion")
    assert all(re.search(rf"^  {command} ", shown, re.M) for command in commands)
    for command in commands:
        shown += inspector(command, "--help").stdout
    assert [line for line in shown.splitlines() if len(line) > 80] == []


def test_help_imports_neither_rich_nor_numpy_nor_ipython() -> None:
    code = (
        "import sys\nfrom inspector.faces.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('rich', 'numpy', 'IPython', 'inspector._native') if m in sys.modules])"
    )
    assert plain(f"{SCRIPTS}/python", "-c", code).stdout.splitlines()[-1] == "[]"


@pytest.mark.quick
def test_show_draws_the_card_plainly_into_a_pipe() -> None:
    ran = inspector("show", "[1, 2, 3]")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith(" [1, 2, 3]  list ")
    assert ESCAPE not in ran.stdout
    assert "probe failed" not in ran.stdout


@pytest.mark.quick
def test_show_searches_for_owners_when_asked() -> None:
    assert "searched in" in inspector("show", "[1]", "--owners").stdout
    assert "searched in" not in inspector("show", "[1]").stdout


def test_show_imports_the_modules_an_expression_names() -> None:
    assert "ndarray" in inspector("show", "np.zeros(3)").stdout
    assert "ElementTree" in inspector("show", "xml.etree.ElementTree").stdout


@pytest.mark.quick
def test_json_goes_to_stdout_alone_and_is_a_report(app: Callable[[str], str]) -> None:
    script = app("import os\nprint('from python')\nos.system('echo from below')\nrows = [1, 2]\n")
    ran = inspector("show", "rows", "--json", "--script", script)
    report = from_text(ran.stdout, "stdout")
    assert (report.name, report.object.type_name) == ("rows", "list")
    assert "from python" in ran.stderr and "from below" in ran.stderr


@pytest.mark.quick
def test_a_saved_report_draws_the_same_card(tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    ran = inspector("show", "[1, 2, 3]", "--json")
    saved.write_text(ran.stdout)
    drawn = inspector("report", str(saved))
    assert drawn.returncode == 0
    assert drawn.stdout == from_text(ran.stdout, "stdout").to_text()


def test_pictures_and_pages_are_written(tmp_path: Path) -> None:
    ran = inspector("show", "[1]", "--svg", "card.svg", "--html", "card.html", cwd=tmp_path)
    assert ran.returncode == 0
    assert (tmp_path / "card.svg").read_text().startswith("<svg ")
    assert (tmp_path / "card.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.quick
def test_width_is_kept_in_pipes_and_terminals() -> None:
    for shown in (
        inspector("show", "numpy", "--width", "40").stdout,
        inspector("show", "numpy", COLUMNS="40").stdout,
        in_terminal("show", "numpy", columns=40, NO_COLOR="1")[1],
    ):
        assert max(map(len, shown.splitlines())) <= 40
        assert len(shown.splitlines()) > 3


def test_a_terminal_has_colours_and_no_color_none() -> None:
    code, coloured = in_terminal("show", "[1]")
    assert code == 0
    assert ESCAPE in coloured
    code, bare = in_terminal("show", "[1]", NO_COLOR="1")
    assert code == 0
    assert ESCAPE not in bare
    assert ESCAPE not in in_terminal("show", "[1]", TERM="dumb")[1]
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured).split() == bare.split()


def test_an_ascii_terminal_gets_ascii() -> None:
    ran = inspector("show", "numpy.arange(6).reshape(2, 3).T", PYTHONIOENCODING="ascii")
    assert ran.returncode == 0
    assert ran.stdout.isascii()


def test_a_closed_pipe_is_quiet() -> None:
    command = f"{SCRIPTS}/inspector show numpy.ndarray --all | head -1"
    ran = plain("bash", "-o", "pipefail", "-c", command)
    assert (ran.returncode, ran.stderr, len(ran.stdout.splitlines())) == (0, "", 1)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("arguments", "slug"),
    [
        (["show", "[1"], "not-an-expression"),
        (["show", "x = 1"], "not-an-expression"),
        (["show", ""], "not-an-expression"),
        (["show", "\x1b[1m"], "not-an-expression"),
        (["show", "(" * 5000], "not-an-expression"),
        (["show", "nonsense_name"], "unknown-name"),
        (["show", "x", "--script", "/nowhere.py"], "unreadable-file"),
        (["show", "1", "--svg", "/nowhere/x.svg"], "unwritable-file"),
        (["report", "/nowhere.json"], "unreadable-file"),
        (["report", "/"], "unreadable-file"),
        (["report", "/bin/ls"], "bad-report"),
        *((["show", text], "not-an-expression") for text in ("  ", "await f()", "(yield)")),
        *((words, "bad-option") for words in (["nonsense"], ["show"], ["show", "1", "--no"])),
        *((words, "bad-option") for words in (["show", "1", "--width", "3"], ["leaks", "--no", "app.py"])),
        (["show", "1", "--after", "1 +"], "not-an-expression"),
    ],
)
def test_a_wrong_request_is_one_block_and_exit_code_2(arguments: list[str], slug: str) -> None:
    ran = inspector(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert block(ran.stderr)["more"] == f"docs/messages.md#{slug}"
    assert slug != "bad-option" or block(ran.stderr)["do"].startswith("inspector ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f():\n    raise ValueError('bad \\x1b[31m')\nf()\n", "ValueError: bad \\x1b[31m"),
        ("import sys\nsys.exit(3)\n", "exited with 3"),
        ("import sys\nsys.exit('no disk')\n", "exited with 'no disk'"),
        ("raise KeyboardInterrupt\n", "KeyboardInterrupt"),
        ("x = (1,\n", "SyntaxError"),
        ("class E(Exception):\n    def __str__(self): raise E\nraise E\n", "E: (its __str__ failed)"),
        ("def f(): f()\nf()\n", "RecursionError"),
    ],
)
def test_a_failing_script_is_said_as_its_own(app: Callable[[str], str], text: str, said: str) -> None:
    ran = inspector("show", "1", "--script", app(text))
    assert (ran.returncode, ran.stdout) == (1, "")
    found = block(ran.stderr)
    assert said in found["what"]
    assert found["more"] == "docs/messages.md#script-failed"
    assert len(ran.stderr.splitlines()) <= 8
    assert "target.py" not in ran.stderr


def test_the_traceback_of_a_script_shows_its_own_lines(app: Callable[[str], str]) -> None:
    said = inspector("show", "1", "--script", app("def f():\n    raise ValueError('bad')\nf()\n")).stderr
    assert "app.py:3 in <module>   f()" in said
    assert "app.py:2 in f   raise ValueError('bad')" in said


def test_a_script_that_left_quietly_still_shows_its_names(app: Callable[[str], str]) -> None:
    script = app("import sys\nx = [1]\nsys.exit(0)\ny = 2\n")
    assert inspector("show", "x", "--script", script).returncode == 0
    for words, said in (("y", "exited before the name was set"), ("1 / 0", "ZeroDivisionError")):
        ran = inspector("show", words, "--script", script)
        assert ran.returncode == 1 and said in block(ran.stderr)["what"]


def test_the_scripts_names_come_first(app: Callable[[str], str]) -> None:
    script = app("math = [1, 2, 3]\nif __name__ == '__main__':\n    made = __file__\n")
    assert " math     list " in inspector("show", "math", "--script", script).stdout
    assert "str" in inspector("show", "made", "--script", script).stdout


def test_secret_names_are_masked_unless_asked(app: Callable[[str], str]) -> None:
    script = app("password = 'hunter2'\nconfig = {'api_key': 'hunter2', 'user': 'ann'}\n")
    for name in ("password", "config"):
        for words, revealed in ((("--all", "-v"), False), (("--json",), False), (("--reveal",), True)):
            shown = inspector("show", name, "--script", script, *words).stdout
            assert ("hunter2" in shown) is revealed, (name, words)


@pytest.mark.parametrize("command", [("show", "x", "--script"), ("trace",), ("leaks",), ("heap", "--script")])
def test_a_script_warns_once_as_under_python(app: Callable[[str], str], command: tuple[str, ...]) -> None:
    assert inspector(*command, app("x = 5 is 5\n")).stderr.count("SyntaxWarning") == 1


@pytest.mark.quick
def test_diff_says_what_differs_and_exits_1(tmp_path: Path) -> None:
    for name, expression in (("a", "[1, 2]"), ("b", "[1, 2, 3]")):
        (tmp_path / f"{name}.json").write_text(inspector("show", expression, "--json").stdout)
    same = inspector("diff", "a.json", "a.json", cwd=tmp_path)
    assert (same.returncode, "in no inspected field" in same.stdout) == (0, True)
    other = inspector("diff", "a.json", "b.json", cwd=tmp_path)
    assert other.returncode == 1
    assert re.search(r"object +length +2 +3", other.stdout)
    facts = json.loads(inspector("diff", "a.json", "b.json", "--json", cwd=tmp_path).stdout)["facts"]
    changed = {"column": "object", "field": "length", "left": "2", "right": "3"}
    assert changed in facts["comparison"]["changes"]


@pytest.mark.quick
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_knows_the_commands(shell: str) -> None:
    pytest.importorskip("shtab")
    assert "completion" in inspector("completion", shell).stdout


def test_bash_completes_a_command() -> None:
    pytest.importorskip("shtab")
    script = inspector("completion", "bash").stdout
    line = f"{script}\nCOMP_WORDS=(inspector sh)\nCOMP_CWORD=1\n_shtab_inspector\necho ${{COMPREPLY[@]}}\n"
    assert plain("bash", "-c", line).stdout.split() == ["show"]


@pytest.mark.quick
def test_the_page_names_every_command_and_option() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "commands.md").read_text()
    missing = [name for name in commands() if f"`inspector {name}" not in page]
    options = [flag for option in (*LOOK, *DRAW, *WRITE) for flag in option.flags if flag.startswith("--")]
    missing += [flag for flag in options if flag not in page and flag != "--verbose"]
    assert missing == []


@pytest.mark.quick
def test_two_snapshots_of_two_runs_differ_by_what_was_made(tmp_path: Path, app: Callable[[str], str]) -> None:
    for name, more in (("one", ""), ("two", "y = [x] * 100\n")):
        ran = inspector("heap", "--script", app(f"x = [1, 2, 3]\n{more}"), "--snapshot", "--json")
        (tmp_path / f"{name}.json").write_text(ran.stdout)
    ran = inspector("diff", "one.json", "two.json", cwd=tmp_path)
    assert ran.returncode == 1
    assert re.search(r"x +rebound +list +\+100", ran.stdout)
    assert re.search(r"\+ +y +born +list", ran.stdout)
    assert "__name__" not in ran.stdout


@pytest.mark.quick
def test_the_heap_leads_to_who_holds_the_largest_objects(
    app: Callable[[str], str],
) -> None:
    text = "rows = {'k': [bytearray(64_000_000)]}\ndef held(x=bytearray(32_000_000)): pass\n"
    lines = inspector("heap", "--script", app(text)).stdout.splitlines()
    assert "96 MB are 2 objects of bytearray" in lines[0] and len(lines) <= 24
    assert [line for line in lines if re.search(r"64 MB +bytearray +rows\['k'\]\[0\]$", line)]
    assert [line for line in lines if re.search(r"32 MB +bytearray +held\.__defaults__\[0\]$", line)]


@pytest.fixture(scope="module")
def without_extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed library in it, but for the extension."""
    installed = Path(importlib.util.find_spec("inspector").origin).parent  # type: ignore[union-attr, arg-type]
    folder = tmp_path_factory.mktemp("bare")
    shutil.copytree(installed, folder / "inspector", ignore=shutil.ignore_patterns("_native*.so"))
    return folder


@pytest.mark.parametrize("arguments", [["show", "1"], ["heap"]])
def test_without_the_extension_a_live_look_says_so(without_extension: Path, arguments: list[str]) -> None:
    ran = inspector(*arguments, PYTHONPATH=str(without_extension))
    assert ran.returncode == 2
    assert block(ran.stderr)["more"] == "docs/messages.md#no-extension"


def test_without_the_extension_the_doctor_says_how_to_mend_it(without_extension: Path) -> None:
    ran = inspector("doctor", PYTHONPATH=str(without_extension))
    assert (ran.returncode, ran.stderr) == (1, "")
    assert re.search(r"^ extension +no ", ran.stdout, re.M)
    assert "force-reinstall" in ran.stdout


def test_a_closed_or_a_full_output_is_no_fault_of_ours() -> None:
    closed = plain("sh", "-c", f"{SCRIPTS}/inspector show 1 >&-")
    assert (closed.returncode, closed.stderr) == (0, "")
    for option in ("", "--json"):
        full = plain("sh", "-c", f"{SCRIPTS}/inspector show 1 {option} >/dev/full")
        assert full.returncode == 2
        assert block(full.stderr)["more"] == "docs/messages.md#unwritable-file"


@pytest.mark.parametrize(
    ("command", "ends", "drawn"),
    [
        ("show x --script", "sys.stdout.close()", " held by "),
        ("trace", "sys.stdout.close()", "native code"),
        ("trace", "sys.stdout = io.StringIO()", "native code"),
        ("trace", "sys.stdout = None", "native code"),
        ("leaks", "sys.stdout.close()", "no call was seen"),
    ],
)
def test_what_a_program_does_to_its_output_is_undone(
    app: Callable[[str], str], command: str, ends: str, drawn: str
) -> None:
    """json.tool closes its own: `python -m json.tool` is a program that is traced like others."""
    first, *words = [*command.split(), app(f"import io, sys\nx = [1]\nprint('its own')\n{ends}\n")]
    ran = inspector(first, *words)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("its own\n") and drawn in ran.stdout
    quiet = inspector(first, "--json", *words)
    assert (quiet.returncode, "its own" in quiet.stdout) == (0, False)
    assert json.loads(quiet.stdout)["kind"] == "report"


def test_the_version_is_the_installed_one_and_names_its_build(without_extension: Path) -> None:
    from importlib.metadata import version

    told = f"native-inspector {version('native-inspector')}"
    built = rf"CPython 3\.{sys.version_info[1]}\.\w+, (GCC|Clang) [\d.]+, (glibc 2\.\d+|musl)"
    assert re.fullmatch(rf"{re.escape(told)} \({built}\)\n", inspector("--version").stdout)
    without = inspector("--version", PYTHONPATH=str(without_extension)).stdout
    assert without.startswith(f"{told} (the extension does not load: ")
