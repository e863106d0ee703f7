"""`%inspect`: one object, two objects compared, the namespace, or what a cell changes."""

# SPDX-License-Identifier: MIT
import argparse
import gc
from collections.abc import Awaitable
from typing import Any

from inspector.magics import cell as cells
from inspector.magics import names, progress, showing
from inspector.magics import options as taken
from inspector.magics.configuration import Defaults
from inspector.magics.expressions import evaluate, split
from inspector.magics.misplaced import refuse_empty_view, refuse_misplaced
from inspector.magics.widgets import chosen
from inspector.magics.writing import drawn, printed
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from inspector import api
from inspector.errors import InspectorError
from inspector.faces.arguments import COMPARED, DRAW, LOOK, ON, PREVIEW, VIEWS, WRITE
from inspector.facts.account import Account
from inspector.facts.heap import Snapshot
from inspector.facts.memory_map import MemoryMap
from inspector.report import Report
from inspector.sessions.cell_changes import what_changed
from inspector.sessions.growth.sampled import Sampled
from inspector.sessions.memory import heap, memory

LARGEST = 4
"""Objects whose path `--memory` shows."""
LARGEST_OF_HEAP = 6
"""Objects whose path `--heap` shows."""
MOST_BESIDE = 12
"""Objects that are compared with each other."""


