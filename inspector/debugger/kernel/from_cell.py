"""What a cell asks of the debug session: `%inspect_break --panel` and `%inspect_writes --panel`.

The answer is written to a file that the cell waits for (sessions/panel.py).
"""

# SPDX-License-Identifier: MIT
import json
from pathlib import Path
from typing import Final

from inspector.debugger.dap.adapter import Adapter
from inspector.debugger.dap.places import by_name
from inspector.debugger.dap.watchpoints import watched
from inspector.debugger.dap.wire import Message

_GROUP: Final = "(cells)"


class FromCell(Adapter):
    """Function breakpoints and one watched range that cells have asked for."""

    def do_inspector_panel(self, request: Message) -> None:
        """Set what a cell wants, and say what was set."""
        given = request["arguments"]
        answer = Path(given["answer"])
        if not self._configured:
            _write(answer, refused="the debugger is off.")
        else:
            self.with_gdb(
                lambda: _write(answer, rows=self._asked(given)),
                lambda error: _write(answer, refused=f"{error.what} {error.why}".strip()),
            )

    def _asked(self, given: Message) -> list[str]:
        if "watch" in given:
            place = self._place(watched, {"dataId": json.dumps(given["watch"]), "accessType": "write"})
            places = [place] if given["watch"]["bytes"] else []
            if "wrong" in place and places:
                return [place["wrong"]]
            return [str(row["refused"]) for row in self.native.call("watch", places=places)["breakpoints"]]
        places = [self._place(by_name, {"name": name}) for name in given["functions"]]
        self._places[_GROUP] = places
        return [str(row.get("message") or "") for row in self._set(_GROUP, places)]


def _write(answer: Path, **said: object) -> None:
    made = answer.with_suffix(".new")
    made.write_text(json.dumps(said))
    made.rename(answer)
