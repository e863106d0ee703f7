"""Real extensions, mutated: what a debug build of CPython proves faulty, and what `leaks` finds of it.

    python -P tests/specimens/mutation.py [--only immutables] [--most 60] [--seed 1]

Each extension is fetched from PyPI as its authors released it, and stays as it is but for one place
(mutants.py). Proved faulty: `sys.gettotalrefcount` of Debian's python3-dbg grows, or falls, in each of three
runs of the extension's own tests (CPython's -R), or the run dies. Found: one run of the same tests under
`leaks` gives a verdict. Survivors are listed. Nobody is accused in the run without a mutation.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutants import PROLOGUE, VARIABLE, Mutant, opened

DEBUG = "/usr/bin/python3-dbg"
RUN = Path(__file__).with_name("mutant_run.py")
BUILD = Path(__file__).resolve().parents[2] / "build" / "mutation"
DEADLINE = 400


@dataclass(frozen=True, slots=True)
class Extension:
    """A release on PyPI: its C file, and those of its tests that drive it."""

    release: str
    module: str
    source: str
    tests: tuple[str, ...]
    sources: str = "."

    @property
    def name(self) -> str:
        return self.release.partition("==")[0]


EXTENSIONS = (
    Extension(
        "immutables==0.21", "immutables._map", "immutables/_map.c",
        ("tests.test_map.CMapTest", "tests.test_none_keys.CMapTest", "-stress", "-gc_1", "-collision_3"),
    ),
    Extension(
        "simplejson==4.3.0", "simplejson._speedups", "simplejson/_speedups.c",
        (*(f"simplejson.tests.test_{name}" for name in (
            "bigint_as_string", "check_circular", "decimal", "decode", "default", "encode_basestring_ascii",
            "errors", "fail", "float", "for_json", "indent", "item_sort_key", "iterable", "namedtuple",
            "pass1", "raw_json", "scanstring", "separators", "speedups", "str_subclass", "subclass", "tuple",
            "unicode")),
         "-refleak", "-leak", "-subprocess"),
    ),
    Extension(
        "bitarray==3.12.3", "bitarray._bitarray", "bitarray/_bitarray.c",
        (*(f"bitarray.test_bitarray.{name}" for name in (
            "CreateObjectTests", "MetaDataTests", "SliceTests", "MiscTests", "SpecialMethodTests",
            "FileTests", "SequenceMethodsTests", "NumberTests", "ConcatenateTests", "ExtendTests",
            "MethodTests", "BytesTests", "DescriptorTests", "BufferImportTests", "BufferExportTests")),),
    ),
)  # fmt: skip


def fetched(one: Extension) -> Path:
    """The folder of the release, downloaded once by pip and unpacked."""
    name, _, version = one.release.partition("==")
    folder = BUILD / f"{name}-{version}"
    if not folder.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*command, "-d", str(BUILD), one.release], check=True, timeout=300)
        with tarfile.open(BUILD / f"{name}-{version}.tar.gz") as archive:
            archive.extractall(BUILD, filter="data")
    return folder


def built(one: Extension, pythons: tuple[str, ...]) -> tuple[Mutant, ...]:
    """Compile the opened text for each Python, beside the package; its mutants."""
    folder = fetched(one)
    source = folder / one.source
    text, mutants = opened(source.read_text())
    open_text = source.with_name(f"opened_{source.name}")
    open_text.write_text(f'{PROLOGUE}\n#line 1 "{source.name}"\n{text}')
    for python in pythons:
        asked = (
            "import sysconfig; print(sysconfig.get_path('include'), sysconfig.get_config_var('EXT_SUFFIX'))"
        )
        include, suffix = subprocess.check_output([python, "-c", asked], text=True).split()
        target = folder / (one.module.replace(".", "/") + suffix)
        checks = () if python == DEBUG else ("-DNDEBUG",)  # as wheels are built
        flags = (
            *checks,
            "-O1",
            "-g",
            "-w",
            "-shared",
            "-fPIC",
            f"-I{include}",
            f"-I{folder}",
            f"-I{source.parent}",
        )
        compiled = ["gcc", *flags, str(open_text), "-o", str(target)]
        if not target.exists() or target.stat().st_mtime < open_text.stat().st_mtime:
            subprocess.run(compiled, check=True)
    return mutants


def answer(words: list[str], number: int) -> tuple[int, object]:
    """Exit code and JSON of a run of mutant `number`."""
    environment = {**os.environ, VARIABLE: str(number), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ran = subprocess.run(
            words, capture_output=True, text=True, timeout=DEADLINE, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        return -1, None
    lines = ran.stdout.strip().splitlines()
    return (
        (ran.returncode, json.loads(lines[-1]))
        if ran.returncode == 0 and lines
        else (ran.returncode or -2, None)
    )


def proved(one: Extension, number: int) -> str:
    """Why the debug build calls the mutant faulty; "" where it does not."""
    code, told = answer([DEBUG, str(RUN), "counts", str(fetched(one)), *one.tests], number)
    if code:
        return f"exit {code}"
    assert isinstance(told, list)
    return (
        f"counts {told}" if all(change > 0 for change in told) or all(change < 0 for change in told) else ""
    )


def found(one: Extension, number: int) -> tuple[int, list[tuple[str, bool, str, str, str]]]:
    """Exit code and verdicts of one run under `leaks`."""
    words = [sys.executable, "-P", str(RUN), "leaks", one.name, str(fetched(one)), *one.tests]
    code, told = answer(words, number)
    return code, told if isinstance(told, list) else []


@dataclass(frozen=True, slots=True)
class Judged:
    """One mutant: what proves it faulty, and what `leaks` said."""

    mutant: Mutant
    proof: str
    exit_code: int
    verdicts: list[tuple[str, bool, str, str, str]]

    @property
    def is_found(self) -> bool:
        return bool(self.verdicts)


def judge(one: Extension, mutant: Mutant) -> Judged:
    """Ask both."""
    proof = proved(one, mutant.number)
    code, verdicts = found(one, mutant.number) if proof else (0, [])
    return Judged(mutant, proof, code, verdicts)


def main() -> None:
    """Judge all, or a sample, of each extension's mutants, and print what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only")
    parser.add_argument("--most", type=int, default=1 << 30, help="so many mutants of each, chosen by --seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--numbers", type=int, nargs="*", help="these mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    for one in EXTENSIONS:
        if options.only in (None, one.name):
            report(one, options)


def report(one: Extension, options: argparse.Namespace) -> None:
    """One extension: who is accused unmutated, which mutants survive, and the sum."""
    mutants = built(one, (sys.executable, DEBUG))
    counts, accused = proved(one, 0) or "balanced", found(one, 0)[1]
    print(f"== {one.release}: {len(mutants)} mutants; unmutated: {counts}, accused: {accused}", flush=True)
    if options.numbers:
        mutants = tuple(mutant for mutant in mutants if mutant.number in options.numbers)
    chosen = random.Random(options.seed).sample(mutants, min(options.most, len(mutants)))
    faulty = caught = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for done in pool.map(lambda mutant: judge(one, mutant), chosen):
            faulty += bool(done.proof)
            caught += done.is_found
            if done.proof and not done.is_found:
                print(f"   survives {done.mutant}  [{done.proof}; leaks exit {done.exit_code}]", flush=True)
    print(f"{one.name}: {caught} of {faulty} faulty mutants found, {len(chosen)} tried", flush=True)


if __name__ == "__main__":
    main()
