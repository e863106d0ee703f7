"""Real extensions as their authors released them on PyPI, each built once with every mutant of it inside."""

# SPDX-License-Identifier: MIT
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

from mutants import PROLOGUE, Mutant, opened

DEBUG = "/usr/bin/python3-dbg"
BUILD = Path(__file__).resolve().parents[2] / "build" / "mutation"


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
        ("tests.test_map.CMapTest", "tests.test_none_keys.CMapNoneTest", "tests.test_issue24.Issue24CTest",
         "tests.test_pattern_matching.CMapTest", "-stress", "-gc_1", "-collision_3"),
    ),
    Extension(
        "simplejson==4.3.0", "simplejson._speedups", "simplejson/_speedups.c",
        (*(f"simplejson.tests.test_{name}" for name in (
            "bigint_as_string", "bitsize_int_as_string", "check_circular", "custom_method_cycles", "decimal",
            "decode", "default", "dump", "encode_basestring_ascii", "encode_for_html", "errors", "fail",
            "float", "for_json", "indent", "item_sort_key", "iterable", "namedtuple", "pass1", "pass2",
            "pass3", "raw_json", "recursion", "scanstring", "separators", "speedups", "str_subclass",
            "subclass", "tuple", "unicode")),
         "-refleak", "-leak", "-subprocess"),
    ),
    Extension(
        "bitarray==3.12.3", "bitarray._bitarray", "bitarray/_bitarray.c",
        ("bitarray.test_bitarray",),
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


def built(one: Extension) -> tuple[Mutant, ...]:
    """Compile the opened text for this Python and the debug build, beside the package; its mutants."""
    source = fetched(one) / one.source
    text, mutants = opened(source.read_text())
    whole = f'{PROLOGUE}\n#line 1 "{source.name}"\n{text}'
    open_text = source.with_name(f"opened_{source.name}")
    if not open_text.exists() or open_text.read_text() != whole:
        open_text.write_text(whole)
    for python in (sys.executable, DEBUG):
        _compile(one, python, open_text)
    return mutants


def _compile(one: Extension, python: str, text: Path) -> None:
    asked = "import sysconfig; print(sysconfig.get_path('include'), sysconfig.get_config_var('EXT_SUFFIX'))"
    include, suffix = subprocess.check_output([python, "-c", asked], text=True).split()
    folder = fetched(one)
    target = folder / (one.module.replace(".", "/") + suffix)
    checks = () if python == DEBUG else ("-DNDEBUG",)  # as wheels are built
    paths = (f"-I{include}", f"-I{folder}", f"-I{text.parent}")
    flags = (*checks, "-O1", "-g", "-w", "-shared", "-fPIC", *paths)
    if not target.exists() or target.stat().st_mtime < text.stat().st_mtime:
        subprocess.run(["gcc", *flags, str(text), "-o", str(target)], check=True)
