"""Plant each fault of tests/faults/faults.toml in a copy of the tree, and say which `make test` finds.

    python3 .ci/faults.py              all of them; 0 only if all are found
    python3 .ci/faults.py --only lazy  those whose room has this word in its name
    python3 .ci/faults.py --covered build/tests-quick-objects.xml ...    plant nothing: say whose test passed

The copy has an environment of its own: the packages of .venv, and before them the patched package. Python is
patched where it lies; for C only what changed is compiled again. A fault counts as found when a test fails,
or ends the process; a run that could not begin is no find. Run by the Python of the room, not by another.
"""

# SPDX-License-Identifier: MIT
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "faults" / "faults.toml"
QUICK = "quick and not libraries and not r and not newest"
ROOMS = ("native", "inspector", "magics")
FOUND_CODES = (1, 3)
"""pytest's: tests failed, an internal error. Below 0: a signal ended it."""


def listed():
    """The faults, as the file has them."""
    return tomllib.loads(LIST.read_text())["fault"]


def place(fault, root=ROOT):
    """The one file that holds the fault's text; ValueError where none does, or several places do."""
    right = fault["right"]
    files = [file for room in ROOMS for file in (root / room).rglob("*") if file.is_file()]
    texts = {file: file.read_text() for file in files if file.suffix in (".c", ".h", ".def", ".py")}
    found = [file for file, text in texts.items() for _ in range(text.count(right))]
    if len(found) != 1:
        raise ValueError(f"{fault['room']}: {right.strip()[:60]!r} stands at {len(found)} places, not at one")
    return found[0]


def main(words):
    """Plant, run, report; the exit code."""
    if words[:1] == ["--covered"]:
        return covered(words[1:])
    wanted = words[1] if words[:1] == ["--only"] else ""
    faults = [fault for fault in listed() if wanted in fault["room"]]
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        copy = Copy(Path(folder))
        sound = copy.run([fault["found"] for fault in faults])
        if sound.returncode:
            print(sound.stdout[-3000:])
            sys.exit("the tests fail where nothing is planted: no fault can be judged")
        missed = [fault for fault in faults if not _is_found(copy, fault)]
    print(f"===== {len(faults) - len(missed)} of {len(faults)} planted faults found =====")
    return int(bool(missed))


def covered(files):
    """Print which faults the run behind these junit files would have told: the test that tells has passed."""
    cases = [case for file in files for case in ElementTree.parse(file).iter("testcase")]
    passed = {
        f"{case.get('classname').replace('.', '/')}.py::{case.get('name').partition('[')[0]}"
        for case in cases
        if not len(case)
    }
    faults = listed()
    told = [fault for fault in faults if fault["found"] in passed]
    print(
        f"\nPlanted faults that these tests find ({len(told)} of {len(faults)}; `make faults` plants them):"
    )
    for fault in faults:
        print(f"  {'' if fault in told else 'NOT RUN  '}{fault['room']:<22}{fault['seen']}")
    return 0


def _is_found(copy, fault):
    start = time.time()
    with copy.planted(fault):
        ran = copy.run([fault["found"]])
        by = fault["found"]
        if not _failed(ran):
            ran, by = copy.run(["tests"], "--maxfail=50"), "another test"
    found, tests = _failed(ran), _failures(ran)
    if by == "another test" and found and tests:  # some may fail in the copy whatever is planted
        tests = [test for test in tests if test not in copy.failures_of_a_sound_tree()]
        found = bool(tests)
    told = (tests[0] if tests else f"exit code {ran.returncode}") if found else "NOT FOUND"
    print(f"{fault['room']:<22}{time.time() - start:6.1f} s  {told}", flush=True)
    if found and by == "another test":
        print(f"{'':<22}  {fault['found']} did not tell")
    return found


