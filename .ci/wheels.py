"""Build the sdist and the wheels into dist/, check them, install each in a bare environment and try it.

    .venv-wheels/bin/python -P .ci/wheels.py          all; `make wheels` makes the room first
    .venv-wheels/bin/python -P .ci/wheels.py 3.14     those of one Python; the sdist is built all the same
    .venv-wheels/bin/python -P .ci/wheels.py 3.14 aarch64    those of it whose platform has the word

Everything is built from the sdist. The compiler is Zig's: it links for a chosen glibc, and for musl, on any
Linux. CPythons are those of this machine, 3.14 and 3.15 also from .ci/sid.py, free-threaded ones from
.ci/free_threaded.py, for this machine's processor alone. A wheel that cannot be built is LOST, and the run
fails; what cannot be checked here is said. The room's Python runs this.
"""

# SPDX-License-Identifier: MIT
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

sys.path.insert(0, str(Path(__file__).parent))
import aarch64
import free_threaded
import pythons
import sid

ROOT = Path(__file__).resolve().parent.parent
DIST, BUILD = ROOT / "dist", ROOT / "build" / "wheels-of-all"
BIN = Path(sys.executable).parent
ZIG = Path(importlib.util.find_spec("ziglang").submodule_search_locations[0])
VERSIONS = ("3.11", "3.12", "3.13", "3.14", "3.15", *free_threaded.VERSIONS)
PLATFORMS = {
    # tag: what Zig compiles for, the end of the extension's name
    "manylinux_2_28_x86_64": ("x86_64-linux-gnu.2.28", "gnu"),
    "musllinux_1_2_x86_64": ("x86_64-linux-musl", "musl"),
    "manylinux_2_28_aarch64": ("aarch64-linux-gnu.2.28", "gnu"),
    "musllinux_1_2_aarch64": ("aarch64-linux-musl", "musl"),
}
FLAGS = {"CFLAGS": "-g0", "LDFLAGS": "-lunwind -Wl,--strip-debug"}
"""Zig writes debug information unless told; its unwinder is linked in, as no C library has one."""
BYTES_MAX = 2_000_000
PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input", "-q")


def main(wanted):
    """Build and check all; 1 where a check failed or a wheel is lost."""
    for folder in (BUILD, *([] if wanted else [DIST])):
        shutil.rmtree(str(folder), ignore_errors=True)
    DIST.mkdir(exist_ok=True)
    source = _sdist()
    wrong = []
    words = [word for word in wanted if word not in VERSIONS]
    tags = [tag for tag in PLATFORMS if all(word in tag for word in words)]
    for version in [word for word in wanted if word in VERSIONS] or VERSIONS:
        wrong += _python(version, tags, source)
    wrong += _judge()
    for line in wrong:
        print(line)
    return 1 if wrong else 0


def _sdist():
    """The folder of the unpacked sdist."""
    build = f"from scikit_build_core.build import build_sdist; build_sdist({str(BUILD / 'sdist')!r})"
    (BUILD / "sdist").mkdir(parents=True)
    _run(sys.executable, "-c", build, cwd=ROOT)
    archive = next((BUILD / "sdist").glob("*.tar.gz"))
    shutil.copy(str(archive), str(DIST))
    with tarfile.open(str(archive)) as opened:
        opened.extractall(str(BUILD / "source"))
    print(f"· {archive.name}  {archive.stat().st_size / 1e3:.0f} kB", flush=True)
    return next((BUILD / "source").iterdir())


