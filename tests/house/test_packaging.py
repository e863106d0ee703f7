"""Every way to install works and leaves the checkout clean: the sdist alone, the wheel, the editable.

On one Python: each room of the matrix installs a wheel it has built itself. Built without optimization, which
takes a third of the time and changes nothing about what is packed.
"""

# SPDX-License-Identifier: MIT
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
import sources

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
PIP = (sys.executable, "-P", "-m", "pip", "--disable-pip-version-check", "--no-input", "-q")
QUICK = ("--no-build-isolation", "--no-deps", "-C", "cmake.build-type=Debug")
SAY = (
    "import inspector, inspector.magics, inspector._native as n; print(inspector.__file__); print(n.__file__)"
)


def run(*command: object, cwd: Path, check: bool = True) -> str:
    told = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    assert not check or told.returncode == 0, told.stdout + told.stderr
    return told.stdout + told.stderr


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean clone of the tree as it is now, uncommitted changes included."""
    clone = tmp_path_factory.mktemp("clone") / "checkout"
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=sources.ROOT)
    for name in listed.splitlines():
        if (sources.ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(sources.ROOT / name, clone / name)
    run("git", "init", "-q", cwd=clone)
    run("git", "add", "-A", cwd=clone)
    run("git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "all", cwd=clone)
    return clone


@pytest.fixture(scope="module")
def sdist(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    build = f"from scikit_build_core.build import build_sdist; build_sdist({str(folder)!r})"
    run(sys.executable, "-c", build, cwd=checkout)
    return next(folder.glob("*.tar.gz"))


def test_the_wheel_is_built_from_the_sdist_alone(sdist: Path, checkout: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, **({"filter": "data"} if sys.version_info >= (3, 12) else {}))  # type: ignore[arg-type]
    unpacked = next(tmp_path.iterdir())
    run(*PIP, "wheel", *QUICK, "-w", tmp_path / "wheel", unpacked, cwd=tmp_path)
    wheel = next((tmp_path / "wheel").glob("*.whl"))
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"inspector"}
    python = {sources.module(path).replace(".", "/") for path in sources.PYTHON}
    built = {name.removesuffix("/__init__.py").removesuffix(".py") for name in names if name.endswith(".py")}
    assert built == python
    assert any(name.endswith("LICENSE") for name in names)
    run(*PIP, "install", "--no-deps", "--target", tmp_path / "site", wheel, cwd=tmp_path)
    told = run(sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, 'site'); {SAY}", cwd=tmp_path)
    assert all(str(tmp_path / "site") in line or line.startswith("site") for line in told.splitlines())
    assert run("git", "status", "--porcelain", cwd=checkout) == ""


def test_an_editable_install_works_and_leaves_the_checkout_clean(checkout: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    run(*PIP, "install", *QUICK, "--target", site, "-e", checkout, cwd=tmp_path)
    script = f"import site; site.addsitedir({str(site)!r}); {SAY}"
    told = run(sys.executable, "-P", "-c", script, cwd=tmp_path)
    door, native = told.splitlines()
    assert Path(door) == checkout / "inspector" / "__init__.py"
    assert Path(native).is_relative_to(site)
    assert run("git", "status", "--porcelain", cwd=checkout) == ""


def test_a_free_threaded_python_has_saved_reports_and_one_sentence_for_the_rest(
    checkout: Path, tmp_path: Path
) -> None:
    setting = "cmake.define.INSPECTOR_FREE_THREADED=1"  # what CMake asks the interpreter for
    command = (*PIP, "wheel", "--no-build-isolation", "--no-deps", "-C", setting, "-w", tmp_path, checkout)
    run(*command, cwd=tmp_path)
    wheel = next(tmp_path.glob("*.whl"))
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so")]
    run(*PIP, "install", "--no-deps", "--target", tmp_path / "site", wheel, cwd=tmp_path)

    def inspector(*words: str) -> str:
        call = f"import sys; sys.path.insert(0, 'site'); from inspector.faces.cli import main; main({words})"
        return run(sys.executable, "-P", "-c", call, cwd=tmp_path)

    (tmp_path / "saved.json").write_text(
        run(sys.executable, "-P", "-m", "inspector", "show", "1", "--json", cwd=tmp_path)
    )
    assert "int" in inspector("report", "saved.json")
    (tmp_path / "x.py").touch()
    for words in (
        ("show", "1"),
        ("trace", "x.py"),
        ("leaks", "x.py"),
        ("memory",),
        ("attach", str(os.getpid()), "show", "1"),
        ("doctor",),
    ):
        said = " ".join(inspector(*words).split())
        assert "inspector._native needs the GIL, and this CPython" in said and "Python with the GIL" in said


def test_the_sources_refuse_its_headers_in_the_same_sentence() -> None:
    """Whoever builds without CMake meets it in the header that all parts include, and nothing else."""
    header = sources.ROOT / "native" / "module" / "compat.h"
    given = ("-fsyntax-only", "-DPy_GIL_DISABLED=1", f"-I{sysconfig.get_path('include')}", "-xc")
    told = run(shutil.which("gcc") or "cc", *given, header, cwd=header.parent, check=False)
    errors = [line.partition("error: ")[2] for line in told.splitlines() if "error: " in line]
    said = "native-inspector needs the GIL: free-threaded builds of CPython are not supported yet."
    assert said in errors[0]


def test_the_tests_left_the_checkout_clean() -> None:
    """What tests and builds write is in .gitignore's folders, or elsewhere."""
    if os.environ.get("CI"):  # in a clone: nobody is editing
        assert run("git", "status", "--porcelain", cwd=sources.ROOT) == ""
