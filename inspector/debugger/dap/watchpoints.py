"""Data breakpoints: stop at whoever writes to an array, a variable in C, an attribute.

Up to 32 bytes gdb watches by the processor's watchpoints. A wider range is watched in the program itself by
protected pages, where the same package can be imported there; gdb stops the thread that wrote.
"""

# SPDX-License-Identifier: MIT
import ast
import json
from functools import partial
from pathlib import Path
from typing import Final

from inspector.debugger.dap import object_bytes
from inspector.debugger.dap.native_side import PACKAGE
from inspector.debugger.dap.places import options
from inspector.debugger.dap.targets import Targets
from inspector.debugger.dap.wire import Message, Stream
from inspector.debugger.memory.words import WORDS_MAX, words
from inspector.errors import InspectorError

_LOOK: Final = (
    "(lambda there, names: (exec({text!r}, there), there['object_bytes']({name!r}, names))[1])"
    "({{'__name__': 'object_bytes'}}, {{**globals(), **locals()}})"
)
_WATCH: Final = """
import importlib.util
spec = importlib.util.find_spec("inspector")
if spec is None or spec.origin != {package!r}:
    why = "more than 32 bytes are watched where native-inspector can be imported in the program"
else:
    from inspector.debugger.watch.stopping import watch
    why = watch({address}, {bytes}, {letter!r})
if why:
    raise RuntimeError(why)
"""
"""debugpy gives no result where no frame is chosen, but it gives the error."""
_WRITE: Final = "write"
_ASIDE: Final = "set once Python runs again: a wide range is protected by the program itself"