def _python(version, tags, source):
    """Build, check and try the wheels of one CPython; what went wrong, as lines."""
    found = pythons.find(version)
    command = [found] if found else sid.entering(version)
    if command is None:
        return [f"LOST     the wheels of CPython {version}: it is not here and cannot be had"]
    command += [] if found else [f"python{version}"]
    python = _environment(command, BUILD / f"build-{version}", "pip>=25.1")
    _run(*python, *PIP, "install", "--group", "build", cwd=ROOT)
    wrong = []
    if version in free_threaded.VERSIONS:  # with the headers of a Python that was built for this machine
        tags = [tag for tag in tags if tag.endswith(platform.machine())]
    for tag in tags:
        try:
            wheel = _wheel(python, version, tag, source)
            print(f"· {wheel.name}  {wheel.stat().st_size / 1e6:.2f} MB", flush=True)
            wrong += _symbols(wheel, tag) + _tried(command, version, wheel, tag)
        except subprocess.CalledProcessError as error:
            wrong.append(f"LOST     {version} {tag}: {' '.join(map(str, error.cmd))[-80:]} failed")
    return wrong


def _environment(command, folder, *packages):
    """The words that run a new virtual environment's Python, in which some packages are."""
    _run(*command, "-m", "venv", folder)
    python = [*command[:-1], folder / "bin" / "python"]
    _run(*python, *PIP, "install", *packages)
    return python


def _wheel(python, version, tag, source):
    """One wheel in dist/."""
    target, library = PLATFORMS[tag]
    machine = target.split("-")[0]
    compiler = BUILD / f"cc-{machine}-{library}"
    compiler.write_text(f'#!/bin/sh\nexec "{ZIG}/zig" cc -target {target} "$@"\n')
    compiler.chmod(0o755)
    suffix = f".cpython-{version.replace('.', '')}-{machine}-linux-{library}.so"
    given = dict(os.environ, **FLAGS, CPATH=_debian(version), CC=str(compiler), SETUPTOOLS_EXT_SUFFIX=suffix)
    if machine != platform.machine():
        given["_PYTHON_HOST_PLATFORM"] = f"linux-{machine}"  # the wheel's tag (sysconfig.get_platform)
    raw = BUILD / f"raw-{version}-{machine}-{library}"
    _run(*python, *PIP, "wheel", "--no-build-isolation", "--no-deps", "-w", raw, source, env=given)
    return _tagged(next(raw.glob("*.whl")), tag)


def _debian(version):
    """A folder with the header that Debian keeps apart; of all others Zig's compiler has its own.

    This machine's serves every machine of PLATFORMS: their C types have the same sizes.
    """
    folder = BUILD / "debian"
    for machine in {target.split("-")[0] for target, _ in PLATFORMS.values()}:
        (folder / f"{machine}-linux-gnu").mkdir(parents=True, exist_ok=True)
        link = folder / f"{machine}-linux-gnu" / f"python{version}"
        if not link.is_symlink():
            link.symlink_to(f"/usr/include/{platform.machine()}-linux-gnu/python{version}")
    return str(folder)


def _tagged(wheel, tag):
    """The wheel in dist/ with its platform's name; auditwheel refuses a name that does not fit."""
    with_tools = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}")
    if tag.startswith("manylinux") and tag.endswith(platform.machine()):
        _run(BIN / "auditwheel", "repair", "--only-plat", "--plat", tag, "-w", DIST, wheel, env=with_tools)
    else:
        if tag.startswith("manylinux"):  # it repairs only for the machine that it runs on
            told = _run(BIN / "auditwheel", "show", wheel, env=with_tools)
            assert f'"{tag}"' in told, told
        told = _run(BIN / "wheel", "tags", "--platform-tag", tag, wheel)
        shutil.copy(str(wheel.parent / told.split()[-1]), str(DIST))
    return _packed(DIST / re.sub(r"-linux_\w+\.whl$", f"-{tag}.whl", wheel.name))


def _packed(wheel):
    """The same files at zlib's highest level: the extension for aarch64 has 608 kB instead of 648."""
    with zipfile.ZipFile(str(wheel)) as packed:
        files = [(one, packed.read(one)) for one in packed.infolist()]
    with zipfile.ZipFile(str(wheel), "w") as packed:
        for one, data in files:
            packed.writestr(one, data, zipfile.ZIP_DEFLATED, 9)
    return wheel


