"""The line of a search under a screen: it is shown, left, and handed what was typed."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.widgets import Input, Tree


class Searching(App[Any]):
    """A screen with a tree and an Input called `search`; `/` shows it, Escape leaves it."""

    def action_search(self) -> None:
        """Show the line."""
        line = self.query_one("#search", Input)
        line.add_class("shown")
        line.focus()

    def action_leave(self) -> None:
        """Back to the tree."""
        self.query_one("#search", Input).remove_class("shown")
        self.query_one(Tree).focus()