class Watchpoints(Targets):
    """Which bytes are watched."""

    def __init__(self, editor: Stream, python: Stream) -> None:
        super().__init__(editor, python)
        self._frame_of: dict[int, int] = {}
        self._wide = 0
        self.__dict__["do_dataBreakpointInfo"] = self._bytes_of
        self.__dict__["do_setDataBreakpoints"] = self._set_watched

    def do_scopes(self, request: Message) -> None:
        """Remember which frame of debugpy's a scope belongs to."""
        frame = request["arguments"]["frameId"]
        self.forward(request, lambda told: self._note(frame, told["body"]["scopes"]))

    def do_variables(self, request: Message) -> None:
        """Remember which frame of debugpy's a variable belongs to."""
        frame = self._frame_of.get(request["arguments"]["variablesReference"], 0)
        self.forward(request, lambda told: self._note(frame, told["body"]["variables"]))

    def _note(self, frame: int, rows: list[Message]) -> None:
        self._frame_of.update((row["variablesReference"], frame) for row in rows if row["variablesReference"])

    def _bytes_of(self, request: Message) -> None:
        """The bytes of a variable or an expression, as `dataId`; null with the reason where it has none."""
        given = request["arguments"]
        name, ref = str(given["name"]), given.get("variablesReference") or 0
        frame = given.get("frameId") or 0
        if given.get("asAddress"):
            told = {"address": int(name, 0), "bytes": int(given.get("bytes") or 8), "letter": ""}
            self._offer(request, name, told)
        elif self.shown.has(ref or frame):
            try:
                self._offer(request, name, self.shown.range_of(frame, ref, name))
            except InspectorError as error:
                self._offer(request, name, {"refused": f"{error.what} {error.why}".strip()})
        elif ref and ref in self._frame_of:
            rows = partial(self._evaluate_row, request, name, self._frame_of[ref])
            self.ask_for(request, "variables", rows, variablesReference=ref)
        else:
            self._evaluate(request, name, name, frame)

    def _evaluate_row(self, request: Message, name: str, frame: int, told: Message) -> None:
        rows = (told.get("body") or {}).get("variables", ())
        path = next((row.get("evaluateName") for row in rows if row["name"] == name), None)
        self._evaluate(request, name, path or name, frame)

    def _evaluate(self, request: Message, name: str, path: str, frame: int) -> None:
        text = _LOOK.format(text=Path(object_bytes.__file__).read_text(), name=path)
        ask = {"expression": text, "context": "clipboard", **({"frameId": frame} if frame else {})}
        self.ask_for(request, "evaluate", lambda told: self._offer(request, name, _answer(told)), **ask)

    def _offer(self, request: Message, name: str, told: Message) -> None:
        if "refused" in told:
            self.answer(request, dataId=None, description=f"{name}: {told['refused']}")
            return
        narrow = bool(words(told["address"], told["bytes"]))
        access = [_WRITE, "readWrite"] if narrow else [_WRITE]
        said = f"{name}: {told['bytes']:,} bytes at {told['address']:#x}"
        found = json.dumps({**told, "label": name})
        self.answer(request, dataId=found, description=said, accessTypes=access, canPersist=False)

    def _set_watched(self, request: Message) -> None:
        """Watch these bytes, in place of those before."""
        places = [self._place(watched, one) for one in request["arguments"]["breakpoints"]]
        wide = [place for place in places if "wrong" not in place and not place["words"]]
        for place in wide[1:]:
            place["wrong"] = "one range of more than 32 bytes is watched at a time"
        left = WORDS_MAX
        for place in places:
            left -= len(place.get("words", ()))
            if left < 0 and "wrong" not in place:
                place["wrong"] = "the processor watches four words of 8 bytes, which others have"
        if not places and self.native.client is None:
            self.answer(request, breakpoints=[])
            return
        self.with_gdb(
            lambda: self._watch(request, places),
            lambda error: self.answer(request, breakpoints=[_told(one, str(error)) for one in places]),
        )

    def _watch(self, request: Message, places: list[Message]) -> None:
        good = [place for place in places if "wrong" not in place]
        answers = self.native.call("watch", places=good)["breakpoints"]
        told = {row["number"]: row["refused"] for row in answers}
        rows = [_told(place, place.get("wrong") or told[place["number"]]) for place in places]
        wide = next((place for place in good if not place["words"]), None)
        if wide is None and not self._wide:
            self.answer(request, breakpoints=rows)
            return
        self._wide = wide["number"] if wide else 0
        given = wide or {"address": 0, "bytes": 0, "letter": ""}
        text = _WATCH.format(package=PACKAGE, **{key: given[key] for key in ("address", "bytes", "letter")})
        standing = bool(self.standing)
        answered = partial(self._protected, None if standing else request, rows)
        self.ask("evaluate", answered, expression=f"exec({text!r}, {{}})", context="repl")
        if standing:  # Python cannot run while the thread has the GIL
            both = zip(places, rows, strict=True)
            waits = [_told(place, _ASIDE) if place is wide else row for place, row in both]
            self.answer(request, breakpoints=waits)

    def _protected(self, request: Message | None, rows: list[Message], told: Message) -> None:
        said = str(told.get("message") or "the program did not answer").strip().splitlines()[-1]
        why = "" if told["success"] else said.removeprefix("RuntimeError: ")
        rows = [_told({"number": row["id"]}, why) if row["id"] == self._wide else row for row in rows]
        if request is not None:
            self.answer(request, breakpoints=rows)
        for row in rows if request is None else ():
            self.event("breakpoint", reason="changed", breakpoint=row)


def watched(wanted: Message, number: int) -> Message:
    """The place of one of the editor's DataBreakpoint. Raises ValueError, TypeError, KeyError."""
    told = json.loads(wanted["dataId"])
    address, size = int(told["address"]), int(told["bytes"])
    access = wanted.get("accessType") or _WRITE
    if access not in (_WRITE, "readWrite") or size < 1:
        raise ValueError("writes can be watched, or reads and writes")
    found = {"address": address, "bytes": size, "letter": str(told["letter"]), "label": str(told["label"])}
    watch = {"words": words(address, size), "access": access, **options(wanted)}
    if not watch["words"] and (watch["condition"] or watch["hits"][0]):
        raise ValueError("more than 32 bytes are watched without a condition and without a hit count")
    return {**found, **watch, "scope": told.get("scope") or [], "number": number}


def _told(place: Message, why: str) -> Message:
    found = {"id": place["number"], "verified": not why}
    return {**found, "message": why} if why else found


def _answer(told: Message) -> Message:
    try:
        return dict(json.loads(ast.literal_eval(told["body"]["result"])))
    except (KeyError, ValueError, SyntaxError):
        return {"refused": str(told.get("message") or "it cannot be evaluated")[:200]}