def _symbols(wheel, tag):
    """What the extension wants of C that its C library does not have, as lines.

    glibc's symbols have a version, which auditwheel has compared; others must be Python's. musl's are those
    that the compiler's own list of it names.
    """
    with zipfile.ZipFile(str(wheel)) as packed:
        name = next(one for one in packed.namelist() if one.endswith(".so"))
        packed.extract(name, str(BUILD / "unpacked"))
    known = _of_musl() if tag.startswith("musl") else frozenset()
    with (BUILD / "unpacked" / name).open("rb") as file:
        elf = ELFFile(file)
        versions = elf.get_section_by_name(".gnu.version")
        left = [
            symbol.name
            for n, symbol in enumerate(elf.get_section_by_name(".dynsym").iter_symbols())
            if symbol["st_shndx"] == "SHN_UNDEF"
            and not (versions and isinstance(versions.get_symbol(n)["ndx"], int))
            and symbol.name.lstrip("_")[:2] not in ("Py", "")
            and symbol.name not in known
        ]
    return [f"FAILED   {wheel.name}: no C library has {', '.join(left)}"] if left else []


def _of_musl():
    """The names that musl's library exports."""
    text = (ZIG / "lib" / "libc" / "musl" / "libc.S").read_text()
    return frozenset(re.findall(r"^(?:\.globl|\.weak|WEAK\w+) (\w+)", text, re.MULTILINE))


def _tried(command, version, wheel, tag):
    """Install a wheel in a bare environment and try it; lines of what failed."""
    if tag.startswith("musl"):
        print("    not checked here: that it runs: no Python on musl is here", flush=True)
        return []
    if tag.endswith(platform.machine()):
        python = _environment(command, BUILD / f"bare-{version}", wheel)
    else:
        python = _emulated(version, wheel)
    if not python:
        print("    not checked here: that it runs: this Python for aarch64 is not here", flush=True)
        return []
    smoke = [str(word) for word in (*python, "-P", ROOT / ".ci" / "smoke.py")]
    failed = subprocess.call(smoke, cwd=str(BUILD))
    return [f"FAILED   {wheel.name}: see above"] if failed else []


def _emulated(version, wheel):
    """The words that run a bare environment of the chroot for aarch64; None where that has another Python."""
    before = aarch64.entering() if version == aarch64.VERSION else None
    if before is None:
        return None
    bare = BUILD / "bare-aarch64"
    aarch64.environment(before, bare, sys.executable, [str(wheel)])
    return [*before, bare / "bin" / "python"]


def _judge():
    """What others say of what is in dist/, and the sdist built in an empty environment."""
    files = sorted(DIST.iterdir())
    wheels = [one for one in files if one.suffix == ".whl"]
    wrong = [
        f"FAILED   {one.name}: larger than {BYTES_MAX} B" for one in wheels if one.stat().st_size > BYTES_MAX
    ]
    for title, command in (
        ("check-wheel-contents", (BIN / "check-wheel-contents", *wheels)),
        ("twine check", (BIN / "twine", "check", "--strict", *files)),
        ("the sdist builds in an empty environment", _from_sdist()),
    ):
        try:
            _run(*command)
            print(f"· passed: {title}", flush=True)
        except subprocess.CalledProcessError as error:
            wrong.append(f"FAILED   {title}:\n{error.output}")
    return wrong


def _from_sdist():
    """The command that builds the sdist where only pip is; its build downloads what it needs."""
    empty = BUILD / "empty"
    _run(sys.executable, "-m", "venv", empty)
    archive = next((BUILD / "sdist").glob("*.tar.gz"))
    return (empty / "bin" / "python", *PIP, "wheel", "--no-deps", "-w", BUILD / "from-sdist", archive)


def _run(*command, cwd=BUILD, env=None):
    """What a command prints; raises CalledProcessError, with its output told, where it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=str(cwd), env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        print(done.stdout[-3000:], flush=True)
        raise subprocess.CalledProcessError(done.returncode, words, done.stdout)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