def _failures(ran):
    """The tests that failed, by pytest's own summary."""
    lines = [line.split(" ") for line in ran.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return [line[1] for line in lines]


def _failed(ran):
    return ran.returncode in FOUND_CODES or ran.returncode < 0


class Copy:
    """The tree in a folder, with an environment whose package can be broken."""

    def __init__(self, folder):
        self.root, self.venv, self.build = folder / "tree", folder / "venv", folder / "build"
        listed = _output("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT)
        for name in listed.splitlines():
            if (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name)
        self.package = self._environment()
        self.is_built = False
        self.known = None

    def _environment(self):
        """A virtual environment over .venv; the package in it, which comes first."""
        ours = Path(sys.prefix)
        _output(sys.executable, "-m", "venv", "--without-pip", self.venv)
        site = next((self.venv / "lib").iterdir()) / "site-packages"
        installed = Path(sysconfig.get_path("purelib"))
        (site / "packages.pth").write_text(f"{installed}\n")
        shutil.copytree(installed / "inspector", site / "inspector")
        for script in (ours / "bin").iterdir():
            there = self.venv / "bin" / script.name
            if script.is_file() and not there.exists() and not script.is_symlink():
                shutil.copy2(script, there)
                _repoint(there, ours, self.venv)
        return site / "inspector"

    def planted(self, fault):
        """With the fault, until the block ends."""
        return _Planted(self, fault)

    def built(self):
        """The extension of the sources as they are; the first time all of it is compiled."""
        if not self.is_built:
            made = ("wheel", "-q", "--no-build-isolation", "--no-deps", "-w", self.build / "wheel")
            _output(sys.executable, "-m", "pip", *made, "-C", f"build-dir={self.build}", self.root)
            self.is_built = True
        _output("cmake", "--build", self.build)
        return next(self.build.glob("_native*.so"))

    def failures_of_a_sound_tree(self):
        """The quick tests that fail in this copy where nothing is planted; asked once."""
        if self.known is None:
            self.known = _failures(self.run(["tests"], "--maxfail=50"))
        return self.known

    def run(self, tests, until="-x"):
        """pytest on the quick tests among these."""
        command = [self.venv / "bin" / "python", "-P", "-m", "pytest", "-q", until, "-p", "no:cacheprovider"]
        given = dict(os.environ, PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1")
        given["PATH"] = f"{self.venv / 'bin'}:{given['PATH']}"
        return subprocess.run(
            [str(word) for word in [*command, "-m", QUICK, *dict.fromkeys(tests)]],
            cwd=self.root,
            env=given,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )


class _Planted:
    """A fault in the source and in the installed package; both are as before when the block ends."""

    def __init__(self, copy, fault):
        self.copy, self.fault = copy, fault

    def __enter__(self):
        source = place(self.fault, self.copy.root)
        below = source.relative_to(self.copy.root)
        text = source.read_text().replace(self.fault["right"], self.fault["wrong"])
        if below.parts[0] == "native":
            installed = next(self.copy.package.glob("_native*.so"))
        else:
            inside = below if below.parts[0] == "magics" else below.relative_to("inspector")
            installed = self.copy.package / inside
        self.before = {source: source.read_bytes(), installed: installed.read_bytes()}
        source.write_text(text)
        _replace(installed, self.copy.built().read_bytes() if below.parts[0] == "native" else text.encode())

    def __exit__(self, *_):
        for file, content in self.before.items():  # C is compiled again with the next fault
            _replace(file, content)


def _replace(file, content):
    """As a new file: what a process has loaded of the old one stays as it is."""
    file.unlink()
    file.write_bytes(content)


def _repoint(script, old, new):
    """A script of the one environment made one of the other: its first line names the interpreter."""
    first, _, rest = script.read_bytes().partition(b"\n")
    if first.startswith(b"#!") and bytes(old) in first:
        script.write_bytes(first.replace(bytes(old), bytes(new)) + b"\n" + rest)


def _output(*command, cwd=None):
    words = [str(word) for word in command]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    told = subprocess.run(words, cwd=cwd, capture_output=True, text=True, env=dict(os.environ, PATH=path))
    if told.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{(told.stdout + told.stderr)[-3000:]}")
    return told.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
