"""Events of the user's own code: a call, a line, a return; code of libraries runs without them."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final

from inspector import _native
from inspector.tracing.events.code_places import is_users

Event = Callable[[str, FrameType, Any], bool | None]
"""("call" | "line" | "return", frame, value returned) -> True: no more events of this line are needed."""
_TOOLS: Final = (4, 3)
"""Numbers for sys.monitoring (PEP 669) that no convention gives to a tool."""


class Lines:
    """The events, from `begin` to `end`."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._tool: int | None = None
        self._codes: list[CodeType] = []

    def begin(self) -> bool:
        """Whether the events come; not where another tool traces this thread."""
        if sys.version_info < (3, 12):
            return sys.gettrace() is None and _native.lines_open(self._event)
        monitoring = sys.monitoring
        self._tool = next((one for one in _TOOLS if monitoring.get_tool(one) is None), None)
        if self._tool is None:
            return False
        monitoring.use_tool_id(self._tool, "inspector")
        events = monitoring.events
        for event, callback in (
            (events.PY_START, self._started),
            (events.LINE, self._line),
            (events.PY_RETURN, self._returned),
        ):
            monitoring.register_callback(self._tool, event, callback)
        monitoring.set_events(self._tool, events.PY_START)
        monitoring.restart_events()
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if is_users(frame.f_code.co_filename):
                self._listen(frame.f_code)
            frame = frame.f_back
        return True

    def end(self) -> None:
        """No more events."""
        if sys.version_info < (3, 12):
            _native.lines_close()
            return
        tool, self._tool = self._tool, None
        if tool is None:
            return
        monitoring = sys.monitoring
        monitoring.set_events(tool, 0)
        for code in self._codes:
            monitoring.set_local_events(tool, code, 0)
        for event in (monitoring.events.PY_START, monitoring.events.LINE, monitoring.events.PY_RETURN):
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
        self._codes.clear()

    if sys.version_info >= (3, 12):

        def _listen(self, code: CodeType) -> None:
            events = sys.monitoring.events
            self._codes.append(code)
            sys.monitoring.set_local_events(self._tool or 0, code, events.LINE | events.PY_RETURN)

        def _started(self, code: CodeType, offset: int) -> Any:
            if not is_users(code.co_filename):
                return sys.monitoring.DISABLE
            if self._tool is not None and not sys.monitoring.get_local_events(self._tool, code):
                self._listen(code)
            self._event("call", sys._getframe(1), None)
            return None

        def _line(self, code: CodeType, line: int) -> Any:
            return sys.monitoring.DISABLE if self._event("line", sys._getframe(1), None) else None

        def _returned(self, code: CodeType, offset: int, value: Any) -> None:
            self._event("return", sys._getframe(1), value)
