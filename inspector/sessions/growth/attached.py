"""What another process grew by while it was watched."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import time
from dataclasses import replace
from typing import Final

from inspector.debugger.attach.sampling import check_seconds
from inspector.facts.account import brief, grown
from inspector.facts.answers import Answers
from inspector.facts.growth import Growth
from inspector.facts.unknown import Unknown
from inspector.report import Report
from inspector.sessions.growth.moments import Moments
from inspector.sessions.memory import memory
from inspector.sessions.running import attach
from inspector.verdicts.answers.growth import asked_for, no_lines
from inspector.verdicts.differences import GROWN, GROWN_OUTSIDE, watched_growth

PAUSE_S: Final = 0.02


def growth_of(pid: int, seconds: float, lines: bool = False) -> Report:
    """By which rows of the account another process grows within `seconds`; read from outside, without a stop.

    `lines`: and which lines asked for it; the extension is loaded there at a safe point, as by `trace`. Where
    that cannot be, the report says why. Raises what `memory` raises; with `lines` what `attach` raises.
    """
    check_seconds(seconds)
    seen = Moments(pid, seconds)
    inside = attach(pid).growth(seconds, seen=seen) if lines else Unknown("")
    if not isinstance(inside, Unknown):
        accounts = tuple(replace(account, is_self=False) for account in inside.accounts)
        inside = replace(inside, moments=tuple(seen.read), accounts=accounts)
        told = (*asked_for(inside), watched_growth(inside, pid, GROWN))
        return Report("growth", {"answers": Answers(told), "growth": inside})
    begun, before = time.monotonic_ns(), memory(pid)
    seen = Moments(pid, seconds)
    while seen() and time.monotonic_ns() - begun < seconds * 1e9:
        time.sleep(min(PAUSE_S, seconds))
    after = memory(pid)
    change = after.resident_bytes - before.resident_bytes
    found = Growth(change, grown(before, after), (), 0, 0, time.monotonic_ns() - begun)
    found = replace(found, moments=tuple(seen.read), accounts=(brief(before), brief(after)))
    unseen = (no_lines(pid, seconds, inside.reason),) if change > 0 else ()
    answers = Answers((watched_growth(found, pid, GROWN_OUTSIDE), *unseen, *after.answers))
    return Report("growth", {"answers": answers, "growth": found})
