"""Own suites of other packages under `pytest --inspect-leaks`: what they cost beside the bare suite.

    python tests/bench/suite_costs.py [PACKAGE ...]     the table of docs/benchmarks.md; downloads from PyPI

Seconds are of the processor, of the whole session and its children: a loaded machine counts little.
"""

# SPDX-License-Identifier: MIT
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

SUITES = {
    "kiwisolver": ("kiwisolver", "py/tests"),
    "pyahocorasick": ("ahocorasick", "tests"),
    "ujson": ("ujson", "tests"),
    "cbor2": ("cbor2", "tests"),
    "wrapt": ("wrapt", "tests"),
    "msgpack": ("msgpack", "test"),
    "multidict": ("multidict", "tests"),
    "frozenlist": ("frozenlist", "tests"),
    "propcache": ("propcache", "tests"),
    "yarl": ("yarl", "tests"),
    "markupsafe": ("markupsafe", "tests"),
    "immutables": ("immutables", "tests"),
    "rpds-py": ("rpds", "tests"),
    "xxhash": ("xxhash", "tests"),
    "mmh3": ("mmh3", "tests"),
    "python-rapidjson": ("rapidjson", "tests"),
    "lru-dict": ("lru", "test"),
}
"""Package -> its extension, and the folder of its tests."""
GRADES = {"without": (), "with": ("{}",), "fast": ("{}", "--inspect-leaks=fast")}
BARS = {"with": 3.0, "fast": 1.2}


def source(package: str, folder: Path) -> Path:
    """Its sources, with the package installed beside them."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
    down, into = folder / "down" / package, folder / "packages"
    only = ("--no-deps", "--no-build-isolation", "--no-binary", ":all:")
    subprocess.run([*pip, "install", "--target", into, "--upgrade", package], check=True)
    subprocess.run([*pip, "download", *only[:1], *only[2:], "-d", down, package], check=True)
    subprocess.run(["tar", "xf", next(down.glob("*.tar.gz")), "-C", down], check=True)
    return next(path for path in down.iterdir() if path.is_dir())


def session(folder: Path, tests: str, packages: Path, *options: str) -> tuple[float, str]:
    """Seconds of the processor, and what pytest says at the end."""
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        "addopts=",
        tests,
        *options,
    ]
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=1200)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = done.stdout.strip().splitlines() or [done.stderr[-200:]]
    return ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime, told[-1]


def row(package: str, folder: Path) -> str:
    """A row of the table."""
    module, tests = SUITES[package]
    place = source(package, folder)
    took, said = {}, {}
    for name, options in GRADES.items():
        asked = [one.format(f"--inspect-leaks={module}") for one in options]
        took[name], said[name] = session(place, tests, folder / "packages", *asked)
    count = re.search(r"(\d+) passed", said["without"])
    cells = [f"{package} {place.name.rpartition('-')[2]}", f"{int(count[1]) if count else 0:,}"]
    cells.append(f"{took['without']:.1f} s")
    for name, bar in BARS.items():
        ratio = took[name] / took["without"]
        told = f"{took[name]:.1f} s, {ratio:.2f}"
        cells.append(f"**{told}**" if ratio > bar else told)
    failed = re.search(r"(\d+) failed", said["with"])
    cells.append(failed[1] if failed else "")
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print("| suite | tests pass | without | with | fast | fail |\n|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for package in sys.argv[1:] or SUITES:
            print(row(package, Path(folder)), flush=True)
