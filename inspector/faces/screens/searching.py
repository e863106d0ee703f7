"""The search line under a screen."""

# SPDX-License-Identifier: MIT
from typing import Any

from textual.app import App
from textual.widgets import Input, Tree


class Searching(App[Any]):
    """A screen with a tree and an Input called `search`; `/` shows it, Escape hides it."""

    def action_search(self) -> None:
        """Show the search line."""
        line = self.query_one("#search", Input)
        line.add_class("shown")
        line.focus()

    def action_leave(self) -> None:
        """Hide the search line and return to the tree."""
        self.query_one("#search", Input).remove_class("shown")
        self.query_one(Tree).focus()
