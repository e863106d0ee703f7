"""Photograph the first screen of each of the five systems into docs/pictures/seeds, light and dark.

.venv/bin/python -P .ci/seed_pictures.py    needs the rooms test, R, libraries, and a Swift: `make seeds`

Each screen is what one command prints of a real program. tests/seeds/test_pictures.py runs them again and
compares the words.
"""

# SPDX-License-Identifier: MIT
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures" / "seeds"
WORDS = FOLDER / "words.json"
WIDTH = 860
"""Of a picture: rows of 80 columns are not cut."""
TOTAL = """library(reticulate)

total <- function(v) {
  py <- r_to_py(v)
  back <- py_to_r(py)
  sum(back)
}
x <- as.numeric(1:1000000)
total(x)
wide <- py_eval("[2**53 + 1, 2**53 + 2]")
df <- data.frame(a = c(1L, NA, 3L), b = c(TRUE, NA, FALSE))
p <- r_to_py(df)
"""
LAZY = """x <- 1:1000000
s <- as.character(x)
first <- head(s, 3)
middle <- mean(x)
more <- x + 1L
"""
STEP = """import torch

model = torch.nn.Sequential(torch.nn.Linear(1000, 1000), torch.nn.ReLU(), torch.nn.Linear(1000, 1000))
batch = torch.randn(2000, 1000)
losses = []
for _ in range(4):
    losses.append(model(batch).pow(2).sum())
"""
OP = """import inspector
import numpy as np
import pytensor
import pytensor.tensor as pt

z, s = pt.dmatrix("z"), pytensor.shared(np.ones((500, 500)), name="s")
outputs = [z[:, ::2], pt.dot(z.T, s) + s, (2 * pt.exp(z)).sum()]
f = pytensor.function([z], outputs, mode=pytensor.compile.mode.Mode(linker="cvm"))
a = np.asfortranarray(np.random.rand(500, 500))
with inspector.trace("pytensor") as t:
    f(a)
print(t.report.to_json())
"""
SCREENS = {
    "reticulate": ("total.R", TOTAL, "trace --json -- Rscript total.R"),
    "PyTorch's extension": ("step.py", STEP, "show losses --script step.py --json"),
    "ALTREP": ("lazy.R", LAZY, "trace --lazy --json -- Rscript lazy.R"),
    "PythonKit": ("", "", "trace --json -- {host} {libpython}"),
    "Theano's C op": ("op.py", OP, "-P op.py"),
}
"""Heading of docs/seeds.md -> a file, its content, and the words after `inspector`, or `python`."""
ROOMS = {"reticulate": ".venv-R", "ALTREP": ".venv-R", "PythonKit": ".venv"}


def screen(title, python, folder):
    """The report of the screen; `python`: of the room that has the system."""
    from inspector.report import load

    name, content, command = SCREENS[title]
    told = {**os.environ, "RETICULATE_PYTHON": str(python)}
    told.pop("PYTENSOR_FLAGS", None)  # tests of its variables do without a C compiler
    words = {}
    if name:
        (Path(folder) / name).write_text(content)
    else:
        import swift

        library = Path(sysconfig.get_config_var("LIBDIR")) / sysconfig.get_config_var("LDLIBRARY")
        words, told["PYTHONHOME"] = {"host": swift.built("swift_host"), "libpython": library}, sys.base_prefix
    program = [str(Path(python).parent / "inspector"), *command.format(**words).split()]
    program[0] = str(python) if command.startswith("-") else program[0]
    done = subprocess.run(program, cwd=folder, env=told, capture_output=True, text=True, timeout=250)
    report = Path(folder) / "report.json"
    report.write_text(done.stdout[done.stdout.index("{\n") :])
    return load(report)


def main():
    """Run all five, photograph them, note their words."""
    from test_screens import photographed

    shown = {}
    for title in SCREENS:
        with tempfile.TemporaryDirectory() as folder:
            shown[title] = screen(
                title, ROOT / ROOMS.get(title, ".venv-libraries") / "bin" / "python", folder
            )
        print(f"\n== {title}\n{shown[title]}")
    with tempfile.TemporaryDirectory() as folder:
        photographed({title: one.to_html() for title, one in shown.items()}, Path(folder), FOLDER, WIDTH)


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "tests" / "screens"), str(ROOT / "tests" / "specimens")]
    main()
