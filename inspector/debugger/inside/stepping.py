"""Inside gdb: carry out the user's commands: step, next, finish, continue, up, down, print, watch.

A command that continues the process is answered when the process stops again or ends.
"""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from typing import Any, Final

import gdb

from inspector.debugger.inside.source_lines import around
from inspector.debugger.inside.target_reader import TargetReader
from inspector.facts.stack import NO_FAULT, Argument, SignalCause, Stop
from inspector.facts.unknown import Address, Unknown
from inspector.facts.wire import to_wire

GOES: Final = {"step": "step &", "next": "next &", "finish": "finish &", "continue": "continue -a &"}
_LOOKS: Final = {"up": "up-silently", "down": "down-silently"}
_DEPTH: Final = 60
_FAULTS: Final = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL")


class Stepper:
    """The last stop, and the request that waits for the next one."""

    def __init__(self, reader: TargetReader) -> None:
        self._reader = reader
        self._waiting: Callable[..., None] | None = None
        self._stop: dict[str, Any] | None = None

    def command(self, reply: Callable[..., None], word: str, argument: str) -> bool:
        """Carry out one command; True where it continues the process."""
        if word in GOES:
            self._stop = None
            gdb.execute(GOES[word], to_string=True)
            self._waiting = reply
            return True
        if word == "await":
            self.answer(reply)
            return False
        if word in _LOOKS:
            gdb.execute(f"{_LOOKS[word]} {int(argument or 1)}", to_string=True)
        says = self._said(word, argument)
        reply(stop=to_wire(self._fact("", says)))
        return False

    def answer(self, reply: Callable[..., None]) -> None:
        """Reply with the current stop, or the next one."""
        if self._stop is not None:
            reply(**self._stop)
        else:
            self._waiting = reply

    def _said(self, word: str, argument: str) -> tuple[Argument, ...]:
        if word == "print":
            value = gdb.parse_and_eval(argument)
            text = self._reader.native_values().text(value)
            return (Argument(argument, str(value.type), text, "debug"),)
        if word == "watch":
            watch = gdb.Breakpoint(argument, gdb.BP_WATCHPOINT)
            return (Argument(f"watch {watch.number}", "", argument, "debug"),)
        return ()

    def stopped(self, thread: gdb.InferiorThread | None, reason: str) -> None:
        """A thread has stopped: reply to the waiting request."""
        if thread is not None and thread.is_valid():
            thread.switch()
        self._tell(stop=to_wire(self._fact(reason, ())))

    def ended(self, code: int | None) -> None:
        """The process has ended."""
        self._tell(exited=code if code is not None else -1)

    def _tell(self, **said: Any) -> None:
        self._stop = said
        if self._waiting is not None:
            reply, self._waiting = self._waiting, None
            reply(**said)

    def _fact(self, reason: str, says: tuple[Argument, ...]) -> Stop:
        frame = gdb.selected_frame()
        thread = gdb.selected_thread().ptid[1]
        stack = self._reader.stack(thread, _DEPTH)
        variables = self._reader.native_values().locals(frame)
        name = frame.name() or f"{frame.pc():#x}"
        sal = frame.find_sal()
        line = f"{sal.symtab.fullname()}:{sal.line}" if sal.symtab else Unknown("no debug information")
        source = around(sal.symtab.fullname(), sal.line) if sal.symtab else ()
        return Stop(reason, name, line, variables, says, stack, fault(reason), source)


def fault(reason: str) -> SignalCause | Unknown:
    """The address that a signal is about, as the kernel told it."""
    if reason not in _FAULTS:
        return NO_FAULT
    try:
        told = gdb.parse_and_eval("$_siginfo")
        code, fields = int(told["si_code"]), told["_sifields"]
        if code <= 0:  # kill(2) and the like: the same bytes are the sender's number
            return Unknown(f"process {int(fields['_kill']['si_pid'])} sent it")
        return SignalCause(Address(int(fields["_sigfault"]["si_addr"])), code)
    except gdb.error as error:
        return Unknown(f"gdb does not read it: {error}"[:200])