@magics_class
class InspectMagics(Magics, Defaults):
    """The magic and its defaults (`%config InspectMagics`)."""

    shell: InteractiveShell
    warm = False

    @no_var_expand
    @line_cell_magic
    @taken.declared("inspect", ON, *LOOK, *COMPARED, *PREVIEW, *VIEWS, *DRAW, *WRITE)
    def inspect(self, line: str, cell: str | None = None) -> Report | Awaitable[None] | None:
        """Show one object: what it is, what holds it, where its memory is.

        Inspecting never runs the object's code, and changes nothing about it.

        ::

          %inspect                  your names, what they hold, what else is kept
          %inspect x                everything about x
          %inspect rows[0].T        about the value of an expression
          %inspect x --owners       who keeps it, and how to let go
          %inspect x --graph        a view; others are --strides, --layers
          %inspect x --to numpy     what converting it would copy and lose
          %inspect x --after "f(x)" what this expression would copy
          %inspect x y              compare: who is a view of whom
          %inspect --map            your names on the addresses they cover
          %inspect --heap           what fills it: types, the largest objects, who has them
          %inspect --memory         where the memory of this process went
          %inspect --on client x    a Dask Future, on its worker; all keys without x
          r = %inspect x            the report: r.refs.references, r.to_json()

          %%inspect                 run the cell, and show what it changed
          rows.append(x)

        `%config InspectMagics` sets defaults. --explain explains each line.
        """
        parser = taken.parser_of(self, "inspect")
        try:
            words, expressions = split(line, parser)
            with taken.refusing("%inspect", " ".join(words)):
                options = parser.parse_args(words)
            refuse_misplaced(options, expressions, cell)
            self._add_defaults(options)
            if cell is None:
                report = self._report(expressions, options)
                refuse_empty_view(options, report)
            else:
                prepared = self._prepared(expressions, cell)
                if prepared.awaits:
                    return self._awaited(prepared, options)
                report = self._changes(prepared, options)
            made = printed(report, options)
        except InspectorError as error:
            showing.refuse(error, "inspect", cell)
            return None
        if not made:
            return made
        view = self._view(made, options)
        return showing.give(self.shell, made if view else chosen.alone(made, options), view)

    def _view(self, report: Report, options: argparse.Namespace) -> Any:
        asked = {"names": names.namespaces(self.shell)} if options.graph else {}
        return chosen.view(self.shell, report, options, **asked)

    def _add_defaults(self, options: argparse.Namespace) -> None:
        for name in ("owners", "ask", "explain", "verbose"):
            setattr(options, name, getattr(options, name) or getattr(self, name))
        options.all = options.all or self.everything
        options.width = options.width or self.width

    def _report(self, expressions: list[str], options: argparse.Namespace) -> Report:
        if options.on:
            from inspector.magics import clusters  # asyncio with it

            keys = [self._value(expression) for expression in expressions]
            return clusters.report(self._value(options.on), keys, options)
        if options.memory:
            return self._memory()
        if options.heap:
            with progress.bar(False, walks=True):
                return Report("heap", {"heap": heap(0, LARGEST_OF_HEAP, names.objects(self.shell))})
        if not expressions:
            return self._namespace(options)
        if options.to or options.after:
            return self._previewed(expressions, options)
        if len(expressions) == 1:
            return self._one(expressions[0], options)
        if len(expressions) <= MOST_BESIDE:
            return self._beside(expressions)
        raise InspectorError(
            f"{len(expressions)} objects are too many for one card.",
            slug="too-many-objects",
            why=f"at most {MOST_BESIDE} are compared",
            do="%inspect x y for two, or %inspect alone for the table of all names",
        )

    def _memory(self) -> Report:
        known = names.objects(self.shell)
        found = memory(
            names=names.namespaces(self.shell), known=known, largest=LARGEST, lost=True, give_back=True
        )
        return Report("memory", {"account": found})

    def _one(self, text: str, options: argparse.Namespace) -> Report:
        if options.graph:
            from inspector.sessions import graph

            found = graph.graph(self._value(text), names=names.namespaces(self.shell))
            return Report(text, {"graph": found})
        with progress.bar(options.owners, walks=options.chain or options.retained) as progressed:
            return api.inspect(
                self._value(text),
                name=text,
                names=names.namespaces(self.shell),
                known=names.objects(self.shell),
                scan=options.owners,
                ask=options.ask,
                also=tuple(column for column in ("chain", "retained", "aliases") if getattr(options, column)),
                reveal=options.reveal,
                progress=progressed,
            )

    def _previewed(self, expressions: list[str], options: argparse.Namespace) -> Report:
        """What would happen to one object."""
        from inspector.sessions import preview
        from inspector.sessions.catalogue.cited import conversions

        if len(expressions) != 1:
            raise InspectorError(
                "--to and --after take one object.",
                slug="too-many-objects" if expressions else "not-an-expression",
                do="%inspect x --to numpy torch",
            )
        x, facts = self._value(expressions[0]), dict[str, Any]()
        if options.to:
            facts["previews"] = conversions(x, options.to)
        if options.after:
            facts["prediction"] = preview.after(x, options.after, self.shell.user_ns)
        return Report(expressions[0], facts)

    def _beside(self, texts: list[str]) -> Report:
        known = names.objects(self.shell)
        found = api.compare(*map(self._value, texts), names=tuple(texts), known=known)
        return Report(" ".join(texts), {"comparison": found})

    def _namespace(self, options: argparse.Namespace) -> Report:
        limit = None if options.all else self.rows
        table = api.namespace(
            self.shell.user_ns,
            hidden=names.hidden(self.shell),
            limit=limit,
            history=names.history(self.shell),
            modules=True,
            stops=names.machinery(self.shell),
        )
        return Report("names", {"map": MemoryMap(table)} if options.map else {"namespace": table})

    def _value(self, text: str) -> Any:
        return evaluate(text, self.shell.user_ns, showing.calling_frame())

    def _prepared(self, expressions: list[str], cell: str) -> cells.Prepared:
        if expressions:
            raise InspectorError(
                f"%%inspect takes a cell, not {expressions[0]:.60}.",
                slug="not-an-expression",
                do="put it on a line of its own: %inspect " + expressions[0][:60],
            )
        self._warm()
        return cells.Prepared(self.shell, cell)

    def _changes(self, prepared: cells.Prepared, options: argparse.Namespace) -> Report:
        cells.make_frames()
        account, error = memory(), None  # first: what it makes is part of the snapshot
        sampled = Sampled(cells.numbers(self.shell))
        before = api.snapshot(self.shell.user_ns)  # last: no object of ours is made after it
        with sampled:
            try:
                for _ in prepared.statements():
                    pass
            except BaseException as raised:
                error = prepared.alone(raised)
        report = self._changed(account, before, sampled, error)
        del account, before, sampled  # a traceback would keep them
        return self._ended(prepared, error, report, options)

    async def _awaited(self, prepared: cells.Prepared, options: argparse.Namespace) -> None:
        """`_changes` for a cell that awaits; IPython's event loop runs this (awaiting.py)."""
        cells.make_frames()
        account, error = memory(), None
        sampled = Sampled(cells.numbers(self.shell))
        before = api.snapshot(self.shell.user_ns)
        with sampled:
            try:
                for code in prepared.codes:
                    await prepared.statement(code)
            except BaseException as raised:
                error = prepared.alone(raised)
        report = self._changed(account, before, sampled, error)
        del account, before, sampled
        self._ended(prepared, error, report, options)
        try:
            if made := printed(report, options):
                showing.display_result(self.shell, made, self._view(made, options))
        except InspectorError as refused:
            showing.refuse(refused, "inspect", cell="")

    def _ended(
        self,
        prepared: cells.Prepared,
        error: BaseException | None,
        report: Report,
        options: argparse.Namespace,
    ) -> Report:
        """The report; where the cell ended with an error it is shown, and the error raised."""
        if error is not None:
            showing.show(drawn(report, options))
            prepared.fail(error)
        return report

    def _changed(
        self, account: Account, before: Snapshot, sampled: Sampled, error: BaseException | None = None
    ) -> Report:
        after = api.snapshot(self.shell.user_ns)
        difference = names.of_the_user(self.shell, after - before)
        spaces = names.namespaces(self.shell)
        report = what_changed(difference, account, sampled.growth, spaces, error)
        gc.collect(1)  # what reading symbols left behind in cycles would go within the next cell
        return report

    def _warm(self) -> None:
        """Import and draw once what `%%inspect` uses, so that the first cell's numbers exclude it."""
        if not self.warm:
            with Sampled() as sampled:
                pass
            self._changed(memory(), api.snapshot(self.shell.user_ns), sampled).to_html()
            if self.shell.display_formatter is not None:
                self.shell.display_formatter.format(None)
            gc.collect(1)  # classes with slots are made twice: the first ones would go within the user's cell
            self.warm = True
