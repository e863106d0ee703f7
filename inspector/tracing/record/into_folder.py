"""Record into a folder, in a launched program; another process reads the trace."""

# SPDX-License-Identifier: MIT
import json
import os
from pathlib import Path
from typing import Any, TypeVar

from inspector import _native
from inspector.facts.wire import to_wire
from inspector.tracing.arm.allocation_slots import Images, images
from inspector.tracing.arm.foreign_calls import names
from inspector.tracing.events.name_tables import Tables
from inspector.tracing.record.r_conversions import RConversions
from inspector.tracing.record.recorder import Grade, Recorder

_Told = TypeVar("_Told")


class Leaving:
    """A recorder that writes all tables as soon as they are known; needs no NumPy."""

    def __init__(self, folder: Path, modules: tuple[str, ...], grade: Grade, every: int = 1) -> None:
        hosts = not modules  # with modules chosen, only their calls
        self.folder = folder
        self.tables = folder / f"tables-{os.getpid()}.jsonl"
        self.told, self.images = Tables(), Images()
        self.shows_lines = False
        self.code: dict[int, tuple[int, str, int]] = {}
        self.conversions = RConversions(folder / f"conversions-{os.getpid()}.jsonl")
        self.recorder = Recorder(
            modules,
            grade,
            directory=str(folder),
            journal=str(folder / f"names-{os.getpid()}.journal"),
            armed=self._told,
            hosts=hosts,
            every=every,
        )

    def begin(self) -> None:
        """Patch. Raises InspectorError as a trace does, OSError if the folder cannot be written."""
        self.recorder.start()
        if self.recorder.imports is not None:
            self.conversions.begin(self.recorder.imports.hosts or ())

    def end(self) -> None:
        """Restore; a process that ends before leaves a complete trace too."""
        self.conversions.end()
        if self.recorder.running and str(os.getpid()) in self.tables.name:
            wall_ns = self.recorder.leave()
            called, modules = names()
            counted = to_wire(self.told.counted)
            told = {"names": called, "modules": modules, "images": self._loaded(), "counted": counted}
            told["code"] = self._code() if self.shows_lines else {}
            self._write({"wall_ns": wall_ns, **told})

    def _told(self, tables: Tables) -> None:
        """Write one line with the new entries."""
        before, self.told = self.told, tables
        if tables.hosts and not self.shows_lines:
            self._show_lines()
        self._write(
            {
                "names": _new(tables.names, before.names),
                "modules": _new(tables.modules, before.modules),
                "import_modules": _new(tables.import_modules, before.import_modules),
                "hosts": _new(tables.hosts, before.hosts),
                "constants": _new(tables.constants, before.constants),
                "askers": _new(tables.askers, before.askers),
                "givers": tables.givers,
                "images": self._loaded() if tables.givers else {},
                "code": self._code() if self.shows_lines else {},
                "hooked_imports": tables.hooked_imports,
                "seen": [to_wire(one) for one in tables.seen],
            }
        )

    def _show_lines(self) -> None:
        """Record the stacks of a host's calls; those of R have lines of R's own."""
        paths = self.recorder.imports.hosts if self.recorder.imports is not None else ()
        self.shows_lines = not any("reticulate" in path or "libR." in path for path in paths or ())
        if self.shows_lines:
            _native.stacks_open(True)

    def _code(self) -> dict[int, tuple[int, str, int]]:
        """First address of code -> (end, file, load bias), where lines are shown."""
        rows = [row for row in _native.maps() if row[-1].startswith("/")]
        heads = {row[-1]: row[0] for row in reversed(rows)}  # where its file begins
        images = {path: _native.image(start) for path, start in heads.items()}
        found = {
            row[0]: (row[1], row[-1], image[1])
            for row in rows
            if "x" in row[2] and (image := images[row[-1]]) is not None
        }
        before, self.code = self.code, found
        return _new(found, before)

    def _loaded(self) -> Images:
        """Code loaded since the last call."""
        before, self.images = self.images, images()
        return _new(self.images, before)

    def _write(self, row: dict[str, Any]) -> None:
        with self.tables.open("a") as file:
            file.write(json.dumps(row) + "\n")


def _new(now: dict[int, _Told], before: dict[int, _Told]) -> dict[int, _Told]:
    return {number: name for number, name in now.items() if before.get(number) != name}
