"""Events of the user's own code: a call, a line, a return; code of libraries runs without them."""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Callable
from functools import partial
from types import CodeType, FrameType
from typing import Any, Final

from inspector import _native
from inspector.objects.call_site import is_users

Event = Callable[[str, FrameType, Any], bool]
"""("call" | "line" | "return", frame, value returned) -> True: no more events of this line are
needed; after "call" of this code."""
_MONITORING: Final[Any] = getattr(sys, "monitoring", None)
"""PEP 669, from Python 3.12 on."""
_OF_CODE: Final = ("LINE", "PY_RETURN", "PY_YIELD")
_TOOLS: Final = (4, 3)
"""Numbers for it that no convention gives to a tool."""


class Lines:
    """The events, from `begin` to `end`."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._tool: int | None = None
        self._codes: list[CodeType] = []

    def begin(self) -> bool:
        """Whether the events come; not where another tool traces this thread."""
        if _MONITORING is None:
            return sys.gettrace() is None and _native.lines_open(self._event)
        self._tool = next((one for one in _TOOLS if _MONITORING.get_tool(one) is None), None)
        if self._tool is None:
            return False
        _MONITORING.use_tool_id(self._tool, "inspector")
        for name, callback in self._callbacks().items():
            _MONITORING.register_callback(self._tool, getattr(_MONITORING.events, name), callback)
        _MONITORING.set_events(self._tool, _MONITORING.events.PY_START)
        _MONITORING.restart_events()
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if is_users(frame.f_code.co_filename):
                self._listen(frame.f_code)
            frame = frame.f_back
        return True

    def end(self) -> None:
        """No more events."""
        tool, self._tool = self._tool, None
        if _MONITORING is None:
            _native.lines_close()
        if tool is None:
            return
        _MONITORING.set_events(tool, 0)
        for code in self._codes:
            _MONITORING.set_local_events(tool, code, 0)
        for name in self._callbacks():
            _MONITORING.register_callback(tool, getattr(_MONITORING.events, name), None)
        _MONITORING.free_tool_id(tool)
        self._codes.clear()

    def _callbacks(self) -> dict[str, Callable[..., Any]]:
        callbacks = {
            "PY_START": self._started,
            "LINE": self._line,
            "PY_RETURN": self._returned,
            "PY_YIELD": self._returned,
        }
        return {name: partial(_native.lines_call, one) for name, one in callbacks.items()}

    def _listen(self, code: CodeType) -> None:
        self._codes.append(code)
        _MONITORING.set_local_events(
            self._tool, code, sum(getattr(_MONITORING.events, name) for name in _OF_CODE)
        )

    def _started(self, code: CodeType, offset: int) -> Any:
        if not is_users(code.co_filename):
            return _MONITORING.DISABLE
        if self._tool is not None and not _MONITORING.get_local_events(self._tool, code):
            self._listen(code)
        if self._tool is None or not self._event("call", sys._getframe(1), None):
            return None
        _MONITORING.set_local_events(self._tool, code, 0)
        return _MONITORING.DISABLE

    def _line(self, code: CodeType, line: int) -> Any:
        return _MONITORING.DISABLE if self._event("line", sys._getframe(1), None) else None

    def _returned(self, code: CodeType, offset: int, value: Any) -> None:
        self._event("return", sys._getframe(1), value)
