"""The screen of `inspector live`: sampled stacks of a running process, and functions by samples."""

# SPDX-License-Identifier: MIT
from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.widgets import DataTable, Footer, Input, Static, Tree

from inspector.errors import InspectorError, TargetGone
from inspector.faces.screens.searching import Searching
from inspector.facts.stack import Frame, Stacks
from inspector.facts.unknown import Unknown
from inspector.views.plain import clipped

EVERY_S: Final = 1.0
AGAIN_S: Final = 0.2
ROWS: Final = 200
LONGEST: Final = 60

Look = Callable[[], Stacks]


class Live(Searching):
    """Samples a process until it ends or the user quits; the last sample stays on the screen."""

    CSS = """
    Tree { width: 55%; border-right: solid $panel; }
    DataTable { width: 1fr; }
    #says { dock: top; height: 1; color: $text-muted; }
    #search { display: none; dock: bottom; }
    #search.shown { display: block; }
    """
    BINDINGS: ClassVar[list[Any]] = [
        Binding("p", "pause", "pause"),
        Binding("s", "sample", "sample now"),
        Binding("slash", "search", "filter", key_display="/"),
        Binding("escape", "leave", "tree", show=False),
        Binding("q", "quit", "quit"),
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, look: Look, title: str, every_s: float = EVERY_S) -> None:
        """`look` returns the stacks now; its TargetGone ends the sampling."""
        super().__init__()
        self.look, self.called, self.every_s = look, clipped(title, LONGEST), every_s
        self.samples, self.wanted, self.paused, self.ended = 0, "", False, ""
        self.inside: Counter[tuple[str, str]] = Counter()
        """Function and library -> samples that had it on a stack."""
        self.on_top: Counter[tuple[str, str]] = Counter()
        self.last: Stacks | None = None
        self.trouble = ""

    def compose(self) -> ComposeResult:
        """State line; threads and frames; functions by samples; keys."""
        yield Static("", id="says", markup=False)
        with Horizontal():
            yield Tree(Text(self.called, "bold"))
            yield DataTable(cursor_type="row")
        yield Input(placeholder="show functions that contain", id="search")
        yield Footer()

    def on_mount(self) -> None:
        """Sample at once, then every `every_s` seconds."""
        self.query_one(DataTable).add_columns("on top", "inside", "function", "library")
        self.query_one(Tree).root.expand()
        self.query_one(Tree).focus()
        self._say("sampling")
        self.call_after_refresh(self._due)

    def _due(self) -> None:
        """Sample, and schedule the next sample after the screen is drawn: a sample may take long."""
        if not self.paused:
            self.action_sample()
        if not self.ended:
            self.call_after_refresh(self.set_timer, AGAIN_S if self.trouble else self.every_s, self._due)

    def action_sample(self) -> None:
        """Sample once; in the screen's own thread, because sampling forks and needs other threads at rest."""
        if self.ended:
            return
        try:
            found = self.look()
        except TargetGone as error:
            self.ended = error.what
        except InspectorError as error:  # the next sample may work: a thread of ours was running
            self.trouble = f"the last sample failed: {error.what}"
        else:
            self.trouble = ""
            self._seen(found)
        self._draw()

    def _seen(self, found: Stacks) -> None:
        self.samples, self.last = self.samples + 1, found
        for thread in found.threads:
            seen = [(frame.function, _library(frame)) for frame in thread.frames if not frame.plumbing]
            self.inside.update(set(seen))
            self.on_top.update(seen[:1])

    def _draw(self) -> None:
        state = self.ended or self.trouble or ("paused" if self.paused else f"every {self.every_s:g} s")
        took = f" · it was stopped for {self.last.read_ns / 1e6:,.0f} ms" if self.last else ""
        many = "" if self.samples == 1 else "s"
        self._say(f"{self.samples:,} sample{many}{took} · {state}")
        self._draw_tree()
        self._draw_table()

    def _say(self, words: str) -> None:
        self.query_one("#says", Static).update(clipped(words, 300))

    def _draw_tree(self) -> None:
        if self.last is None:
            return
        root = self.query_one(Tree).root
        root.remove_children()
        for thread in self.last.threads:
            node = root.add(Text(f"thread {thread.thread_id}  {clipped(thread.name, 30)}"), expand=True)
            for frame in thread.frames:
                if not frame.plumbing and self.wanted in frame.function.lower():
                    node.add_leaf(_line(frame))

    def _draw_table(self) -> None:
        table = self.query_one(DataTable)
        row = table.cursor_row
        table.clear()
        kept = [one for one in self.inside if self.wanted in one[0].lower()]
        kept.sort(key=lambda one: (-self.on_top[one], -self.inside[one]))
        for one in kept[:ROWS]:
            said = Text(clipped(one[0], LONGEST)), Text(clipped(one[1], 30))
            table.add_row(str(self.on_top[one]), str(self.inside[one]), *said)
        table.move_cursor(row=row)

    def action_pause(self) -> None:
        """Pause or resume sampling."""
        self.paused = not self.paused
        self._draw()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Show only frames and functions that contain the typed text; "" shows all."""
        self.wanted = event.value.lower()
        self.action_leave()
        self._draw()


def _library(frame: Frame) -> str:
    return "" if isinstance(frame.library, Unknown) else frame.library.rpartition("/")[2]


def _line(frame: Frame) -> Text:
    where = _library(frame) if isinstance(frame.line, Unknown) else frame.line.rpartition("/")[2]
    sign = ("Py", "blue") if frame.kind == "python" else ("C ", "cyan")
    return Text.assemble(sign, f" {clipped(frame.function, LONGEST)}", (f"  {clipped(where, 40)}", "dim"))
