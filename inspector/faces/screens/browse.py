"""The screen of `inspector browse`: a report as a tree, the chosen column as a card, lists as tables."""

# SPDX-License-Identifier: MIT
import itertools
from typing import Any, ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import DataTable, Footer, Input, Static, Tree
from textual.widgets.tree import TreeNode

from inspector.faces.screens import branches
from inspector.faces.screens.searching import Searching
from inspector.report import Report
from inspector.views.plain import clipped
from inspector.views.rows import Drawing
from inspector.views.to_text import rich_text

MOST_LINES: Final = 300
"""Lines of a card; `inspector show` prints all."""


class Browse(Searching):
    """Browses a report, which holds facts and no live objects."""

    CSS = """
    Tree { width: 45%; border-right: solid $panel; }
    #card { height: 1fr; }
    DataTable { height: 40%; display: none; border-top: solid $panel; }
    DataTable.shown { display: block; }
    #search { display: none; dock: bottom; }
    #search.shown { display: block; }
    #says { dock: bottom; height: 1; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[Any]] = [
        Binding("slash", "search", "search", key_display="/"),
        Binding("n", "next", "next"),
        Binding("a", "unfold", "all"),
        Binding("escape", "leave", "tree", show=False),
        Binding("q", "quit", "quit"),
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report
        self.wire: dict[str, Any] = report.to_wire()["facts"]
        self.matches: list[branches.Path] = []
        self.at = -1
        self.drawn: str | None = None
        """The column whose card is shown; "" for all."""

    def compose(self) -> ComposeResult:
        """A tree to the left; the card and a table to the right; search and keys below."""
        with Horizontal():
            yield Tree(Text(clipped(self.report.name, 40), "bold"), data=self.wire)
            with Vertical():
                with VerticalScroll(id="card"):
                    yield Static(id="drawn")
                yield DataTable(cursor_type="row")
        yield Static("", id="says", markup=False)
        yield Input(placeholder="search names and values", id="search")
        yield Footer()

    def on_mount(self) -> None:
        """Open the tree's first level."""
        tree = self.query_one(Tree)
        self._fill(tree.root)
        tree.root.expand()
        tree.focus()
        self.call_after_refresh(self._draw, "")

    def _fill(self, node: TreeNode[Any]) -> None:
        if node.children:
            return
        inside = branches.under(node.data)
        for name, value in inside[: branches.MOST_BRANCHES]:
            label = Text(branches.reads(name, value), no_wrap=True)
            if branches.under(value):
                node.add(label, data=value)
            else:
                node.add_leaf(label, data=value)
        if len(inside) > branches.MOST_BRANCHES:
            rest = len(inside) - branches.MOST_BRANCHES
            node.add_leaf(Text(f"… {rest:,} more", "dim"), data=None)

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[Any]) -> None:
        """Add the children of a node that is opened."""
        self._fill(event.node)

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[Any]) -> None:
        """The card of the column that the node is in, and its table where it is a list."""
        path = self._path(event.node)
        self._draw(path[0] if path else "")
        self._tabulate(event.node.data)
        self._say(" › ".join(path))

    def _path(self, node: TreeNode[Any]) -> branches.Path:
        names: list[str] = []
        while node.parent is not None:
            inside = branches.under(node.parent.data)
            at = list(node.parent.children).index(node)
            names.insert(0, inside[at][0] if at < len(inside) else "…")
            node = node.parent
        return tuple(names)

    def _draw(self, column: str) -> None:
        """Draw the card of a column ("" for all), unless it is shown already."""
        if column == self.drawn:
            return
        self.drawn = column
        facts = {column: self.report.facts[column]} if column else self.report.facts
        width = max(self.query_one("#card").size.width - 2, 40)
        rows = rich_text(Report(self.report.name, facts).blocks(), Drawing(width=width), "utf-8")
        text = Text("\n", no_wrap=True).join(itertools.islice(rows, MOST_LINES))
        self.query_one("#drawn", Static).update(text)

    def _tabulate(self, value: Any) -> None:
        heads, rows = branches.table(value)
        table = self.query_one(DataTable)
        table.clear(columns=True)
        table.set_class(bool(rows), "shown")
        table.add_columns(*(Text(head) for head in heads))
        table.add_rows([[Text(cell) for cell in row] for row in rows])

    def _say(self, words: str) -> None:
        self.query_one("#says", Static).update(clipped(words, 200))

    def action_unfold(self) -> None:
        """Open the node and its children."""
        node = self.query_one(Tree).cursor_node
        if node is not None:
            self._fill(node)
            node.expand()
            for child in node.children:
                if child.allow_expand:
                    self._fill(child)
                    child.expand()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Find all matches, and go to the first."""
        self.matches = list(branches.found(self.wire, event.value)) if event.value else []
        self.at = -1
        self.action_leave()
        self.action_next()

    def action_next(self) -> None:
        """Go to the next match."""
        if not self.matches:
            self._say("nothing was found")
            return
        self.at = (self.at + 1) % len(self.matches)
        node = self._opened(self.matches[self.at])
        self.call_after_refresh(self._go, node)

    def _go(self, node: TreeNode[Any]) -> None:
        self.query_one(Tree).move_cursor(node)
        self.call_after_refresh(self._say, f"{self.at + 1:,} of {len(self.matches):,} found")

    def _opened(self, path: branches.Path) -> TreeNode[Any]:
        """The node at a path; opens all nodes above it."""
        node = self.query_one(Tree).root
        for name in path:
            self._fill(node)
            node.expand()
            names = [one for one, _ in branches.under(node.data)]
            node = node.children[names.index(name)]
        return node
