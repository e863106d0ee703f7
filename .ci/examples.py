"""Run the examples of pages and compare their output with the page's: examples.py [--write] [PAGE ...].

These fenced blocks are examples. All of a page run in one empty folder, which is shown as /srv/app.

    python, c   whose first line names a file ("# app.py", "// app.c"): that file
    console     lines after "$ " are given to one bash for the page; what is between them is the output
    pycon       lines after ">>> " and "... ", run in one Python for the page
    ipython     a cell of one notebook for the page; the text block after it is what the cell shows

Output is compared without numbers and addresses, since times and sizes differ between runs. "console differs"
is not compared: it depends on the machine's debug information. --write puts the output into the page.
"""

# SPDX-License-Identifier: MIT
import doctest
import gc
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted(ROOT.glob("docs/how-to/*.md")),
    *sorted(ROOT.glob("docs/reference/*.md")),
]
BLOCK = re.compile(
    r"^```(python|c|console|pycon|ipython)( differs)?\n(.*?)^```\n(?:\n```text\n(?:.*?)^```\n)?", re.M | re.S
)
FILE = re.compile(r"^(?:#|//) ([\w.]+\.(?:py|c))\n")
MARK = "--8<--"
DEADLINE_S = 100


def main(words):
    """Exit code 1 where a page says something else than its examples."""
    write = "--write" in words
    pages = [Path(word).resolve() for word in words if word != "--write"] or PAGES
    wrong = [page.name for page in pages if not check(page, write)]
    for name in wrong:
        print(f"{name}: not what its examples print: make examples")
    print("" if wrong else "examples: as the pages say")
    return 1 if wrong else 0


def check(page, write=False):
    """Whether a page shows what its examples print; with `write` it does afterwards."""
    text = page.read_text(encoding="utf-8")
    made = refreshed(text)
    same = plain(made) == plain(text)
    if write and not same:  # a page that differs in numbers only stays as it is
        page.write_text(made, encoding="utf-8")
    if not same and not write:
        for was, now in zip(plain(text).splitlines(), plain(made).splitlines(), strict=False):
            if was != now:
                print(f"{page.name}: the page  {was}\n{page.name}: the run   {now}")
                break
    return same or write


def refreshed(text):
    """The text of a page with the output of its examples as they are now."""
    found = list(BLOCK.finditer(text))
    if not any(block[1] in ("console", "pycon", "ipython") for block in found):
        return text
    with tempfile.TemporaryDirectory() as folder:
        for block in found:
            if block[1] in ("python", "c") and (name := FILE.match(block[3])):
                (Path(folder) / name[1]).write_text(block[3], encoding="utf-8")
        outputs = {kind: iter(run(folder, found)) for kind, run in RUNS.items()}
        return BLOCK.sub(lambda block: drawn(block, outputs), text)


def drawn(block, outputs):
    """A block with new output."""
    kind, differs, body = block[1], block[2] or "", block[3]
    if kind == "console":
        body = "".join(f"$ {line}\n{next(outputs[kind])}" for line in commands(body))
    elif kind == "pycon":
        typed = doctest.DocTestParser().get_examples(body)
        body = "".join(prompted(one.source) + next(outputs[kind]) for one in typed)
    elif kind == "ipython":
        told = next(outputs[kind])
        return f"```{kind}{differs}\n{body}```\n" + (f"\n```text\n{told}```\n" if told else "")
    else:
        return block[0]
    return f"```{kind}{differs}\n{body}```\n"


def commands(body):
    """The lines of a console block that are typed."""
    return [line[2:] for line in body.splitlines() if line.startswith("$ ")]


def prompted(source):
    """Statements as a Python prompt shows them."""
    first, *rest = source.splitlines()
    return "".join([f">>> {first}\n", *(f"... {line}".rstrip() + "\n" for line in rest)])


def run_console(folder, blocks):
    """What each command prints: on both streams, in one bash."""
    lines = [line for block in blocks if block[1] == "console" for line in commands(block[3])]
    script = "".join(f"{line}\necho; echo '{MARK}'\n" for line in lines)
    start = "exec 2>&1\ntrap 'kill $(jobs -p) 2>/dev/null' EXIT\n"
    told = ask(folder, ["bash", "-c", start + script]) if lines else ""
    return [output.removesuffix("\n") for output in told.split(MARK + "\n")[:-1]]


def run_inside(kind):
    """What each statement or cell prints: by this file, in a Python of its own."""

    def run(folder, blocks):
        text = [block[3] for block in blocks if block[1] == kind]
        if not text:
            return []
        told = ask(folder, [sys.executable, "-P", __file__, "--inside", kind], MARK.join(text))
        return told.split(MARK)[1:]

    return run


RUNS = {"console": run_console, "pycon": run_inside("pycon"), "ipython": run_inside("ipython")}


def ask(folder, command, text=None):
    """What a command prints in the folder of the examples, at 80 columns and without colours."""
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONPATH": folder, "IPYTHONDIR": folder}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    ended = subprocess.run(
        command, cwd=folder, env=environment, input=text, text=True, capture_output=True, timeout=DEADLINE_S
    )
    assert not ended.stderr.strip(), ended.stderr
    return "\n".join(line.rstrip() for line in ended.stdout.replace(folder, "/srv/app").splitlines()) + "\n"


def inside(kind):
    """Run what comes on stdin; each output begins with a mark."""
    texts = sys.stdin.read().split(MARK)
    if kind == "ipython":
        from IPython.core.interactiveshell import InteractiveShell

        shell = InteractiveShell.instance(colors="NoColor")
        gc.disable()  # when it frees what IPython's start left is chance: in a cell it would be a row
        for cell in texts:
            sys.stdout.write(MARK)
            shell.run_cell(cell, store_history=True)
        return
    names = {"__name__": "__main__"}
    for one in (example for text in texts for example in doctest.DocTestParser().get_examples(text)):
        sys.stdout.write(MARK)
        exec(compile(one.source, "<stdin>", "single"), names)


def plain(text):
    """A page without what differs between two runs: numbers, units, bars, how wide a column is."""
    text = BLOCK.sub(
        lambda block: "\n".join(commands(block[3]) or [block[3]]) if block[2] else block[0], text
    )
    text = re.sub(r"0x[0-9a-f]+", "#", text)
    text = re.sub(r"\d[\d,.]*( ?(?:ns|µs|ms|s|B|kB|MB|GB|%)\b)?", "#", text)
    return re.sub(r"[ █▉▊▋▌▍▎▏]+", " ", text)


if __name__ == "__main__":
    sys.exit(inside(sys.argv[2]) if sys.argv[1:2] == ["--inside"] else main(sys.argv[1:]))
