"""`%%inspect_c`: compile C in a cell, and show what a call does to its arguments' references."""

# SPDX-License-Identifier: MIT
import argparse
import ast
import re
from dataclasses import replace
from typing import Any, Final

from inspector.magics import cell as cells
from inspector.magics import cell_frames, showing
from inspector.magics import options as taken
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import parse_argstring

from inspector import api
from inspector.errors import InspectorError
from inspector.faces.arguments import C_CELL
from inspector.facts.compiled import CellCall
from inspector.facts.unknown import Unknown
from inspector.report import Report
from inspector.sessions import compiled_call

SECTIONS: Final = ("support", "init", "cleanup", "code")
_SECTION = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+inspector[ \t]+(\w+)[ \t]*$", re.MULTILINE)


@magics_class
class CMagics(Magics):
    """The magic of C cells."""

    shell: InteractiveShell

    @no_var_expand
    @cell_magic
    @taken.declared("%%inspect_c", *C_CELL)
    def inspect_c(self, line: str, cell: str) -> None:
        """Compile a C cell, and show what a call does to its arguments' references.

        ::

          %%inspect_c
          double dot(double *a, double *b, long n) { ... }      through cffi: dot(x, y, len(x))
          PyObject *gcd(PyObject *a, PyObject *b) { ... }       C API; the caller holds the GIL

          %%inspect_c scale -i x,y -o z
          z = (PyArrayObject *)PyArray_NewLikeArray(x, NPY_KEEPORDER, NULL, 0);
          if (z == NULL) FAIL;

        A line `#pragma inspector support`, `init`, `cleanup` or `code` begins a section.
        """
        try:
            options = self._options(line)
            report = self._run(options, _sections(cell))
        except InspectorError as error:
            showing.refuse(error, "inspect_c", cell)
            return
        drawn = report.drawn(verbose=options.verbose)
        print(drawn.to_json()) if options.json else showing.show(drawn)

    def _options(self, line: str) -> argparse.Namespace:
        with taken.refusing("%%inspect_c", line):
            options: argparse.Namespace = parse_argstring(type(self).inspect_c, line)
            options.cache_version = ast.literal_eval((options.cache_version or "None").strip("'\""))
            if not isinstance(options.cache_version, tuple | None):
                raise ValueError("--cache-version is a tuple, such as (1, 0)")
        return options

    def _run(self, options: argparse.Namespace, sections: dict[str, str]) -> Report:
        inputs, outputs = _names(options.inputs), _names(options.outputs)
        module = api.compile_c(
            sections.pop("code"),
            options.cache_version,
            name=options.name,
            inputs=inputs,
            outputs=outputs,
            libraries=options.lib,
            library_dirs=options.library_dir,
            include_dirs=options.include_dir,
            compile_args=options.arg,
            **sections,
        )
        facts: dict[str, Any] = {"compiled": vars(module)["__compiled__"]}
        made = {one.name: getattr(module, one.name, None) for one in facts["compiled"].functions}
        self.shell.user_ns.update({name: function for name, function in made.items() if function is not None})
        if facts["compiled"].module:
            self.shell.user_ns[facts["compiled"].module] = module
        if inputs or outputs:
            facts["call"] = self._call(made[options.name], inputs, outputs, options)
        return Report(options.name, facts)

    def _call(self, function: Any, inputs: tuple[str, ...], outputs: tuple[str, ...], options: Any) -> Any:
        missing = [name for name in inputs if name not in self.shell.user_ns]
        if missing:
            raise InspectorError(
                f"there is no name {missing[0]}.",
                slug="no-such-name",
                do=f"assign it first: {missing[0]} = ...",
            )
        arguments = {name: self.shell.user_ns[name] for name in inputs}
        result, fact, error = compiled_call.call_c(
            function, arguments, isolate=options.isolate, trace=options.trace, cells=cells.numbers(self.shell)
        )
        if error is None and not isinstance(result, Unknown):
            made = result if len(outputs) > 1 else (result,)
            self.shell.user_ns.update(zip(outputs, made, strict=False))
        return self._in_cells(fact)

    def _in_cells(self, fact: CellCall) -> CellCall:
        """The fact with the stack of a crash by cell numbers."""
        if isinstance(fact.died, Unknown):
            return fact
        return replace(fact, died=cell_frames.of_stop(self.shell, fact.died))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _sections(cell: str) -> dict[str, str]:
    """Section -> text. Lines of other sections are blank, so that line numbers stay those of the cell."""
    rows = cell.splitlines()
    sections = {name: [""] * len(rows) for name in SECTIONS}
    current = "code"
    for number, row in enumerate(rows):
        found = _SECTION.match(row)
        if found is None:
            sections[current][number] = row
            continue
        current = found[1]
        if current not in sections:
            raise InspectorError(
                f"line {number + 1}: there is no section {current!r}.",
                slug="no-such-section",
                do=f"sections are {', '.join(SECTIONS)}",
            )
    return {
        name: "\n".join(lines).rstrip() if any(map(str.strip, lines)) else ""
        for name, lines in sections.items()
    }
