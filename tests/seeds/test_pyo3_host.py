"""A host in Rust by pyo3, built with cargo from Debian's crates: which line led to each call."""

# SPDX-License-Identifier: MIT
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from inspector.sessions.trace_launched import launch

pytestmark = [pytest.mark.r, pytest.mark.timeout(500)]
CRATES = Path("/usr/share/cargo/registry")
CARGO = """[package]
name = "host"
version = "0.1.0"
edition = "2021"
[dependencies]
pyo3 = { version = "0.17", features = ["auto-initialize"] }
"""
MAIN = """use pyo3::prelude::*;
use pyo3::types::PyList;
fn main() -> PyResult<()> {
    Python::with_gil(|py| {
        let math = py.import("math")?; // PyImport_Import
        let pi: f64 = math.getattr("pi")?.extract()?; // PyObject_GetAttr PyFloat_AsDouble
        let list = PyList::new(py, &[1i64, 2, 3]); // PyList_New PyLong_FromLong
        list.append(4.5)?; // PyFloat_FromDouble PyList_Append
        println!("{} {}", pi, list.len());
        Ok(())
    })
}
"""


def test_each_call_has_the_line_that_led_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closures and what is inlined of pyo3 and of the standard library are passed over."""
    if not list(CRATES.glob("pyo3-0*")):
        pytest.skip("cannot be installed: librust-pyo3-dev")
    for path, content in (
        ("Cargo.toml", CARGO),
        ("src/main.rs", MAIN),
        (".cargo/config.toml", f'[source]\ncrates-io.replace-with = "d"\nd.directory = "{CRATES}"\n'),
    ):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
    told = {**os.environ, "PYO3_PYTHON": sys.executable}
    subprocess.run(["cargo", "build", "-q", "--offline"], cwd=tmp_path, env=told, check=True)
    monkeypatch.setenv("PYTHONHOME", sys.base_prefix)
    monkeypatch.setenv("LD_LIBRARY_PATH", sysconfig.get_config_var("LIBDIR"))
    report = launch([str(tmp_path / "target" / "debug" / "host")], quiet=True).trace.report
    found: dict[int, set[str]] = {}
    for call in report.trace.hosted.calls:
        if Path(getattr(call.site, "file", "")).name == "main.rs":
            found.setdefault(call.site.line, set()).add(call.function)
    for number, line in enumerate(MAIN.splitlines(), 1):
        assert found.get(number, set()) >= set(line.partition("// ")[2].split()), f"line {number}: {found}"
    assert "let math = py.import" in str(report) and len(str(report).splitlines()) <= 24
